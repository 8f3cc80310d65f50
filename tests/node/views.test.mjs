// Adopted trees through the program: git worktrees of agents that land in one workspace and are refreshed
// from it, also when the kernel is killed in the middle.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { kernelOf, quire, refusal, skip, workspace } from "./support/workspace.mjs";

const rules = `[files]
save = "on_commit"
rules = [
  { pattern = "src/**", permission = "ReadWrite" },
  { pattern = "plan.md", permission = "Human" },
]
`;

function run(folder, args) {
    return spawnSync(quire, args, { encoding: "utf8", timeout: 120_000, cwd: folder });
}
function git(folder, ...args) {
    const done = spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { encoding: "utf8", cwd: folder });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout;
}
function json(done) {
    return JSON.parse(done.stdout);
}
const lines = (count, word) => Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join("");

// A workspace in a git repository, and a directory beside it for trees.
function repository(t, files = {}) {
    const folder = realpathSync(workspace(t, { "src/a.txt": lines(9, "line"), "src/b.txt": "two\n", "plan.md": "plan\n", "quire.toml": rules, ...files }));
    const trees = realpathSync(mkdtempSync(join(tmpdir(), "quire-trees-")));
    t.after(() => rmSync(trees, { recursive: true, force: true }));
    git(folder, "init", "-q", "-b", "main");
    git(folder, "add", "-A");
    git(folder, "commit", "-qm", "first");
    return { folder, trees };
}
function worktree({ folder, trees }, name) {
    const tree = join(trees, name);
    git(folder, "worktree", "add", "-q", tree);
    return tree;
}
function adopt(folder, tree, actor) {
    const done = run(folder, ["view", "adopt", tree, "--actor", actor, "--json"]);
    assert.equal(done.status, 0, done.stderr);
    return json(done);
}
const text = (folder, path) => readFileSync(join(folder, path), "utf8");
function put(folder, path, content) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
}

test("agents in worktrees land in one workspace, each as itself", { skip }, (t) => {
    const place = repository(t);
    const { folder } = place;
    const ada = worktree(place, "ada"), bob = worktree(place, "bob");
    assert.deepEqual(adopt(folder, ada, "agent:ada").to_land, []);
    adopt(folder, bob, "agent:bob");
    assert.equal(git(ada, "status", "--short"), "", "git sees nothing of it");

    put(ada, "src/a.txt", text(ada, "src/a.txt").replace("line 1", "LINE 1"));
    put(bob, "src/a.txt", text(bob, "src/a.txt").replace("line 7", "LINE 7"));
    // From within the tree, and from elsewhere by its name.
    const landed = run(join(ada, "src"), ["land"]);
    assert.equal(landed.status, 0, landed.stderr);
    assert.match(landed.stdout, /^Landed 1 file of agent:ada/);
    assert.equal(run(folder, ["land", bob]).status, 0);
    assert.match(text(folder, "src/a.txt"), /LINE 1[^]*LINE 7/);
    assert.match(run(folder, ["blame", "src/a.txt"]).stdout, /agent:ada[^]*agent:bob/);
    assert.match(run(folder, ["log"]).stdout, /agent:bob +src\/a\.txt .* land/);

    const views = json(run(folder, ["views", "--json"])).trees;
    assert.deepEqual(views.map(({ actor, to_land, to_refresh }) => [actor, to_land, to_refresh]),
        [["agent:ada", [], ["src/a.txt"]], ["agent:bob", [], ["src/a.txt"]]]);
    assert.equal(run(folder, ["refresh"]).status, 0);
    assert.equal(text(ada, "src/a.txt"), text(folder, "src/a.txt"));
    assert.equal(text(bob, "src/a.txt"), text(folder, "src/a.txt"));
    assert.match(run(folder, ["refresh"]).stdout, /up to date/);
});

test("a worktree that has fallen behind is merged from the commit where it parted", { skip }, (t) => {
    const place = repository(t);
    const { folder } = place;
    const ada = worktree(place, "ada");
    put(ada, "src/a.txt", text(ada, "src/a.txt").replace("line 1", "LINE 1"));
    git(ada, "commit", "-qam", "ada's");
    put(folder, "src/a.txt", text(folder, "src/a.txt").replace("line 7", "LINE 7"));
    rmSync(join(folder, "src/b.txt"));
    git(folder, "commit", "-qam", "the person's");

    const row = adopt(folder, ada, "agent:ada");
    assert.deepEqual(row.to_land, ["src/a.txt"]);
    assert.deepEqual(row.to_refresh, ["src/a.txt", "src/b.txt"]);
    assert.equal(run(folder, ["land"]).status, 0);
    assert.match(text(folder, "src/a.txt"), /LINE 1[^]*LINE 7/);
    assert.ok(!existsSync(join(folder, "src/b.txt")));
    assert.equal(run(folder, ["refresh"]).status, 0);
    assert.ok(!existsSync(join(ada, "src/b.txt")));
    assert.equal(text(ada, "src/a.txt"), text(folder, "src/a.txt"));
});

test("exit codes and --json say what became of a land", { skip }, (t) => {
    const place = repository(t);
    const { folder } = place;
    const ada = worktree(place, "ada");
    assert.equal(run(folder, ["view", "adopt", ada]).status, 1, "nobody is named");
    adopt(folder, ada, "agent:ada");
    assert.equal(run(folder, ["land"]).status, 0);

    put(ada, "src/b.txt", "zwei\n");
    put(folder, "src/b.txt", "deux\n");
    const conflict = run(folder, ["land", "--json"]);
    assert.equal(conflict.status, 3);
    const [row] = json(conflict).conflicts;
    assert.deepEqual([row.tree, row.path, row.base, row.theirs, row.shared], [ada, "src/b.txt", "two\n", "zwei\n", "deux\n"]);
    put(ada, "src/b.txt", "deux\n");
    assert.equal(run(folder, ["land"]).status, 0);

    put(ada, "quire.toml", "# mine\n");
    const refused = run(folder, ["land", ada, "--json"]);
    assert.equal(refused.status, 1);
    assert.equal(json(refused).trees[0].error.reason, "permission_denied");
    assert.equal(json(refused).trees[0].violations[0].path, "quire.toml");
    put(ada, "quire.toml", rules);

    put(ada, "plan.md", "another plan\n");
    const asked = run(folder, ["land", "--json"]);
    assert.equal(asked.status, 1);
    const id = json(asked).approval_id;
    const listed = json(run(folder, ["approvals", "list", "--json"])).approvals;
    assert.deepEqual(listed.map(({ approval_id, actor, path }) => [approval_id, actor, path]), [[id, "agent:ada", "plan.md"]]);
    assert.match(listed[0].description, new RegExp(ada.replaceAll("/", "\\/")));
    assert.equal(run(folder, ["approvals", "approve", id]).status, 0);
    assert.equal(run(folder, ["land"]).status, 0);
    assert.equal(text(folder, "plan.md"), "another plan\n");

    assert.equal(refusal(run(folder, ["land", place.trees]).stderr).reason, "not_adopted");
    assert.equal(refusal(run(folder, ["--workspace", ada, "status"]).stderr).reason, "adopted_tree");
    assert.equal(run(folder, ["view", "drop", ada]).status, 0);
    assert.deepEqual(json(run(folder, ["views", "--json"])).trees, []);
});

test("a mass deletion asks a person, with the counts", { skip }, (t) => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`src/many/${i}.txt`, "text\n"]));
    const place = repository(t, many);
    const { folder } = place;
    const ada = worktree(place, "ada");
    adopt(folder, ada, "agent:ada");
    rmSync(join(ada, "src/many"), { recursive: true });
    const asked = run(folder, ["land", "--json"]);
    assert.equal(asked.status, 1);
    const { approval_id, deleted_files, deleted_lines } = json(asked);
    assert.deepEqual([deleted_files, deleted_lines], [25, 25]);
    assert.equal(readdirSync(join(folder, "src/many")).length, 25);
    const [approval] = json(run(folder, ["approvals", "list", "--json"])).approvals;
    assert.equal(approval.tree, ada);
    assert.match(run(folder, ["approvals", "list"]).stdout, /asks to delete others' work with the tree/);
    assert.equal(run(folder, ["approvals", "approve", approval_id]).status, 0);
    assert.equal(run(folder, ["land"]).status, 0);
    assert.ok(!existsSync(join(folder, "src/many")));
});

test("the command that landed is undone as one", { skip }, (t) => {
    const place = repository(t);
    const { folder } = place;
    const ada = worktree(place, "ada");
    adopt(folder, ada, "agent:ada");
    put(ada, "src/b.txt", "zwei\n");
    put(ada, "src/c.txt", "drei\n");
    put(ada, "src/new/deep/d.txt", "vier\n");
    assert.equal(run(folder, ["land"]).status, 0);
    assert.equal(text(folder, "src/new/deep/d.txt"), "vier\n");
    const undone = run(folder, ["undo", "--last-command"]);
    assert.equal(undone.status, 0, undone.stdout + undone.stderr);
    assert.equal(text(folder, "src/b.txt"), "two\n");
    assert.ok(!existsSync(join(folder, "src/c.txt")));
    assert.ok(!existsSync(join(folder, "src/new")));
    assert.equal(run(folder, ["land"]).stdout.includes("Nothing to land"), true);
    assert.equal(run(folder, ["refresh"]).status, 0);
    assert.equal(text(ada, "src/b.txt"), "two\n");
    assert.ok(!existsSync(join(ada, "src/c.txt")));
});

test("a directory that becomes a file lands, and a file that becomes a directory, and both are undone", { skip }, (t) => {
    const place = repository(t);
    const { folder } = place;
    put(folder, "src/d/in/x.txt", "x\n");
    git(folder, "add", "-A");
    git(folder, "commit", "-qm", "more");
    const ada = worktree(place, "ada");
    adopt(folder, ada, "agent:ada");
    rmSync(join(ada, "src/d"), { recursive: true });
    put(ada, "src/d", "a file\n");
    rmSync(join(ada, "src/b.txt"));
    put(ada, "src/b.txt/y.txt", "y\n");
    const landed = run(folder, ["land"]);
    assert.equal(landed.status, 0, landed.stdout + landed.stderr);
    assert.doesNotMatch(landed.stdout, /left/);
    assert.equal(text(folder, "src/d"), "a file\n");
    assert.equal(text(folder, "src/b.txt/y.txt"), "y\n");
    const undone = run(folder, ["undo", "--last-command"]);
    assert.equal(undone.status, 0, undone.stdout + undone.stderr);
    assert.equal(text(folder, "src/d/in/x.txt"), "x\n");
    assert.equal(text(folder, "src/b.txt"), "two\n");
});

// The kernel is killed after a time that grows from round to round. Whatever was begun is whole once the
// next kernel runs, and trying again brings the rest.
for (const direction of ["land", "refresh"]) {
    test(`a kernel that is killed in a ${direction} leaves all of it or nothing`, { skip }, async (t) => {
        const count = 60;
        const many = Object.fromEntries(Array.from({ length: count }, (_, i) => [`src/many/${i}.txt`, "round 0\n"]));
        const place = repository(t, many);
        const { folder } = place;
        const ada = worktree(place, "ada");
        adopt(folder, ada, "agent:ada");
        const [from, into] = direction === "land" ? [ada, folder] : [folder, ada];
        const changed = (round) => Array.from({ length: count }, (_, i) => text(into, `src/many/${i}.txt`)).filter((each) => each === `round ${round}\n`).length;
        let killed = 0;
        const rounds = Number(process.env.QUIRE_KILL_ROUNDS ?? 12);
        for (let round = 1; round <= rounds; ++round) {
            for (let i = 0; i < count; ++i) put(from, `src/many/${i}.txt`, `round ${round}\n`);
            assert.equal(run(folder, ["views"]).status, 0);  // A kernel runs.
            const pid = kernelOf(folder);
            const client = spawn(quire, [direction, ada], { cwd: folder, stdio: "ignore" });
            const ended = new Promise((done) => client.on("exit", done));
            await sleep(round * 8);
            try {
                process.kill(pid, "SIGKILL");
                killed += changed(round) < count ? 1 : 0;
            } catch {
                // It ended by itself.
            }
            await ended;
            assert.equal(run(folder, ["views"]).status, 0);
            const there = changed(round);
            assert.ok(there === 0 || there === count, `round ${round}: ${there} of ${count}`);
            const again = run(folder, [direction, ada]);
            assert.equal(again.status, 0, again.stdout + again.stderr);
            assert.equal(changed(round), count);
            assert.equal(run(folder, ["land", ada]).stdout.includes("Nothing to land"), true);
        }
        assert.ok(killed > 0, "no round was in time");
    });
}
