// Searches in a workspace of about 1 GB: 50,000 files of source-like text and 200 conversations. How long the index
// takes and how large it is, and the first page of several queries through `quire mcp`, beside ripgrep on the same
// files where it is installed. GIGABYTES=0.1 makes a smaller workspace.
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { randomness } from "../../tests/node/support/random.mjs";
import { everythingAllowed, quire } from "../../tests/node/support/workspace.mjs";
import { answered, connected, fill, megabytes, ms, now, onDisk, p50, Report, resident, times } from "./measure.mjs";

const share = Number(process.env.GIGABYTES ?? 1);
const files = Math.round(50_000 * share);
const conversations = Math.round(200 * share);
const report = new Report(`Searching ${files} files and ${conversations} conversations`);
const ripgrep = spawnSync("rg", ["--version"]).status === 0;

// Text like a program's: words of a vocabulary of 20,000, the first ones often, with signs between them.
const random = randomness(11);
const syllables = "ka lo mi re su ta ne vo di pa qu er st on al in th ex co de ra ti fi bu gy zed wor plex".split(" ");
const vocabulary = Array.from({ length: 20_000 }, () => Array.from({ length: 2 + random(3) }, () => syllables[random(syllables.length)]).join(""));
const signs = [" ", " ", " ", "(", ") ", " = ", ".", ", ", "->", "_", ";\n    ", ";\n", " {\n        ", "}\n"];
function someText(bytes) {
    let text = "";
    while (text.length < bytes) text += vocabulary[Math.floor((random(1000) / 1000) ** 3 * vocabulary.length)] + signs[random(signs.length)];
    return text;
}

const call = (client, tool, args) => answered(client, tool, args, 600_000);

await onDisk(async (folder) => {
    fill(folder, { "quire.toml": everythingAllowed });
    let bytes = 0;
    for (let i = 0; i < files; i++) {
        const path = join(folder, `d${i % 500}`, `f${i}.txt`);
        if (i < 500) mkdirSync(join(folder, `d${i}`), { recursive: true });
        const text = someText(16_000) + (i % 5000 === 77 ? "\nthe only XylophoneBridge here\n" : "");
        bytes += text.length;
        writeFileSync(path, text);
    }
    await sleep(2500);  // Files that have just been written are not indexed.
    const began = now();
    let client = await connected(folder);
    // A query that matches nothing and is counted `indexed` everywhere tells that the index is whole.
    let searched;
    do {
        await sleep(100);
        ({ searched } = await call(client, "kernel_search", { query: "zzzz_nowhere_zzzz", mode: "literal", kinds: ["file"] }));
    } while (searched.indexed < files && now() - began < 600_000);
    const seconds = (now() - began) / 1000;
    report.row("from the start of the kernel to a whole index of the files", ms(now() - began), "", "", "120 s a GB", seconds < 120 * share);
    for (let i = 0; i < conversations; i++) {
        const content = someText(1_000_000) + (i === 77 ? "\nanother XylophoneBridge\n" : "");
        bytes += content.length;
        await call(client, "block_create", { conversation: `c${i}`, role: "user", kind: "text", status: "done", content });
    }

    await call(client, "kernel_search", { query: "zzzz_nowhere_zzzz", mode: "literal", kinds: ["text"] });
    await client.end();
    spawnSync(quire, ["stop", "--workspace", folder]);  // It keeps the index.

    const index = statSync(join(folder, ".quire/search-index")).size;
    report.row("size of the index", megabytes(index), `${megabytes(bytes)} of text`, `${((index / bytes) * 100).toFixed(1)} %`, "under a third of the text", index * 3 < bytes);
    client = await connected(folder);
    await call(client, "kernel_search", { query: "zzzz_nowhere_zzzz", mode: "literal", kinds: ["file", "text"] });
    const queries = [
        ["a literal in few files", { query: "XylophoneBridge", mode: "literal" }, ["-F"]],
        ["a literal in none", { query: "zzzz_nowhere_zzzz", mode: "literal" }, ["-F"]],
        ["a regular expression", { query: "only Xylo[a-z]+Bridge" }, []],
        ["in any case", { query: "(?i)xylophonebridge" }, []],
        ["a common word", { query: vocabulary[3], mode: "literal" }, ["-F"]],
    ];
    for (const [name, query, flags] of queries) {
        const mine = [];
        let found;
        for (let i = 0; i < 7; i++) {
            const start = now();
            found = await call(client, "kernel_search", { ...query, kinds: ["file", "text"] });
            mine.push(now() - start);
        }
        const theirs = [];
        for (let i = 0; ripgrep && i < 3; i++) {
            const start = now();
            spawnSync("rg", [...flags, "-j2", "--no-messages", "-e", query.query, folder], { maxBuffer: 1 << 30 });
            theirs.push(now() - start);
        }
        const beside = ripgrep ? `${ms(p50(theirs))} ripgrep, all of it` : "ripgrep is not installed";
        report.row(`first page: ${name} (${found.blocks.length} blocks)`, ms(p50(mine)), beside, ripgrep ? times(p50(theirs), p50(mine)) : "", "under 200 ms", p50(mine) < 200);
    }
    report.row("resident memory of the kernel then", megabytes(Math.max(...resident(folder).map((process) => process.bytes))));
    await client.end();
    spawnSync(quire, ["stop", "--workspace", folder]);
});

report.finish();
