// kill -9 of the kernel while it lands an adopted tree or refreshes it: after the next start and the same call again
// both sides are as if nothing had happened, and nothing that anybody wrote is lost.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { comesTrue, kernelOf, quire, removeWorkspace, skip, workspace } from "./support/workspace.mjs";

const rounds = Math.ceil(Number(process.env.QUIRE_LONG ?? 8) / 2);
const sides = ["tree", "shared"];

function run(folder, ...args) {
    return spawnSync(quire, [...args, "--actor", "agent:ada"], { encoding: "utf8", timeout: 120_000, cwd: folder });
}
function done(folder, ...args) {
    const child = run(folder, ...args);
    assert.equal(child.status, 0, `${args.join(" ")}: ${child.stdout}${child.stderr}`);
    return child.stdout;
}
const json = (folder, ...args) => JSON.parse(done(folder, ...args, "--json"));

function put(folder, path, content) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
}
const lines = Array.from({ length: 12 }, (_, i) => `line ${i} has its words\n`);

// What both sides begin with: in `both` what both change, and beside it what one side changes alone.
function fill(folder) {
    for (const name of ["apart", "together", "tied", "words", "kept0", "kept1", "moved0", "moved1", "program"]) put(folder, `src/both/${name}`, lines.join(""));
    put(folder, "src/both/bin", "\0base");
    for (const side of sides) {
        const at = `src/${side}`;
        for (let i = 0; i < 4; ++i) put(folder, `${at}/text${i}`, lines.join(""));
        for (let i = 0; i < 2; ++i) put(folder, `${at}/bin${i}`, `\0base ${i}`);
        for (const name of ["gone", "was/deep/text", "swapped", "program", "removed/text", "removed/deep/text"]) put(folder, `${at}/${name}`, `${name} of ${side}\n`);
        put(folder, `${at}/gone.bin`, "\0gone");
        put(folder, `${at}/removed/bin`, "\0removed");
        put(folder, `${at}/windows`, "one\r\ntwo\r\n");
        put(folder, `${at}/old`, `old of ${side}\n`);
        put(folder, `${at}/old.bin`, `\0old of ${side}`);
        symlinkSync("text0", join(folder, at, "link"));
        symlinkSync("text1", join(folder, at, "turned"));
    }
}

// Every kind of change, and a path that becomes something of another kind in each direction. Each text and each file
// gets a word of its own, which is returned.
function change(folder, side) {
    const words = [];
    const word = () => (words.push(`${side}-word-${words.length}-end`), words.at(-1));
    const edit = (path, line, text) => put(folder, path, readFileSync(join(folder, path), "utf8").split("\n").with(line, text).join("\n"));
    const is = side === "tree";
    edit("src/both/apart", is ? 1 : 10, word());
    edit("src/both/together", 5, `line 5 has its words\n${word()}`);
    edit("src/both/tied", 5, word());
    edit("src/both/words", 5, is ? `${word()} 5 has its words` : `line 5 has its ${word()}`);
    put(folder, "src/both/bin", `\0${word()}`);
    put(folder, "src/both/new", `${word()}\n`);
    put(folder, "src/both/made/deep/same", "the same\n");
    rmSync(join(folder, "src/both", is ? "kept0" : "kept1"));
    edit(`src/both/${is ? "kept1" : "kept0"}`, 3, word());
    renameSync(join(folder, "src/both", is ? "moved0" : "moved1"), join(folder, "src/both", is ? "renamed0" : "renamed1"));
    edit(`src/both/${is ? "moved1" : "moved0"}`, 3, word());
    if (is) chmodSync(join(folder, "src/both/program"), 0o755);
    else edit("src/both/program", 4, word());

    const at = `src/${side}`, own = (name) => join(folder, at, name);
    for (let i = 0; i < 3; ++i) edit(`${at}/text${i}`, i, word());
    put(folder, `${at}/text3`, `${word()}\n`);
    for (let i = 0; i < 2; ++i) put(folder, `${at}/bin${i}`, `\0${word()}`);
    put(folder, `${at}/windows`, `one\r\n${word()}\r\n`);
    put(folder, `${at}/new.txt`, `${word()}\n`);
    put(folder, `${at}/new.bin`, `\0${word()}`);
    put(folder, `${at}/new/deep/text`, `${word()}\n`);
    put(folder, `${at}/new/deep/bin`, `\0${word()}`);
    put(folder, `src/both/made/${side}`, `${word()}\n`);
    put(folder, `${at}/new.sh`, `# ${word()}\n`);
    chmodSync(own("new.sh"), 0o755);
    chmodSync(own("program"), 0o755);
    for (const name of ["gone", "gone.bin", "link", "removed", "was", "turned", "swapped"]) rmSync(own(name), { recursive: true });
    put(folder, `${at}/was`, `${word()}\n`);
    put(folder, `${at}/turned`, `${word()}\n`);
    put(folder, `${at}/swapped/text`, `${word()}\n`);
    for (const name of ["old", "old.bin"]) renameSync(own(name), own(`renamed-${name}`));
    symlinkSync(word(), own("new.link"));
    return words;
}

// Kind, whether it may be executed, and bytes or target, by path.
function contents(folder) {
    const out = {};
    for (const name of readdirSync(join(folder, "src"), { recursive: true }).sort()) {
        const path = join(folder, "src", name);
        const stat = lstatSync(path);
        if (stat.isSymbolicLink()) out[name] = `link ${readlinkSync(path)}`;
        else out[name] = stat.isDirectory() ? "directory" : `${stat.mode & 0o100 ? "program" : "file"} ${readFileSync(path, "latin1")}`;
    }
    return out;
}

// A workspace and an adopted tree of it, both changed since, and a kernel that runs.
function place(t) {
    const folder = realpathSync(workspace(t));
    const trees = realpathSync(mkdtempSync(join(tmpdir(), "quire-trees-")));
    const tree = join(trees, "ada");
    fill(folder);
    cpSync(folder, tree, { recursive: true, verbatimSymlinks: true });
    done(folder, "view", "adopt", tree);
    const words = [...change(tree, "tree"), ...change(folder, "shared")];
    done(folder, "views");
    const remove = () => {
        removeWorkspace(folder);
        rmSync(trees, { recursive: true, force: true });
    };
    t?.after(remove);
    return { folder, tree, words, remove };
}

function journalOf(folder) {
    const roots = [[".quire/stages", "commit.json"], [".quire/views", "refresh/commit.json"]];
    for (const [root, name] of roots) {
        const at = join(folder, root);
        if (!existsSync(at)) continue;
        const found = readdirSync(at).map((each) => join(at, each, name)).find((path) => existsSync(path));
        if (found !== undefined) return found;
    }
    return undefined;
}
const turn = () => new Promise((again) => setImmediate(again));

// Brings one direction, and kills the kernel `delay` ms after its journal stands or, with `early`, after the call was
// made; or not at all. Returns when the journal stood and when the call ended.
async function bringAndKill({ folder, tree }, direction, { delay, early } = {}) {
    const kernel = kernelOf(folder);
    const began = performance.now();
    const child = spawn(quire, [direction, tree, "--actor", "agent:ada"], { cwd: folder, stdio: "ignore" });
    const ended = new Promise((end) => child.on("exit", end));
    let stood = began;
    if (!early) {
        while (journalOf(folder) === undefined && child.exitCode === null) {
            assert.ok(performance.now() - began < 60_000, "it does not begin");
            await turn();
        }
        stood = performance.now();
    }
    if (delay !== undefined) {
        while (performance.now() - stood < delay) await turn();
        process.kill(kernel, "SIGKILL");
        assert.ok(await comesTrue(() => kernelOf(folder) !== kernel));
    }
    await ended;
    return { before: stood - began, after: performance.now() - stood };
}

// Kills a kernel that completes what another has begun. Returns how many were killed.
async function killAtStart(folder, delay) {
    const child = spawn(quire, ["views", "--actor", "agent:ada"], { cwd: folder, stdio: "ignore" });
    const ended = new Promise((end) => child.on("exit", end));
    let kernel;
    while (kernel === undefined && child.exitCode === null) {
        kernel = kernelOf(folder);
        await turn();
    }
    const began = performance.now();
    while (performance.now() - began < delay) await turn();
    if (kernel !== undefined) process.kill(kernel, "SIGKILL");
    await ended;
    return kernel === undefined ? 0 : 1;
}

function bring({ folder, tree }, direction) {
    const child = run(folder, direction, tree, "--json");
    assert.equal(child.status, 3, `${direction}: ${child.stdout}${child.stderr}`);
    return JSON.parse(child.stdout);
}

// The changes of each text, and the conflicts, without what differs from run to run.
function history(folder) {
    const { entries } = json(folder, "log", "--limit", "1000");
    return entries.map(({ path, actor, version_id }) => `${path} ${version_id} ${actor}`).sort();
}
function conflictsOf(folder) {
    return json(folder, "views").trees[0].conflicts.map(({ path, kind, base, theirs, shared, start }) => ({ path, kind, base, theirs, shared, start }));
}

function assertNothingIsLost({ folder, tree, words }, where) {
    const shown = JSON.stringify([contents(folder), contents(tree), conflictsOf(folder)]);
    for (const word of words) assert.ok(shown.includes(word), `${where}: ${word} is lost`);
}

function assertSound(folder, where) {
    assert.deepEqual(json(folder, "status").lost_commits, [], where);
    const { findings } = json(folder, "doctor");
    assert.deepEqual(findings.filter(({ health, what }) => health === "broken" || (what === "store" && health !== "ok")), [], where);
    const check = json(folder, "fsck");
    assert.ok(check.clean, `${where}: ${JSON.stringify(check)}`);
}

for (const direction of ["land", "refresh"]) {
    const title = `a ${direction} whose kernel is killed in the middle is whole after the next, ${rounds} times`;
    test(title, { skip, timeout: 7_200_000 }, async (t) => {
        const model = place(t);
        const [from, into] = direction === "land" ? [model.tree, model.folder] : [model.folder, model.tree];
        const into_of = (at) => (direction === "land" ? at.folder : at.tree);
        const from_of = (at) => (direction === "land" ? at.tree : at.folder);
        const before = contents(into), other = contents(from);
        const took = await bringAndKill(model, direction);
        const after = contents(into), conflicts = conflictsOf(model.folder), log = history(model.folder);
        assert.notDeepEqual(after, before);
        assert.deepEqual(contents(from), other);
        assertNothingIsLost(model, "without a kill");
        const told = { whole: 0, nothing: 0, middle: 0 };
        for (let round = 0; round < rounds; ++round) {
            const at = place();
            const { folder } = at;
            try {
                const early = round % 5 === 4;
                const delay = early ? Math.random() * (took.before + took.after) : (took.after * 1.1 * round) / rounds;
                await bringAndKill(at, direction, { delay, early });
                const was = contents(into_of(at));
                const again = round % 3 === 2 ? await killAtStart(folder, Math.random() * 60) : 0;
                const where = `round ${round}: killed ${delay.toFixed(2)} ms after the ${early ? "call" : "journal"}, and ${again} times at the start after it`;
                done(folder, "views");
                // The draft of an interrupted save is removed in the background.
                await comesTrue(() => !readdirSync(folder, { recursive: true }).some((name) => !name.startsWith(".quire") && name.endsWith(".tmp")));
                const now = contents(into_of(at));
                const is_whole = JSON.stringify(now) !== JSON.stringify(before);
                if (is_whole) assert.deepEqual(now, after, where);
                told[is_whole ? "whole" : "nothing"] += 1;
                if (is_whole && JSON.stringify(was) !== JSON.stringify(after)) told.middle += 1;
                assert.deepEqual(contents(from_of(at)), other, where);

                // Whoever takes a land back at once does not find it landed again.
                const at_once = direction === "land" && is_whole && round % 2 === 1;
                if (!at_once) {
                    const { trees } = bring(at, direction);
                    assert.ok(!is_whole || trees[0].files.length === 0, `${where}: ${JSON.stringify(trees[0].files)}`);
                    assert.deepEqual(contents(into_of(at)), after, where);
                    assert.deepEqual(contents(from_of(at)), other, where);
                    assert.deepEqual(bring(at, direction).trees[0].files, [], where);
                    assert.deepEqual(conflictsOf(folder), conflicts, where);
                    assertNothingIsLost(at, where);
                    assert.deepEqual(history(folder), log, where);
                }
                if (round % 4 === 0) assertSound(folder, where);
                if (direction === "refresh") bring(at, "land");
                done(folder, "undo", "--last-command");
                assert.deepEqual(contents(folder), direction === "land" ? before : other, where);
                assert.deepEqual(bring(at, "land").trees[0].files, [], where);
            } finally {
                at.remove();
            }
        }
        t.diagnostic(`${told.whole} were whole, ${told.middle} of them by the next start, ${told.nothing} had not begun; took ${took.before.toFixed(0)} and ${took.after.toFixed(0)} ms`);
        assert.ok(told.middle > 0, "no kill came in the middle");
    });
}
