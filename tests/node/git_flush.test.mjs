// Commits to a ref of our own: by command, after a silence, at the end, and switched on under a running kernel.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { everythingAllowed, quire, refusal, skip as noProgram, workspace } from "./support/workspace.mjs";

const skip = noProgram || (spawnSync("git", ["--version"]).status === 0 ? false : "there is no git");
const settings = (after) => `${everythingAllowed}[files.git]\nref = "refs/quire/main"\nafter_s = ${after}\n`;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function run(folder, ...words) {
    return spawnSync(quire, [...words, "--workspace", folder], { encoding: "utf8" });
}
function git(folder, ...words) {
    const ran = spawnSync("git", words, { cwd: folder, encoding: "utf8" });
    return ran.status === 0 ? ran.stdout : `failed: ${ran.stderr}`;
}
// A repository with one commit, and an edit of a.txt by agent:ada that is not saved.
function edited(t, toml) {
    const folder = workspace(t, { "a.txt": "one\n" }, toml);
    git(folder, "init", "-q", "-b", "main");
    git(folder, "add", "a.txt");
    git(folder, "-c", "user.name=mel", "-c", "user.email=m@x", "commit", "-qm", "first");
    const edit = { operation: "replace", path: "a.txt", find: "one", replace: "two" };
    const call = run(folder, "call", "file", JSON.stringify(edit), "--actor", "agent:ada");
    assert.equal(call.status, 0, call.stderr);
    return folder;
}
async function until(holds) {
    for (let i = 0; i < 1200 && !holds(); ++i) await pause(50);
    return holds();
}
const flushedText = (folder) => git(folder, "show", "refs/quire/main:a.txt");

test("quire flush commits at once and says what", { skip }, (t) => {
    const folder = edited(t, settings(3600));
    const flush = run(folder, "flush");
    assert.match(flush.stdout, /^refs\/quire\/main is now [0-9a-f]{40}, with 1 changed file:\n {2}a\.txt\n$/);
    assert.equal(flushedText(folder), "two\n");
    assert.match(git(folder, "log", "-1", "--format=%an|%B", "refs/quire/main"), /^agent:ada\|a\.txt[^]*Quire-Operation: agent:ada replace v2 a\.txt/);
    assert.match(run(folder, "flush").stdout, /Nothing to flush/);
    assert.deepEqual(JSON.parse(run(folder, "flush", "--json").stdout).files, []);
    assert.equal(git(folder, "status", "--porcelain", "a.txt"), "");
});

test("a silence commits by itself", { skip }, async (t) => {
    const folder = edited(t, settings(1));
    const client = spawnSync(quire, ["call", "block_list", "{}", "--workspace", folder]);
    assert.equal(client.status, 0);
    assert.ok(await until(() => flushedText(folder) === "two\n"));
});

test("a kernel that ends commits what is left", { skip }, (t) => {
    const folder = edited(t, settings(3600));
    assert.equal(run(folder, "stop").status, 0);
    assert.equal(flushedText(folder), "two\n");
});

test("the section holds from the moment it is written", { skip }, (t) => {
    const folder = edited(t, everythingAllowed);
    assert.equal(refusal(run(folder, "flush").stderr).reason, "no_git_ref");
    writeFileSync(join(folder, "quire.toml"), settings(3600));
    assert.match(run(folder, "flush").stdout, /1 changed file/);
});

test("outside of a repository it says so", { skip }, (t) => {
    const folder = edited(t, settings(3600));
    rmSync(join(folder, ".git"), { recursive: true });
    const error = refusal(run(folder, "flush").stderr);
    assert.deepEqual([error.code, error.reason], ["not_found", "no_repository"]);
});

test("quire export --git commits each version of each file to a new ref", { skip }, (t) => {
    const folder = edited(t, everythingAllowed);
    const first = run(folder, "export", "--git");
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stdout, /^refs\/quire\/history is now [0-9a-f]{40}: 2 commits of 1 file\.\n$/);
    assert.equal(git(folder, "log", "--reverse", "--format=%an %s", "refs/quire/history"), "source:disk a.txt: disk\nagent:ada a.txt: replace\n");
    assert.equal(git(folder, "show", "refs/quire/history:a.txt"), "two\n");
    assert.equal(run(folder, "export", "--git").status, 1);
    const other = run(folder, "export", "--git", "--ref", "refs/quire/again", "--json");
    assert.equal(JSON.parse(other.stdout).commits, 2, other.stderr);
    assert.equal(run(folder, "export").status, 2);
});
