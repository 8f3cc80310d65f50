// The commands as a person or a script uses them: what they print, where, and with which exit code.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { quire, skip, workspace } from "./support/workspace.mjs";

function run(args, options = {}) {
    return spawnSync(quire, args, { encoding: "utf8", timeout: 60_000, ...options });
}

function bare(t) {
    const folder = mkdtempSync(join(tmpdir(), "quire-cli-"));
    t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    return folder;
}

function call(folder, tool, args, ...more) {
    return run(["call", tool, JSON.stringify(args), "--workspace", folder, ...more]);
}

test("--version prints name, version and commit", { skip }, () => {
    const { status, stdout } = run(["--version"]);
    assert.equal(status, 0);
    assert.match(stdout, /^quire \d+\.\d+\.\d+ \(\w+\)\n$/);
});

test("every command has help with an example", { skip }, () => {
    for (const command of ["init", "mcp", "serve", "call", "cat", "edit", "export", "import", "context", "approvals", "log", "blame", "diff", "audit", "undo", "rollback", "status", "demo", "doctor", "engine", "completion"]) {
        const { status, stdout } = run([command, "--help"]);
        assert.equal(status, 0, command);
        assert.match(stdout, /Example:\n {2}\S/, command);
    }
});

test("wrong usage is exit code 2 and says what is wrong", { skip }, () => {
    for (const [args, word] of [[["frobnicate"], /frobnicate/], [["call"], /tool/i], [["log", "--limit", "x"], /limit/],
                                [["status", "--actor", "nobody"], /nobody/], [["status", "--profile", "none"], /none/]]) {
        const { status, stderr } = run(args);
        assert.equal(status, 2, args.join(" "));
        assert.match(stderr, word);
    }
});

test("context render prints core memory, pinned working memory and the rules, within a budget", { skip }, (t) => {
    const folder = workspace(t);
    writeFileSync(join(folder, "quire.toml"), `[[tools.rules]]
tool = "file"
type = "allowed_operations"
value = ["list", "read"]
[[agents.ada.tools.rules]]
tool = "*"
type = "max_calls"
value = 20
`);
    const ada = ["--actor", "agent:ada"];
    for (const [label, more] of [["self", { type: "core" }], ["plan", { pinned: true }], ["loose", {}], ["old", { type: "archival" }]]) {
        assert.equal(call(folder, "context", { operation: "create", label, schema: "Text", ...more }, ...ada).status, 0);
        assert.equal(call(folder, "context", { operation: "append", label, content: `This is ${label}.` }, ...ada).status, 0);
    }
    assert.equal(call(folder, "context", { operation: "create", label: "hers", schema: "Text", type: "core" }, "--actor", "agent:bo").status, 0);
    const render = (...args) => run(["context", "render", "--workspace", folder, "--agent", "ada", ...args]);

    const whole = render();
    assert.equal(whole.status, 0, whole.stderr);
    assert.equal(whole.stdout, `<block:self permission="Read, Append, Write">
This is self.
</block:self>

<block:plan permission="Read, Append, Write">
This is plan.
</block:plan>

# Rules for tools
- Available operations for \`file\`: list, read.
- Call any one tool at most 20 times per session.
`);
    const { tokens } = JSON.parse(render("--json").stdout);
    assert.equal(tokens, Math.ceil(whole.stdout.length / 4));
    assert.equal(render("--budget", String(tokens)).stdout, whole.stdout);

    const first = whole.stdout.slice(0, whole.stdout.indexOf("\n\n<block:plan") + 1);
    const less = render("--budget", String(Math.ceil(first.length / 4)));
    assert.equal(less.status, 0);
    assert.equal(less.stdout, first);
    assert.match(less.stderr, /left out, over the budget: plan/);
    assert.match(less.stderr, /left out, over the budget: rules for tools/);
    assert.equal(JSON.parse(render("--json", "--budget", "1").stdout).left_out.length, 3);
    assert.equal(run(["context", "render", "--workspace", folder]).status, 2);
    assert.equal(render("--budget", "0").status, 2);
});

test("over the budget, what the fields are for is left out before any block is", { skip }, (t) => {
    const folder = workspace(t);
    const ada = ["--actor", "agent:ada"];
    assert.equal(call(folder, "context", { operation: "create", label: "human", template: "partner_profile", type: "core" }, ...ada).status, 0);
    const render = (...args) => run(["context", "render", "--workspace", folder, "--agent", "ada", ...args]);
    const whole = render().stdout;
    assert.match(whole, /\n<!-- name: What to call them; .*; last_interaction: When you last spoke -->\n/);
    const brief = whole.replace(/<!-- name: .* -->\n/, "");
    const less = render("--budget", String(Math.ceil(whole.length / 4) - 1));
    assert.equal(less.stdout, brief);
    assert.equal(less.stderr, "");
    assert.equal(render("--budget", String(Math.ceil(brief.length / 4))).stdout, brief);
    assert.equal(render("--budget", String(Math.ceil(brief.length / 4) - 1)).stdout, "");
});

test("rules says the rules in words, what is wrong with them, and what a call would get", { skip }, (t) => {
    const folder = bare(t);
    const rules = (...args) => run(["rules", args[0], "--workspace", folder, ...args.slice(1)]);
    const ada = ["--agent", "ada"];
    assert.equal(rules("check").status, 0);
    writeFileSync(join(folder, "quire.toml"), `[[tools.rules]]
tool = "file"
type = "allowed_operations"
value = ["read", "list"]
metadata = { why = "careful" }
[[tools.rules]]
tool = "shell"
type = "max_calls"
value = 20
per = "persistent"
[[agents.ada.tools.rules]]
tool = "context"
type = "start_constraint"
`);
    assert.equal(rules("describe", ...ada).stdout, `Begin with \`context\`: until it has succeeded, no other tool may be called.
Available operations for \`file\`: list, read.
Call \`shell\` at most 20 times ever.
`);
    assert.equal(rules("describe", "--agent", "bo").stdout.split("\n").length, 3);
    const [first, second] = JSON.parse(rules("describe", ...ada, "--json").stdout).rules;
    assert.deepEqual([first.level, first.line, second.metadata], ["own", 11, { why: "careful" }]);

    const met = rules("check");
    assert.equal(met.status, 0);
    assert.match(met.stdout, /can be met/);

    const refused = rules("explain", ...ada, "--tool", "file", "--operation", "edit");
    assert.equal(refused.status, 0, refused.stderr);
    assert.match(refused.stdout, /^refused \(operation_not_allowed\): Operation 'edit' not allowed.*\n {2}refuses {2}start_constraint for `context` \(quire\.toml line 11\): .*\n {2}refuses {2}allowed_operations/);
    assert.match(rules("explain", ...ada, "--tool", "file", "--operation", "read").stdout, /^refused \(start_constraints_not_met\): .*Call `context` next\.\n/);
    assert.match(rules("explain", "--agent", "bo", "--tool", "file", "--operation", "read").stdout, /^allowed\n {2}holds/);
    const asJson = JSON.parse(rules("explain", "--agent", "bo", "--tool", "file", "--operation", "edit", "--json").stdout);
    assert.equal(asJson.decision, "deny");
    assert.equal(asJson.error.message, "Operation 'edit' not allowed for tool 'file'. Allowed operations: list, read");
    assert.equal(rules("explain", "--agent", "bo", "--tool", "fly").status, 1);
    // As calls are written, and nothing that no call of an agent could be.
    assert.match(rules("explain", ...ada, "--tool", "file.read").stdout, /^refused \(start_constraints_not_met\): .*Call `context` next\./);
    assert.match(rules("explain", "--agent", "bo", "--tool", "file.read").stdout, /^allowed\n/);
    assert.match(rules("explain", "--agent", "bo", "--tool", "block.edit").stdout, /^allowed\n/);
    for (const [call, message] of [
        [["shell", "--operation", "burn"], /`shell` has no operation 'burn'; it has: execute, check, spawn/],
        [["approvals", "--operation", "list"], /no agent may call it: `approvals` is only for people/],
        [["file", "--operation", "burn"], /`file` has no operation 'burn'; it has: list, read, /],
        [["file.burn"], /`file` has no operation 'burn'/],
        [["block_read", "--operation", "read"], /`block_read` has no operations; leave out --operation/],
    ]) {
        const { status, stdout, stderr } = rules("explain", "--agent", "bo", "--tool", ...call);
        assert.equal(status, 1, call.join(" "));
        assert.equal(stdout, "");
        assert.match(stderr, message);
    }

    writeFileSync(join(folder, "quire.toml"), `[[tools.rules]]
tool = "file"
type = "exit_loop"
[[agents.ada.tools.rules]]
tool = "file"
type = "max_calls"
value = 0
`);
    const wrong = rules("check", "--json");
    assert.equal(wrong.status, 1);
    const [error] = JSON.parse(wrong.stdout).errors;
    assert.deepEqual([error.kind, error.agent, error.lines], ["never_ends", "ada", [1, 4]]);

    writeFileSync(join(folder, "quire.toml"), "[[tools.rules]]\ntool = \"fil\"\ntype = \"needed\"\n");
    assert.equal(rules("check").status, 1);
    assert.match(rules("check").stderr, /quire\.toml:2: unknown tool 'fil', expected one of: \*, context, file/);
    assert.equal(run(["rules"]).status, 2);
    assert.equal(run(["rules", "describe", "--workspace", folder]).status, 2);
});

test("init --json says what a client needs to know, and nothing else", { skip }, (t) => {
    const folder = bare(t);
    const first = run(["init", "--json", "--workspace", folder]);
    assert.equal(first.status, 0, first.stderr);
    const made = JSON.parse(first.stdout);
    assert.equal(made.config, join(folder, "quire.toml"));
    assert.deepEqual(made.mcpServers.quire.args, ["mcp", "--workspace", folder]);
    assert.ok(existsSync(made.mcpServers.quire.command));

    assert.equal(made.written, true);
    const second = run(["init", "--json", "--workspace", folder]);
    assert.equal(second.status, 0);
    assert.equal(JSON.parse(second.stdout).written, false);
});

test("a call prints its structured result, and a refusal its error on standard error", { skip }, (t) => {
    const folder = workspace(t);
    const made = call(folder, "block_create", { role: "user", kind: "text", content: "a\n" });
    assert.equal(made.status, 0, made.stderr);
    const { block_id } = JSON.parse(made.stdout);

    const refused = call(folder, "block_read", { block_id: "nothing" });
    assert.equal(refused.status, 1);
    assert.equal(refused.stdout, "");
    assert.equal(JSON.parse(refused.stderr).error.reason, "invalid_reference");

    const unreadable = run(["call", "block_read", "{", "--workspace", folder]);
    assert.equal(unreadable.status, 1);
    assert.equal(JSON.parse(unreadable.stderr).error.reason, "invalid_json");

    const piped = run(["call", "block_read", "-", "--workspace", folder], { input: JSON.stringify({ block_id }) });
    assert.equal(piped.status, 0, piped.stderr);
});

test("the state directory is private and keeps itself out of version control", { skip }, (t) => {
    const folder = workspace(t);
    call(folder, "block_list", {});
    assert.equal(statSync(join(folder, ".quire")).mode & 0o777, 0o700);
    assert.equal(readFileSync(join(folder, ".quire/.gitignore"), "utf8"), "*\n");
});

test("cat, log and undo tell a block's story by actor", { skip }, (t) => {
    const folder = workspace(t);
    const as = (actor) => ["--actor", actor];
    const { block_id } = JSON.parse(call(folder, "block_create", { role: "user", kind: "text", content: "one\n" }).stdout);
    assert.equal(call(folder, "block_append", { block_id, text: "ada\n" }, ...as("agent:ada")).status, 0);
    assert.equal(call(folder, "block_append", { block_id, text: "bo\n" }, ...as("agent:bo")).status, 0);
    assert.equal(run(["cat", block_id, "--workspace", folder]).stdout, "one\nada\nbo\n");

    const log = JSON.parse(run(["log", "--json", "--actor", "agent:ada", "--workspace", folder]).stdout);
    assert.deepEqual(log.entries.map((entry) => entry.actor), ["agent:ada"]);

    const undone = run(["undo", block_id, "--workspace", folder, ...as("agent:ada")]);
    assert.equal(undone.status, 0, undone.stderr);
    assert.equal(run(["cat", block_id, "--workspace", folder]).stdout, "one\nbo\n");
    assert.equal(run(["undo", block_id, "--workspace", folder, ...as("agent:eve")]).status, 1);
    assert.equal(run(["undo", block_id, "--redo", "--workspace", folder, ...as("agent:ada")]).status, 0);
    assert.equal(run(["cat", block_id, "--workspace", folder]).stdout, "one\nada\nbo\n");
});

test("undo takes a file by its path", { skip }, (t) => {
    const folder = workspace(t, { "src/a.txt": "one\n" });
    assert.equal(call(folder, "file", { operation: "append", path: "src/a.txt", content: "two\n" }, "--actor", "agent:ada").status, 0);
    assert.equal(run(["cat", "src/a.txt", "--workspace", folder]).stdout, "one\ntwo\n");
    const undone = run(["undo", "src/a.txt", "--workspace", folder, "--actor", "agent:ada"]);
    assert.equal(undone.status, 0, undone.stderr);
    assert.match(undone.stdout, /^Undone in src\/a\.txt/);
    assert.equal(run(["cat", "src/a.txt", "--workspace", folder]).stdout, "one\n");
    assert.match(run(["undo", "src/b.txt", "--workspace", folder]).stderr, /no file src\/b\.txt/);
});

test("cat prints the whole file as the workspace has it", { skip }, (t) => {
    const long = "x".repeat(5000) + "\n" + "line\n".repeat(3000);
    const folder = workspace(t, { "long.txt": long });
    assert.equal(run(["cat", "long.txt", "--workspace", folder]).stdout, long);
    assert.equal(run(["cat", "missing.txt", "--workspace", folder]).status, 1);
});

test("status makes nothing, and tells of a kernel that runs", { skip }, (t) => {
    const folder = bare(t);
    const before = run(["status", "--json", "--workspace", folder]);
    assert.equal(before.status, 0);
    assert.equal(JSON.parse(before.stdout).running, false);
    assert.ok(!existsSync(join(folder, ".quire")));

    call(folder, "block_create", { role: "user", kind: "text" });
    const after = JSON.parse(run(["status", "--json", "--workspace", folder]).stdout);
    assert.equal(after.running, true);
    assert.equal(after.documents, 1);
    assert.equal(after.sessions, 0);
    assert.ok(after.pid > 0 && after.store_bytes > 0);
});

test("serve refuses what it does not do", { skip }, (t) => {
    const folder = workspace(t);
    const { status, stderr } = run(["serve", "--listen", "127.0.0.1:0", "--workspace", folder]);
    assert.equal(status, 1);
    assert.match(stderr, /HTTP/);
});

test("completion prints scripts that their shells read", { skip }, () => {
    const bash = run(["completion", "bash"]);
    assert.equal(bash.status, 0);
    assert.equal(spawnSync("bash", ["-n"], { input: bash.stdout }).status, 0);
    assert.match(run(["completion", "zsh"]).stdout, /^#compdef quire/);
    assert.match(run(["completion", "fish"]).stdout, /complete -c quire/);
});

test("doctor finds no fault in a sound workspace", { skip }, (t) => {
    const folder = workspace(t);
    const { status, stdout, stderr } = run(["doctor", "--json", "--workspace", folder]);
    const { findings } = JSON.parse(stdout);
    assert.equal(status, 0, stderr + stdout);
    for (const what of ["MCP 2025-11-25", "MCP 2026-07-28"]) assert.equal(findings.find((f) => f.what === what)?.health, "ok", what);
});

test("doctor and the kernel warn of a rule that has no effect, and doctor fails on rules that cannot be met", { skip }, (t) => {
    const folder = workspace(t, {}, '[[tools.rules]]\ntool = "shell"\ntype = "allowed_operations"\nvalue = ["check", "spawn"]\n[[tools.rules]]\ntool = "shell"\ntype = "allowed_operations"\nvalue = ["check"]\n');
    const found = run(["doctor", "--workspace", folder]);
    assert.equal(found.status, 0, found.stderr);
    assert.match(found.stdout, /warning.*quire\.toml:1: .*shell/);
    assert.equal(call(folder, "block_list", {}).status, 0);
    assert.match(readFileSync(join(folder, ".quire/kernel.log"), "utf8"), /quire\.toml:1: .*shell/);

    const never = workspace(t, {}, '[[tools.rules]]\ntool = "file"\ntype = "max_calls"\nvalue = 0\n[[tools.rules]]\ntool = "file"\ntype = "start_constraint"\n');
    const broken = run(["doctor", "--workspace", never]);
    assert.equal(broken.status, 1);
    assert.match(broken.stdout, /broken +settings .*quire\.toml:\d+/);
});

test("doctor names settings that are broken", { skip }, (t) => {
    const folder = workspace(t, {}, "[[files.rules]]\npatern = 1\n");
    const { status, stdout } = run(["doctor", "--workspace", folder]);
    assert.equal(status, 1);
    assert.match(stdout, /broken +settings .*quire\.toml:/);
});

test("doctor names a store that is damaged", { skip }, (t) => {
    const folder = workspace(t);
    mkdirSync(join(folder, ".quire"));
    writeFileSync(join(folder, ".quire/quire.db"), "no database".repeat(500));
    const { status, stdout } = run(["doctor", "--workspace", folder]);
    assert.equal(status, 1);
    assert.match(stdout, /broken +store .*damaged/);
});

test("the demo holds itself to what it shows", { skip, timeout: 120_000 }, () => {
    const { status, stdout, stderr } = run(["demo", "--seconds", "2"], { timeout: 100_000 });
    assert.equal(status, 0, stderr + stdout);
    assert.match(stdout, /agent:ada/);
    assert.match(stdout, /each edit once/);
    assert.match(stdout, /bo's work is gone/);
});
