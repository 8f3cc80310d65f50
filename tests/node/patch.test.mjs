// Patches that git writes, over many files at once, applied to a workspace: it then has the bytes that git has.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { randomness } from "./support/random.mjs";
import { seeds } from "./support/seeds.mjs";
import { quire, skip, workspace } from "./support/workspace.mjs";

const settings = '[files]\nsave = "on_commit"\n\n[[files.rules]]\npattern = "**"\npermission = "admin"\n';
const { base, count } = seeds(1, { usual: 8, long: 200 });
const noGit = spawnSync("git", ["--version"]).status === 0 ? false : "git is needed";

function git(folder, ...args) {
    const { status, stdout, stderr } = spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args],
        { cwd: folder, encoding: "utf8", maxBuffer: 1 << 26 });
    assert.equal(status, 0, stderr);
    return stdout;
}

function filesOf(folder) {
    const out = {};
    for (const path of readdirSync(folder, { recursive: true })) {
        if (/^\.(git|quire)(\/|$)/.test(path) || path === "quire.toml" || statSync(join(folder, path)).isDirectory()) continue;
        out[path] = readFileSync(join(folder, path), "utf8");
    }
    return out;
}

function call(folder, tool, args) {
    const { status, stdout, stderr } = spawnSync(quire, ["call", tool, "-", "--workspace", folder],
        { encoding: "utf8", input: JSON.stringify(args), timeout: 60_000 });
    return status === 0 ? JSON.parse(stdout) : JSON.parse(stderr).error;
}

// Lines with many repetitions, in some files with other line ends, in some without a final newline.
function someText(random, end) {
    let text = "";
    for (let i = random(40); i >= 0; --i) text += `${" ".repeat(random(3))}word ${random(9)}${end}`;
    return random(4) === 0 ? text.slice(0, text.length - end.length) : text;
}

function edited(random, text) {
    const lines = text.split(/(?<=\n)/);
    for (let i = random(3); i >= 0; --i) {
        const at = random(lines.length + 1);
        lines.splice(at, random(3), ...Array.from({ length: random(3) }, () => `new ${random(99)}\n`));
    }
    return lines.join("");
}

test("a workspace takes what git tells of many files", { skip: skip || noGit }, (t) => {
    const names = ["a.txt", "d/b.txt", "d/e/c d.txt", "ä.txt", 'q"uote.txt', "-dash", "d/g", "h"];
    for (let seed = base; seed < base + count; ++seed) {
        t.diagnostic(`SEED=${seed}`);
        const random = randomness(seed);
        const folder = mkdtempSync(join(tmpdir(), "quire-git-"));
        t.after(() => rmSync(folder, { recursive: true, force: true }));
        const before = Object.fromEntries(names.filter(() => random(4) > 0)
            .map((name) => [name, someText(random, random(4) === 0 ? "\r\n" : "\n")]));
        git(folder, "init", "-q");
        for (const [path, text] of Object.entries(before)) {
            mkdirSync(dirname(join(folder, path)), { recursive: true });
            writeFileSync(join(folder, path), text);
        }
        git(folder, "add", "-A");
        git(folder, "commit", "-q", "--allow-empty", "-m", "before");
        for (const [path, text] of Object.entries(before)) {
            const what = random(5);
            if (what === 0) rmSync(join(folder, path));
            if (what === 1) {
                rmSync(join(folder, path));
                mkdirSync(join(folder, "moved"), { recursive: true });
                writeFileSync(join(folder, "moved", path.replaceAll("/", "_")), random(2) === 0 ? text : edited(random, text));
            }
            if (what > 2) writeFileSync(join(folder, path), edited(random, text));
        }
        writeFileSync(join(folder, "made"), someText(random, "\n"));
        git(folder, "add", "-A");
        const patch = git(folder, "diff", "-M", "--cached", `-U${1 + random(3)}`, "HEAD");

        const there = workspace(t, before, settings);
        const dry = call(there, "block_apply_patch", { patch, dry_run: true });
        assert.equal(dry.success, true, `${JSON.stringify(dry)}\n${patch}`);
        assert.deepEqual(filesOf(there), before);
        const done = call(there, "block_apply_patch", { patch });
        assert.equal(done.success, true, `${JSON.stringify(done)}\n${patch}`);
        assert.equal(done.diff, dry.diff);
        assert.deepEqual(filesOf(there), filesOf(folder), patch);

        // Once more it finds nothing to patch, and changes nothing.
        assert.ok(call(there, "block_apply_patch", { patch }).reason, patch);
        assert.deepEqual(filesOf(there), filesOf(folder), patch);
    }
});

test("a patch on standard input is for the file that is named", { skip }, (t) => {
    const folder = workspace(t, { "d/f": "one\ntwo\n" }, settings);
    const { status, stdout } = spawnSync(quire, ["file", "patch", "f", "-"],
        { cwd: join(folder, "d"), encoding: "utf8", input: "--- x\n+++ x\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", timeout: 60_000 });
    assert.equal(status, 0, stdout);
    assert.equal(readFileSync(join(folder, "d/f"), "utf8"), "one\n2\n");
});
