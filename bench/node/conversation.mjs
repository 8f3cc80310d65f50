// The memory of conversations: a kernel's resident size for each block of five bytes, and for each byte of text that
// was streamed into 5,000 blocks, live and loaded anew. The text is this repository's own documents, or noise in
// base64, which nothing compresses. Through `quire mcp`.
import { randomBytes } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { everythingAllowed, kernelOf, quire, root } from "../../tests/node/support/workspace.mjs";
import { answered, connected, fill, onDisk, Report } from "./measure.mjs";

const report = new Report("The memory of conversations");
const pieceBytes = 50;
const blockBytes = 8000;

const residentOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;

// The bytes of a kernel's memory per block, after `count` blocks of five bytes.
async function small(folder, count) {
    const client = await connected(folder);
    const pid = kernelOf(folder);
    const before = residentOf(pid);
    for (let made = 0; made < count; made += 100)
        await Promise.all(Array.from({ length: 100 }, () => answered(client, "block_create", { role: "user", kind: "text", content: "hello" })));
    const grown = residentOf(pid) - before;
    await client.end();
    return grown / count;
}

// The bytes of memory for a byte of text, live and loaded.
async function streamed(folder, count, text) {
    let client = await connected(folder);
    let pid = kernelOf(folder);
    let before = residentOf(pid);
    let first = "";
    for (let made = 0, at = 0; made < count; made++) {
        const { block_id } = await answered(client, "block_create", { role: "model", kind: "text", status: "running" });
        first ||= block_id;
        const appends = [];
        for (let n = 0; n < blockBytes; n += pieceBytes, at += pieceBytes) {
            if (at + pieceBytes > text.length) at = 0;
            appends.push(answered(client, "block_append", { block_id, text: text.slice(at, at + pieceBytes) }));
        }
        await Promise.all(appends);
        await answered(client, "block_status", { block_id, status: "done" });
    }
    const live = (residentOf(pid) - before) / (count * blockBytes);
    await client.end();
    execFileSync(quire, ["stop", "--workspace", folder], { stdio: "ignore" });

    client = await connected(folder);
    pid = kernelOf(folder);
    before = residentOf(pid);
    await answered(client, "block_read", { block_id: first });
    const loaded = (residentOf(pid) - before) / (count * blockBytes);
    await client.end();
    return { live, loaded };
}

const documents = readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => readFileSync(join(root, "docs", name), "latin1").replaceAll(/[^ -~]+/g, " "))
    .join("");
const bytes = (value) => `${value.toFixed(2)} bytes`;

await onDisk(async (folder) => {
    fill(folder, { "quire.toml": everythingAllowed });
    const each = await small(folder, 10_000);
    report.row("a block of five bytes, of 10,000 created", `${each.toFixed(0)} bytes`, "", "", "under 1,500 bytes", each < 1500);
});
for (const [what, text] of [["English", documents], ["noise", randomBytes(3_000_000).toString("base64")]]) {
    await onDisk(async (folder) => {
        fill(folder, { "quire.toml": everythingAllowed });
        const { live, loaded } = await streamed(folder, 5000, text);
        const promised = what === "English";
        report.row(`a byte of ${what}, streamed into 5,000 blocks of 8 KB`, bytes(live), "", "", promised ? "at most 1.5 bytes" : "", promised ? live <= 1.5 : undefined);
        report.row(`a byte of ${what}, loaded anew`, bytes(loaded), "", "", promised ? "at most 1.2 bytes" : "", promised ? loaded <= 1.2 : undefined);
    });
}

report.finish();
