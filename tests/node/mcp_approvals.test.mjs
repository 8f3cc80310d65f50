// Approvals with the real program: an agent over MCP asks, a person answers on the command line or over MCP,
// and whatever is killed in between, nothing is approved that nobody approved, and nothing twice.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { connectQuire, kinds, ok, refused } from "./support/sdk.mjs";
import { kernelOf, quire, refusal, rawQuire, skip, workspace } from "./support/workspace.mjs";

const rules = `[[files.rules]]
pattern = "ask/**"
permission = "human"
[[files.rules]]
pattern = "**"
permission = "read_write"
operations_requiring_escalation = ["delete"]
`;

function approvals(folder, args, actor = "human:tom") {
    return spawnSync(quire, ["approvals", ...args, "--workspace", folder, "--json", ...(actor ? ["--actor", actor] : [])],
        { encoding: "utf8", timeout: 60_000, env: { ...process.env, QUIRE_ACTOR: undefined } });
}
const listed = (folder, ...more) => JSON.parse(approvals(folder, ["list", ...more]).stdout).approvals;
const answered = (folder, ...args) => {
    const { status, stdout, stderr } = approvals(folder, args);
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
};

async function asked(client, name, args) {
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.isError, true, JSON.stringify(result.structuredContent));
    const { error } = result.structuredContent;
    assert.equal(error.code, "escalation_required", error.message);
    assert.equal(error.reason, "escalation_required");
    assert.match(error.details.approval_id, /^[A-Za-z0-9._-]+$/);
    return { id: error.details.approval_id, error, text: result.content[0].text };
}

async function makeBlock(client, label) {
    await ok(client, "context", { operation: "create", label, schema: "Text", permission: "human" });
}

async function killKernel(folder, client) {
    const victim = kernelOf(folder);
    assert.ok(victim, "no kernel runs");
    process.kill(victim, "SIGKILL");
    for (let waited = 0; kernelOf(folder) === victim; waited++) {
        assert.ok(waited < 6000, "a killed kernel is still there");
        await sleep(10);
    }
    // What changes nothing is asked again; so the client has another kernel before it changes anything.
    await ok(client, "context", { operation: "view", label: "plan" });
}

test("the reader of a resource that needs consent is told which tool asks for it", { skip }, async (t) => {
    const folder = workspace(t, {}, rules + '[[tools.rules]]\ntool = "block_read"\ntype = "requires_consent"\n');
    const agent = await connectQuire(t, "SDK v1", folder, { profile: "full", actor: "agent:ada" });
    const { block_id } = await ok(agent, "block_create", { role: "user", kind: "text", content: "words" });
    const read = () => agent.readResource({ uri: `block://${block_id}` });
    await assert.rejects(read, /Nobody was asked: a call of the tool block_read asks them/);
    assert.deepEqual(listed(folder), []);
    const { id } = await asked(agent, "block_read", { block_id });
    answered(folder, "approve", id, "--for", "1h");
    assert.equal((await read()).contents[0].text, "words");
});

for (const kind of Object.keys(kinds)) {
    test(`${kind}: an agent asks, a person approves, the same call runs once`, { skip }, async (t) => {
        const folder = workspace(t, { "ask/a.txt": "one\n" }, rules);
        const agent = await connectQuire(t, kind, folder, { profile: "model", actor: "agent:ada" });
        const person = await connectQuire(t, kind, folder, { profile: "model", actor: "human:tom" });
        await makeBlock(agent, "plan");
        const calls = [
            ["context", { operation: "append", label: "plan", content: "buy tea\n" }, "append"],
            ["file", { operation: "replace", path: "ask/a.txt", find: "one", replace: "two" }, "overwrite"],
        ];
        for (const [name, args, operation] of calls) {
            const { id, error, text } = await asked(agent, name, args);
            assert.equal(error.details.operation, operation);
            assert.match(text, /^Nothing was changed: .*\nApproval \S+ waits for a person/s);
            assert.equal((await asked(agent, name, args)).id, id, "it was asked twice");
            const { approvals: all } = await ok(person, "approvals", { operation: "list" });
            assert.equal(all.length, 1);
            assert.equal(all[0].approval_id, id);
            assert.equal(all[0].status, "pending");
            assert.equal(all[0].actor, "agent:ada");
            assert.equal(all[0].operation, operation);
            assert.match(all[0].timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
            assert.ok(all[0].description.startsWith(`${name} {`), all[0].description);

            const done = await ok(person, "approvals", { operation: "resolve", approval_id: id, decision: "approve_once" });
            assert.equal(done.status, "approved");
            await ok(agent, name, args);
            assert.notEqual((await asked(agent, name, { ...args, ...(name === "file" ? { find: "two" } : {}) })).id, id);
            for (const each of listed(folder)) answered(folder, "deny", each.approval_id);
        }
    });

    test(`${kind}: an agent neither sees nor answers approvals, whatever it calls itself`, { skip }, async (t) => {
        const folder = workspace(t, {}, rules);
        const agent = await connectQuire(t, kind, folder, { profile: "model", actor: "agent:eve" });
        await makeBlock(agent, "plan");
        const { id } = await asked(agent, "context", { operation: "append", label: "plan", content: "x" });
        const { tools } = await agent.listTools();
        assert.ok(!tools.some((tool) => tool.name === "approvals"));
        const error = await refused(agent, "approvals", { operation: "resolve", approval_id: id, decision: "approve_once" },
            "denied", "permission_denied");
        assert.equal(error.message,
            "Only people answer approvals: agent:eve may not list or resolve them. Ask a person (human:NAME)");
        await refused(agent, "approvals", { operation: "list" }, "denied", "permission_denied");
        await refused(agent, "approvals.resolve", { approval_id: id, decision: "approve_once" }, "denied", "permission_denied");
        for (const more of [{ actor: "human:tom" }, { by: "human:tom" }, { _meta: { actor: "human:tom" } }]) {
            await refused(agent, "approvals", { operation: "resolve", approval_id: id, decision: "approve_once", ...more },
                "invalid_argument", "invalid_arguments");
        }
        assert.equal(listed(folder)[0].status, "pending");
        await asked(agent, "context", { operation: "append", label: "plan", content: "x" });
    });
}

test("a client that claims to be a person is the actor that its command line names", { skip }, async (t) => {
    const folder = workspace(t, {}, rules);
    const client = rawQuire(t, folder, { profile: "model", actor: "agent:eve" });
    await client.request("initialize", {
        protocolVersion: "2025-11-25", capabilities: { actor: "human:tom" },
        clientInfo: { name: "human:tom", title: "human:tom", version: "1", actor: "human:tom" }, actor: "human:tom",
    });
    client.send({ method: "notifications/initialized" });
    const answer = await client.request("tools/call", {
        name: "approvals", arguments: { operation: "list" }, actor: "human:tom",
        _meta: { actor: "human:tom", "io.modelcontextprotocol/actor": "human:tom" },
    });
    assert.match(JSON.stringify(answer), /Only people answer approvals: agent:eve/);
});

test("people have the tool in every profile; no agent does", { skip }, async (t) => {
    const folder = workspace(t, {}, rules);
    for (const profile of ["model", "full", "compat"]) {
        for (const [actor, has] of [["human:tom", true], ["agent:ada", false], ["system:x", false], ["source:x", false]]) {
            const client = await connectQuire(t, "SDK v1", folder, { profile, actor });
            const { tools } = await client.listTools();
            assert.equal(tools.some((tool) => tool.name === "approvals"), has, `${actor} in ${profile}`);
        }
    }
});

test("requests and answers survive kill -9 at each step, and an approval for once allows one call", { skip }, async (t) => {
    const folder = workspace(t, {}, rules);
    const agent = await connectQuire(t, "SDK v1", folder, { profile: "model", actor: "agent:ada" });
    await makeBlock(agent, "plan");
    const call = { operation: "append", label: "plan", content: "x" };
    const { id } = await asked(agent, "context", call);
    await killKernel(folder, agent);
    assert.equal((await asked(agent, "context", call)).id, id);
    answered(folder, "approve", id);
    await killKernel(folder, agent);
    assert.deepEqual(listed(folder).map((each) => [each.approval_id, each.status, each.by]), [[id, "approved", "human:tom"]]);
    await ok(agent, "context", call);
    await killKernel(folder, agent);
    assert.notEqual((await asked(agent, "context", call)).id, id);
    assert.equal((await ok(agent, "context", { operation: "view", label: "plan" })).value, "x");
    assert.equal(listed(folder, "--all").find((each) => each.approval_id === id).status, "used");

    const second = (await asked(agent, "context", call)).id;
    assert.equal(answered(folder, "deny", second).status, "denied");
    await killKernel(folder, agent);
    const error = await refused(agent, "context", call, "denied", "approval_denied");
    assert.equal(error.message, `human:tom denied this call (approval ${second}). Do something else, or ask them`);
    assert.equal(error.details.by, "human:tom");
});

test("an approval holds for a time, for a scope or for one block, until it is revoked", { skip }, async (t) => {
    const folder = workspace(t, { "ask/a.md": "a\n", "ask/b.md": "b\n", "ask/c.txt": "c\n" }, rules);
    const agent = await connectQuire(t, "SDK v1", folder, { profile: "model", actor: "agent:ada" });
    await makeBlock(agent, "plan");
    await makeBlock(agent, "other");
    const append = (label, content) => ["context", { operation: "append", label, content }];
    const file = (path, content) => ["file", { operation: "append", path, content }];

    const brief = (await asked(agent, ...append("plan", "1"))).id;
    const { until } = answered(folder, "approve", brief, "--for", "6s");
    assert.ok(until > new Date().toISOString());
    await ok(agent, ...append("plan", "1"));
    await ok(agent, ...append("plan", "2"));
    await asked(agent, ...append("other", "2"));
    await sleep(Date.parse(until) - Date.now() + 100);
    await asked(agent, ...append("plan", "3"));
    assert.equal(listed(folder, "--all").find((each) => each.approval_id === brief).status, "expired");

    const scoped = (await asked(agent, ...file("ask/a.md", "x\n"))).id;
    assert.equal(approvals(folder, ["approve", scoped, "--scope", "src/**"]).status, 1);
    assert.equal(answered(folder, "approve", scoped, "--scope", "ask/*.md").scope, "ask/*.md");
    await ok(agent, ...file("ask/a.md", "x\n"));
    await ok(agent, ...file("ask/b.md", "y\n"));
    await asked(agent, ...file("ask/c.txt", "y\n"));
    await asked(agent, "file", { operation: "delete", path: "ask/a.md" });
    assert.equal(answered(folder, "revoke", scoped).status, "revoked");
    await asked(agent, ...file("ask/b.md", "z\n"));

    const alone = (await asked(agent, ...append("other", "5"))).id;
    assert.equal(answered(folder, "approve", alone, "--here").decision, "approve_scope");
    await ok(agent, ...append("other", "6"));
    await asked(agent, ...append("plan", "6"));
});

test("two people answer at once: one of them is told that it has an answer", { skip }, async (t) => {
    const folder = workspace(t, {}, rules);
    const agent = await connectQuire(t, "SDK v1", folder, { profile: "model", actor: "agent:ada" });
    await makeBlock(agent, "plan");
    const people = await Promise.all(["human:tom", "human:ann"].map((actor) => connectQuire(t, "SDK v1", folder, { actor })));
    for (let round = 0; round < 20; round++) {
        const call = { operation: "append", label: "plan", content: `${round}` };
        const { id } = await asked(agent, "context", call);
        const results = await Promise.all(people.map((person, i) => person.callTool({ name: "approvals",
            arguments: { operation: "resolve", approval_id: id, decision: ["approve_once", "deny"][i] } })));
        const winner = results.findIndex((result) => !result.isError);
        assert.equal(results.filter((result) => !result.isError).length, 1);
        assert.equal(results[1 - winner].structuredContent.error.reason, "already_resolved");
        const after = await agent.callTool({ name: "context", arguments: call });
        assert.equal(after.isError ?? false, winner === 1, JSON.stringify(after));
    }
});

test("the command says who may answer, what it answered, and what went wrong", { skip }, async (t) => {
    const folder = workspace(t, {}, rules);
    const agent = await connectQuire(t, "SDK v1", folder, { profile: "model", actor: "agent:ada" });
    await makeBlock(agent, "plan");
    const { id } = await asked(agent, "context", { operation: "append", label: "plan", content: "tea \u001b[2J\u202e" });
    for (const args of [["list"], ["approve", id], ["deny", id], ["revoke", id]]) {
        const { status, stdout, stderr } = approvals(folder, args, "agent:local");
        assert.equal(status, 1);
        assert.equal(stdout, "");
        assert.match(refusal(stderr).message, /Only people answer approvals: agent:local .*--actor human:NAME/);
    }
    // Without --actor it is the person who runs the command.
    assert.equal(approvals(folder, ["list"], null).status, 0);
    const plain = spawnSync(quire, ["approvals", "list", "--workspace", folder, "--actor", "human:tom"], { encoding: "utf8" });
    assert.equal(plain.status, 0);
    assert.match(plain.stdout, new RegExp(`^${id}  .*  agent:ada asks to append the block plan\n    context {.*tea .*}\n    pending\n$`));
    assert.ok(!plain.stdout.includes("\u001b") && !plain.stdout.includes("\u202e"), JSON.stringify(plain.stdout));
    assert.match(approvals(folder, ["approve", "ap_none"]).stderr, /there is no approval 'ap_none'/);
    assert.match(approvals(folder, ["revoke", id]).stderr, /has no answer to take back/);
    assert.equal(approvals(folder, ["approve", id, "--for", "1m", "--here"]).status, 2);
    assert.equal(approvals(folder, ["approve", id, "--for", "soon"]).status, 2);
    assert.equal(approvals(folder, ["approve"]).status, 2);
    assert.equal(answered(folder, "approve", id).decision, "approve_once");
    assert.match(approvals(folder, ["deny", id]).stderr, /is approved: human:tom answered approve_once/);
    for (const args of [["--help"], ["list", "--help"], ["approve", "--help"], ["deny", "--help"], ["revoke", "--help"]]) {
        const { status, stdout } = spawnSync(quire, ["approvals", ...args], { encoding: "utf8" });
        assert.equal(status, 0);
        assert.match(stdout, /Example:\n {2}quire approvals/);
    }
    const complete = (...words) => spawnSync(quire, ["complete", "--", ...words], { encoding: "utf8", cwd: folder }).stdout.replaceAll(/\t.*\n/g, " ");
    assert.equal(complete("approvals", ""), "list approve deny revoke ");
    assert.match(complete("approvals", "approve", "--"), /--scope /);
    assert.match(complete("approvals", "approve", ""), new RegExp(id));
});

test("of 10,000 requests of one agent 50 wait and the rest are refused by name; other agents can still ask", { skip, timeout: 300_000 }, async (t) => {
    const folder = workspace(t, {}, rules);
    const eve = rawQuire(t, folder, { profile: "model", actor: "agent:eve" });
    await eve.initialize();
    await eve.call("context", { operation: "create", label: "plan", schema: "Text", permission: "human" });
    const reasons = {};
    for (let from = 0; from < 10_000; from += 500) {
        const answers = await Promise.all(Array.from({ length: 500 }, (_, i) =>
            eve.call("context", { operation: "append", label: "plan", content: `${from + i}` }, 120_000)));
        for (const answer of answers) {
            const { reason } = answer.result.structuredContent.error;
            reasons[reason] = (reasons[reason] ?? 0) + 1;
        }
    }
    assert.deepEqual(reasons, { escalation_required: 50, too_many_approvals: 9950 });
    assert.equal(listed(folder).length, 50);
    const ada = await connectQuire(t, "SDK v1", folder, { profile: "model", actor: "agent:ada" });
    await makeBlock(ada, "mine");
    await asked(ada, "context", { operation: "append", label: "mine", content: "x" });
});
