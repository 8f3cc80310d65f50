// What a stage costs a command: `true` by the tool `shell` in a stage, on the live tree and on a generation, beside
// the same call without a stage, in turns. And what a generation of 20,000 files costs.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { everythingAllowed } from "../../tests/node/support/workspace.mjs";
import { answered, connected, fill, ms, now, onDisk, p50, Report } from "./measure.mjs";

const report = new Report("Commands in a stage");
const turns = 300;
const bare = `${everythingAllowed}[shell]\nenforcement = "none"\n`;
// Half of the disk that stages may use is too little for a copy of the files, so commands stand on the live tree.
const live = `${everythingAllowed}[shell]\ndisk_bytes = 8192\n`;
const few = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`src/file${i}.txt`, `line of file ${i}\n`]));
const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`src/${i % 200}/file${i}.txt`, `line of file ${i}\n`.repeat(100)]));

const execute = (client, command) => answered(client, "shell", { operation: "execute", command });
async function took(client, command = "true") {
    const began = now();
    const made = await execute(client, command);
    if (made.exit_code !== 0) throw new Error(JSON.stringify(made));
    return now() - began;
}

// Milliseconds until a save in the live tree does not come through to a command that runs, which is how a
// generation shows; undefined if it does not within a minute.
async function untilGeneration(client, folder) {
    const began = now();
    while (now() - began < 60_000) {
        writeFileSync(join(folder, "seen.txt"), "before\n");
        const command = execute(client, "sleep 0.3; cat seen.txt");
        await sleep(150);
        writeFileSync(join(folder, "seen.txt"), "after\n");
        if ((await command).stdout === "before\n") return now() - began;
    }
    return undefined;
}

await onDisk(async (above) => {
    const folders = { bare: join(above, "bare"), live: join(above, "live"), generation: join(above, "generation") };
    fill(folders.bare, { ...few, "quire.toml": bare });
    fill(folders.live, { ...few, "quire.toml": live });
    fill(folders.generation, { ...few, "quire.toml": everythingAllowed });
    const clients = {};
    for (const [name, folder] of Object.entries(folders)) clients[name] = await connected(folder);
    for (const client of Object.values(clients)) for (let i = 0; i < 10; i++) await took(client);
    if ((await untilGeneration(clients.generation, folders.generation)) === undefined) throw new Error("there is no generation");
    const all = { bare: [], live: [], generation: [] };
    for (let i = 0; i < turns; i++) for (const [name, client] of Object.entries(clients)) all[name].push(await took(client));
    const over = (name) => p50(all[name]) - p50(all.bare);
    report.row("`true` in a stage, on a generation", ms(p50(all.generation)), ms(p50(all.bare)), "", "at most 5 ms beyond bare", over("generation") <= 5);
    report.row("`true` in a stage, on the live tree", ms(p50(all.live)), ms(p50(all.bare)), "", "at most 5 ms beyond bare", over("live") <= 5);
    report.row("what a stage costs: on a generation; on the live tree", `${ms(over("generation"))}; ${ms(over("live"))}`);
    for (const client of Object.values(clients)) await client.end();
});

await onDisk(async (folder) => {
    fill(folder, { ...many, "quire.toml": everythingAllowed });
    const client = await connected(folder);
    const first = await took(client);
    const until = await untilGeneration(client, folder);
    if (until === undefined) throw new Error("there is no generation");
    report.row("20,000 files: the first command; until there is a generation", `${ms(first)}; ${ms(until)}`);
    const same = [];
    for (let i = 0; i < 50; i++) same.push(await took(client));
    const after = [];
    for (let i = 0; i < 100; i++) {
        writeFileSync(join(folder, "src/7/file7.txt"), `saved ${i}\n`);
        after.push(await took(client));
    }
    report.row("20,000 files: `true` where nothing changed; where a file was saved", `${ms(p50(same))}; ${ms(p50(after))}`, "", "", "", undefined);
    await client.end();
    rmSync(join(folder, "seen.txt"), { force: true });
});

report.finish();
