// What every measurement here needs: percentiles, memory, the disk's own speed, and how a table is told.
import { spawnSync } from "node:child_process";
import { closeSync, fdatasyncSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

import { mcpArguments, quire, RawClient, root } from "../../tests/node/support/workspace.mjs";

export const now = () => performance.now();

export function percentile(values, p) {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))];
}

export const p50 = (values) => percentile(values, 50);
export const p99 = (values) => percentile(values, 99);

// A folder on the disk that holds the tree (not on a memory file system), for as long as `use` runs.
export async function onDisk(use) {
    const above = join(root, "build/bench-data");
    mkdirSync(above, { recursive: true });
    const folder = mkdtempSync(join(above, "ws-"));
    try {
        return await use(folder);
    } finally {
        // A kernel that is still there makes its socket anew when that is removed.
        spawnSync(quire, ["stop", "--workspace", folder]);
        rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
}

export function fill(folder, files) {
    for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
    }
    return folder;
}

// A client of the program on a folder, as agent:bench.
export async function connected(folder, profile = "full") {
    const client = new RawClient(quire, mcpArguments(folder, { actor: "agent:bench", profile }));
    await client.initialize();
    return client;
}

// What a tool answers, which must be no error.
export async function answered(client, tool, args, within = 120_000) {
    const answer = await client.call(tool, args, within);
    if (!answer.result || answer.result.isError) throw new Error(JSON.stringify(answer).slice(0, 500));
    return answer.result.structuredContent;
}

// Milliseconds of one append of 256 bytes and its fdatasync, `count` times, in `folder`.
export function fdatasyncs(folder, count) {
    const path = join(folder, `.fdatasync-${process.pid}`);
    const file = openSync(path, "w");
    const bytes = Buffer.alloc(256, "x");
    const took = [];
    for (let i = 0; i < count; i++) {
        const began = now();
        writeSync(file, bytes);
        fdatasyncSync(file);
        took.push(now() - began);
    }
    closeSync(file);
    unlinkSync(path);
    return took;
}

// Resident bytes of every process whose command line holds `word`: [{pid, command, bytes}].
export function resident(word) {
    const found = [];
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
            const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
            if (!command.includes(word) || Number(pid) === process.pid) continue;
            const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
            found.push({ pid: Number(pid), command, bytes: kilobytes * 1024 });
        } catch {
            // It ended between the listing and the look.
        }
    }
    return found;
}

export const ms = (value) => (value < 0.0995 ? `${(value * 1000).toFixed(0)} us` : value < 10 ? `${value.toFixed(2)} ms` : `${value.toFixed(0)} ms`);
export const megabytes = (bytes) => `${(bytes / 1048576).toFixed(1)} MB`;

// A row: what was measured, ours, the peer's (or ""), their ratio, and the promise with whether it holds.
// `holds` is undefined where nothing is promised.
export class Report {
    constructor(title) {
        this.title = title;
        this.rows = [];
    }

    row(what, ours, peer = "", ratio = "", promise = "", holds = undefined) {
        this.rows.push({ what, ours, peer, ratio, promise, holds });
        const mark = holds === undefined ? "" : holds ? "  holds" : "  DOES NOT HOLD";
        console.error(`  ${what}: ${ours}${peer ? `  (peer ${peer}${ratio ? `, ${ratio}` : ""})` : ""}${promise ? `  [${promise}]` : ""}${mark}`);
    }

    // Prints the report as one line of JSON; the status says whether all promises hold.
    finish() {
        console.log(JSON.stringify({ title: this.title, rows: this.rows }));
        process.exitCode = this.rows.some((row) => row.holds === false) ? 1 : 0;
    }
}

export const times = (theirs, ours) => `${(theirs / ours).toFixed(theirs / ours < 10 ? 1 : 0)}x`;
