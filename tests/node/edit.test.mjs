// quire edit: a person's editor on a memory block. The editor is a script here.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { quire, skip, workspace } from "./support/workspace.mjs";

const profile = { Map: { fields: [
    { name: "name", field_type: "Text", description: "In full" },
    { name: "level", field_type: "Number", default: 5 },
    { name: "origin", field_type: "Text", read_only: true },
    { name: "tags", field_type: "List" },
    { name: "bio", field_type: "Text" },
] } };

function setUp(t) {
    const folder = workspace(t);
    const run = (args, { editor, ...more } = {}) => spawnSync(quire, [...args, "--workspace", folder], {
        encoding: "utf8", timeout: 60_000,
        env: { ...process.env, VISUAL: "", EDITOR: editor ?? "false", TMPDIR: folder }, ...more,
    });
    const context = (args, actor = "agent:ada") => {
        const { status, stdout, stderr } = run(["call", "context", JSON.stringify(args), "--actor", actor]);
        assert.equal(status, 0, stderr);
        return JSON.parse(stdout);
    };
    const value = (label) => context({ operation: "view", label }).value;
    // An editor that runs the commands with the file as $1.
    const script = (name, commands) => {
        const path = join(folder, name);
        writeFileSync(path, `#!/bin/sh\nset -e\n${commands}\n`, { mode: 0o755 });
        return path;
    };
    const edit = (label, editor, ...more) => run(["edit", label, "--actor", "human:tom", ...more], { editor });
    return { folder, run, context, value, script, edit };
}

const keptIn = (stderr) => stderr.match(/What you edited is in (\S+);/)?.[1];

test("what a person changes is written as theirs, and nothing else", { skip }, (t) => {
    const { context, value, script, edit, run } = setUp(t);
    context({ operation: "create", label: "profile", schema: profile, description: "Who we work for" });
    context({ operation: "set_field", label: "profile", field: "origin", value: "web" }, "source:crm");
    context({ operation: "set_field", label: "profile", field: "bio", value: "one\ntwo\n" });

    const made = edit("profile", script("ed", `
grep -q '^# Who we work for$' "$1"
grep -q '^# origin = "web"$' "$1"
sed -i -e 's/^# name =.*/name = "Alice"/' -e 's/^two$/2 "quoted"/' -e 's/^# tags =.*/tags = ["a", 1, 1.0]/' "$1"`));
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stdout, /profile is now at version 4\./);
    assert.deepEqual(value("profile"), { name: "Alice", level: 5, origin: "web", tags: ["a", 1, 1], bio: "one\n2 \"quoted\"\n" });
    assert.equal(context({ operation: "history", label: "profile" }).versions[0].actor, "human:tom");

    const printed = run(["edit", "profile", "--print", "--actor", "human:tom"]);
    assert.match(printed.stdout, /\ntags = \["a", 1, 1\.0\]\n/);
    assert.match(printed.stdout, /\nbio = """\none\n2 "quoted"\n"""\n/);

    const left = edit("profile", "true", "--json");
    assert.equal(JSON.parse(left.stdout).changed, false);
    assert.equal(context({ operation: "view", label: "profile" }).version, 4);
    assert.equal(context({ operation: "undo", label: "profile" }, "human:tom").version, 5);
    assert.equal(value("profile").name, undefined);
});

test("a text is edited as it is, with and without its last newline", { skip }, (t) => {
    const { context, value, script, edit } = setUp(t);
    for (const [label, content] of [["bare", "a"], ["ended", "a\n"]]) {
        context({ operation: "create", label, schema: "Text" });
        context({ operation: "append", label, content });
        assert.equal(edit(label, script("ed", `printf 'b\\n' >> "$1"`)).status, 0);
    }
    assert.equal(value("bare"), "a\nb");
    assert.equal(value("ended"), "a\nb\n");
});

test("what an agent writes while the editor is open stays", { skip }, async (t) => {
    const { folder, context, value, script } = setUp(t);
    context({ operation: "create", label: "profile", schema: profile });
    const go = join(folder, "go");
    const open = join(folder, "open");
    const editor = script("ed", `sed -i 's/^level = 5/level = 6/; s/^# name =.*/name = "Tom"/' "$1"; touch ${open}; while [ ! -e ${go} ]; do sleep 0.02; done`);
    const child = spawn(quire, ["edit", "profile", "--actor", "human:tom", "--workspace", folder], {
        stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, VISUAL: "", EDITOR: editor },
    });
    let out = "";
    child.stdout.on("data", (data) => (out += data));
    for (let waited = 0; !existsSync(open); waited++) {
        assert.ok(waited < 3000, "the editor was not started");
        await new Promise((done) => setTimeout(done, 10));
    }
    context({ operation: "append_to_list", label: "profile", field: "tags", item: "new" });
    context({ operation: "set_field", label: "profile", field: "name", value: "Ada" });
    writeFileSync(go, "");
    const status = await new Promise((done) => child.on("close", done));

    assert.equal(status, 0);
    assert.match(out, /profile is now at version 4\.\nOthers changed it while you did, since version 1/);
    assert.match(out, /Others changed name too/);
    assert.doesNotMatch(out, /level/);
    assert.deepEqual(value("profile"), { name: "Tom", level: 6, tags: ["new"] });
});

test("what cannot be read or written is kept in a file, and gone on with", { skip }, (t) => {
    const { context, value, script, edit } = setUp(t);
    context({ operation: "create", label: "profile", schema: profile });

    const torn = edit("profile", script("ed", `sed -i 's/^level = 5/level = 6\\nlevel = [/' "$1"`));
    assert.equal(torn.status, 1);
    assert.match(torn.stderr, /line \d+: it is not TOML/);
    const path = keptIn(torn.stderr);
    assert.match(readFileSync(path, "utf8"), /^level = 6$/m);
    assert.deepEqual(value("profile"), { level: 5 });

    // An agent goes on meanwhile; the file is still held against what the person was shown.
    context({ operation: "set_field", label: "profile", field: "name", value: "Ada" });
    const mended = edit("profile", script("mend", `sed -i '/^level = \\[/d' "$1"`), "--from", path);
    assert.equal(mended.status, 0, mended.stderr);
    assert.deepEqual(value("profile"), { name: "Ada", level: 6 });

    for (const [change, why] of [
        [`echo 'origin = "me"' >> "$1"`, /Field 'origin' is read-only and cannot be modified by agent/],
        [`echo 'levle = 1' >> "$1"`, /line \d+: there is no field 'levle'; there are name, level/],
        [`sed -i 's/^level = 6/level = "high"/' "$1"`, /line \d+: level: Schema mismatch: expected Number, got string/],
        [`echo 'x' >> "$1"; exit 3`, /ended with status 3/],
    ]) {
        const refused = edit("profile", script("ed", change));
        assert.equal(refused.status, 1);
        assert.match(refused.stderr, why);
        assert.match(refused.stderr, /nothing of it was written/);
        assert.ok(existsSync(keptIn(refused.stderr)));
    }
    assert.deepEqual(value("profile"), { name: "Ada", level: 6 });
});

test("entries of a log are added and never changed", { skip }, (t) => {
    const { context, value, script, edit } = setUp(t);
    context({ operation: "create", label: "log", schema: "Log" });
    context({ operation: "append", label: "log", content: "woke" });
    const added = edit("log", script("ed", `printf '\\n[[entries]]\\nmessage = "slept"\\n' >> "$1"`));
    assert.equal(added.status, 0, added.stderr);
    assert.deepEqual(value("log").map((entry) => [entry.agent_id, entry.message]), [["ada", "woke"], ["human:tom", "slept"]]);
    const changed = edit("log", script("ed", `sed -i 's/woke/died/' "$1"`));
    assert.equal(changed.status, 1);
    assert.match(changed.stderr, /neither changed nor taken out/);
});

test("only people edit, and blocks that are there", { skip }, (t) => {
    const { context, run, edit } = setUp(t);
    context({ operation: "create", label: "profile", schema: profile });
    const agent = run(["edit", "profile", "--actor", "agent:eve"], { editor: "true" });
    assert.equal(agent.status, 2);
    assert.match(agent.stderr, /--actor human:NAME/);
    assert.match(edit("nothing", "true").stderr, /there is no memory block 'nothing'/);
    assert.match(edit("profile", "no-such-editor").stderr, /was not found; set VISUAL or EDITOR/);
    assert.equal(edit("profile", "true", "--from", "/nonexistent/file").status, 1);
});

test("at a terminal the editor opens again on what was refused", { skip: skip || !existsSync("/usr/bin/script") && "there is no script(1)" }, (t) => {
    const { folder, context, value, script } = setUp(t);
    context({ operation: "create", label: "profile", schema: profile });
    const editor = script("ed", `if [ -e ${folder}/again ]; then sed -i 's/^level = high/level = 7/' "$1"; else touch ${folder}/again; sed -i 's/^level = 5/level = high/' "$1"; fi`);
    const ran = spawnSync("script", ["-qec", `${quire} edit profile --actor human:tom --workspace ${folder}`, "/dev/null"], {
        encoding: "utf8", timeout: 60_000, input: "\n\n", env: { ...process.env, VISUAL: "", EDITOR: editor, TMPDIR: folder },
    });
    assert.match(ran.stdout, /line \d+: it is not TOML[^]*Press Enter to go on editing[^]*profile is now at version 2/);
    assert.deepEqual(value("profile"), { level: 7 });
});
