// Agents in adopted trees, through their hooks: who else is at work on a file, landing and refreshing around a
// turn, and the work trees that an agent asks for.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { quire, skip, workspace } from "./support/workspace.mjs";

const rules = `[files]
save = "on_commit"
rules = [ { pattern = "src/**", permission = "ReadWrite" } ]
`;

function run(folder, args, input) {
    return spawnSync(quire, args, { encoding: "utf8", timeout: 60_000, cwd: folder, input });
}
function hook(folder, event, args = []) {
    const done = run(folder, ["hook", ...args], JSON.stringify({ session_id: "1", cwd: folder, ...event }));
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout);
}
function git(folder, ...args) {
    const done = spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { encoding: "utf8", cwd: folder });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout;
}
const text = (folder, path) => readFileSync(join(folder, path), "utf8");
const put = (folder, path, content) => writeFileSync(join(folder, path), content);
const lines = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join("");

// A workspace, and two worktrees that it has adopted.
function place(t, settings = "") {
    const folder = realpathSync(workspace(t, { "src/a.txt": lines, "README.md": "read me\n", "quire.toml": rules + settings }));
    const trees = realpathSync(mkdtempSync(join(tmpdir(), "quire-trees-")));
    t.after(() => rmSync(trees, { recursive: true, force: true }));
    git(folder, "init", "-q", "-b", "main");
    git(folder, "add", "-A");
    git(folder, "commit", "-qm", "first");
    const tree = (name) => {
        git(folder, "worktree", "add", "-q", join(trees, name));
        assert.equal(run(folder, ["view", "adopt", join(trees, name), "--actor", `agent:${name}`]).status, 0);
        return join(trees, name);
    };
    return { folder, ada: tree("ada"), bob: tree("bob") };
}
const edit = (folder, old_string, new_string) => ({
    hook_event_name: "PreToolUse", tool_name: "Edit", tool_use_id: "t1",
    tool_input: { file_path: join(folder, "src/a.txt"), old_string, new_string },
});

test("before an edit the hook says who else changed these lines", { skip }, (t) => {
    const { folder, ada, bob } = place(t);
    assert.deepEqual(hook(ada, edit(ada, "line 4\n", "LINE 4\n")), {});
    put(bob, "src/a.txt", lines.replace("line 4", "line four"));
    const here = hook(ada, edit(ada, "line 4\n", "LINE 4\n")).hookSpecificOutput.additionalContext;
    assert.match(here, /^agent:bob changed these lines of src\/a\.txt in \S+\/bob \d+ seconds? ago\.$/);
    const elsewhere = hook(ada, edit(ada, "line 15\n", "LINE 15\n")).hookSpecificOutput.additionalContext;
    assert.match(elsewhere, /^agent:bob changed line 5 of src\/a\.txt/);
    // An agent that works in the workspace itself is told, too, and so are the other agents' programs.
    assert.match(hook(folder, edit(folder, "line 4\n", "x\n")).hookSpecificOutput.additionalContext, /agent:bob changed these lines/);
    const gemini = hook(ada, { hook_event_name: "BeforeTool", tool_name: "replace", tool_input: { file_path: join(ada, "src/a.txt"), old_string: "line 4\n", new_string: "x\n" } });
    assert.match(gemini.hookSpecificOutput.additionalContext, /agent:bob changed these lines/);
    // Once it has landed it is the workspace's, and once it is taken in it is no news.
    assert.equal(run(bob, ["land"]).status, 0);
    assert.match(hook(ada, edit(ada, "line 4\n", "x\n")).hookSpecificOutput.additionalContext, /agent:bob changed these lines of src\/a\.txt in the workspace/);
    assert.equal(run(ada, ["refresh"]).status, 0);
    assert.deepEqual(hook(ada, edit(ada, "line four\n", "x\n")), {});
});

test("the rules for a tree's actor hold before the edit", { skip }, (t) => {
    const { ada } = place(t);
    const event = { hook_event_name: "PreToolUse", tool_name: "Write", tool_use_id: "t1", tool_input: { file_path: join(ada, "README.md"), content: "x" } };
    assert.equal(hook(ada, event).hookSpecificOutput.permissionDecision, "deny");
    const after = hook(ada, { ...event, hook_event_name: "PostToolUse" });
    assert.match(after.reason, /this tree cannot land before it is taken back/);
});

test("a turn begins refreshed and ends landed", { skip }, (t) => {
    const { folder, ada, bob } = place(t);
    put(bob, "src/a.txt", lines.replace("line 4", "line four"));
    assert.match(hook(bob, { hook_event_name: "Stop" }).systemMessage, /^quire landed src\/a\.txt\.$/);
    assert.match(text(folder, "src/a.txt"), /line four/);
    const begins = hook(ada, { hook_event_name: "UserPromptSubmit", prompt: "go on" });
    assert.match(begins.hookSpecificOutput.additionalContext, /brought into this tree: src\/a\.txt/);
    assert.match(text(ada, "src/a.txt"), /line four/);
    assert.deepEqual(hook(ada, { hook_event_name: "Stop" }), {});

    // What others did meanwhile to the same words is a conflict that both hear of.
    put(ada, "src/a.txt", text(ada, "src/a.txt").replace("line 9", "line nine"));
    put(bob, "src/a.txt", text(bob, "src/a.txt").replace("line 9", "line neuf"));
    assert.match(hook(bob, { hook_event_name: "AfterAgent", timestamp: "x" }).systemMessage, /landed/);
    assert.match(hook(ada, { hook_event_name: "Stop" }).systemMessage, /In conflict with the workspace: src\/a\.txt:10/);
    assert.match(hook(ada, { hook_event_name: "UserPromptSubmit" }).hookSpecificOutput.additionalContext, /In conflict/);
    // Cursor has no place for words there, and it lands all the same.
    put(bob, "src/b.txt", "b\n");
    assert.deepEqual(hook(bob, { hook_event_name: "stop", conversation_id: "c", workspace_roots: [bob] }), {});
    assert.equal(text(folder, "src/b.txt"), "b\n");
    // In the workspace itself there is nothing to land.
    assert.deepEqual(hook(folder, { hook_event_name: "Stop" }), {});
});

test("[views] land = manual leaves it to people, and ask asks one", { skip }, (t) => {
    const { folder, ada } = place(t, '[views]\nland = "manual"\n');
    put(ada, "src/b.txt", "b\n");
    assert.deepEqual(hook(ada, { hook_event_name: "Stop" }), {});
    assert.ok(!existsSync(join(folder, "src/b.txt")));
    put(folder, "quire.toml", `${rules}[views]\nland = "ask"\n`);
    const asked = hook(ada, { hook_event_name: "Stop" }).systemMessage;
    const [, id] = asked.match(/quire approvals approve (\S+)/);
    assert.ok(!existsSync(join(folder, "src/b.txt")));
    assert.equal(run(folder, ["approvals", "approve", id]).status, 0);
    assert.match(hook(ada, { hook_event_name: "Stop" }).systemMessage, /landed src\/b\.txt/);
    assert.equal(text(folder, "src/b.txt"), "b\n");
    assert.equal(run(folder, ["land"]).status, 0, "people are not asked");
});

test("Claude Code's work trees are made of the workspace as it is, and go once they have landed", { skip }, (t) => {
    const { folder } = place(t);
    put(folder, "src/a.txt", lines.replace("line 4", "dirty"));
    put(folder, "src/new.txt", "untracked\n");
    const made = run(folder, ["hook", "--agent", "claude"], JSON.stringify({ session_id: "1", cwd: folder, hook_event_name: "WorktreeCreate", name: "feature" }));
    assert.equal(made.status, 0, made.stderr);
    const tree = made.stdout.trim();
    assert.equal(tree, join(folder, ".claude/worktrees/feature"));
    assert.match(text(tree, "src/a.txt"), /dirty/);
    assert.equal(text(tree, "src/new.txt"), "untracked\n");
    assert.equal(git(tree, "branch", "--show-current"), "worktree-feature\n");
    const views = JSON.parse(run(folder, ["views", "--json"]).stdout).trees;
    assert.deepEqual(views.filter((each) => each.tree === tree).map(({ actor, to_land, to_refresh }) => [actor, to_land, to_refresh]), [["agent:claude", [], []]]);
    // It is no part of the workspace's files, for nobody.
    assert.ok(!run(folder, ["search", "untracked"]).stdout.includes("worktrees"));
    const again = run(folder, ["hook", "--agent", "claude"], JSON.stringify({ cwd: folder, hook_event_name: "WorktreeCreate", worktree_name: "feature" }));
    assert.equal(again.status, 1);
    assert.match(again.stderr, /file_exists/);
    assert.equal(run(folder, ["hook"], JSON.stringify({ cwd: folder, hook_event_name: "WorktreeCreate", name: "../out" })).status, 1);

    put(tree, "src/c.txt", "from the tree\n");
    const removed = run(folder, ["hook"], JSON.stringify({ cwd: folder, hook_event_name: "WorktreeRemove", worktree_path: tree }));
    assert.equal(removed.status, 0, removed.stderr);
    assert.equal(text(folder, "src/c.txt"), "from the tree\n");
    assert.ok(!existsSync(tree));
    assert.ok(!git(folder, "worktree", "list").includes("feature"));
});

test("a work tree with a conflict stays when it is to be removed", { skip }, (t) => {
    const { folder } = place(t);
    const tree = run(folder, ["hook"], JSON.stringify({ cwd: folder, hook_event_name: "WorktreeCreate", name: "feature" })).stdout.trim();
    put(tree, "src/a.txt", lines.replace("line 4", "tree's"));
    put(folder, "src/a.txt", lines.replace("line 4", "workspace's"));
    const removed = run(folder, ["hook"], JSON.stringify({ cwd: folder, hook_event_name: "WorktreeRemove", worktree_path: tree }));
    assert.equal(removed.status, 1);
    assert.match(removed.stderr, /unlanded/);
    assert.match(text(tree, "src/a.txt"), /tree's/);
});
