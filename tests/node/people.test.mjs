// The commands as people meet them: which workspace they take, who acts, and how they refuse.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { everythingAllowed, quire, refusal, skip, workspace } from "./support/workspace.mjs";

const person = `human:${userInfo().username}`;

function bare(t) {
    const folder = mkdtempSync(join(tmpdir(), "quire-people-"));
    t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    return folder;
}

function run(cwd, args, options = {}) {
    const { QUIRE_WORKSPACE, QUIRE_ACTOR, ...env } = process.env;
    return spawnSync(quire, args, { encoding: "utf8", timeout: 60_000, cwd, env: { ...env, ...options.env }, input: options.input });
}

// A command as it looks to a person at a terminal, both streams in one.
function atTerminal(cwd, line) {
    return spawnSync("script", ["-qec", line, "/dev/null"], { encoding: "utf8", timeout: 60_000, cwd, env: { ...process.env, TERM: "dumb" } });
}

function tree(folder) {
    return readdirSync(folder, { recursive: true }).sort();
}

test("quire alone prints the help", { skip }, () => {
    const { status, stdout } = run(tmpdir(), []);
    assert.equal(status, 0);
    assert.match(stdout, /First steps:/);
});

test("a command finds its workspace from any directory in it, and paths count from there", { skip }, (t) => {
    const folder = workspace(t, { "src/deep/a.txt": "one\n" });
    const deep = join(folder, "src/deep");
    assert.equal(run(folder, ["call", "file", '{"operation":"append","path":"src/deep/a.txt","content":"two\\n"}']).status, 0);
    assert.equal(JSON.parse(run(deep, ["status", "--json"]).stdout).workspace, folder);
    assert.equal(run(deep, ["cat", "a.txt"]).stdout, "one\ntwo\n");
    assert.equal(run(deep, ["cat", "../deep/a.txt"]).stdout, "one\ntwo\n");
    assert.equal(run(deep, ["cat", join(deep, "a.txt")]).stdout, "one\ntwo\n");
    assert.equal(run(deep, ["undo", "a.txt", "--actor", "agent:local"]).status, 0);
    assert.ok(!existsSync(join(deep, ".quire")));
    // --workspace and QUIRE_WORKSPACE mean exactly their directory.
    assert.equal(JSON.parse(run(deep, ["status", "--json", "--workspace", "."]).stdout).workspace, deep);
    assert.equal(JSON.parse(run(folder, ["status", "--json"], { env: { QUIRE_WORKSPACE: deep } }).stdout).workspace, deep);
    assert.equal(run(tmpdir(), ["cat", "src/deep/a.txt", "-w", folder]).stdout, "one\n");
});

test("a workspace that others may change is passed over, and status and doctor say so", { skip }, (t) => {
    const folder = bare(t);
    const mine = join(folder, "mine");
    mkdirSync(mine);
    writeFileSync(join(folder, "quire.toml"), "");
    chmodSync(folder, 0o777);
    const { stdout } = run(mine, ["status"]);
    assert.equal(stdout.split("passed over").length, 2);
    assert.ok(stdout.includes(`passed over ${join(folder, "quire.toml")}: others may write in ${folder}`), stdout);
    assert.equal(JSON.parse(run(mine, ["status", "--json"]).stdout).passed_over.length, 1);
    assert.match(run(mine, ["doctor"]).stdout, /warning +workspace +passed over/);
    assert.equal(run(mine, ["rules", "check"]).stderr, "");
});

test("people's commands act as the person, calls and agents' doors as agent:local", { skip }, (t) => {
    const folder = workspace(t);
    const create = (label, ...more) => run(folder, ["call", "context", JSON.stringify({ operation: "create", label, schema: "Text" }), ...more]);
    assert.equal(create("agents").status, 0);
    writeFileSync(join(folder, "notes.jsonl"), '{"type":"entity","name":"Ann","entityType":"person","observations":[]}\n');
    assert.equal(run(folder, ["import", "notes.jsonl", "--agent", "ada"]).status, 0);
    assert.equal(create("env", "--json").status, 0);
    assert.equal(run(folder, ["call", "context", '{"operation":"create","label":"named","schema":"Text"}'], { env: { QUIRE_ACTOR: "agent:bo" } }).status, 0);
    const actors = new Set(JSON.parse(run(folder, ["log", "--json"]).stdout).entries.map((entry) => entry.actor));
    assert.deepEqual([...actors].sort(), ["agent:bo", "agent:local", person].sort());
    const audited = run(folder, ["audit", "--json", "--all"]).stdout.trimEnd().split("\n").map((line) => JSON.parse(line).entry);
    assert.ok(audited.some((entry) => entry.actor === person && entry.tool === "import"));
});

test("a refusal is text at a terminal, and JSON in a pipe or with --json", { skip }, (t) => {
    const folder = workspace(t);
    const piped = run(folder, ["cat", "none.txt"]);
    assert.equal(piped.status, 1);
    const { code, reason, message } = refusal(piped.stderr);
    assert.deepEqual([code, reason], ["not_found", "file_not_found"]);
    const shown = atTerminal(folder, `'${quire}' cat none.txt`);
    assert.equal(shown.status, 1, shown.stdout);
    assert.equal(shown.stdout.trim(), `quire: ${message}`);
    assert.equal(refusal(atTerminal(folder, `'${quire}' cat none.txt --json`).stdout).reason, reason);
    assert.equal(refusal(atTerminal(folder, `'${quire}' call block_read '{"block_id":"b1_0_0"}'`).stdout).reason, "invalid_reference");
});

test("a file is no workspace, and neither is a directory that does not exist", { skip }, (t) => {
    const folder = bare(t);
    writeFileSync(join(folder, "file"), "");
    for (const command of [["status"], ["log"], ["init"], ["doctor"], ["rules", "check"], ["cat", "a"], ["serve"]]) {
        for (const [name, reason] of [["file", "not_a_directory"], ["none", "no_such_workspace"]]) {
            const { status, stderr } = run(folder, [...command, "-w", name]);
            assert.equal(status, 1, command.join(" "));
            assert.equal(refusal(stderr).reason, reason, command.join(" "));
        }
    }
    assert.deepEqual(tree(folder), ["file"]);
});

test("rules explain says who may do what with a path, and why", { skip }, (t) => {
    const folder = workspace(t, {}, '[[files.rules]]\npattern = "docs/**"\npermission = "human"\n[[files.rules]]\npattern = "log.txt"\npermission = "append"\n');
    const explain = (...args) => run(folder, ["rules", "explain", ...args]);
    const both = explain("docs/a.md");
    assert.equal(both.status, 0, both.stderr);
    assert.match(both.stdout, /^rule 1 \('docs\/\*\*', line 2 of quire\.toml\) makes docs\/a\.md human\n {2}agent:local\n {4}read +allow\n {4}create +escalate\n/);
    assert.match(both.stdout, new RegExp(`  ${person}\\n    read +allow\\n    create +allow\\n`));
    const one = JSON.parse(explain("log.txt", "--actor", "agent:ada", "--json").stdout);
    assert.deepEqual(one.actors, [{ actor: "agent:ada", operations: { read: "allow", create: "allow", append: "allow", overwrite: "deny", delete: "deny" } }]);
    assert.equal(one.permission, "append");
    assert.match(explain("quire.toml", "--actor", "agent:ada").stdout, /overwrite +deny/);
    assert.equal(explain().status, 2);
    assert.equal(explain("a", "--tool", "file", "--agent", "ada").status, 2);
    assert.ok(!existsSync(join(folder, ".quire")));
});

test("context render says that an agent does not exist", { skip }, (t) => {
    const folder = workspace(t, {}, "[agents.eve]\n");
    const render = (agent) => run(folder, ["context", "render", "--agent", agent]);
    const unknown = render("nobody");
    assert.equal(unknown.status, 1);
    assert.equal(refusal(unknown.stderr).reason, "unknown_agent");
    assert.equal(render("eve").status, 0);
    run(folder, ["call", "block_create", '{"role":"user","kind":"text"}', "--actor", "agent:ada"]);
    assert.equal(render("ada").status, 0);
});

test("the demo copies a directory with --copy, and takes no workspace", { skip }, (t) => {
    const folder = bare(t);
    const { status, stderr } = run(folder, ["demo", "--workspace", folder]);
    assert.equal(status, 2);
    assert.match(stderr, /--copy DIR/);
    assert.match(run(folder, ["demo", "--copy", folder]).stderr, /two text files/i);
});

test("commands that only look make nothing in a folder of which nothing is kept", { skip }, (t) => {
    for (const files of [{}, { "quire.toml": everythingAllowed + '[tools.mount.m]\ncommand = ["touch", "ran"]\n' }]) {
        const folder = bare(t);
        for (const [name, text] of Object.entries({ "a.txt": "one\ntwo\n", ...files })) writeFileSync(join(folder, name), text);
        const before = tree(folder);
        const answers = {
            "status": /No kernel runs/, "log": /^$/, "audit": /^$/, "audit verify": /entries/, "cat a.txt": /^one\ntwo\n$/, "doctor": /program/,
            "file list": /a\.txt/, "file read a.txt --range 2:2": /2\ttwo/, "file status": /No file/, "memory list": /No memory blocks/, "approvals list": /^$/,
            "sources": /^file /, "mounts": /^/, "rules check": /can be met/, "rules explain a.txt": /a\.txt/, "completion bash": /_quire/, "complete -- cat ": /files/,
            "memory search tea": /^/,
        };
        for (const [line, wanted] of Object.entries(answers)) {
            const { status, stdout, stderr } = run(folder, line.split(" "));
            assert.equal(status, 0, `${line}: ${stderr}`);
            assert.match(stdout, wanted, line);
        }
        for (const line of ["cat none.txt", "context render --agent ada", "memory view plan", "export --agent ada out", "mounts show none"]) {
            const { status, stderr } = run(folder, line.split(" "));
            assert.equal(status, 1, line);
            assert.ok(refusal(stderr).reason, line);
        }
        assert.deepEqual(tree(folder), before);
    }
});

test("quire file does for people what the tool file does for agents", { skip }, (t) => {
    const folder = workspace(t, { "src/a.txt": "one\ntwo\nthree\n" });
    const file = (...args) => run(join(folder, "src"), ["file", ...args]);
    assert.match(file("read", "a.txt").stdout, /1\tone\n2\ttwo\n3\tthree\n$/);
    assert.match(file("read", "a.txt", "--range", "2:3").stdout, /2\ttwo\n3\tthree\n$/);
    const appended = run(join(folder, "src"), ["file", "append", "a.txt", "-"], { input: "four\n" });
    assert.equal(appended.status, 0, appended.stderr);
    assert.match(appended.stdout, /^Done: appended to src\/a\.txt /);
    assert.equal(file("replace", "a.txt", "two", "TWO").status, 0);
    assert.equal(file("edit", "a.txt", '[{"op":"insert","line":0,"content":"top"}]').status, 0);
    assert.equal(file("save", "a.txt").status, 0);
    assert.equal(run(folder, ["cat", "src/a.txt"]).stdout, "top\none\nTWO\nthree\nfour\n");
    const status = JSON.parse(file("status", "a.txt", "--json").stdout);
    assert.equal(status.disk, "same");
    assert.ok(JSON.parse(file("list", "*.txt", "--json").stdout).files.length === 1);
    assert.equal(refusal(file("replace", "a.txt", "nothing", "x").stderr).reason, "no_match");
    assert.equal(file("read").status, 2);
    assert.equal(file("burn").status, 2);
    const { entries } = JSON.parse(run(folder, ["log", "--json"]).stdout);
    assert.ok(entries.some((entry) => entry.actor === person));
});

test("quire memory does for people what the tool context does for agents", { skip }, (t) => {
    const folder = workspace(t);
    const memory = (...args) => run(folder, ["memory", ...args]);
    const fields = '{"Map":{"fields":[{"name":"n","field_type":"Counter"},{"name":"title","field_type":"Text"},{"name":"tags","field_type":"List"}]}}';
    assert.equal(memory("create", "plan", "--schema", fields, "--description", "A plan", "--pinned").status, 0);
    assert.equal(memory("set_field", "plan", "title", "Tea at four").status, 0);
    assert.equal(memory("increment_counter", "plan", "n", "-2").status, 0);
    assert.equal(memory("append_to_list", "plan", "green", "--field", "tags").status, 0);
    const { value } = JSON.parse(memory("view", "plan", "--json").stdout);
    assert.deepEqual(value, { n: -2, title: "Tea at four", tags: ["green"] });
    assert.match(memory("view", "plan").stdout, /Tea at four/);
    assert.match(memory("list", "--type", "working").stdout, /plan/);
    assert.match(memory("search", "tea", "--types", "core,working").stdout, /plan/);
    assert.match(memory("history", "plan").stdout, new RegExp(person));
    assert.equal(memory("undo", "plan").status, 0);
    assert.equal(memory("list", "--type", "none").status, 2);
    assert.equal(refusal(memory("increment_counter", "plan", "n", "x").stderr).reason, "invalid_arguments");
    // What an agent wrote cannot command a terminal.
    run(folder, ["call", "context", JSON.stringify({ operation: "create", label: "evil", schema: "Text" }), "--actor", "agent:eve"]);
    run(folder, ["call", "context", JSON.stringify({ operation: "append", label: "evil", content: "a\u001b[2Jb" }), "--actor", "agent:eve"]);
    assert.ok(memory("view", "evil").stdout.includes("a\\u{1b}[2Jb"));
});

test("completion knows tools, operations, labels, ids and actors", { skip }, (t) => {
    const folder = workspace(t, { "a.txt": "one\n" });
    run(folder, ["call", "context", JSON.stringify({ operation: "create", label: "plan", schema: "Text" }), "--actor", "agent:ada"]);
    const { block_id } = JSON.parse(run(folder, ["call", "file", '{"operation":"load","path":"a.txt"}', "--actor", "agent:bo"]).stdout);
    const at = (...words) => run(folder, ["complete", "--", ...words]).stdout.trimEnd().split("\n").map((line) => line.split("\t")[0]);
    assert.ok(at("call", "fi").includes("file"));
    assert.ok(at("rules", "explain", "--tool", "file", "--operation", "re").includes("read"));
    assert.deepEqual(at("memory", "vie"), ["view"]);
    assert.deepEqual(at("memory", "view", ""), ["plan"]);
    assert.deepEqual(at("edit", "pl"), ["plan"]);
    assert.ok(at("undo", "b").includes(block_id));
    assert.deepEqual(at("log", "--actor", "agent:a"), ["agent:ada"]);
    assert.deepEqual(at("context", "render", "--agent", "ad"), ["ada"]);
    assert.deepEqual(at("--actor", "log", "stat"), ["status"]);
    assert.deepEqual(at("init", "--agent", "cu"), ["cursor"]);
    const bash = (line) => {
        const script = `source <('${quire}' completion bash); COMP_WORDBREAKS=$' \\t\\n"=:'; COMP_LINE="$1"; COMP_POINT=\${#1}; _quire '${quire}' "" ""; printf '%s\\n' "\${COMPREPLY[@]}"`;
        return spawnSync("bash", ["-c", script, "bash", line], { encoding: "utf8", cwd: folder, timeout: 60_000 }).stdout.trimEnd().split("\n");
    };
    assert.deepEqual(bash("quire stat"), ["status"]);
    assert.deepEqual(bash("quire log --actor agent:a"), ["ada"]);
    assert.deepEqual(bash("quire memory view pl"), ["plan"]);
});

// Each gives the values that the shell would offer for a line, by the script that quire prints for it. zsh's own
// functions that draw them are replaced by such that print them.
const shells = {
    zsh(folder, words) {
        const script = `compdef() { :; }; _describe() { print -rl -- "\${(@P)2}"; }; _files() { print -r -- ":files"; }
            source <('${quire}' completion zsh); words=('${quire}' "$@"); CURRENT=$#words; _quire`;
        const { stdout } = spawnSync("zsh", ["-f", "-c", script, "zsh", ...words], { encoding: "utf8", cwd: folder, timeout: 60_000 });
        return stdout.trimEnd().split("\n").map((line) => line.replaceAll("\\:", "\0").split(":")[0].replaceAll("\0", ":"));
    },
    fish(folder, words) {
        const script = `'${quire}' completion fish | source; complete -C "$argv"`;
        const env = { ...process.env, PATH: `${dirname(quire)}:${process.env.PATH}`, HOME: folder };
        const { stdout } = spawnSync("fish", ["-N", "-c", script, ["quire", ...words].join(" ")], { encoding: "utf8", cwd: folder, env, timeout: 60_000 });
        return stdout.trimEnd().split("\n").map((line) => line.split("\t")[0]);
    },
};

for (const [shell, offered] of Object.entries(shells)) {
    const absent = spawnSync(shell, ["-c", "true"]).error !== undefined && `${shell} is not installed`;
    test(`${shell} offers commands, tools, labels and actors`, { skip: skip || absent }, (t) => {
        const folder = workspace(t, { "notes.txt": "x" });
        run(folder, ["call", "context", JSON.stringify({ operation: "create", label: "plan", schema: "Text" }), "--actor", "agent:ada"]);

        assert.deepEqual(offered(folder, ["stat"]), ["status"]);
        assert.ok(offered(folder, ["call", "block_"]).includes("block_append"));
        assert.deepEqual(offered(folder, ["memory", "view", "pl"]), ["plan"]);
        assert.deepEqual(offered(folder, ["log", "--actor", "agent:a"]), ["agent:ada"]);
    });
}
