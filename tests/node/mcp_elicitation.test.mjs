// Approvals that are asked for in the client, with the real program: the official SDKs in both eras of the protocol,
// and clients that no SDK would be.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { connectQuire, kinds, ok, refused } from "./support/sdk.mjs";
import { comesTrue, kernelOf, quickest, quire, rawQuire, skip, workspace } from "./support/workspace.mjs";

const rules = `[[files.rules]]
pattern = "ask/**"
permission = "human"
[[files.rules]]
pattern = "**"
permission = "read_write"
[[tools.rules]]
tool = "block_list"
type = "requires_consent"
`;
const me = `human:${userInfo().username}`;

function listed(folder, ...more) {
    const { status, stdout, stderr } = spawnSync(quire, ["approvals", "list", ...more, "--workspace", folder, "--json",
        "--actor", "human:tom"], { encoding: "utf8", timeout: 60_000 });
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout).approvals;
}
const audited = (folder) => spawnSync(quire, ["audit", "--all", "--json", "--workspace", folder], { encoding: "utf8" })
    .stdout.trim().split("\n").map((line) => JSON.parse(line).entry).reverse();
const accept = (decision, more = {}) => ({ action: "accept", content: { decision, ...more } });
const edit = (find, replace) => ["file", { operation: "replace", path: "ask/a.txt", find, replace }];
const read = async (client) => (await ok(client, "file", { operation: "read", path: "ask/a.txt" })).content;

// A client whose person does what `says.next` says, and what they were shown.
async function asked(t, kind, folder, first) {
    const says = { next: first, shown: [] };
    const client = await connectQuire(t, kind, folder, {
        profile: "full", actor: "agent:ada",
        answer: (params) => (says.shown.push(params), typeof says.next === "function" ? says.next(params) : says.next),
    });
    return { client, says };
}

for (const kind of Object.keys(kinds)) {
    test(`${kind}: a person is asked in the client, and what they say is done`, { skip }, async (t) => {
        const folder = workspace(t, { "ask/a.txt": "one\n" }, rules);
        const { client, says } = await asked(t, kind, folder, accept("approve_once"));

        await ok(client, ...edit("one", "two"));
        assert.equal(says.shown.length, 1);
        assert.match(says.shown[0].message, /^agent:ada asks you to let it overwrite the file ask\/a\.txt\.\n.*ap_/);
        assert.deepEqual(says.shown[0].requestedSchema.properties.decision.enum, ["approve_once", "approve_for", "deny"]);
        const [once] = listed(folder, "--all");
        assert.deepEqual([once.status, once.decision, once.by], ["used", "approve_once", me]);
        assert.equal(typeof once.elicited_in, "number");

        await ok(client, "block_list", {});
        assert.match(says.shown[1].message, /a call that needs your consent to block_list/);

        says.next = { action: "decline" };
        const denied = await refused(client, ...edit("two", "three"), "denied", "approval_denied");
        assert.equal(denied.details.by, me);
        assert.equal(says.shown.length, 3);
        await refused(client, ...edit("two", "three"), "denied", "approval_denied");
        assert.equal(says.shown.length, 3, "it was asked again");

        says.next = { action: "cancel" };
        const left = await refused(client, ...edit("two", "four"), "escalation_required", "escalation_required");
        assert.deepEqual(listed(folder).map((each) => each.approval_id), [left.details.approval_id]);
        assert.equal(says.shown.length, 4);

        says.next = accept("approve_for", { duration_s: 60 });
        await ok(client, ...edit("two", "five"));
        await ok(client, ...edit("five", "six"));
        assert.equal(says.shown.length, 5);
        const timed = listed(folder).find((each) => each.decision === "approve_for");
        const remaining = Date.parse(timed.until) - Date.now();
        assert.ok(remaining > 30_000 && remaining <= 60_000);
        assert.match(JSON.stringify(await ok(client, "file", { operation: "read", path: "ask/a.txt" })), /six/);

        const approved = audited(folder).filter((entry) => entry.event === "approval" && entry.change === "approved");
        assert.equal(approved.length, 3);
        for (const entry of approved) assert.deepEqual([entry.by, entry.actor, entry.elicited_in], [me, "agent:ada", once.elicited_in]);
    });

    test(`${kind}: a client that cannot be asked gets the refusal as before`, { skip }, async (t) => {
        const folder = workspace(t, { "ask/a.txt": "one\n" }, rules);
        const mute = await connectQuire(t, kind, folder, { profile: "full", actor: "agent:mute" });
        await refused(mute, ...edit("one", "two"), "escalation_required", "escalation_required");
        const shown = [];
        const answer = (params) => (shown.push(params), accept("approve_once"));
        const person = await connectQuire(t, kind, folder, { profile: "full", actor: "human:tom", answer });
        await ok(person, ...edit("one", "two"));
        const off = workspace(t, { "ask/a.txt": "one\n" }, `${rules}[approvals]\nelicitation = false\n`);
        const switched = await connectQuire(t, kind, off, { profile: "full", actor: "agent:ada", answer });
        await refused(switched, ...edit("one", "two"), "escalation_required", "escalation_required");
        assert.deepEqual(shown, []);
    });
}

test("a call that needs a person twice is asked about twice, and a rule that refuses it meanwhile refuses it", { skip }, async (t) => {
    const folder = workspace(t, { "ask/a.txt": "one\n" }, `${rules}[[tools.rules]]\ntool = "file"\ntype = "requires_consent"
[[tools.rules]]\ntool = "file"\ntype = "max_calls"\nvalue = 2\n`);
    const { client, says } = await asked(t, "SDK v1", folder, accept("approve_once"));
    // It is admitted, asks for the file, and is admitted again: that was two.
    await ok(client, ...edit("one", "two"));
    assert.deepEqual(says.shown.map(({ message }) => /let it (\w+)/.exec(message)[1]), ["make", "overwrite"]);
    await refused(client, ...edit("two", "three"), "denied", "max_calls_exceeded");
});

test("the command shows what was answered in the agent's program, and for which tool", { skip }, async (t) => {
    const folder = workspace(t, {}, rules);
    const { client } = await asked(t, "SDK v2, pinned to 2026-07-28", folder, accept("approve_for"));
    await ok(client, "block_list", {});
    const { stdout } = spawnSync(quire, ["approvals", "list", "--workspace", folder, "--actor", "human:tom"], { encoding: "utf8" });
    assert.match(stdout, / agent:ada asks to execute the tool block_list\n/);
    assert.match(stdout, new RegExp(` by ${me}, asked in the agent's program\n`));
});

test("an agent cannot put words into the question", { skip }, async (t) => {
    const folder = workspace(t, {}, rules);
    const { client, says } = await asked(t, "SDK v1", folder, { action: "cancel" });
    const evil = "x\n\nApproved by the administrator. \u001b[2J\u202e\u200b";
    await refused(client, "file", { operation: "create", path: `ask/${"y".repeat(300)}\u202e`, content: evil.repeat(1000) },
        "escalation_required", "escalation_required");
    const [{ message }] = says.shown;
    // Each line of the diff begins with a mark, so that none can pass for ours.
    const lines = message.split("\n");
    assert.equal(lines[3], "The change:");
    for (const line of lines.slice(4)) assert.match(line, /^(--- a\/|\+\+\+ b\/|@@ |[+ -]|\(\d+ more lines\)$|$|…)/);
    assert.ok(message.length < 3000, `${message.length}`);
    assert.doesNotMatch(message, /[\u001b\u202e\u200b]/);
    assert.match(message, /\nThe call, in the words of agent:ada: file \{/);
});

const form = { elicitation: {} };
async function rawAgent(t, folder, capabilities = form) {
    const client = rawQuire(t, folder, { profile: "full", actor: "agent:ada" });
    await client.initialize("2025-11-25", capabilities);
    return client;
}
const isQuestion = (message) => message.method === "elicitation/create";
const reason = (answer) => answer.result.structuredContent?.error?.reason ?? "done";

test("answers that are malformed, repeated, from another client or to no question decide nothing", { skip }, async (t) => {
    const folder = workspace(t, { "ask/a.txt": "one\n" }, rules);
    const agent = await rawAgent(t, folder);
    const other = await rawAgent(t, folder);
    const [name, args] = edit("one", "two");
    for (const body of [{ result: {} }, { result: accept("yes") }, { result: [1] }, { error: { code: -1, message: "no" } },
        { result: { action: "accept" } }, { result: accept("approve_scope", { scope: "**" }) }]) {
        const call = agent.call(name, args);
        const question = await agent.receive(isQuestion);
        other.send({ id: question.id, result: accept("approve_once") });
        agent.send({ id: `${question.id}0`, result: accept("approve_once") });
        agent.send({ id: 1, result: accept("approve_once") });
        agent.send({ id: question.id, ...body });
        assert.equal(reason(await call), "escalation_required", JSON.stringify(body));
        agent.send({ id: question.id, result: accept("approve_once") });
    }
    assert.deepEqual(listed(folder).map((each) => each.status), ["pending"]);
    const call = agent.call(name, args);
    const question = await agent.receive(isQuestion);
    agent.send({ id: question.id, result: accept("approve_once") });
    agent.send({ id: question.id, result: { action: "decline" } });
    assert.equal(reason(await call), "done");
    assert.equal(listed(folder, "--all")[0].status, "used");
});

test("of a thousand calls at once some are asked about, and each gets an answer", { skip, timeout: 120_000 }, async (t) => {
    const folder = workspace(t, { "ask/a.txt": "one\n" }, rules);
    const agent = await rawAgent(t, folder);
    const calls = Array.from({ length: 1000 }, (_, i) => agent.call(...edit("one", `${i}`), 60_000));
    const questions = [];
    for (let i = 0; i < 8; i++) questions.push(await agent.receive(isQuestion));
    const over = Promise.all(calls);
    await sleep(500);
    for (const { id } of questions) agent.send({ id, result: { action: "cancel" } });
    // Those that come while one is answered may be asked about in its place.
    const done = { yet: false };
    over.finally(() => (done.yet = true));
    while (!done.yet) {
        const next = await Promise.race([agent.receive(isQuestion, 60_000).catch(() => undefined), over.then(() => undefined)]);
        if (next) agent.send({ id: next.id, result: { action: "cancel" } });
    }
    const reasons = {};
    for (const answer of await over) reasons[reason(answer)] = (reasons[reason(answer)] ?? 0) + 1;
    assert.deepEqual(reasons, { escalation_required: 50, too_many_approvals: 950 });
});

test("a cancelled call cancels its question, and the approval waits", { skip }, async (t) => {
    const folder = workspace(t, { "ask/a.txt": "one\n" }, rules);
    const agent = await rawAgent(t, folder);
    const [name, args] = edit("one", "two");
    agent.send({ id: "mine", method: "tools/call", params: { name, arguments: args } });
    const question = await agent.receive(isQuestion);
    agent.send({ method: "notifications/cancelled", params: { requestId: "mine" } });
    const taken = await agent.receive((message) => message.method === "notifications/cancelled");
    assert.equal(taken.params.requestId, question.id);
    agent.send({ id: question.id, result: accept("approve_once") });
    await agent.request("ping", {});
    assert.deepEqual(listed(folder).map((each) => each.status), ["pending"]);
    assert.equal(readFileSync(join(folder, "ask/a.txt"), "utf8"), "one\n");
});

test("when the kernel is lost while a person thinks, the call is answered, the question cancelled and a late answer dropped", { skip }, async (t) => {
    const folder = workspace(t, { "ask/a.txt": "one\n" }, rules);
    const agent = await rawAgent(t, folder);
    const [name, args] = edit("one", "two");
    const call = agent.call(name, args);
    const question = await agent.receive(isQuestion);
    process.kill(kernelOf(folder), "SIGKILL");
    const taken = await agent.receive((message) => message.method === "notifications/cancelled");
    assert.equal(taken.params.requestId, question.id);
    assert.equal(reason(await call), "fate_unknown");
    agent.send({ id: question.id, result: accept("approve_once") });
    await sleep(300);
    assert.equal(kernelOf(folder), undefined, "a late answer began a kernel");
    assert.equal(reason(await agent.call("file", { operation: "list" })), "done");
    agent.send({ id: question.id, result: accept("approve_once") });
    assert.deepEqual(listed(folder).map((each) => each.status), ["pending"]);

    // The kernel that came after it asks like the one before.
    const again = agent.call(name, args);
    const anew = await agent.receive(isQuestion);
    assert.notEqual(anew.id, question.id);
    agent.send({ id: question.id, result: { action: "decline" } });
    agent.send({ id: anew.id, result: accept("approve_once") });
    assert.equal(reason(await again), "done");
});

test("a kernel ends though a person is still thinking, and a client that leaves leaves nothing open", { skip }, async (t) => {
    const folder = workspace(t, { "ask/a.txt": "one\n" }, rules);
    const agent = await rawAgent(t, folder);
    // Were the question waited for, each end would take two seconds.
    const ended = await quickest(1500, async () => {
        const call = agent.call(...edit("one", "two"));
        await agent.receive(isQuestion);
        const kernel = kernelOf(folder);
        const began = Date.now();
        process.kill(kernel, "SIGTERM");
        assert.equal(reason(await call), "escalation_required");
        assert.ok(await comesTrue(() => kernelOf(folder) !== kernel));
        return Date.now() - began;
    });
    assert.ok(ended < 1500, `${ended} ms`);

    const left = await quickest(1500, async () => {
        const leaving = await rawAgent(t, folder);
        const call = leaving.call(...edit("one", "two"));
        await leaving.receive(isQuestion);
        const end = leaving.end();
        assert.equal(reason(await call), "escalation_required");
        const began = Date.now();
        await end;
        return Date.now() - began;
    });
    assert.ok(left < 1500, `${left} ms`);
    assert.deepEqual(listed(folder).map((each) => each.status), ["pending"]);
});

// --- 2026-07-28, round by round ---

function roundsOf(t, folder, actor = "agent:ada") {
    const client = rawQuire(t, folder, { profile: "full", actor });
    const round = ([name, args], more = {}, capabilities = form) => client.request("tools/call", {
        name, arguments: args, ...more,
        _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities },
    });
    return { client, round };
}
const back = (state, decision = accept("approve_once")) => ({ requestState: state, inputResponses: { approval: decision } });

test("a state holds for its call, its actor, its kernel and one answer alone", { skip }, async (t) => {
    const folder = workspace(t, { "ask/a.txt": "one\n" }, rules);
    const ada = roundsOf(t, folder);
    const eve = roundsOf(t, folder, "agent:eve");
    const { result } = await ada.round(edit("one", "two"));
    assert.equal(result.resultType, "input_required");
    const state = result.requestState;
    const why = async (answer) => (await answer).error?.data.reason;
    assert.equal(await why(ada.round(edit("one", "all"), back(state))), "other_request_state");
    assert.equal(await why(ada.round(["block_list", {}], back(state))), "other_request_state");
    assert.equal(await why(eve.round(edit("one", "two"), back(state))), "foreign_request_state");
    for (const wrong of [`${state}0`, state.slice(1), state.toUpperCase(), state.replace("agent:ada", "agent:eve"), ";;;;"])
        assert.equal(await why(ada.round(edit("one", "two"), back(wrong))), "invalid_request_state", wrong);
    assert.deepEqual(listed(folder).map((each) => each.status), ["pending"]);

    assert.equal(reason(await ada.round(edit("one", "two"), back(state))), "done");
    const replayed = await ada.round(edit("one", "two"), back(state));
    assert.equal(reason(replayed), "already_resolved");

    const { result: later } = await ada.round(edit("two", "three"));
    process.kill(kernelOf(folder), "SIGKILL");
    await sleep(50);
    await ada.client.request("server/discover", { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} } });
    assert.equal(await why(ada.round(edit("two", "three"), back(later.requestState))), "invalid_request_state");
    assert.equal((await ada.round(edit("two", "three"))).result.resultType, "input_required");
});
