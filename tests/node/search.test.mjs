// Searches over MCP: files that nobody has opened, memory, and the index that the next kernel reads.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { quire, skip, workspace } from "./support/workspace.mjs";

const settings = `
[[files.rules]]
pattern = "secret/**"
permission = "read_write"
operations_requiring_escalation = ["read"]

[[files.rules]]
pattern = "**"
permission = "admin"
`;

function put(folder, files) {
    for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
    }
}

function call(folder, tool, args, actor = "agent:ada") {
    const { status, stdout, stderr } = spawnSync(quire, ["call", tool, "-", "--workspace", folder, "--actor", actor],
        { encoding: "utf8", input: JSON.stringify(args), timeout: 60_000 });
    return status === 0 ? JSON.parse(stdout) : JSON.parse(stderr).error;
}

const places = (found) => found.blocks.map(({ path, matches }) => `${path}:${matches.map(({ line }) => line).join()}`).join(" ");

test("kernel_search looks into every file that the rules and ignore files let the caller see", { skip }, (t) => {
    const folder = workspace(t, {}, settings);
    put(folder, {
        ".gitignore": "build/\n*.log\n", "build/out.txt": "needle\n", "debug.log": "needle\n",
        "src/one.txt": "first\nsecond é needle\n", "src/two.txt": "nothing\n", "secret/key.txt": "needle\n",
        "binary": "needle\u0000\n",
    });
    symlinkSync("src/one.txt", join(folder, "link.txt"));

    const found = call(folder, "kernel_search", { query: "needle", mode: "literal" });
    assert.equal(places(found), "src/one.txt:1");
    assert.deepEqual(found.blocks[0].matches[0], { line: 1, content: "first\nsecond é needle", match_start: 9, match_end: 15 });
    assert.equal(found.truncated, false);
    assert.equal(found.searched.left, 0);
    // quire.toml, .gitignore and the two below src.
    assert.equal(found.searched.indexed + found.searched.scanned, 4);
    // The id that it prints is taken by other tools.
    assert.equal(call(folder, "block_read", { block_id: found.blocks[0].block_id, line_numbers: false }).content, "first\nsecond é needle\n");
    assert.match(call(folder, "kernel_search", { query: "needle", mode: "literal" }).blocks[0].block_id, /^b\d+$/);
    assert.equal(places(call(folder, "kernel_search", { query: "needle" }, "human:kay")), "secret/key.txt:0 src/one.txt:1");
    assert.equal(places(call(folder, "kernel_search", { query: "needle", path_prefix: "src/t" })), "");

    // A file that was written a moment ago, and one in a new folder.
    writeFileSync(join(folder, "src/two.txt"), "needle now\n");
    put(folder, { "new/deep/three.txt": "needle\n" });
    assert.equal(places(call(folder, "kernel_search", { query: "needle" })), "new/deep/three.txt:0 src/one.txt:1 src/two.txt:0");
});

test("kernel_search looks into memory where it is asked to, within the caller's rights", { skip }, (t) => {
    const folder = workspace(t, {}, settings);
    for (const [label, content, actor] of [["notes", "a needle in memory", "agent:ada"], ["own", "needle too", "agent:bob"]]) {
        const made = call(folder, "context", { operation: "create", label, type: "working", schema: "Text" }, actor);
        assert.equal(made.version, 1, JSON.stringify(made));
        const written = call(folder, "context", { operation: "set_text", label, content }, actor);
        assert.equal(written.version, 2, JSON.stringify(written));
    }

    const found = call(folder, "kernel_search", { query: "needle", kinds: ["memory"] });
    assert.deepEqual(found.blocks.map(({ label, owner, path }) => [label, owner, path]), [["notes", "agent:ada", null]]);
    assert.equal(call(folder, "block_read", { block_id: found.blocks[0].block_id }).content.includes("a needle in memory"), true);
    assert.equal(call(folder, "kernel_search", { query: "needle" }).blocks.length, 0);
    const refused = call(folder, "kernel_search", { query: "needle", kinds: ["mind"] });
    assert.equal(refused.code, "invalid_argument");
});

test("the index outlives the kernel, counts what it rules out, and is never believed when it is damaged", { skip }, async (t) => {
    const folder = workspace(t, {}, settings);
    put(folder, Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}.txt`, `text ${i}\n`])));
    await sleep(2200);  // The times of a file that has just been written prove nothing.
    const search = () => call(folder, "kernel_search", { query: "text 17", mode: "literal", max_blocks: 100 });
    const stop = () => assert.equal(spawnSync(quire, ["stop", "--workspace", folder], { timeout: 60_000 }).status, 0);

    assert.equal(places(search()), "f17.txt:0");
    stop();
    const index = join(folder, ".quire/search-index");
    assert.equal(statSync(index).mode & 0o777, 0o600);
    const { searched } = search();
    assert.ok(searched.indexed >= 45 && searched.scanned <= 6, JSON.stringify(searched));
    stop();
    writeFileSync(index, "QIREIX01 and nonsense");
    assert.equal(places(search()), "f17.txt:0");
    stop();
    assert.ok(existsSync(index));
});

test("quire search prints lines as people name their places", { skip }, (t) => {
    const folder = workspace(t, {}, settings);
    put(folder, { "src/one.txt": "first\nsecond needle, needle\n", "src/two.txt": "a [needle]\n", "three.txt": "needle\n" });
    call(folder, "context", { operation: "create", label: "notes", type: "working", schema: "Text" });
    call(folder, "context", { operation: "set_text", label: "notes", content: "a needle remembered" });
    const { block_id } = call(folder, "block_create", { role: "user", kind: "text", content: "hay\nneedle said\n" });
    const search = (words, cwd = folder) => {
        const { status, stdout, stderr } = spawnSync(quire, ["search", ...words], { cwd, encoding: "utf8", timeout: 60_000 });
        assert.equal(status, 0, stderr);
        return { lines: stdout.split("\n").filter(Boolean), stderr };
    };

    const memory = search(["needle", "--in", "memory"]).lines;
    assert.equal(memory.length, 1);
    assert.match(memory[0], /^memory:agent:ada\/notes:\d+:.*a needle remembered$/);
    assert.deepEqual(search(["needle"]).lines, ["src/one.txt:2:second needle, needle", "src/two.txt:1:a [needle]", "three.txt:1:needle", `${block_id}:2:needle said`, ...memory]);
    assert.deepEqual(search(["-F", "[needle]"]).lines, ["src/two.txt:1:a [needle]"]);
    assert.deepEqual(search(["needle", "src/"]).lines.map((line) => line.split(":")[0]), ["src/one.txt", "src/two.txt"]);
    assert.deepEqual(search(["needle", "t"], join(folder, "src")).lines, ["src/two.txt:1:a [needle]"]);
    assert.deepEqual(search(["needle", "--in", "files", "--in", "conversations"]).lines.length, 4);
    put(folder, { "odd\u001b[31m\nname": "straw\n" });
    assert.deepEqual(search(["straw"]).lines, ["odd\\u{1b}[31m\\u{a}name:1:straw"]);
    const none = search(["haystack"]);
    assert.deepEqual([none.lines, none.stderr], [[], "quire: nothing matches\n"]);
    assert.match(search(["needle", "--limit", "1"]).stderr, /there is more/);
    const { status, stderr } = spawnSync(quire, ["search", "(a"], { cwd: folder, encoding: "utf8", timeout: 60_000 });
    assert.deepEqual([status, JSON.parse(stderr).error.reason], [1, "invalid_regex"]);
});
