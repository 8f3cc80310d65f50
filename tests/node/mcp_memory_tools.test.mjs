// A tool per memory block: [memory.tools] labels.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { connectQuire, kinds, ok } from "./support/sdk.mjs";
import { RawClient, everythingAllowed, quire, skip, workspace } from "./support/workspace.mjs";

const kind = Object.keys(kinds)[1];
const settings = (labels, more = "") => `${everythingAllowed}${more}[memory.tools]\nlabels = ${JSON.stringify(labels)}\n`;

const composite = {
    Composite: {
        sections: [
            {
                name: "status",
                schema: {
                    Map: {
                        fields: [
                            { name: "state", field_type: "Text", description: "green or red" },
                            { name: "builds", field_type: "Number" },
                            { name: "checked", field_type: "Timestamp", read_only: true },
                        ],
                    },
                },
            },
            { name: "notes", schema: "Text", description: "What to know" },
            { name: "events", schema: { Log: { entry_schema: { fields: [{ name: "event", field_type: "Text", required: true }] } } } },
            { name: "ci", schema: "Text", read_only: true },
        ],
    },
};

const own = async (client) => (await client.listTools()).tools.filter((tool) => tool.name.startsWith("remember_"));
const refusal = async (client, name, args) => {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(result.isError, JSON.stringify(result));
    return result.structuredContent.error;
};

test("who may write a block has a tool for it, with the block's own arguments", { skip }, async (t) => {
    const folder = workspace(t, {}, settings(["Build/CI", "notes", "nowhere"]));
    const ada = await connectQuire(t, kind, folder, { actor: "agent:ada", profile: "model" });
    const bo = await connectQuire(t, kind, folder, { actor: "agent:bo", profile: "full" });
    assert.deepEqual(await own(ada), []);
    await ok(ada, "context", { operation: "create", label: "Build/CI", schema: composite, description: "The build." });

    const [tool, ...others] = await own(ada);
    assert.deepEqual(others, []);
    assert.equal(tool.name, "remember_build_ci");
    assert.match(tool.description, /The build\./);
    const { properties } = tool.inputSchema;
    assert.deepEqual(Object.keys(properties), ["status", "notes", "events"]);
    assert.deepEqual(Object.keys(properties.status.properties), ["state", "builds"]);
    assert.equal(properties.status.properties.state.description, "green or red");
    assert.deepEqual(Object.keys(properties.events.properties.entry.properties), ["event"]);
    assert.deepEqual(await own(bo), [], "nobody else's");

    // One call is one version, and one step of undo.
    const before = await ok(ada, "context", { operation: "view", label: "Build/CI" });
    const made = await ok(ada, tool.name, {
        status: { state: "red", builds: 3 },
        notes: { content: "The linker fails.\n" },
        events: { entry: { event: "broke" } },
    });
    assert.equal(made.version, before.version + 1);
    const { value } = await ok(ada, "context", { operation: "view", label: "Build/CI" });
    assert.deepEqual([value.status.state, value.status.builds, value.notes], ["red", 3, "The linker fails.\n"]);
    assert.equal(value.events[0].event, "broke");
    assert.equal(value.events[0].agent_id, "ada");
    await ok(ada, "context", { operation: "undo", label: "Build/CI" });
    assert.deepEqual((await ok(ada, "context", { operation: "view", label: "Build/CI" })).value, before.value);

    // All of it or nothing.
    assert.equal((await refusal(ada, tool.name, { status: { state: "green", builds: "many" } })).reason, "invalid_arguments");
    assert.equal((await refusal(ada, tool.name, { ci: { content: "x" } })).reason, "invalid_arguments");
    assert.equal((await refusal(ada, tool.name, {})).reason, "invalid_arguments");
    assert.deepEqual((await ok(ada, "context", { operation: "view", label: "Build/CI" })).value, before.value);

    // A share gives the tool too, and takes it away.
    await ok(ada, "context", { operation: "share", label: "Build/CI", with: "bo", permission: "append" });
    assert.deepEqual((await own(bo)).map((each) => Object.keys(each.inputSchema.properties)), [["notes", "events"]]);
    await ok(bo, "remember_build_ci", { notes: { content: "Mended.\n" } });
    await ok(ada, "context", { operation: "unshare", label: "Build/CI", with: "bo" });
    assert.deepEqual(await own(bo), []);
    await assert.rejects(bo.callTool({ name: "remember_build_ci", arguments: { notes: { content: "x" } } }), /there is no tool/);

    const entries = execFileSync(quire, ["audit", "--json", "--workspace", folder], { encoding: "utf8" });
    assert.match(entries, /"remember_build_ci"/);
    const log = execFileSync(quire, ["log", "--workspace", folder], { encoding: "utf8" });
    assert.match(log, /agent:ada .*remember/);
});

test("the arguments follow the block's schema", { skip }, async (t) => {
    const folder = workspace(t, {}, settings(["notes"]));
    const ada = await connectQuire(t, kind, folder, { actor: "agent:ada", profile: "model" });
    await ok(ada, "context", { operation: "create", label: "notes", schema: "Text" });
    await ok(ada, "remember_notes", { content: "one\n" });
    await ok(ada, "context", { operation: "convert", label: "notes", schema: { List: {} } });
    assert.deepEqual(Object.keys((await own(ada))[0].inputSchema.properties), ["item"]);
    await ok(ada, "remember_notes", { item: "two" });
    assert.deepEqual((await ok(ada, "context", { operation: "view", label: "notes" })).value, ["one", "two"]);
    await ok(ada, "context", { operation: "delete", label: "notes" });
    assert.deepEqual(await own(ada), []);
});

test("rules hide the tool and refuse its calls", { skip }, async (t) => {
    const rule = '[[tools.rules]]\ntool = "remember_notes"\ntype = "max_calls"\nvalue = 1\n';
    const folder = workspace(t, {}, settings(["notes"], rule));
    const ada = await connectQuire(t, kind, folder, { actor: "agent:ada", profile: "model" });
    await ok(ada, "context", { operation: "create", label: "notes", schema: "Text" });
    await ok(ada, "remember_notes", { content: "one\n" });
    assert.equal((await refusal(ada, "remember_notes", { content: "two\n" })).reason, "max_calls_exceeded");
    const check = spawnSync(quire, ["rules", "check", "--workspace", folder], { encoding: "utf8" });
    assert.equal(check.status, 0, check.stdout + check.stderr);
    assert.equal((await ok(ada, "context", { operation: "view", label: "notes" })).value, "one\n");
});

test("templates of the workspace are named where one may be given", { skip }, async (t) => {
    const more = '[memory.templates.bug_report]\nschema = { Map = { fields = [ { name = "title", field_type = "Text" } ] } }\n';
    const ada = await connectQuire(t, kind, workspace(t, {}, settings([], more)), { actor: "agent:ada", profile: "model" });
    const context = (await ada.listTools()).tools.find((tool) => tool.name === "context");
    assert.match(context.inputSchema.properties.template.description, /scratchpad bug_report/);
});

test("a client is told that its tools have changed with its next call", { skip }, async (t) => {
    const client = new RawClient(quire, ["mcp", "--workspace", workspace(t, {}, settings(["notes"])), "--actor", "agent:ada"]);
    t.after(() => client.end());
    await client.initialize();
    const names = async () => (await client.request("tools/list", {})).result.tools.map((tool) => tool.name);
    assert.ok(!(await names()).includes("remember_notes"));
    await client.call("context", { operation: "create", label: "notes", schema: "Text" });
    await client.call("context", { operation: "view", label: "notes" });
    await client.receive((m) => m.method === "notifications/tools/list_changed");
    assert.ok((await names()).includes("remember_notes"));
});

test("two labels that make one name end the start", { skip }, (t) => {
    const folder = workspace(t, {}, settings(["a-b", "A/b"]));
    const run = spawnSync(quire, ["file", "list", "--workspace", folder], { encoding: "utf8" });
    assert.notEqual(run.status, 0);
    assert.match(run.stderr, /the labels 'a-b' and 'A\/b' would both make the tool remember_a_b/);
    writeFileSync(join(folder, "quire.toml"), settings(["a-b"]));
    assert.equal(spawnSync(quire, ["file", "list", "--workspace", folder], { encoding: "utf8" }).status, 0);
});
