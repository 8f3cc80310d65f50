// kill -9 of the kernel while it keeps the changes of a command: the next kernel has all of the command or nothing of
// it, says so in the audit log, and undoes it as any other.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { comesTrue, kernelOf, quire, removeWorkspace, skip, workspace } from "./support/workspace.mjs";

const rounds = Number(process.env.QUIRE_LONG ?? 8);

function run(folder, ...args) {
    return spawnSync(quire, [...args, "--actor", "agent:ada"], { encoding: "utf8", timeout: 120_000, cwd: folder });
}

// Every kind of change, and a path that becomes something of another kind in each direction.
const command = [
    "for i in 0 1 2 3 4 5; do echo more >> src/text$i; printf '\\0two' > src/bin$i; done",
    "rm src/gone0 src/gone1 src/bin6 src/link",
    "printf '\\0new' > src/new.bin; echo new > src/new.txt; ln -s text0 src/new.link",
    "mkdir -p src/new/deep; echo in > src/new/deep/text; printf '\\0' > src/new/deep/bin",
    "chmod 755 src/text0; chmod 700 src/directory; chmod 500 src/shut; chmod +x src/new.txt",
    "chmod 700 src/closed; rm -r src/closed src/directory/bin; rm src/swapped; mkdir src/swapped; echo in > src/swapped/text",
    "rm src/turned; echo text > src/turned; rm -r src/was; echo file > src/was",
].join("; ");

function fill(folder) {
    const src = join(folder, "src");
    for (const name of ["directory", "shut", "closed", "was"]) mkdirSync(join(src, name), { recursive: true });
    for (let i = 0; i < 6; ++i) writeFileSync(join(src, `text${i}`), `text ${i}\nend\n`);
    for (let i = 0; i < 7; ++i) writeFileSync(join(src, `bin${i}`), `\0bin ${i}`);
    writeFileSync(join(src, "gone0"), "gone\n");
    writeFileSync(join(src, "gone1"), "gone\r\n");
    chmodSync(join(src, "gone0"), 0o755);
    writeFileSync(join(src, "directory/bin"), "\0");
    writeFileSync(join(src, "closed/text"), "closed\n");
    writeFileSync(join(src, "closed/bin"), "\0closed");
    writeFileSync(join(src, "swapped"), "file\n");
    writeFileSync(join(src, "was/text"), "was\n");
    symlinkSync("text1", join(src, "link"));
    symlinkSync("text2", join(src, "turned"));
    chmodSync(join(src, "closed"), 0o500);
}

// Kind, permissions, and bytes or target, by path.
function tree(folder) {
    const out = {};
    for (const name of readdirSync(join(folder, "src"), { recursive: true }).sort()) {
        const path = join(folder, "src", name);
        const stat = lstatSync(path);
        const mode = (stat.mode & 0o777).toString(8);
        if (stat.isSymbolicLink()) out[name] = `link ${readlinkSync(path)}`;
        else out[name] = stat.isDirectory() ? `directory ${mode}` : `file ${mode} ${readFileSync(path, "latin1")}`;
    }
    return out;
}

function journalOf(folder) {
    const stages = join(folder, ".quire/stages");
    if (!existsSync(stages)) return undefined;
    return readdirSync(stages).map((name) => join(stages, name, "commit.json")).find((path) => existsSync(path));
}

// Runs the command, and kills the kernel `delay` ms after the commit has begun, or not at all. Returns how long the
// journal stood.
async function runAndKill(folder, delay) {
    const child = spawn(quire, ["sh", command, "--actor", "agent:ada"], { cwd: folder, stdio: "ignore" });
    const ended = new Promise((done) => child.on("exit", done));
    const kernel = kernelOf(folder);
    const end = Date.now() + 60_000;
    while (journalOf(folder) === undefined && child.exitCode === null) {
        assert.ok(Date.now() < end, "the commit does not begin");
        await new Promise((again) => setImmediate(again));
    }
    const began = performance.now();
    if (delay === undefined) {
        await comesTrue(() => journalOf(folder) === undefined);
        const took = performance.now() - began;
        await ended;
        return took;
    }
    while (performance.now() - began < delay) await new Promise((again) => setImmediate(again));
    process.kill(kernel, "SIGKILL");
    assert.ok(await comesTrue(() => kernelOf(folder) !== kernel));
    await ended;
    return delay;
}

// Kills a kernel that completes what another has begun. Returns how many were killed.
async function killAtStart(folder, delay) {
    const child = spawn(quire, ["sh", "true", "--actor", "agent:ada"], { cwd: folder, stdio: "ignore" });
    const ended = new Promise((done) => child.on("exit", done));
    let kernel;
    while (kernel === undefined && child.exitCode === null) {
        kernel = kernelOf(folder);
        await new Promise((again) => setImmediate(again));
    }
    const began = performance.now();
    while (performance.now() - began < delay) await new Promise((again) => setImmediate(again));
    if (kernel !== undefined) process.kill(kernel, "SIGKILL");
    await ended;
    return kernel === undefined ? 0 : 1;
}

test(`a command whose kernel is killed in the middle is whole, logged and undone, ${rounds} times`, { skip, timeout: 3_600_000 }, async (t) => {
    const model = workspace(t);
    fill(model);
    const before = tree(model);
    if (run(model, "sh", "true").stderr.includes("no_stage")) return t.skip("this machine has no stage");
    const took = await runAndKill(model);
    const after = tree(model);
    assert.notDeepEqual(after, before);
    const told = { completed: 0, whole: 0 };
    for (let round = 0; round < rounds; ++round) {
        const folder = workspace();
        try {
            fill(folder);
            assert.equal(run(folder, "sh", "true").status, 0);
            const delay = (took * 1.2 * round) / rounds;
            await runAndKill(folder, delay);
            const again = round % 3 === 2 ? await killAtStart(folder, Math.random() * 30) : 0;
            const where = `killed ${delay.toFixed(2)} of ${took.toFixed(2)} ms after the commit had begun, and ${again} times at the start after it`;
            assert.equal(run(folder, "sh", "true").status, 0, where);
            // The draft of an interrupted save is removed in the background.
            await comesTrue(() => !readdirSync(join(folder, "src"), { recursive: true }).some((name) => name.endsWith(".tmp")));
            assert.deepEqual(tree(folder), after, where);
            const entries = run(folder, "audit", "--json", "--all").stdout.trim().split("\n").map((line) => JSON.parse(line).entry);
            const logged = entries.filter((entry) => entry.event === "command" && entry.shell?.startsWith("for i"));
            assert.ok(logged.length >= 1, `${where}: ${JSON.stringify(entries)}`);
            told[logged.at(-1).completed || logged[0].completed ? "completed" : "whole"] += 1;
            for (const path of ["src/text0", "src/text5", "src/new.txt"])
                assert.match(run(folder, "log", path).stdout, /agent:ada/, `${where}: ${path}`);
            const undone = run(folder, "undo", "--last-command");
            assert.equal(undone.status, 0, `${where}: ${undone.stdout}${undone.stderr}`);
            assert.deepEqual(tree(folder), before, `${where}: ${undone.stdout}`);
        } finally {
            removeWorkspace(folder);
        }
    }
    t.diagnostic(`${told.completed} were completed after the kill, ${told.whole} were done before it; a commit took ${took.toFixed(1)} ms`);
    assert.ok(told.completed > 0, "no kill came in the middle");
});
