// Commands through the program: what people and agents see of them, and what a kernel's end leaves.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

function run(folder, args, input) {
    return spawnSync(quire, args, { encoding: "utf8", timeout: 120_000, cwd: folder, input });
}

function shell(folder, command, more = {}) {
    const call = run(folder, ["call", "shell", "-", "--actor", "agent:ada"], JSON.stringify({ operation: "execute", command, ...more }));
    return call.status === 0 ? JSON.parse(call.stdout) : refusal(call.stderr);
}

// Made anew for each test; a machine without stages says so, and the tests are skipped by name.
function staged(t, files = {}) {
    const folder = workspace(t, { "src/a.txt": "one\n", "plan.md": "plan\n", "README.md": "read me\n", "quire.toml": rules, ...files });
    const first = shell(folder, "true");
    if (first.reason === "no_stage") {
        t.skip(`this machine has no stage: ${first.message}`);
        return null;
    }
    return folder;
}

test("quire sh prints what the command prints, and says what it changed", { skip }, (t) => {
    const folder = staged(t);
    if (!folder) return;
    const done = run(folder, ["sh", "echo out; echo bad >&2; echo two >> src/a.txt; exit 3", "--actor", "agent:ada"]);
    assert.equal(done.status, 3);
    assert.equal(done.stdout, "out\n");
    assert.equal(done.stderr, "bad\nquire: modified src/a.txt\n");
    assert.equal(readFileSync(join(folder, "src/a.txt"), "utf8"), "one\ntwo\n");
    // The directory in which it is typed counts.
    assert.equal(run(join(folder, "src"), ["sh", "cat a.txt"]).stdout, "one\ntwo\n");
    assert.equal(run(folder, ["sh", "cat a.txt", "--cwd", "src"]).stdout, "one\ntwo\n");
    assert.match(run(folder, ["log"]).stdout, /agent:ada +src\/a\.txt .* command/);
    assert.equal(JSON.parse(run(folder, ["sh", "true", "--json"]).stdout).tier, "staged");
});

test("a command that did what is forbidden leaves nothing, and tells what it printed", { skip }, (t) => {
    const folder = staged(t);
    if (!folder) return;
    const predicted = run(folder, ["sh", "echo x > README.md", "--actor", "agent:ada"]);
    assert.equal(predicted.status, 1);
    assert.match(predicted.stderr, /forbidden: README\.md/);
    const hidden = run(folder, ["sh", "echo begun; printf 'echo x > README.md' > src/s; bash src/s", "--actor", "agent:ada"]);
    assert.equal(hidden.status, 1);
    assert.equal(hidden.stdout, "begun\n");
    assert.match(hidden.stderr, /not kept: created src\/s/);
    assert.equal(readFileSync(join(folder, "README.md"), "utf8"), "read me\n");
    assert.ok(!existsSync(join(folder, "src/s")));
});

test("a person approves what a command did, and it is not run again", { skip }, (t) => {
    const folder = staged(t);
    if (!folder) return;
    const command = "date +%s%N >> plan.md";
    const asked = shell(folder, command);
    assert.equal(asked.reason, "escalation_required");
    const id = asked.details.approval_id;
    // The pattern starts at the diff's plus sign, because a digest may have as many digits.
    const [, stamp] = run(folder, ["approvals", "list"]).stdout.match(/\+(\d{15,})/);
    assert.equal(run(folder, ["approvals", "approve", id]).status, 0);
    const done = shell(folder, command);
    assert.deepEqual(done.file_changes.map(({ path, committed }) => [path, committed]), [["plan.md", true]]);
    assert.equal(readFileSync(join(folder, "plan.md"), "utf8"), `plan\n${stamp}\n`);
    assert.equal(shell(folder, command).reason, "escalation_required");
});

test("the level holds from the next call on when the settings change", { skip }, async (t) => {
    const folder = staged(t);
    if (!folder) return;
    writeFileSync(join(folder, "quire.toml"), `${rules}[shell]\nenforcement = "warned"\n`);
    await sleep(500);
    const done = shell(folder, "echo x > README.md; echo y > src/new");
    assert.equal(done.decision, "allow_with_warning");
    assert.deepEqual(done.file_changes.map(({ path, committed }) => [path, committed]), [["README.md", false], ["src/new", true]]);
    assert.equal(done.violations[0].path, "README.md");
});

test("other clients go on while a command runs, and a timeout ends it", { skip }, async (t) => {
    const folder = staged(t);
    if (!folder) return;
    const slow = spawn(quire, ["sh", "echo begun; echo x > src/slow; sleep 60", "--timeout", "8"], { cwd: folder });
    let printed = "";
    slow.stdout.on("data", (part) => (printed += part));
    const ended = new Promise((resolve) => slow.on("exit", resolve));
    const began = Date.now();
    assert.equal(run(folder, ["cat", "src/a.txt"]).stdout, "one\n");
    assert.equal(shell(folder, "echo quick").stdout, "quick\n");
    assert.ok(Date.now() - began < 7500, "the others waited for it");
    assert.notEqual(await ended, 0);
    assert.equal(printed, "begun\n");
    assert.ok(!existsSync(join(folder, "src/slow")));
});

test("the last command is undone whole, files that it made and deleted too", { skip }, (t) => {
    const folder = staged(t, { "src/b.txt": "two\r\n" });
    if (!folder) return;
    const quiet = (...args) => run(folder, [...args, "--actor", "agent:ada"]);
    assert.equal(quiet("sh", "echo more >> src/a.txt; rm src/b.txt; echo new > src/c.txt; ln -s a.txt src/l").status, 0);
    assert.equal(quiet("sh", "cat src/a.txt").stdout, "one\nmore\n");
    const planned = quiet("undo", "--last-command", "--dry-run");
    assert.match(planned.stdout, /Would undo in src\/a\.txt[^]*src\/b\.txt[^]*src\/c\.txt/);
    const undone = quiet("undo", "--last-command", "--json");
    assert.equal(undone.status, 0, undone.stderr);
    assert.equal(JSON.parse(undone.stdout).documents.length, 3);
    assert.deepEqual(JSON.parse(undone.stdout).paths, { restored: ["src/l"], left: [] });
    assert.ok(!readdirSync(join(folder, "src")).includes("l"));
    assert.equal(readFileSync(join(folder, "src/a.txt"), "utf8"), "one\n");
    assert.equal(readFileSync(join(folder, "src/b.txt"), "utf8"), "two\r\n");
    assert.ok(!existsSync(join(folder, "src/c.txt")));
    assert.equal(refusal(quiet("undo", "--last-command").stderr).reason, "nothing_to_undo");
    // Later changes by others stay.
    assert.equal(quiet("sh", "echo ours >> src/a.txt; echo x > src/d.txt").status, 0);
    run(folder, ["call", "block_append", JSON.stringify({ block_id: "file:src/d.txt", text: "theirs\n" }), "--actor", "agent:bob"]);
    const partly = quiet("undo", "--last-command");
    assert.match(partly.stdout, /Not undone in src\/d\.txt: src\/d\.txt was made then, and has been changed since, so it stays\./);
    assert.equal(partly.status, 1);
    assert.equal(readFileSync(join(folder, "src/a.txt"), "utf8"), "one\n");
    assert.equal(readFileSync(join(folder, "src/d.txt"), "utf8"), "x\ntheirs\n");
});

test("the undo of a command puts binary files, links, directories and permissions back", { skip }, (t) => {
    const folder = staged(t, { "src/b.txt": "two\n", "src/d/in.txt": "in\n", "src/run.sh": "true\n" });
    if (!folder) return;
    chmodSync(join(folder, "src/run.sh"), 0o755);
    const binary = Buffer.from([0, 1, 2]);
    writeFileSync(join(folder, "src/bin"), binary);
    const mode = () => statSync(join(folder, "src/b.txt")).mode & 0o777;
    const before = mode();
    const command = [
        "printf '\\0new' > src/bin; chmod 700 src/b.txt; mkdir -p src/e/f; ln -s b.txt src/l",
        // A text becomes a directory with a text in it, and a directory with a text becomes a text.
        "rm src/a.txt; mkdir src/a.txt; echo x > src/a.txt/x",
        "rm -r src/d; echo file > src/d",
        "rm src/run.sh; mkdir src/run.sh",
    ].join("; ");
    assert.equal(run(folder, ["sh", command]).status, 0);
    assert.equal(readFileSync(join(folder, "src/a.txt/x"), "utf8"), "x\n");
    assert.equal(readFileSync(join(folder, "src/d"), "utf8"), "file\n");
    const planned = run(folder, ["undo", "--last-command", "--dry-run"]);
    assert.equal(planned.status, 0, planned.stderr);
    assert.match(planned.stdout, /Would put src\/bin back as it was\./);
    assert.equal(readFileSync(join(folder, "src/d"), "utf8"), "file\n");
    const undone = run(folder, ["undo", "--last-command"]);
    assert.equal(undone.status, 0, undone.stdout + undone.stderr);
    assert.match(undone.stdout, /Undone: src\/bin is as it was\./);
    assert.equal(readFileSync(join(folder, "src/a.txt"), "utf8"), "one\n");
    assert.equal(readFileSync(join(folder, "src/d/in.txt"), "utf8"), "in\n");
    assert.deepEqual(readFileSync(join(folder, "src/bin")), binary);
    assert.equal(mode(), before);
    assert.equal(statSync(join(folder, "src/run.sh")).mode & 0o777, 0o755);
    assert.deepEqual(readdirSync(join(folder, "src")).sort(), ["a.txt", "b.txt", "bin", "d", "run.sh"]);
    assert.equal(refusal(run(folder, ["undo", "--last-command"]).stderr).reason, "nothing_to_undo");
});

test("what somebody has changed since is left by the undo of a command, and named", { skip }, (t) => {
    const folder = staged(t);
    if (!folder) return;
    assert.equal(run(folder, ["sh", "printf '\\0' > src/bin; mkdir src/e"]).status, 0);
    writeFileSync(join(folder, "src/bin"), Buffer.from([0, 7]));
    const undone = run(folder, ["undo", "--last-command"]);
    assert.notEqual(undone.status, 0);
    assert.match(undone.stdout, /Not undone: src\/bin has changed since the command ran\./);
    assert.match(undone.stdout, /Undone: src\/e is as it was\./);
    assert.deepEqual(readFileSync(join(folder, "src/bin")), Buffer.from([0, 7]));
});

test("the undo of a command is on the disk, also where edits wait for a save", { skip }, (t) => {
    const folder = staged(t, { "quire.toml": rules.replace('save = "on_commit"\n', "") });
    if (!folder) return;
    const quiet = (...args) => run(folder, [...args, "--actor", "agent:ada"]);
    assert.equal(quiet("sh", "echo more >> src/a.txt; echo new > src/c.txt").status, 0);
    assert.equal(readFileSync(join(folder, "src/a.txt"), "utf8"), "one\nmore\n");
    const undone = quiet("undo", "--last-command");
    assert.equal(undone.status, 0, undone.stderr);
    assert.doesNotMatch(undone.stdout, /as it was/);
    assert.equal(readFileSync(join(folder, "src/a.txt"), "utf8"), "one\n");
    assert.ok(!existsSync(join(folder, "src/c.txt")));
});

test("the audit log says what a command changed, and what was not foreseen", { skip }, (t) => {
    const folder = staged(t);
    if (!folder) return;
    const script = "printf 'echo x >> src/a.txt' > src/run.sh; bash src/run.sh";
    assert.equal(run(folder, ["sh", script]).status, 0);
    assert.equal(run(folder, ["sh", "echo y >> src/a.txt"]).status, 0);
    const rows = run(folder, ["audit", "--missed", "--json"]).stdout.trim().split("\n").map((row) => JSON.parse(row).entry);
    assert.equal(rows.length, 1);
    const [row] = rows;
    assert.deepEqual([row.event, row.shell, row.tier, row.outcome, row.exit_code], ["command", script, "staged", "committed", 0]);
    assert.deepEqual(row.predicted, ["src/run.sh"]);
    assert.deepEqual(row.missed, ["src/a.txt"]);
    assert.deepEqual(row.blocks.map(({ path }) => path).sort(), ["src/a.txt", "src/run.sh"]);
    assert.match(run(folder, ["audit", "--missed"]).stdout, /ran `printf .*not predicted: src\/a\.txt/);
    assert.equal(run(folder, ["undo", "--call", String(row.call)]).status, 0);
    assert.equal(readFileSync(join(folder, "src/a.txt"), "utf8"), "one\ny\n");
    assert.equal(run(folder, ["audit", "verify"]).status, 0);
});

const act = (folder, what, actor = "agent:ada") => {
    const call = run(folder, ["call", "shell", "-", "--actor", actor], JSON.stringify(what));
    return call.status === 0 ? JSON.parse(call.stdout) : refusal(call.stderr);
};
async function outputWhen(folder, process_id, holds) {
    for (let i = 0; i < 1200; ++i) {
        const now = act(folder, { operation: "output", process_id });
        if (holds(now)) return now;
        await sleep(50);
    }
    return assert.fail(`waited for ${process_id}`);
}

test("a command in the background outlives its client, and its output the kernel", { skip }, async (t) => {
    const folder = staged(t);
    if (!folder) return;
    const command = "echo begun; sleep 7; echo two >> src/a.txt; echo done";
    const { process_id, block_id, running } = act(folder, { operation: "spawn", command });
    assert.equal(running, true);
    // A kernel without work would end after five seconds without a client.
    await sleep(6500);
    assert.ok(kernelOf(folder) > 0);
    const ended = await outputWhen(folder, process_id, (now) => !now.running);
    assert.equal(ended.exit_code, 0);
    assert.equal(ended.line_count, 2);
    assert.deepEqual(ended.file_changes.map(({ path, committed }) => [path, committed]), [["src/a.txt", true]]);
    assert.equal(readFileSync(join(folder, "src/a.txt"), "utf8"), "one\ntwo\n");
    const [listed] = act(folder, { operation: "status" }).processes;
    assert.equal(listed.command, command);
    assert.match(listed.started, /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(act(folder, { operation: "status" }, "agent:bob").processes, []);
    assert.equal(run(folder, ["stop"]).status, 0);
    const later = act(folder, { operation: "output", process_id, from_line: 2 });
    assert.deepEqual([later.content, later.running], ["done\n", false]);
    const found = run(folder, ["call", "block_search", JSON.stringify({ query: "begun" })]);
    assert.equal(JSON.parse(found.stdout).blocks[0].block_id, block_id);
});

test("stopping the kernel ends what runs in the background, and nothing of it is kept", { skip }, async (t) => {
    const folder = staged(t);
    if (!folder) return;
    const { process_id } = act(folder, { operation: "spawn", command: "echo x > src/new; echo ready; sleep 600" });
    await outputWhen(folder, process_id, (now) => now.content === "ready\n");
    assert.equal(run(folder, ["stop"]).status, 0);
    assert.equal(act(folder, { operation: "output", process_id }).content, "ready\n");
    assert.ok(!existsSync(join(folder, "src/new")));
    assert.equal(act(folder, { operation: "kill", process_id }).reason, "invalid_reference");
});

test("a kernel that is killed takes its commands along, and the next one removes their stages", { skip }, async (t) => {
    const folder = staged(t);
    if (!folder) return;
    const slow = spawn(quire, ["sh", "echo x > src/slow; sleep 60"], { cwd: folder, stdio: "ignore" });
    const ended = new Promise((resolve) => slow.on("exit", resolve));
    const stages = join(folder, ".quire/stages");
    for (let i = 0; i < 3000 && readdirSync(stages).length === 0; ++i) await sleep(20);
    process.kill(kernelOf(folder), "SIGKILL");
    await ended;
    assert.equal(shell(folder, "ls src").stdout, "a.txt\n");
    assert.deepEqual(readdirSync(stages), []);
});

// The kernel is killed once it has begun to keep the changes, as soon as that can be seen.
test("changes of a command are kept whole when the kernel is killed in the middle", { skip }, async (t) => {
    const folder = staged(t);
    if (!folder) return;
    const stages = join(folder, ".quire/stages");
    const names = Array.from({ length: 40 }, (_, i) => join(folder, `src/f${i}`));
    const has_begun = () => readdirSync(stages).some((stage) => existsSync(join(stages, stage, "commit.json")));
    let caught = 0;
    for (let round = 1; round <= 8 || (caught === 0 && round <= 50); ++round) {
        const command = `for i in $(seq 0 39); do echo ${round} > src/f$i; done; printf '${round}\\0' > src/binary`;
        const writer = spawn(quire, ["sh", command], { cwd: folder, stdio: "ignore" });
        const ended = new Promise((resolve) => writer.on("exit", resolve));
        const deadline = Date.now() + 60_000;
        let over = false;
        ended.then(() => (over = true));
        while (!over && Date.now() < deadline && !has_begun()) await sleep(0);
        await sleep(round * 3);
        if (!over) {
            caught += 1;
            process.kill(kernelOf(folder), "SIGKILL");
        }
        await ended;
        shell(folder, "true");
        for (const name of names) assert.equal(readFileSync(name, "utf8"), `${round}\n`, `round ${round}: ${name}`);
        assert.equal(readFileSync(join(folder, "src/binary"), "utf8"), `${round}\0`);
    }
    t.diagnostic(`${caught} commits were interrupted`);
    assert.ok(caught > 0);
});

test("doctor says whether commands can be staged", { skip }, (t) => {
    const folder = staged(t);
    if (!folder) return;
    assert.match(run(folder, ["doctor"]).stdout, /shell +tier staged/);
});

// The first command begins a copy of the files in the background; a kernel that is killed meanwhile leaves a part of it.
test("what a killed kernel has copied of the files is removed at the next start", { skip }, async (t) => {
    const files = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`many/${i % 40}/f${i}.txt`, `line ${i}\n`.repeat(50)]));
    const folder = staged(t, files);
    if (!folder) return;
    const generations = join(folder, ".quire/generations");
    for (let i = 0; i < 6000 && !existsSync(generations); i++) await sleep(10);
    process.kill(kernelOf(folder), "SIGKILL");
    for (let i = 0; i < 6000 && kernelOf(folder) !== undefined; i++) await sleep(10);
    mkdirSync(join(generations, "left/by/a/kernel"), { recursive: true });
    assert.equal(shell(folder, "cat many/7/f7.txt | head -1").stdout, "line 7\n");
    assert.ok(!existsSync(join(generations, "left")));
    const gone = () => readdirSync(join(folder, ".quire")).filter((name) => name.startsWith("gone-"));
    for (let i = 0; i < 3000 && gone().length > 0; i++) await sleep(20);
    assert.deepEqual(gone(), []);
});

test("a save while a command runs does not come through to it, and both changes are kept", { skip }, async (t) => {
    // An ignored directory is live, so the command sees what is written to the file there.
    const folder = staged(t, { "src/both.txt": "one\ntwo\nthree\nfour\n", ".gitignore": "signal/\n", "signal/state": "wait" });
    if (!folder) return;
    const call = { operation: "spawn", command: "until grep -q go ../signal/state; do sleep 0.05; done; cat both.txt; sed -i s/one/ONE/ both.txt", cwd: "src" };
    const begun = JSON.parse(run(folder, ["call", "shell", "-", "--actor", "agent:ada"], JSON.stringify(call)).stdout);
    writeFileSync(join(folder, "src/both.txt"), "one\ntwo\nthree\nFOUR\n");
    writeFileSync(join(folder, "signal/state"), "go");
    const output = () => JSON.parse(run(folder, ["call", "shell", "-", "--actor", "agent:ada"], JSON.stringify({ operation: "output", process_id: begun.process_id })).stdout);
    let seen = output();
    for (let i = 0; i < 600 && seen.running; i++) {
        await sleep(100);
        seen = output();
    }
    assert.equal(seen.content, "one\ntwo\nthree\nfour\n");
    assert.deepEqual(seen.file_changes.map(({ path, committed }) => ({ path, committed })), [{ path: "src/both.txt", committed: true }]);
    assert.equal(readFileSync(join(folder, "src/both.txt"), "utf8"), "ONE\ntwo\nthree\nFOUR\n");
});
