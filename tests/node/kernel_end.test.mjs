// How a kernel is ended and replaced, and what its clients are answered.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { kernelOf, quire, rawQuire, skip, workspace } from "./support/workspace.mjs";

function run(folder, ...words) {
    return spawnSync(quire, [...words, "--workspace", folder], { encoding: "utf8" });
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// A workspace and the `quire serve` processes in it, which end before it is removed.
function served(t) {
    const folder = workspace();
    const ends = [];
    t.after(async () => {
        for (const end of ends) await end();
        rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    });
    const serve = async (...words) => {
        const child = spawn(quire, ["serve", ...words, "--workspace", folder]);
        const exit = new Promise((done) => child.on("exit", done));
        ends.push(async () => {
            child.kill("SIGCONT");
            child.kill("SIGTERM");
            await exit;
        });
        let printed = "";
        child.stdout.on("data", (data) => (printed += data));
        child.stderr.on("data", (data) => (printed += data));
        for (let i = 0; i < 1200 && !printed.includes("until Ctrl-C"); ++i) await pause(50);
        assert.match(printed, /until Ctrl-C/);
        return { child, exit };
    };
    return { folder, serve };
}

// Stops a process, and waits until it is.
async function halt(child) {
    child.kill("SIGSTOP");
    for (let i = 0; i < 3000 && !/State:\s+T/.test(readFileSync(`/proc/${child.pid}/status`, "utf8")); ++i) await pause(10);
}

test("a kernel that is asked to end answers what it has not begun", { skip }, async (t) => {
    const folder = workspace(t, {});
    const client = rawQuire(t, folder);
    await client.initialize();
    const made = await client.call("block_create", { role: "user", kind: "text", content: "" });
    const block = made.result.structuredContent.block_id;
    const kernel = kernelOf(folder);
    const calls = Array.from({ length: 200 }, (_, i) => client.call("block_append", { block_id: block, text: `${i}\n` }));
    process.kill(kernel, "SIGTERM");
    const answers = await Promise.all(calls);
    const counts = {};
    for (const answer of answers) {
        const reason = answer.result?.structuredContent?.error?.reason ?? "done";
        counts[reason] = (counts[reason] ?? 0) + 1;
    }
    t.diagnostic(JSON.stringify(counts));
    assert.equal(counts.fate_unknown, undefined, JSON.stringify(counts));
    const text = await client.call("block_read", { block_id: block, line_numbers: false });
    const lines = text.result.structuredContent.content.split("\n").filter((line) => line !== "");
    assert.equal(lines.length, counts.done ?? 0);
});

test("stop ends the kernel, waits for it and says its process", { skip }, async (t) => {
    const folder = workspace(t, {});
    assert.match(run(folder, "stop").stdout, /No kernel runs here/);
    assert.equal(existsSync(join(folder, ".quire")), false);
    const client = rawQuire(t, folder);
    await client.initialize();
    const kernel = kernelOf(folder);
    const stopped = run(folder, "stop");
    assert.equal(stopped.status, 0, stopped.stderr);
    assert.match(stopped.stdout, new RegExp(`process ${kernel}\\b`));
    assert.notEqual(kernelOf(folder), kernel);
    // The client goes on: its next call starts another one.
    assert.ok((await client.request("tools/list", {})).result.tools.length > 0);
});

test("a second serve says what runs and goes on with it", { skip }, async (t) => {
    const { folder, serve } = served(t);
    const { child } = await serve();
    const second = run(folder, "serve");
    assert.equal(second.status, 0, second.stderr);
    assert.match(second.stdout, new RegExp(`process ${child.pid}\\b.*kernel\\.sock`));
    assert.equal(child.exitCode, null);
});

test("serve --takeover puts itself in the place of the kernel that runs", { skip }, async (t) => {
    const { folder, serve } = served(t);
    const first = await serve();
    const client = rawQuire(t, folder);
    await client.initialize();
    const second = await serve("--takeover");
    await first.exit;
    assert.ok((await client.request("tools/list", {})).result.tools.length > 0);
    assert.equal(JSON.parse(run(folder, "status", "--json").stdout).pid, second.child.pid);
});

test("a stopped kernel is named, with what to do", { skip }, async (t) => {
    const { folder, serve } = served(t);
    const { child } = await serve();
    await halt(child);
    const status = run(folder, "status");
    assert.equal(status.status, 1);
    assert.match(status.stderr, new RegExp(`process ${child.pid}\\b.*kill -CONT ${child.pid}`));
});

test("a kernel whose socket was removed makes it anew", { skip }, async (t) => {
    const { folder, serve } = served(t);
    const { child } = await serve();
    rmSync(join(folder, ".quire/kernel.sock"));
    for (let i = 0; i < 3000 && !existsSync(join(folder, ".quire/kernel.sock")); ++i) await pause(20);
    assert.equal(JSON.parse(run(folder, "status", "--json").stdout).pid, child.pid);
});

test("a kernel that cannot make its socket anew is named by what wants it", { skip }, async (t) => {
    const { folder, serve } = served(t);
    const { child } = await serve();
    await halt(child);
    rmSync(join(folder, ".quire/kernel.sock"));
    const call = run(folder, "stop");
    assert.equal(call.status, 1);
    assert.match(call.stderr, new RegExp(`process ${child.pid}\\b.*kernel\\.sock.*kill -CONT ${child.pid}`));
});
