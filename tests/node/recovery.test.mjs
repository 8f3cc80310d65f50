// The bad day, from outside: backup, restore, fsck and salvage, with and without a kernel.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, openSync, closeSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { kernelOf, quire, refusal, skip, workspace } from "./support/workspace.mjs";

function run(folder, ...args) {
    const { status, stdout, stderr } = spawnSync(quire, [...args, "--workspace", folder], { encoding: "utf8", timeout: 60_000 });
    return { status, stdout, stderr };
}

function call(folder, tool, input) {
    const done = run(folder, "call", tool, JSON.stringify(input), "--profile", "full");
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout);
}

function elsewhere(t) {
    const folder = mkdtempSync(join(tmpdir(), "quire-out-"));
    t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    return folder;
}

// Ends the kernel of the workspace and waits for that.
async function end(folder) {
    const pid = kernelOf(folder);
    if (pid === undefined) return;
    process.kill(pid, "SIGTERM");
    for (let i = 0; i < 3000 && kernelOf(folder) !== undefined; i++) await new Promise((done) => setTimeout(done, 20));
    assert.equal(kernelOf(folder), undefined);
}

function filled(t) {
    const folder = workspace(t, { "a.txt": "on the disk\n" });
    call(folder, "block_create", { role: "user", kind: "text", content: "said\n" });
    call(folder, "context", { operation: "create", label: "plan", schema: "Text" });
    call(folder, "context", { operation: "append", label: "plan", content: "first the roots\n" });
    call(folder, "file", { operation: "load", path: "a.txt" });
    return folder;
}

for (const kernel of ["with", "without"]) {
    test(`a backup made ${kernel} a kernel is a workspace again`, { skip }, async (t) => {
        const folder = filled(t);
        if (kernel === "without") await end(folder);
        const file = join(elsewhere(t), "copy.quire");

        const made = run(folder, "backup", file);

        assert.equal(made.status, 0, made.stderr);
        assert.equal(statSync(file).mode & 0o777, 0o600);
        if (kernel === "without") assert.equal(kernelOf(folder), undefined, "a backup starts no kernel");
        assert.equal(refusal(run(folder, "backup", file).stderr).reason, "file_exists");
        const again = workspace(t);
        const restored = run(again, "restore", file);
        assert.equal(restored.status, 0, restored.stderr);
        assert.match(restored.stdout, /^Restored 3 documents/);
        assert.match(JSON.stringify(call(again, "context", { operation: "view", label: "plan" })), /first the roots/);
        assert.equal(refusal(run(again, "restore", file).stderr).reason, "store_exists");
    });

    test(`a salvage made ${kernel} a kernel has every text`, { skip }, async (t) => {
        const folder = filled(t);
        if (kernel === "without") await end(folder);
        const out = join(elsewhere(t), "rescued");

        const made = run(folder, "salvage", out, "--json");

        assert.equal(made.status, 0, made.stderr);
        assert.equal(JSON.parse(made.stdout).whole, 3);
        assert.equal(readFileSync(join(out, "memory/b2-plan.txt"), "utf8"), "first the roots\n");
        assert.equal(readFileSync(join(out, "files/b3-a.txt.txt"), "utf8"), "on the disk\n");
        assert.match(readFileSync(join(out, "conversations/b1-main.txt"), "utf8"), /^== b1_0_0 user text .*\nsaid\n/);
        assert.ok(existsSync(join(out, kernel === "with" ? "quire.db" : "store/quire.db")));
        assert.equal(refusal(run(folder, "salvage", out).stderr).reason, "directory_not_empty");
    });
}

test("a damaged backup makes nothing", { skip }, async (t) => {
    const folder = filled(t);
    const file = join(elsewhere(t), "copy.quire");
    assert.equal(run(folder, "backup", file).status, 0);
    const bytes = readFileSync(file);
    bytes[bytes.indexOf("first the roots")] ^= 1;
    writeFileSync(file, bytes);
    const again = workspace(t);

    const refused = run(again, "restore", file);

    assert.equal(refused.status, 1);
    assert.equal(refusal(refused.stderr).reason, "damaged_backup");
    assert.deepEqual(readdirSync(again), ["quire.toml"]);
});

test("a file that is no backup makes nothing, and neither does one that is not there", { skip }, (t) => {
    const folder = workspace(t, { junk: "x".repeat(10_000) });

    assert.equal(refusal(run(folder, "restore", join(folder, "junk")).stderr).reason, "damaged_backup");
    assert.equal(refusal(run(folder, "restore", join(folder, "none")).stderr).reason, "no_file");
    assert.deepEqual(readdirSync(folder).sort(), ["junk", "quire.toml"]);
});

test("commands that look at a store make none", { skip }, (t) => {
    const folder = workspace(t);
    const out = elsewhere(t);

    for (const words of [["fsck"], ["backup", join(out, "b")], ["salvage", join(out, "s")]])
        assert.equal(refusal(run(folder, ...words).stderr).reason, "no_store", words[0]);

    assert.deepEqual(readdirSync(folder), ["quire.toml"]);
    assert.deepEqual(readdirSync(out), []);
});

test("fsck finds the flipped byte, names the document and exits 1; salvage saves the rest", { skip }, async (t) => {
    const folder = filled(t);
    const healthy = run(folder, "fsck", "--json");
    assert.equal(healthy.status, 0, healthy.stderr);
    assert.equal(JSON.parse(healthy.stdout).clean, true);
    await end(folder);
    const database = join(folder, ".quire/quire.db");
    const bytes = readFileSync(database);
    const fd = openSync(database, "r+");
    writeSync(fd, "X", bytes.indexOf("said\n"));
    closeSync(fd);

    const found = run(folder, "fsck", "--json");

    assert.equal(found.status, 1);
    const { findings, clean, damaged } = JSON.parse(found.stdout);
    assert.equal(clean, false);
    assert.equal(damaged, 1);
    assert.deepEqual([...new Set(findings.map((each) => each.document))], ["b1"]);
    assert.match(findings[0].title, /conversation 'main'/);
    const out = join(elsewhere(t), "rescued");
    assert.equal(run(folder, "salvage", out).status, 1);
    assert.match(readFileSync(join(out, "SALVAGE.txt"), "utf8"), /b1 conversation 'main': update 1 is not what was written/);
    assert.equal(readFileSync(join(out, "memory/b2-plan.txt"), "utf8"), "first the roots\n");
    // The rest goes on.
    assert.match(JSON.stringify(call(folder, "context", { operation: "view", label: "plan" })), /first the roots/);
    const refused = run(folder, "call", "block_read", JSON.stringify({ block_id: "b1_0_0" }), "--profile", "full");
    const error = refusal(refused.stderr);
    assert.equal(error.code, "corrupt");
    assert.equal(error.details.document, "b1");
});

test("doctor fails where the audit log was changed", { skip }, async (t) => {
    const folder = filled(t);
    await end(folder);
    const database = join(folder, ".quire/quire.db");
    const bytes = readFileSync(database);
    const at = bytes.indexOf('"tool":"context"');
    const fd = openSync(database, "r+");
    writeSync(fd, '"tool":"cOntext"', at);
    closeSync(fd);

    const found = run(folder, "doctor", "--json");

    assert.equal(found.status, 1);
    const audit = JSON.parse(found.stdout).findings.find((each) => each.what === "audit log");
    assert.equal(audit.health, "broken");
    assert.match(audit.found, /entry \d+ is broken/);
});

const mayDropRights = process.getuid() === 0 && spawnSync("setpriv", ["--version"]).status === 0;
test("doctor fails where .quire may not be entered", { skip: skip || (mayDropRights ? false : "needs root and setpriv") }, (t) => {
    // The folder of the tests may be closed to other users.
    const folder = mkdtempSync("/tmp/quire-open-");
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const uid = "65534";
    spawnSync("chown", [uid, folder]);
    mkdirSync(join(folder, ".quire"), { mode: 0o000 });
    spawnSync("chown", [uid, join(folder, ".quire")]);
    spawnSync("chmod", ["000", join(folder, ".quire")]);
    const as = ["--reuid", uid, "--regid", uid, "--clear-groups", "--"];
    const readable = spawnSync("setpriv", [...as, quire, "--version"], { encoding: "utf8" });
    if (readable.status !== 0) return t.skip("the program cannot be run by another user here");

    const found = spawnSync("setpriv", [...as, quire, "doctor", "--json", "--workspace", folder],
        { encoding: "utf8", timeout: 60_000, env: { ...process.env, HOME: folder, TMPDIR: "/tmp" } });

    assert.equal(found.status, 1, found.stderr);
    const store = JSON.parse(found.stdout).findings.find((each) => each.what === "store");
    assert.equal(store.health, "broken");
    assert.match(store.fix, /chmod 700/);
});
