// The hooks of coding agents: events in the form of each agent, and the answers to them.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { comesTrue, quire, skip, workspace } from "./support/workspace.mjs";

const rules = `[files]
save = "on_commit"
rules = [
  { pattern = "src/**", permission = "ReadWrite" },
  { pattern = "plan.md", permission = "Human" },
  { pattern = "secret/**", permission = "ReadWrite", operations_requiring_escalation = ["read"] },
]
`;

function run(folder, args, input) {
    return spawnSync(quire, args, { encoding: "utf8", timeout: 60_000, cwd: folder, input });
}
function hook(folder, event, args = []) {
    const done = run(folder, ["hook", ...args], JSON.stringify(event));
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout);
}
function place(t, more = {}) {
    return workspace(t, { "src/a.txt": "one\n", "src/b.txt": "two\n", "plan.md": "plan\n", "README.md": "read me\n", "secret/key": "k\n", "quire.toml": rules, ...more });
}
// Starts a client that keeps a kernel running until the test ends.
async function served(t, folder) {
    const client = spawn(quire, ["mcp"], { cwd: folder, stdio: ["pipe", "ignore", "ignore"] });
    t.after(() => client.stdin.end());
    for (let i = 0; i < 3000 && !existsSync(join(folder, ".quire/kernel.sock")); ++i) await sleep(20);
}
// The newest line of the log once the watcher has taken in what `change` does.
async function logged(folder, path, change) {
    const log = () => run(folder, ["log", path]).stdout;
    const before = log();
    change();
    let now = before;
    assert.ok(await comesTrue(() => (now = log()) !== before), "the change was not taken in");
    return now.split("\n")[0];
}

const claude = (folder, tool_name, tool_input, more = {}) => ({
    session_id: "5f0c", transcript_path: "/tmp/t.jsonl", cwd: folder, permission_mode: "default",
    hook_event_name: "PreToolUse", tool_name, tool_input, tool_use_id: "toolu_01", ...more,
});
const codex = (folder, tool_name, tool_input, more = {}) => ({
    session_id: "019a", turn_id: "1", transcript_path: null, cwd: folder, model: "gpt", permission_mode: "default",
    hook_event_name: "PreToolUse", tool_name, tool_use_id: "call_1", tool_input, ...more,
});
const gemini = (folder, tool_name, tool_input, more = {}) => ({
    session_id: "g1", transcript_path: "/tmp/t.json", cwd: folder, hook_event_name: "BeforeTool",
    timestamp: "2026-11-20T10:00:00.000Z", tool_name, tool_input, ...more,
});
const cursor = (folder, hook_event_name, more) => ({
    conversation_id: "c1", generation_id: "g7", workspace_roots: [folder], hook_event_name, ...more,
});

test("what the rules forbid is denied, to each agent in its words", { skip }, async (t) => {
    const folder = place(t);
    await served(t, folder);
    const path = join(folder, "README.md");
    const patch = "*** Begin Patch\n*** Update File: README.md\n@@\n-read me\n+x\n*** End Patch\n";
    for (const [agent, event] of [
        ["claude", claude(folder, "Write", { file_path: path, content: "x" })],
        ["claude", claude(folder, "Bash", { command: "echo x > README.md", description: "write" })],
        ["claude", claude(join(folder, "src"), "Bash", { command: "rm ../README.md" })],
        ["claude", claude(folder, "Edit", { file_path: join(folder, "quire.toml"), old_string: "a", new_string: "b" })],
        ["codex", codex(folder, "apply_patch", { command: patch })],
        ["codex", codex(folder, "Bash", { command: ["bash", "-lc", "echo x > README.md"] })],
    ]) {
        const { hookSpecificOutput: said, ...rest } = hook(folder, event);
        assert.deepEqual(rest, {});
        assert.equal(said.hookEventName, "PreToolUse");
        assert.equal(said.permissionDecision, "deny", agent);
        assert.match(said.permissionDecisionReason, /quire's rules forbid this: (write|create|delete) (README\.md|quire\.toml): /);
    }
    const told = hook(folder, gemini(folder, "write_file", { file_path: path, content: "x" }));
    assert.equal(told.decision, "deny");
    assert.match(told.reason, /README\.md/);
    assert.equal(hook(folder, gemini(folder, "run_shell_command", { command: "rm README.md" })).decision, "deny");
    const shown = hook(folder, cursor(folder, "beforeShellExecution", { command: "rm README.md", cwd: folder }));
    assert.equal(shown.permission, "deny");
    assert.match(shown.agent_message, /README\.md/);
    assert.equal(hook(folder, cursor(folder, "preToolUse", { tool_name: "Delete", tool_input: { path } })).permission, "deny");
});

test("what a person must approve is asked where the agent can ask, and else denied with a way", { skip }, async (t) => {
    const folder = place(t);
    await served(t, folder);
    const path = join(folder, "plan.md");
    const asked = hook(folder, claude(folder, "Edit", { file_path: path, old_string: "plan", new_string: "x" }));
    assert.equal(asked.hookSpecificOutput.permissionDecision, "ask");
    assert.equal(hook(folder, claude(folder, "Read", { file_path: join(folder, "secret/key") })).hookSpecificOutput.permissionDecision, "ask");
    assert.equal(hook(folder, claude(folder, "Bash", { command: "curl https://example.com" })).hookSpecificOutput.permissionDecision, "ask");
    assert.equal(hook(folder, cursor(folder, "beforeShellExecution", { command: "echo x > plan.md" })).permission, "ask");
    for (const event of [codex(folder, "Bash", { command: "echo x > plan.md" }), gemini(folder, "replace", { file_path: path })]) {
        const told = hook(folder, event);
        assert.match(JSON.stringify(told), /"deny"/);
        assert.match(JSON.stringify(told), /with quire's own tools/);
    }
});

test("what is allowed, outside or not about files is left to the agent", { skip }, async (t) => {
    const folder = place(t);
    await served(t, folder);
    for (const event of [
        claude(folder, "Write", { file_path: join(folder, "src/new.txt"), content: "x" }),
        claude(folder, "Read", { file_path: join(folder, "README.md") }),
        claude(folder, "Bash", { command: "ls -l; git status" }),
        claude(folder, "Write", { file_path: "/tmp/elsewhere.txt", content: "x" }),
        claude(folder, "WebSearch", { query: "x" }),
        claude(folder, "mcp__quire__file", { operation: "read", path: "README.md" }),
        { hook_event_name: "SessionStart", session_id: "5f0c", cwd: folder },
        { hook_event_name: "SomethingNew", session_id: "5f0c", cwd: folder },
        cursor(folder, "stop", { status: "completed" }),
        gemini(folder, "write_file", { file_path: "src/b.txt", content: "x" }),
        { hook_event_name: "PreToolUse", tool_name: "Write", tool_input: "x", cwd: folder },
        [], "text", null, { hook_event_name: 7 },
    ]) assert.deepEqual(hook(folder, event), {}, JSON.stringify(event));
    assert.equal(run(folder, ["hook"], "not json").stdout, "{}\n");
    assert.equal(run(folder, ["hook"], "").stdout, "{}\n");
    // The root directory is no workspace.
    assert.deepEqual(hook("/", claude("/", "Write", { file_path: "/x", content: "" })), {});
});

test("an agent's own edit is the agent's, and can be taken back", { skip }, async (t) => {
    const folder = place(t);
    await served(t, folder);
    const edit = { file_path: join(folder, "src/a.txt"), old_string: "one", new_string: "ONE" };
    assert.deepEqual(hook(folder, claude(folder, "Edit", edit)), {});
    writeFileSync(edit.file_path, "ONE\n");
    assert.deepEqual(hook(folder, claude(folder, "Edit", edit, { hook_event_name: "PostToolUse", tool_response: { success: true } })), {});
    assert.match(run(folder, ["log", "src/a.txt"]).stdout, /agent:claude +src\/a\.txt .* disk/);
    // Another agent is told before it changes the file.
    const warned = hook(folder, codex(folder, "Bash", { command: "echo more >> src/a.txt" }));
    assert.match(warned.hookSpecificOutput.additionalContext, /agent:claude changed src\/a\.txt \d+ seconds ago/);
    appendFileSync(edit.file_path, "more\n");
    assert.deepEqual(hook(folder, codex(folder, "Bash", { command: "echo more >> src/a.txt" }, { hook_event_name: "PostToolUse", tool_response: "" })), {});
    assert.match(run(folder, ["log", "src/a.txt"]).stdout, /agent:codex +src\/a\.txt/);
    // A change without an announcement is attributed to source:disk.
    assert.match(await logged(folder, "src/a.txt", () => appendFileSync(edit.file_path, "mine\n")), /^\S+ \S+ +source:disk/);
    assert.equal(run(folder, ["undo", "src/a.txt", "--actor", "agent:claude"]).status, 0);
    assert.equal(readFileSync(edit.file_path, "utf8"), "one\nmore\nmine\n");
});

test("what a person writes after saying no to an agent is not the agent's", { skip }, async (t) => {
    const folder = place(t);
    await served(t, folder);
    const path = join(folder, "src/a.txt");
    const edits = [
        ["Edit", { file_path: path, old_string: "one", new_string: "ONE" }],
        ["Write", { file_path: path, content: "all new\n" }],
        ["MultiEdit", { file_path: path, edits: [{ old_string: "o", new_string: "0", replace_all: true }, { old_string: "0ne", new_string: "x" }] }],
    ];
    for (const [i, [tool, input]] of edits.entries()) {
        const told = hook(folder, claude(folder, tool, input, { tool_use_id: `no${i}` }));
        assert.equal(told.hookSpecificOutput?.permissionDecision, undefined);
        assert.match(await logged(folder, "src/a.txt", () => appendFileSync(path, "by hand\n")), /^\S+ \S+ +source:disk/, tool);
    }
    // The watcher attributes the announced text to the agent even before the hook after the tool.
    assert.match(await logged(folder, "src/a.txt", () => writeFileSync(path, "all new\n")), /^\S+ \S+ +agent:claude/);
});

test("afterwards it is told what went against the rules, and what conflicts", { skip }, async (t) => {
    const folder = place(t, { "quire.toml": rules.replace("on_commit", "explicit") });
    await served(t, folder);
    const after = { hook_event_name: "PostToolUse", tool_response: {} };
    const write = { file_path: join(folder, "README.md"), content: "x\n" };
    writeFileSync(write.file_path, write.content);
    const told = hook(folder, claude(folder, "Write", write, after));
    assert.equal(told.decision, "block");
    assert.match(told.reason, /README\.md.*quire undo README\.md --actor agent:claude/);
    // Another actor has an unsaved edit of the same words.
    assert.equal(run(folder, ["call", "block_str_replace", JSON.stringify({ block_id: "file:src/b.txt", old_str: "two", new_str: "zwei" }), "--actor", "agent:bob"]).status, 0);
    const edit = { file_path: join(folder, "src/b.txt"), old_string: "two", new_string: "deux" };
    hook(folder, claude(folder, "Edit", edit));
    writeFileSync(edit.file_path, "deux\n");
    assert.match(hook(folder, claude(folder, "Edit", edit, after)).hookSpecificOutput.additionalContext, /src\/b\.txt conflicts with edits of others/);
});

test("without a kernel a change is asked for under strict, and let through under other levels", { skip }, (t) => {
    const folder = place(t);
    const event = claude(folder, "Write", { file_path: join(folder, "src/a.txt"), content: "x" });
    const asked = hook(folder, event).hookSpecificOutput;
    assert.equal(asked.permissionDecision, "ask");
    assert.match(asked.permissionDecisionReason, /no quire kernel runs here/);
    assert.deepEqual(hook(folder, claude(folder, "Bash", { command: "cat src/a.txt" })), {});
    assert.ok(!existsSync(join(folder, ".quire")));
    writeFileSync(join(folder, "quire.toml"), `${rules}[shell]\nenforcement = "warned"\n`);
    assert.deepEqual(hook(folder, event), {});
    assert.deepEqual(hook(folder, claude(folder, "Bash", { command: "rm README.md" })), {});
    writeFileSync(join(folder, "quire.toml"), "nonsense =");
    assert.match(hook(folder, event).hookSpecificOutput.permissionDecisionReason, /quire\.toml cannot be read/);
});

test("a hook answers in little time", { skip }, async (t) => {
    const folder = place(t);
    await served(t, folder);
    mkdirSync(join(folder, "src/sub"));
    const event = JSON.stringify(claude(folder, "Bash", { command: "for f in src/*.txt; do sed -i s/a/b/ $f; done; grep -rn x src | head" }));
    const took = [];
    const bare = [];
    for (let i = 0; i < 31; ++i) {
        let begin = process.hrtime.bigint();
        assert.equal(run(folder, ["hook"], event).status, 0);
        took.push(Number(process.hrtime.bigint() - begin) / 1e6);
        begin = process.hrtime.bigint();
        run(folder, ["--version"]);
        bare.push(Number(process.hrtime.bigint() - begin) / 1e6);
    }
    const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)].toFixed(1);
    t.diagnostic(`a hook takes ${median(took)} ms, the start of a program alone ${median(bare)} ms (promised: 10)`);
    rmSync(join(folder, "src/sub"), { recursive: true });
});
