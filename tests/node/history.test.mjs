// The past on the command line: who changed what, what differs, and taking it back.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { quire, refusal, skip, workspace } from "./support/workspace.mjs";

// Commands in one workspace.
function shell(folder) {
    const run = (...args) => spawnSync(quire, [...args, "--workspace", folder], { encoding: "utf8", timeout: 60_000 });
    const text = (...args) => {
        const { status, stdout, stderr } = run(...args);
        assert.equal(status, 0, `${args.join(" ")}: ${stderr}`);
        return stdout;
    };
    const json = (...args) => JSON.parse(text(...args, "--json"));
    const call = (actor, tool, args) => JSON.parse(text("call", tool, JSON.stringify(args), "--actor", actor));
    const replace = (actor, path, find, replace) => call(actor, "file", { operation: "replace", path, find, replace });
    return { run, text, json, call, replace };
}

test("a file's log, blame and diff name who wrote what", { skip }, (t) => {
    const folder = workspace(t, { "src/a.txt": "one\ntwo\nthree\n" });
    const { text, json, replace } = shell(folder);
    replace("agent:ada", "src/a.txt", "two", "2");
    replace("agent:bo", "src/a.txt", "three\n", "3\n4\n");

    const { entries } = json("log", "src/a.txt");
    assert.deepEqual(entries.map((each) => [each.path, each.version_id, each.actor, each.description]), [
        ["src/a.txt", "3", "agent:bo", "replace"], ["src/a.txt", "2", "agent:ada", "replace"], ["src/a.txt", "1", "source:disk", "disk"]]);
    assert.ok(entries.every((each) => new Date(each.timestamp).toISOString() === each.timestamp));
    assert.deepEqual(json("log", "src/a.txt", "--actor", "agent:ada").entries.map((each) => each.version_id), ["2"]);
    assert.deepEqual(json("log", "src/a.txt", "--since", "2001-01-01T00:00:00Z", "--limit", "1").entries.map((each) => each.version_id), ["3"]);
    assert.match(text("log", "src/a.txt"), /agent:bo +src\/a\.txt \(b1\) +v3 +replace\n.*agent:ada/);

    const blame = json("blame", "src/a.txt");
    assert.deepEqual(blame.lines.map((each) => [each.line, each.content, each.actor, each.version_id, each.description]), [
        [1, "one", "source:disk", "1", "disk"], [2, "2", "agent:ada", "2", "replace"], [3, "3", "agent:bo", "3", "replace"], [4, "4", "agent:bo", "3", "replace"]]);
    assert.equal(blame.path, "src/a.txt");
    assert.deepEqual(blame.lines.map((each) => each.tool), [undefined, "file.replace", "file.replace", "file.replace"]);
    assert.match(text("blame", "src/a.txt"), new RegExp(`v2 +agent:ada +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d +file\\.replace #${blame.lines[1].call} +2 {2}2\n`));

    const whole = "--- src/a.txt\ton disk\n+++ src/a.txt\tversion 3\n@@ -1,3 +1,4 @@\n one\n-two\n-three\n+2\n+3\n+4\n";
    assert.equal(text("diff", "src/a.txt"), whole);
    assert.equal(text("diff"), whole);
    assert.deepEqual(json("diff").files.map((each) => [each.path, each.diff]), [["src/a.txt", whole]]);
    assert.equal(text("diff", "src/a.txt", "--from", "2", "--to", "1"),
                 "--- src/a.txt\tversion 2\n+++ src/a.txt\tversion 1\n@@ -1,3 +1,3 @@\n one\n-2\n+two\n three\n");
    if (existsSync("/usr/bin/patch")) {
        const patched = spawnSync("patch", ["-p0", "-d", folder], { input: whole, encoding: "utf8" });
        assert.equal(patched.status, 0, patched.stdout + patched.stderr);
        assert.equal(readFileSync(join(folder, "src/a.txt"), "utf8"), "one\n2\n3\n4\n");
        assert.equal(text("diff", "src/a.txt"), "");
    }
});

test("a rollback is a new version that undo takes back, of files, blocks and memory", { skip }, (t) => {
    const folder = workspace(t, { "a.txt": "one\n" });
    const { run, text, json, call, replace } = shell(folder);
    replace("agent:ada", "a.txt", "one", "1");
    assert.match(text("rollback", "a.txt", "1"), /^Rolled a\.txt back to version 1; it is now version 3\./);
    assert.equal(text("cat", "a.txt"), "one\n");
    assert.match(text("undo", "a.txt"), /^Undone in a\.txt/);
    assert.equal(text("cat", "a.txt"), "1\n");
    assert.equal(refusal(run("rollback", "a.txt", "77").stderr).reason, "invalid_reference");

    const { block_id } = call("agent:ada", "block_create", { role: "user", kind: "text", content: "a\n" });
    call("agent:ada", "block_append", { block_id, text: "b\n" });
    assert.deepEqual(json("rollback", block_id, "1"), { block_id, version: 3 });
    assert.equal(text("cat", block_id), "a\n");

    call("agent:ada", "context", { operation: "create", label: "notes", schema: "Text" });
    call("agent:ada", "context", { operation: "append", label: "notes", content: "tea" });
    call("agent:ada", "context", { operation: "append", label: "notes", content: " is out" });
    assert.equal(json("rollback", "notes", "2").version, 4);
    assert.match(text("diff", "notes"), /^--- notes\tversion 3\n\+\+\+ notes\tversion 4\n/);
    assert.deepEqual(json("blame", "notes").lines.map((each) => [each.content, each.actor.split(":")[0], each.version_id]), [["tea", "human", "4"]]);
    assert.deepEqual(json("log", "notes").entries.map((each) => each.label), ["notes", "notes", "notes", "notes"]);
    assert.equal(refusal(run("rollback", "nothing", "1").stderr).reason, "invalid_reference");
});

test("undo takes an actor's changes back everywhere, and says so for each document", { skip }, (t) => {
    const folder = workspace(t, { "a.txt": "one\n", "b.txt": "two\n", "locked.txt": "x\n" });
    const { run, text, json, call, replace } = shell(folder);
    replace("agent:bo", "a.txt", "one", "one bo");
    replace("agent:ada", "a.txt", "one", "1");
    replace("agent:ada", "a.txt", "bo", "bo!");
    replace("agent:ada", "b.txt", "two", "2");
    call("agent:ada", "context", { operation: "create", label: "notes", schema: "Text" });
    call("agent:ada", "context", { operation: "append", label: "notes", content: "tea" });

    const plan = json("undo", "--actor", "agent:ada", "--since", "1h", "--dry-run");
    assert.equal(plan.dry_run, true);
    assert.deepEqual(plan.documents.map((each) => [each.path ?? each.label, each.undone.length]).sort(), [["a.txt", 2], ["b.txt", 1], ["notes", 1]]);
    assert.equal(text("cat", "a.txt"), "1 bo!\n");

    const done = json("undo", "--actor", "agent:ada", "--since", "1h");
    assert.deepEqual(done.documents.map((each) => [each.path ?? each.label, each.undone.length, each.skipped_because_changed]).sort(),
                     [["a.txt", 2, 0], ["b.txt", 1, 0], ["notes", 1, 0]]);
    assert.equal(text("cat", "a.txt"), "one bo\n");
    assert.equal(text("cat", "b.txt"), "two\n");
    assert.equal(call("agent:ada", "context", { operation: "view", label: "notes" }).value ?? "", "");
    assert.equal(refusal(run("undo", "--actor", "agent:ada", "--since", "1h").stderr).reason, "nothing_to_undo");
    assert.equal(text("undo", "a.txt", "--redo", "--actor", "agent:ada").startsWith("Redone in a.txt"), true);
    assert.equal(text("cat", "a.txt"), "1 bo\n");

    assert.equal(refusal(run("undo").stderr).reason, "invalid_arguments");
    assert.equal(run("undo", "a.txt", "--since", "tomorrow").status, 2);
});

test("undo takes back what one call of the audit log did", { skip }, (t) => {
    const folder = workspace(t, { "a.txt": "one\ntwo\n" });
    const { run, text, replace } = shell(folder);
    replace("agent:ada", "a.txt", "one", "1");
    replace("agent:ada", "a.txt", "two", "2");
    const number = text("audit", "--actor", "agent:ada", "--json").split("\n").filter(Boolean).map((line) => JSON.parse(line).entry)
        .filter((entry) => entry.event === "end").map((entry) => entry.call).sort((x, y) => x - y)[0];

    assert.match(text("undo", "--call", String(number), "--dry-run"), /^Would undo in a\.txt:\n {2}v2 .*agent:ada {2}replace\n$/);
    text("undo", "--call", String(number));
    assert.equal(text("cat", "a.txt"), "one\n2\n");
    assert.equal(refusal(run("undo", "--call", String(number)).stderr).reason, "nothing_to_undo");
    assert.equal(refusal(run("undo", "--call", "99999").stderr).reason, "no_such_call");
});

test("file-history does what the tool does, in the caller's name", { skip }, (t) => {
    const folder = workspace(t, { "a.txt": "one\n" });
    writeFileSync(join(folder, "a.txt"), "one\n");
    const { text, json, replace } = shell(folder);
    replace("agent:ada", "a.txt", "one", "1");
    assert.match(text("file-history", "view", "a.txt"), /^2\t\S+Z\tagent:ada\treplace\n1\t/);
    assert.match(text("file-history", "diff", "a.txt", "--from", "1"), /-one\n\+1\n$/);
    assert.equal(json("file-history", "rollback", "a.txt", "1").version, 3);
    assert.equal(text("cat", "a.txt"), "one\n");
});
