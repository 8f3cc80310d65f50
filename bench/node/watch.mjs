// A tree of 100,000 files under watch: how soon an editor's save is in the file's block, what a look at the whole
// tree costs, what a burst of writes becomes, and the memory that watching takes. Through `quire mcp`.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { everythingAllowed } from "../../tests/node/support/workspace.mjs";
import { answered, connected, fill, megabytes, ms, now, onDisk, p50, Report, resident } from "./measure.mjs";

const report = new Report("A tree of 100,000 files");
const folders = 1000;
const each = 100;

const call = (client, args) => answered(client, "file", args);

// Waits until the kernel has looked at the tree for the first time.
async function watched(client) {
    const end = now() + 120_000;
    for (;;) {
        const { watch } = await call(client, { operation: "status" });
        if (!watch.startsWith("starting")) return watch;
        if (now() > end) throw new Error("the tree was not looked at within two minutes");
        await sleep(50);
    }
}

// As an editor saves: a new file beside the old one, which takes its place.
function save(path, text) {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
}

await onDisk(async (folder) => {
    fill(folder, { "quire.toml": everythingAllowed });
    for (let d = 0; d < folders; d++) {
        const inner = join(folder, `d${d}`);
        mkdirSync(inner);
        for (let f = 0; f < each; f++) writeFileSync(join(inner, `f${f}.txt`), `file ${f} of folder ${d}\n`);
    }
    const client = await connected(folder);
    let began = now();
    const watch = await watched(client);
    report.row("start of the kernel to all of it watched", ms(now() - began));
    if (!watch.startsWith("watching")) report.row("the system allows too few watches", watch);

    const { subscription_id } = await call(client, { operation: "events" });
    const seen = [];
    for (let i = 0; i < 40; i++) {
        const path = `d${(i * 37) % folders}/f${i}.txt`;
        await call(client, { operation: "read", path });
        began = now();
        save(join(folder, path), `saved ${i}\n`);
        for (;;) {
            const { events } = await call(client, { operation: "events", subscription_id, wait_ms: 5000 });
            if (events.some((event) => event.path === path)) break;
        }
        seen.push(now() - began);
        const { content } = await call(client, { operation: "read", path });
        if (!content.includes(`saved ${i}`)) throw new Error(`${path} has ${content}`);
    }
    // The file has to be quiet for settle_ms, 100, before a change counts.
    report.row("an editor's save to its change in the block, p50 of 40", ms(p50(seen)), "100 ms for the file to settle", "", "under 150 ms", p50(seen) < 150);
    report.row("the same, the slowest", ms(Math.max(...seen)));

    for (let i = 0; i < 50; i++) writeFileSync(join(folder, "d1/f1.txt"), `burst ${i}\n`);
    await sleep(1500);
    const burst = (await call(client, { operation: "events", subscription_id })).events.filter((event) => event.path === "d1/f1.txt");
    report.row("50 writes to one file, as changes", `${burst.length}`, "", "", "1", burst.length === 1);

    const looked = [];
    for (let i = 0; i < 9; i++) {
        began = now();
        await call(client, { operation: "reconcile" });
        looked.push(now() - began);
    }
    report.row("a look at the whole tree (file reconcile), warm, p50 of 9", ms(p50(looked)), "", "", "under 500 ms", p50(looked) < 500);
    const largest = Math.max(...resident(folder).map((process) => process.bytes));
    report.row("resident memory of the kernel that watches", megabytes(largest), "", "", "under 40 MB", largest < 40 * 1048576);
    await client.end();
});

report.finish();
