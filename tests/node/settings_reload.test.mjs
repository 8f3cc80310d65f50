// quire.toml changes under a running kernel: what holds from the next call on, what clients are told, and
// what becomes of a file that is wrong or gone.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { RawClient, everythingAllowed, quire, rawQuire, skip, workspace } from "./support/workspace.mjs";

const closed = '[[files.rules]]\npattern = "**"\npermission = "read_only"\n';

function run(folder, ...words) {
    return spawnSync(quire, [...words, "--workspace", folder], { encoding: "utf8" });
}

function settings(folder, text) {
    writeFileSync(join(folder, "quire.toml"), text);
}

async function started(t, text = everythingAllowed, options = { profile: "model" }) {
    const folder = workspace(t, { "a.txt": "a\n" }, text);
    const client = rawQuire(t, folder, options);
    await client.initialize();
    return { folder, client };
}

const change = (client, text) => client.call("file", { operation: "append", path: "a.txt", content: text });

const reasonOf = (answer) => answer.result?.structuredContent?.error?.reason ?? "done";

test("a tightened rule for files holds from the next call on, and a loosened one too", { skip }, async (t) => {
    const { folder, client } = await started(t);
    assert.equal(reasonOf(await change(client, "b\n")), "done");
    settings(folder, closed);
    assert.equal(reasonOf(await change(client, "c\n")), "permission_denied");
    settings(folder, everythingAllowed);
    assert.equal(reasonOf(await change(client, "d\n")), "done");
});

test("settings that cannot be read hold until they are gone, and then the defaults do", { skip }, async (t) => {
    const { folder, client } = await started(t);
    rmSync(join(folder, "quire.toml"));
    mkdirSync(join(folder, "quire.toml"));
    assert.equal(reasonOf(await change(client, "b\n")), "done");
    rmdirSync(join(folder, "quire.toml"));
    assert.equal(reasonOf(await change(client, "c\n")), "permission_denied");
    const status = JSON.parse(run(folder, "status", "--json").stdout);
    assert.equal(JSON.stringify(status).includes("a directory"), false);
});

test("each of many quick changes holds at the call that follows it", { skip }, async (t) => {
    const { folder, client } = await started(t);
    const both = [everythingAllowed, closed.padEnd(everythingAllowed.length)];
    for (let i = 0; i < 40; ++i) {
        settings(folder, both[i % 2]);
        assert.equal(reasonOf(await change(client, "x\n")), i % 2 === 0 ? "done" : "permission_denied", `change ${i}`);
    }
});

test("the templates and the style of memory in the settings hold from the next call on", { skip }, async (t) => {
    const { folder, client } = await started(t);
    const create = (label) => client.call("context", { operation: "create", label, template: "bug_report" });
    assert.equal(reasonOf(await create("one")), "unknown_template");
    settings(folder, `${everythingAllowed}[memory.templates.bug_report]\ndescription = "A fault"\n` +
        'schema = { Map = { fields = [ { name = "title", field_type = "Text", required = true } ] } }\n');
    assert.equal(reasonOf(await create("two")), "done");
    const seen = await client.call("context", { operation: "view", label: "two" });
    assert.match(seen.result.content[0].text, /<!-- A fault -->\ntitle: \(unset\)/);
    assert.match(seen.result.content[0].text, /^<block:two /);
    settings(folder, `${everythingAllowed}[memory]\nrender = "plain"\n`);
    const plain = await client.call("context", { operation: "view", label: "two" });
    assert.match(plain.result.content[0].text, /^<two>\n<!-- A fault -->\ntitle: \(unset\)\n<\/two>/);
    settings(folder, everythingAllowed);
    assert.equal(reasonOf(await create("three")), "unknown_template");
    assert.equal(reasonOf(await client.call("context", { operation: "set_field", label: "two", field: "title", value: "x" })), "done");
});

test("a client whose list of tools changes is told, without a call of its own", { skip }, async (t) => {
    const { folder, client } = await started(t);
    const before = (await client.request("tools/list", {})).result.tools;
    settings(folder, `${everythingAllowed}[[tools.rules]]\ntool = "file"\ntype = "allowed_operations"\nvalue = ["read"]\n`);
    await client.receive((m) => m.method === "notifications/tools/list_changed");
    const after = (await client.request("tools/list", {})).result.tools;
    const operations = (tools) => JSON.stringify(tools.find((tool) => tool.name === "file").inputSchema);
    assert.notEqual(operations(after), operations(before));
    assert.equal(reasonOf(await change(client, "b\n")), "operation_not_allowed");
});

test("a client whose list stays the same is not told", { skip }, async (t) => {
    const { folder, client } = await started(t);
    settings(folder, closed);
    assert.equal(reasonOf(await change(client, "b\n")), "permission_denied");
    await client.request("tools/list", {});
    await assert.rejects(client.receive((m) => m.method === "notifications/tools/list_changed", 300));
});

test("what was counted in a session still counts under changed rules", { skip }, async (t) => {
    const most = (count) => `${everythingAllowed}[[tools.rules]]\ntool = "file"\ntype = "max_calls"\nvalue = ${count}\n`;
    const { folder, client } = await started(t, most(2));
    const read = () => client.call("file", { operation: "read", path: "a.txt" });
    assert.equal(reasonOf(await read()), "done");
    assert.equal(reasonOf(await read()), "done");
    assert.equal(reasonOf(await read()), "max_calls_exceeded");
    settings(folder, most(3));
    assert.equal(reasonOf(await read()), "done");
    assert.equal(reasonOf(await read()), "max_calls_exceeded");
});

test("an agent's profile changes for a client that named none", { skip }, async (t) => {
    const folder = workspace(t);
    const client = new RawClient(quire, ["mcp", "--workspace", folder, "--actor", "agent:test"]);
    t.after(() => client.end());
    await client.initialize();
    const names = async () => (await client.request("tools/list", {})).result.tools.map((tool) => tool.name);
    assert.ok((await names()).includes("block_view"));
    settings(folder, `${everythingAllowed}[agents.test]\nprofile = "full"\n`);
    assert.ok((await names()).includes("block_read"));
    await client.receive((m) => m.method === "notifications/tools/list_changed");
});

test("a call that waits for an approval is decided by the rules of its repetition", { skip }, async (t) => {
    const asks = '[[files.rules]]\npattern = "**"\npermission = "human"\n';
    const { folder, client } = await started(t, asks);
    const asked = await change(client, "b\n");
    assert.equal(reasonOf(asked), "escalation_required");
    const id = asked.result.structuredContent.error.details.approval_id;
    settings(folder, closed);
    run(folder, "approvals", "approve", id, "--actor", "human:tom");
    assert.equal(reasonOf(await change(client, "b\n")), "permission_denied");
});

test("an invalid file changes nothing, and status, doctor and kernel.log name its line", { skip }, async (t) => {
    const { folder, client } = await started(t);
    settings(folder, `${closed}permision = "admin"\n`);
    assert.equal(reasonOf(await change(client, "b\n")), "done");

    const place = /quire\.toml:4: .*permision/;
    assert.match(run(folder, "status").stdout, place);
    const told = JSON.parse(run(folder, "status", "--json").stdout).settings;
    assert.match(told.error, place);
    assert.equal(told.line, 4);
    const doctor = run(folder, "doctor");
    assert.equal(doctor.status, 1);
    assert.match(doctor.stdout, place);
    assert.match(readFileSync(join(folder, ".quire/kernel.log"), "utf8"), place);

    settings(folder, closed);
    assert.equal(reasonOf(await change(client, "c\n")), "permission_denied");
    assert.equal(JSON.parse(run(folder, "status", "--json").stdout).settings.error, undefined);
});

test("rules that cannot be met are as invalid as a file that cannot be read", { skip }, async (t) => {
    const { folder, client } = await started(t);
    settings(folder, `${closed}[[tools.rules]]\ntool = "frobnicate"\ntype = "max_calls"\nvalue = 1\n`);
    assert.equal(reasonOf(await change(client, "b\n")), "done");
    assert.match(run(folder, "status").stdout, /quire\.toml:5: .*frobnicate/);
});

test("a removed file means no rules: everything is read-only", { skip }, async (t) => {
    const { folder, client } = await started(t);
    rmSync(join(folder, "quire.toml"));
    assert.equal(reasonOf(await change(client, "b\n")), "permission_denied");
    assert.equal(reasonOf(await client.call("file", { operation: "read", path: "a.txt" })), "done");
    settings(folder, everythingAllowed);
    assert.equal(reasonOf(await change(client, "b\n")), "done");
});

test("what needs a new kernel is said by status until there is one", { skip }, async (t) => {
    const { folder, client } = await started(t);
    settings(folder, `${everythingAllowed}[limits]\nread_lines = 10\n`);
    assert.equal(reasonOf(await change(client, "b\n")), "done");
    assert.match(run(folder, "status").stdout, /\[limits\].*next kernel.*quire stop/);
    assert.equal(run(folder, "stop").status, 0);
    assert.equal(reasonOf(await client.call("file", { operation: "read", path: "a.txt" })), "done");
    assert.doesNotMatch(run(folder, "status").stdout, /\[limits\]/);
});
