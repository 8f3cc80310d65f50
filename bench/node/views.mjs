// Several agents on one tree. Four scripted agents, each in a git worktree that the workspace has adopted, and a
// person on the shared files edit the same ten files at once; beside it the same edits with `git worktree` and
// `git merge`. Then what a land and a refresh of 50 files cost in a tree of 20,000, and what a second tree does.
import { spawnSync } from "node:child_process";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { everythingAllowed, kernelOf, quire } from "../../tests/node/support/workspace.mjs";
import { answered, connected, fill, megabytes, ms, now, onDisk, p50, Report, resident } from "./measure.mjs";

const report = new Report("Several agents in worktrees of one tree");
const agents = ["ada", "bob", "cyd", "dan"];
const shared = Array.from({ length: 10 }, (_, i) => `src/file${i}.txt`);
const turns = 20;
const editsEach = 10;

function run(folder, program, args, statuses = [0]) {
    const done = spawnSync(program, args, { encoding: "utf8", cwd: folder, timeout: 300_000, maxBuffer: 1 << 28 });
    if (!statuses.includes(done.status)) throw new Error(`${program} ${args.join(" ")}: ${done.status} ${done.stdout}${done.stderr}`);
    return done;
}
const git = (folder, args, statuses) => run(folder, "git", ["-c", "user.name=b", "-c", "user.email=b@b", "-c", "commit.gpgsign=false", ...args], statuses);

// The same numbers in each run, so that both sides get the same edits.
function randomNumbers(seed) {
    let state = seed;
    return (below) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
    };
}

// One edit: a new line with a token, or a token at the end of a line that is there. No token is ever taken out by
// whoever writes, so that each has to be somewhere in the end.
function edit(folder, random, token) {
    const path = join(folder, shared[random(shared.length)]);
    const lines = readFileSync(path, "utf8").split("\n");
    const at = random(lines.length);
    if (random(2) === 0 || lines[at] === "") lines.splice(at, 0, token);
    else lines[at] += ` ${token}`;
    writeFileSync(path, lines.join("\n"));
}

function fresh(folder) {
    const files = Object.fromEntries(shared.map((path, i) => [path, Array.from({ length: 60 }, (_, n) => `line ${n} of file ${i}\n`).join("")]));
    fill(folder, { "quire.toml": everythingAllowed, ...files });
    git(folder, ["init", "-q", "-b", "main"]);
    git(folder, ["add", "-A"]);
    git(folder, ["commit", "-qm", "first"]);
}
const textOf = (folder) => shared.map((path) => readFileSync(join(folder, path), "utf8")).join("\n");

// Each turn every agent makes its edits and then brings them; the person edits in between.
function script(folder, trees, bring) {
    const written = [];
    const random = randomNumbers(20261129);
    const write = (where, who, turn) => {
        for (let i = 0; i < editsEach; i++) {
            const token = `${who}-${turn}-${i}-x`;
            edit(where, random, token);
            written.push(token);
        }
    };
    for (let turn = 0; turn < turns; turn++) {
        for (const name of agents) write(trees[name], name, turn);
        write(folder, "person", turn);
        for (const name of agents) bring(name, turn);
    }
    return written;
}
const missing = (written, text) => written.filter((token) => !text.includes(token)).length;

// Runs use(folder, trees) on a fresh repository with a worktree for each agent, on a branch of its name.
function withWorktrees(use) {
    return onDisk((above) => {
        const folder = join(above, "ws");
        mkdirSync(folder);
        fresh(folder);
        const trees = Object.fromEntries(agents.map((name) => [name, join(above, name)]));
        for (const name of agents) git(folder, ["worktree", "add", "-q", "-b", name, trees[name]]);
        return use(folder, trees);
    });
}

function withQuire() {
    return withWorktrees((folder, trees) => {
        for (const name of agents) run(folder, quire, ["view", "adopt", trees[name], "--actor", `agent:${name}`]);
        let withConflict = 0;
        const took = [];
        const bring = (name) => {
            for (const direction of ["land", "refresh"]) {
                const began = now();
                const { status } = run(folder, quire, [direction, trees[name]], [0, 3]);
                took.push(now() - began);
                if (direction === "land" && status === 3) withConflict++;
            }
        };
        const written = script(folder, trees, bring);
        for (const name of agents) bring(name);
        const views = JSON.parse(run(folder, quire, ["views", "--json"]).stdout).trees;
        const conflicts = views.flatMap((tree) => tree.conflicts);
        const records = conflicts.map(({ theirs, shared: ours }) => `${theirs}\n${ours}`).join("\n");
        const final = textOf(folder);
        run(folder, quire, ["stop"], [0, 1]);
        return { written: written.length, lost: missing(written, `${final}\n${records}`), inRecords: missing(written, final), conflicts: conflicts.length, withConflict, took };
    });
}

// Unattended, as scripts do it: the agent commits and its branch is merged. Where that stops, the agent merges
// main into its branch with its own side first, and is merged then.
function withGit() {
    return withWorktrees((folder, trees) => {
        let stops = 0, conflicts = 0;
        const bring = (name, turn) => {
            git(folder, ["commit", "-qam", `person ${turn}`], [0, 1]);
            git(trees[name], ["commit", "-qam", `${name} ${turn}`], [0, 1]);
            if (git(folder, ["merge", "-q", "--no-edit", name], [0, 1]).status !== 0) {
                stops++;
                conflicts += (textOf(folder).match(/^<<<<<<< /gm) ?? []).length;
                git(folder, ["merge", "--abort"]);
                git(trees[name], ["merge", "-q", "--no-edit", "-X", "ours", "main"]);
                git(folder, ["merge", "-q", "--no-edit", name]);
            } else {
                git(trees[name], ["merge", "-q", "--no-edit", "main"]);
            }
        };
        const written = script(folder, trees, bring);
        return { written: written.length, lost: missing(written, textOf(folder)), stops, conflicts };
    });
}

const ours = await withQuire();
const theirs = await withGit();
report.row(`tokens lost, of ${ours.written} written by 4 agents and a person into 10 files`, `${ours.lost}`, `${theirs.lost}`, "", "none", ours.lost === 0);
report.row("merges that stopped, of 80", "0", `${theirs.stops}`);
report.row("lands that left a conflict; conflicts when git stopped", `${ours.withConflict}`, `${theirs.conflicts}`);
report.row("conflicts open at the end, and tokens that are only there", `${ours.conflicts}, ${ours.inRecords}`);
report.row("one land or refresh of such a turn, the program's start with it", ms(p50(ours.took)));

// --- 50 files in a tree of 20,000 ---

// A new file beside each old one, synced, which takes its place: what any safe save does.
function bareSaves(folder, paths, text) {
    const began = now();
    for (const path of paths) {
        const draft = `${join(folder, path)}.draft`;
        const file = openSync(draft, "w");
        writeSync(file, text);
        fsyncSync(file);
        closeSync(file);
        renameSync(draft, join(folder, path));
        const directory = openSync(join(folder, path, ".."), "r");
        fsyncSync(directory);
        closeSync(directory);
    }
    return now() - began;
}

await onDisk(async (above) => {
    const folder = join(above, "ws"), tree = join(above, "ada");
    for (const where of [folder, tree]) {
        for (let d = 0; d < 200; d++) {
            mkdirSync(join(where, `d${d}`), { recursive: true });
            for (let f = 0; f < 100; f++) writeFileSync(join(where, `d${d}/f${f}.txt`), `file ${f} of folder ${d}\nsecond line\n`);
        }
    }
    fill(folder, { "quire.toml": everythingAllowed });
    // A client keeps the kernel, which watches the workspace alone at first.
    const client = await connected(folder);
    await answered(client, "file", { operation: "reconcile" });
    const pid = kernelOf(folder);
    const memory = () => resident(folder).find((each) => each.pid === pid).bytes;
    const before = memory();
    const began = now();
    run(folder, quire, ["view", "adopt", tree, "--actor", "agent:ada"]);
    report.row("adopting a second tree of 20,000 files", ms(now() - began));
    run(folder, quire, ["views"]);
    const grown = memory() - before;
    report.row("memory of a second tree of 20,000 files", megabytes(grown), "", "", "under 10 MB", grown < 10 * 1048576);

    // The times of files that have just been made cannot be trusted yet.
    await sleep(3000);
    run(folder, quire, ["land", tree]);
    const idle = [];
    for (let i = 0; i < 9; i++) {
        const at = now();
        run(folder, quire, ["land", tree]);
        idle.push(now() - at);
    }
    report.row("a land with nothing to land", ms(p50(idle)));
    const lands = [], refreshes = [], bares = [];
    for (let round = 0; round < 9; round++) {
        const paths = Array.from({ length: 50 }, (_, i) => `d${(round * 17 + i * 3) % 200}/f${(round * 7 + i) % 100}.txt`);
        for (const path of paths) writeFileSync(join(tree, path), `round ${round}\nsecond line\n`);
        let at = now();
        run(folder, quire, ["land", tree]);
        lands.push(now() - at);
        for (const path of paths) writeFileSync(join(folder, path), `round ${round}\nanother line ${round}\n`);
        at = now();
        run(folder, quire, ["refresh", tree]);
        refreshes.push(now() - at);
        bares.push(bareSaves(tree, Array.from(paths, (path) => path.replace(".txt", ".bare")), "round\nsecond line\n"));
        run(tree, "find", [".", "-name", "*.bare", "-delete"]);
    }
    const land = p50(lands), refresh = p50(refreshes), bare = p50(bares);
    report.row("land of 50 changed files", ms(land), ms(bare), "", "under 200 ms beyond bare saves", land - bare < 200);
    report.row("refresh of 50 changed files", ms(refresh), ms(bare), "", "under 100 ms beyond bare saves", refresh - bare < 100);
    await client.end();
    run(folder, quire, ["stop"], [0, 1]);
});

report.finish();
