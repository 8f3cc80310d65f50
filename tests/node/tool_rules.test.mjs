// Rules for tools with the real program: what an agent is shown is what it may do, over MCP in both eras and
// on the command line, and what counts for good outlives the kernel.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { connectQuire, kinds, ok, refused } from "./support/sdk.mjs";
import { everythingAllowed, kernelOf, quire, skip, workspace } from "./support/workspace.mjs";

const rule = (tool, type, more = "", owner = "") => `[[${owner}tools.rules]]\ntool = "${tool}"\ntype = "${type}"\n${more}\n`;
const run = (folder, ...args) => spawnSync(quire, [...args, "--workspace", folder], { encoding: "utf8", timeout: 60_000 });

const gated = everythingAllowed
    + rule("file", "allowed_operations", 'value = ["read", "list", "append"]')
    + rule("file", "allowed_operations", 'value = ["list", "read"]', "agents.ada.")
    + rule("block_list", "start_constraint", "", "agents.bo.")
    + rule("block_create", "exit_loop", "", "agents.bo.");

for (const kind of Object.keys(kinds)) {
    test(`${kind}: a hidden tool is refused, and the client is told the rules`, { skip }, async (t) => {
        const folder = workspace(t, { "a.txt": "one\n" }, gated);
        const of = async (actor) => {
            const client = await connectQuire(t, kind, folder, { profile: "model", actor });
            const { tools } = await client.listTools();
            return { client, file: tools.find((tool) => tool.name === "file") };
        };
        const [ada, cy, tom] = [await of("agent:ada"), await of("agent:cy"), await of("human:tom")];
        assert.deepEqual(ada.file.inputSchema.properties.operation.enum, ["list", "read"]);
        assert.deepEqual(Object.keys(ada.file.inputSchema.properties), ["operation", "path", "pattern", "all", "limit", "cursor", "range", "columns"]);
        assert.equal(ada.file.annotations.readOnlyHint, true);
        assert.doesNotMatch(JSON.stringify(ada.file), /append|delete|save/);
        assert.deepEqual(cy.file.inputSchema.properties.operation.enum, ["list", "read", "append"]);
        assert.equal(tom.file.inputSchema.properties.operation.enum.length, 18);

        await ok(ada.client, "file", { operation: "read", path: "a.txt" });
        const error = await refused(ada.client, "file", { operation: "append", path: "a.txt", content: "two\n" }, "denied", "operation_not_allowed");
        assert.equal(error.message, "Operation 'append' not allowed for tool 'file'. Allowed operations: list, read");
        await ok(cy.client, "file", { operation: "append", path: "a.txt", content: "two\n" });
        await ok(tom.client, "file", { operation: "save", path: "a.txt" });

        assert.match(ada.client.getInstructions(), /\nRules for your calls:\n(- .*\n)*- .*`file`: list, read/);
        assert.doesNotMatch(tom.client.getInstructions(), /Rules for your calls/);
    });

    test(`${kind}: a loop begins and ends where the rules say`, { skip }, async (t) => {
        const folder = workspace(t, {}, gated);
        const bo = await connectQuire(t, kind, folder, { profile: "full", actor: "agent:bo" });
        await refused(bo, "file", { operation: "list" }, "denied", "start_constraints_not_met");
        await ok(bo, "block_list", {});
        await ok(bo, "file", { operation: "list" });
        const last = await bo.callTool({ name: "block_create", arguments: { role: "model", kind: "text", content: "done" } });
        assert.equal(last._meta?.["quire/loop"], "ended");
        await refused(bo, "file", { operation: "list" }, "denied", "start_constraints_not_met");
    });
}

test("a resource is read by the rules for the tool that reads it", { skip }, async (t) => {
    const folder = workspace(t, { "a.txt": "one\n" }, everythingAllowed + rule("file", "allowed_operations", 'value = ["list"]'));
    const ada = await connectQuire(t, "SDK v1", folder, { actor: "agent:ada" });
    await assert.rejects(ada.readResource({ uri: "file:///a.txt" }), /not allowed for tool 'file'/);
    const tom = await connectQuire(t, "SDK v1", folder, { actor: "human:tom" });
    assert.equal((await tom.readResource({ uri: "file:///a.txt" })).contents[0].text, "one\n");
});

test("blocks that are read and listed as resources count as calls of the tools that do it", { skip }, async (t) => {
    const folder = workspace(t, {}, everythingAllowed + rule("block_view", "max_calls", "value = 1") + rule("block_list", "requires_preceding_tools", 'value = ["block_view"]'));
    const ada = await connectQuire(t, "SDK v1", folder, { profile: "model", actor: "agent:ada" });
    const { block_id } = await ok(ada, "block_create", { role: "user", kind: "text", content: "one" });
    await assert.rejects(ada.listResources(), /`block_view`/);
    assert.equal((await ada.readResource({ uri: `block://${block_id}` })).contents[0].text, "one");
    await assert.rejects(ada.readResource({ uri: `block://${block_id}` }), (error) => error.data.reason === "max_calls_exceeded");
    // The sources, its context, the block, and the file quire.toml.
    assert.equal((await ada.listResources()).resources.length, 4);
    await refused(ada, "block_view", { block_id }, "denied", "max_calls_exceeded");
});

test("the host is told what is outstanding and what is overdue", { skip }, async (t) => {
    const folder = workspace(t, {}, everythingAllowed + rule("block_list", "required_before_exit") + rule("block_create", "exit_loop")
        + rule("context", "periodic", "value = 1"));
    const ada = await connectQuire(t, "SDK v1", folder, { profile: "full", actor: "agent:ada" });
    const call = async (name, args) => (await ada.callTool({ name, arguments: args }))._meta;
    await call("file", { operation: "list" });
    await new Promise((done) => setTimeout(done, 20));
    const due = (await call("file", { operation: "list" }))["quire/due"];
    assert.deepEqual(due.outstanding.map((each) => each.tools), [["block_list"]]);
    assert.match(due.outstanding[0].rule, /`block_list`/);
    assert.match(due.overdue[0].rule, /`context`/);
    assert.ok(due.overdue[0].by_ms > 0);
    await call("block_list", {});
    const last = await call("block_create", { role: "model", kind: "text", content: "done" });
    assert.deepEqual(last, { "quire/loop": "ended" });
    assert.equal((await call("file", { operation: "list" }))["quire/due"].outstanding.length, 1);
});

test("persistent counts survive a killed kernel, and only a person gives consent", { skip }, async (t) => {
    const folder = workspace(t, { "a.txt": "one\n" }, everythingAllowed
        + rule("file", "max_calls", 'value = 2\nper = "persistent"') + rule("block_list", "requires_consent"));
    const ada = await connectQuire(t, "SDK v1", folder, { profile: "full", actor: "agent:ada" });
    await ok(ada, "file", { operation: "append", path: "a.txt", content: "two\n" });
    process.kill(kernelOf(folder), "SIGKILL");
    await ok(ada, "kernel_search", { query: "one" });
    await ok(ada, "file", { operation: "list" });
    const error = await refused(ada, "file", { operation: "list" }, "denied", "max_calls_exceeded");
    assert.equal(error.details.limit, 2);

    const asked = await refused(ada, "block_list", {}, "escalation_required", "escalation_required");
    const answer = run(folder, "approvals", "approve", asked.details.approval_id, "--actor", "human:tom");
    assert.equal(answer.status, 0, answer.stderr);
    await ok(ada, "block_list", {});
    await refused(ada, "block_list", {}, "escalation_required", "escalation_required");
});

test("rules hold on the command line, too", { skip }, (t) => {
    const folder = workspace(t, { "a.txt": "one\n" }, gated);
    const call = (...args) => run(folder, "call", ...args);
    const { status, stderr } = call("file", '{"operation": "save", "path": "a.txt"}', "--actor", "agent:ada");
    assert.equal(status, 1);
    assert.equal(JSON.parse(stderr).error?.reason ?? JSON.parse(stderr).reason, "operation_not_allowed");
    assert.equal(call("file", '{"operation": "list"}', "--actor", "agent:ada").status, 0);
    assert.equal(call("file", '{"operation": "save", "path": "a.txt"}', "--actor", "human:tom").status, 0);
});

test("a rule that is invalid or cannot be met stops the start and is reported with its place", { skip }, (t) => {
    for (const [text, wrong] of [
        [rule("file", "allowed_operations", 'value = ["burn"]'), /quire\.toml:\d+: .*'burn'/],
        [rule("fil", "needed"), /quire\.toml:\d+: unknown tool 'fil'/],
        [rule("file", "max_calls", "value = 0") + rule("file", "start_constraint"), /quire\.toml:\d+/],
    ]) {
        const folder = workspace(t, {}, everythingAllowed + text);
        for (const args of [["call", "block_list", "{}"], ["mcp"], ["serve"]]) {
            const { status, stderr } = spawnSync(quire, [...args, "--workspace", folder], { encoding: "utf8", input: "", timeout: 30_000 });
            assert.notEqual(status, 0, `${args[0]}: ${text}`);
            assert.match(stderr, wrong, args[0]);
        }
    }
});

test("the examples of docs/rules.md can be met", { skip }, (t) => {
    const text = readFileSync(new URL("../../docs/rules.md", import.meta.url), "utf8");
    const examples = [...text.matchAll(/```toml\n([^]*?)```/g)].map((each) => each[1]);
    assert.ok(examples.length >= 2);
    for (const example of examples) {
        const checked = run(workspace(t, {}, example), "rules", "check");
        assert.equal(checked.status, 0, checked.stdout + checked.stderr);
        // A rule for all agents may name a tool that only some of them have; no other word is said against it.
        for (const line of checked.stdout.trim().split("\n"))
            assert.match(line, /^The rules for tools can be met|: in profile compat, /);
    }
});

test("a rule that names a read-only twin is refused and names its operation", { skip }, async (t) => {
    const checked = run(workspace(t, {}, everythingAllowed + rule("file_read", "needed")), "rules", "check");
    assert.notEqual(checked.status, 0);
    assert.match(checked.stdout + checked.stderr, /'file_read' is the operation 'read' of the tool 'file'/);
});

test("quire rules knows every tool that there is, and its operations", { skip }, async (t) => {
    const open = workspace(t);
    let text = everythingAllowed;
    for (const profile of ["model", "full", "compat"]) {
        const client = await connectQuire(t, "SDK v1", open, { profile, actor: "human:tom" });
        for (const tool of (await client.listTools()).tools) {
            if (["file_list", "file_read", "context_view"].includes(tool.name)) continue;  // Rules name the operation.
            const words = (tool.inputSchema.properties.operation ?? tool.inputSchema.properties.command)?.enum;
            text += words ? rule(tool.name, "allowed_operations", `value = ${JSON.stringify(words)}`) : rule(tool.name, "needed");
        }
    }
    const checked = run(workspace(t, {}, text), "rules", "check");
    assert.equal(checked.status, 0, checked.stdout + checked.stderr);
});

test("an agent that asks for no profile has the one that the settings give it", { skip }, (t) => {
    const folder = workspace(t, {}, everythingAllowed + '[agents.ada]\nprofile = "full"\n');
    const profile = (...args) => /in profile (\w+)/.exec(run(folder, "call", "nothing", "{}", ...args).stderr)?.[1];
    assert.equal(profile("--actor", "agent:ada"), "full");
    assert.equal(profile("--actor", "agent:ada", "--profile", "compat"), "compat");
    assert.equal(profile("--actor", "agent:bo"), "model");
    assert.equal(profile("--actor", "human:ada"), "model");
});
