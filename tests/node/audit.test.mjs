// quire audit with the real program: what agents and people did stands there in order, nobody changes it
// unseen, and whatever is killed, it follows from itself.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { connectQuire, ok, refused } from "./support/sdk.mjs";
import { kernelOf, quire, skip, workspace } from "./support/workspace.mjs";

const rules = `[[files.rules]]
pattern = "**"
permission = "read_write"
operations_requiring_escalation = ["delete"]
`;

function run(folder, args, options = {}) {
    return spawnSync(quire, [...args, "--workspace", folder],
        { encoding: "utf8", timeout: 60_000, env: { ...process.env, QUIRE_ACTOR: undefined }, ...options });
}
function audit(folder, ...args) {
    const { status, stdout, stderr } = run(folder, ["audit", ...args, "--json"]);
    assert.equal(status, 0, stderr);
    return stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}
const entries = (folder, ...args) => audit(folder, "--all", ...args).reverse().map(({ entry }) => entry);
function verify(folder, ...args) {
    const { status, stdout } = run(folder, ["audit", "verify", ...args, "--json"]);
    return { status, ...JSON.parse(stdout) };
}
const brief = ({ event, tool, operation, change, outcome, reason }) =>
    [event, operation ? `${tool}.${operation}` : tool, change, outcome, reason].filter((word) => word).join(" ");

async function stop(folder) {
    const pid = kernelOf(folder);
    if (pid === undefined) return;
    process.kill(pid, "SIGTERM");
    for (let waited = 0; kernelOf(folder) === pid; waited++) {
        assert.ok(waited < 6000, "the kernel does not end");
        await sleep(10);
    }
}

// SQL on the database of a workspace that no kernel holds, by who owns the disk.
function sql(folder, statement) {
    execFileSync("python3", ["-c",
        "import sqlite3,sys\nd=sqlite3.connect(sys.argv[1])\nd.executescript(sys.argv[2])\nd.commit()\nd.close()",
        `${folder}/.quire/quire.db`, statement]);
}
// What an operator does who has read that commits were lost. Returns how many losses there were.
function putAwayLosses(folder) {
    const losses = readdirSync(join(folder, ".quire")).filter((name) => name.startsWith("lost-commits-"));
    for (const name of losses) rmSync(join(folder, ".quire", name), { recursive: true });
    return losses.length;
}

const untied = "DROP TRIGGER audit_is_not_changed; DROP TRIGGER audit_is_not_removed;";

test("the log has agents' calls and people's answers in order, and refusals with their reasons", { skip }, async (t) => {
    const folder = workspace(t, {}, rules);
    const agent = await connectQuire(t, "SDK v1", folder, { profile: "model", actor: "agent:ada" });
    await ok(agent, "context", { operation: "create", label: "plan", schema: "Text", permission: "human" });
    await ok(agent, "context", { operation: "view", label: "plan" });
    const append = { operation: "append", label: "plan", content: "buy tea\n" };
    const escalated = await agent.callTool({ name: "context", arguments: append });
    const id = escalated.structuredContent.error.details.approval_id;
    assert.equal(run(folder, ["approvals", "approve", id, "--actor", "human:tom"]).status, 0);
    await ok(agent, "context", append);
    await refused(agent, "context", { operation: "view", label: "nothing" }, "not_found", "invalid_reference");

    assert.deepEqual(entries(folder).map(brief), [
        "start",
        "call context.create", "end context.create done",
        "read context.view done",
        "call context.append", "approval asked", "end context.append escalated escalation_required",
        "call approvals.resolve", "approval approved", "end approvals.resolve done",
        "call context.append", "approval used", "end context.append done",
        "read context.view refused invalid_reference",
    ]);
    const all = entries(folder);
    assert.equal(all[0].version, run(folder, ["--version"]).stdout.match(/\d+\.\d+\.\d+/)[0]);
    const [call, end] = all.slice(10).filter(({ event }) => event === "call" || event === "end");
    assert.equal(call.call, end.call);
    assert.equal(call.actor, "agent:ada");
    assert.equal(call.target, "plan");
    assert.equal(call.arguments, '{"content":"buy tea\\n","label":"plan","operation":"append"}');
    assert.equal(call.digest, createHash("sha256").update(`model context ${call.arguments}`).digest("hex"));
    assert.equal(end.version, 2);
    assert.equal(all[8].by, "human:tom");
    assert.equal(all[8].approval_id, id);

    assert.deepEqual(entries(folder, "--refused").map(({ reason }) => reason), ["escalation_required", "invalid_reference"]);
    assert.equal(entries(folder, "--actor", "human:tom").length, 3);
    assert.equal(entries(folder, "--tool", "context.append").length, 4);
    assert.equal(entries(folder, "--reason", "invalid_reference").length, 1);
    assert.equal(entries(folder, "--since", "1h").length, all.length);
    assert.equal(entries(folder, "--since", new Date(Date.now() + 60_000).toISOString()).length, 0);
    assert.equal(audit(folder, "--limit", "2").length, 2);
    const shown = run(folder, ["audit", "--limit", "3"]).stdout;
    assert.match(shown, /agent:ada {2}#\d+ context\.view .* refused: not_found invalid_reference\n/);
    assert.equal(run(folder, ["audit", "--since", "yesterday"]).status, 2);
    assert.equal(run(folder, ["audit", "verify", "--expect-head", "abc"]).status, 2);

    // No tool shows it.
    const { tools } = await agent.listTools();
    assert.ok(!tools.some(({ name }) => name.includes("audit")));
});

test("the output of --json suffices to check the chain by other means", { skip }, async (t) => {
    const folder = workspace(t);
    for (let i = 0; i < 20; i++)
        run(folder, ["call", "block_create", JSON.stringify({ role: "user", kind: "text", content: `${i} "ä"\n\u202e` })]);
    const lines = run(folder, ["audit", "--all", "--json"]).stdout.trimEnd().split("\n").reverse();
    await stop(folder);
    const origin = execFileSync("python3", ["-c",
        "import sqlite3,sys\nsys.stdout.buffer.write(sqlite3.connect(sys.argv[1]).execute('SELECT origin FROM audit_origin').fetchone()[0])",
        `${folder}/.quire/quire.db`]);
    let hash = createHash("sha256").update("quire audit 1\n").update(origin).digest();
    for (const line of lines) {
        const { seq, hash: said } = JSON.parse(line);
        const body = line.slice(line.indexOf(',"entry":') + ',"entry":'.length, -1);
        const number = Buffer.alloc(8);
        number.writeBigUInt64BE(BigInt(seq));
        hash = createHash("sha256").update(hash).update(number).update(body).digest();
        assert.equal(hash.toString("hex"), said, `entry ${seq}`);
    }
    assert.equal(lines.length, 41);
    // The kernel's end came after.
    assert.equal(verify(folder, "--expect-head", hash.toString("hex")).status, 0);
});

test("a changed, removed or inserted entry is found, and a cut end by a hash that was noted", { skip }, async (t) => {
    const folder = workspace(t);
    for (let i = 0; i < 5; i++) run(folder, ["call", "block_list", "{}"]);
    const { head, status } = verify(folder);
    assert.equal(status, 0);
    await stop(folder);

    for (const [change, broken] of [
        ["UPDATE audit SET body = replace(body, 'agent:local', 'human:tom') WHERE seq = 3", 3],
        ["UPDATE audit SET hash = zeroblob(32) WHERE seq = 4", 4],
        ["DELETE FROM audit WHERE seq = 2", 2],
        ["DELETE FROM audit WHERE seq = 2; UPDATE audit SET seq = seq - 1 WHERE seq > 2", 2],
        ["UPDATE audit_origin SET origin = randomblob(16)", 1],
    ]) {
        sql(folder, `CREATE TEMP TABLE kept AS SELECT * FROM audit; ${untied} CREATE TABLE old AS SELECT * FROM audit;
            CREATE TABLE old_origin AS SELECT * FROM audit_origin; ${change}`);
        const found = verify(folder);
        assert.equal(found.status, 1, change);
        assert.equal(found.broken.seq, broken, change);
        assert.match(run(folder, ["audit", "verify"]).stderr, new RegExp(`entry ${broken} is broken`));
        await stop(folder);
        sql(folder, `DELETE FROM audit; INSERT INTO audit SELECT * FROM old; DROP TABLE old;
            DELETE FROM audit_origin; INSERT INTO audit_origin SELECT * FROM old_origin; DROP TABLE old_origin;
            CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, ''); END;
            CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, ''); END;`);
    }
    // Entries that the tries added went with each log that was put back: the store has noticed.
    assert.ok(putAwayLosses(folder) > 0);
    assert.equal(verify(folder, "--expect-head", head).status, 0);
    await stop(folder);

    sql(folder, `${untied} DELETE FROM audit WHERE seq > 3`);
    const noticed = verify(folder);
    assert.equal(noticed.status, 1);
    assert.equal(noticed.lost.length, 1, "the mark beside the store shows that its end was cut");
    putAwayLosses(folder);
    assert.equal(verify(folder).status, 0, "a chain alone does not show it");
    const cut = verify(folder, "--expect-head", head);
    assert.equal(cut.status, 1);
    assert.deepEqual(cut.missing, [head]);
});

test("calls other than tool calls are logged, too", { skip }, async (t) => {
    const folder = workspace(t, { "a.txt": "one\n" }, rules);
    const agent = await connectQuire(t, "SDK v1", folder, { profile: "model", actor: "agent:ada" });
    await ok(agent, "context", { operation: "create", label: "plan", schema: "Text" });
    const { block_id: id } = await ok(agent, "block_create", { role: "user", kind: "text", content: "hello\n" });
    await agent.readResource({ uri: `block://${id}` });
    await agent.callTool({ name: "no_such_tool", arguments: {} }).catch(() => {});
    assert.equal(run(folder, ["export", "--agent", "ada", `${folder}/ada.memory`, "--actor", "human:tom"]).status, 0);
    const told = entries(folder).map(brief);
    assert.ok(told.includes("read resources/read done"), told.join("\n"));
    assert.ok(told.includes("read no_such_tool refused unknown_tool"), told.join("\n"));
    assert.ok(told.includes("read export done"), told.join("\n"));
});
