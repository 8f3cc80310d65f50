// Memory as resources: a block by its owner and label, an agent's context by its name, under the official SDK
// in each era of the protocol.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { connectQuire, kinds, ok } from "./support/sdk.mjs";
import { everythingAllowed, quire, skip, workspace } from "./support/workspace.mjs";

const isMissing = (error) => [-32002, -32602].includes(error.code);

async function urisOf(client) {
    const uris = [];
    let cursor;
    do {
        const page = await client.listResources(cursor ? { cursor } : {});
        assert.ok(page.resources.length <= 100);
        uris.push(...page.resources.map((resource) => resource.uri));
        cursor = page.nextCursor;
    } while (cursor);
    assert.equal(new Set(uris).size, uris.length);
    return uris;
}

async function textOf(client, uri) {
    const { contents } = await client.readResource({ uri });
    assert.equal(contents.length, 1);
    assert.equal(contents[0].uri, uri);
    assert.equal(contents[0].mimeType, "text/plain");
    return contents[0].text;
}

async function remember(client, label, content, more = {}) {
    await ok(client, "context", { operation: "create", label, schema: "Text", ...more });
    await ok(client, "context", { operation: "append", label, content });
}

for (const kind of Object.keys(kinds)) {
    test(`${kind} reads memory and context, each agent its own and what is shared with it`, { skip }, async (t) => {
        const folder = workspace(t);
        const ada = await connectQuire(t, kind, folder, { actor: "agent:ada" });
        const bo = await connectQuire(t, kind, folder, { actor: "agent:bo" });
        const tom = await connectQuire(t, kind, folder, { actor: "human:tom" });
        await remember(ada, "self", "I am Ada.", { type: "core" });
        await remember(ada, "plans/über 100%", "Pinned.", { pinned: true });
        await remember(ada, "loose", "Not in the context.");
        await remember(bo, "self", "I am Bo.", { type: "core" });
        const plans = "memory://agent:ada/plans/%C3%BCber%20100%25";

        assert.deepEqual((await urisOf(ada)).filter((uri) => /^(memory|context):/.test(uri)),
            ["context://ada", "memory://agent:ada/loose", plans, "memory://agent:ada/self"]);
        assert.deepEqual((await urisOf(bo)).filter((uri) => /^(memory|context):/.test(uri)),
            ["context://bo", "memory://agent:bo/self"]);
        assert.equal((await urisOf(tom)).filter((uri) => /^(memory|context):/.test(uri)).length, 6);
        const { resourceTemplates } = await ada.listResourceTemplates();
        const templates = resourceTemplates.map((template) => template.uriTemplate);
        assert.ok(templates.includes("memory://{owner}/{+label}") && templates.includes("context://{agent}"));

        const { rendered } = await ok(ada, "context", { operation: "view", label: "plans/über 100%" });
        assert.equal(await textOf(ada, plans), rendered);
        assert.equal(await textOf(ada, "memory://agent%3Aada/plans%2F%C3%BCber%20100%25"), rendered);
        const context = await textOf(ada, "context://ada");
        assert.match(context, /^<block:self [^]*I am Ada\.[^]*<block:plans[^]*Pinned\./);
        assert.doesNotMatch(context, /Not in the context|Bo/);
        assert.equal(context, execFileSync(quire, ["context", "render", "--workspace", folder, "--agent", "ada"], { encoding: "utf8" }));
        assert.equal(await textOf(tom, "context://ada"), context);
        assert.equal(await textOf(tom, "context://agent:ada"), context);

        await assert.rejects(bo.readResource({ uri: "context://ada" }), isMissing);
        await assert.rejects(tom.readResource({ uri: "context://nobody" }), isMissing);
        const hidden = await bo.readResource({ uri: "memory://agent:ada/self" }).catch((error) => error);
        const absent = await bo.readResource({ uri: "memory://agent:ada/none" }).catch((error) => error);
        assert.ok(isMissing(hidden) && isMissing(absent));
        assert.equal(hidden.message.replace("self", "none"), absent.message);
        for (const uri of ["memory://agent:ada", "memory://ada/self", "memory://agent:ada/", "memory://agent:ada/%FF", "context://", "context://human:tom"])
            await assert.rejects(tom.readResource({ uri }), isMissing, uri);

        await ok(ada, "context", { operation: "share", label: "self", with: "bo", permission: "read_only" });
        assert.match(await textOf(bo, "memory://agent:ada/self"), /I am Ada\./);
    });

    test(`${kind} has owners, labels and agents completed`, { skip }, async (t) => {
        const folder = workspace(t);
        const ada = await connectQuire(t, kind, folder, { actor: "agent:ada" });
        await remember(ada, "self", "x");
        await remember(ada, "plan", "x");
        const completed = async (client, uri, name, value) =>
            (await client.complete({ ref: { type: "ref/resource", uri }, argument: { name, value } })).completion.values;

        assert.deepEqual(await completed(ada, "memory://{owner}/{+label}", "label", ""), ["plan", "self"]);
        assert.deepEqual(await completed(ada, "memory://{owner}/{+label}", "label", "s"), ["self"]);
        assert.deepEqual(await completed(ada, "memory://{owner}/{+label}", "owner", "agent:"), ["agent:ada"]);
        assert.deepEqual(await completed(ada, "context://{agent}", "agent", "a"), ["ada"]);
    });
}

test("memory is listed in pages, and every block once", { skip }, async (t) => {
    const ada = await connectQuire(t, "SDK v1", workspace(t, { "notes.md": "x\n" }), { actor: "agent:ada" });
    for (let i = 0; i < 230; ++i) await ok(ada, "context", { operation: "create", label: `m${i}`, schema: "Text" });
    await ok(ada, "block_create", { role: "user", kind: "text", content: "x" });

    const uris = await urisOf(ada);

    assert.equal(uris.filter((uri) => uri.startsWith("memory://agent:ada/m")).length, 230);
    assert.equal(uris.filter((uri) => uri.startsWith("block:")).length, 1);
    assert.ok(uris.includes("file:///notes.md"));
});

test("a rule that takes view from context takes memory from the resources", { skip }, async (t) => {
    const rule = '[[tools.rules]]\ntool = "context"\ntype = "allowed_operations"\nvalue = ["create", "list"]\n';
    const folder = workspace(t, {}, everythingAllowed + rule);
    const ada = await connectQuire(t, "SDK v1", folder, { actor: "agent:ada" });
    await ok(ada, "context", { operation: "create", label: "self", schema: "Text", type: "core" });

    assert.deepEqual((await urisOf(ada)).filter((uri) => /^(memory|context):/.test(uri)), []);
    for (const uri of ["memory://agent:ada/self", "context://ada"])
        await assert.rejects(ada.readResource({ uri }), /not allowed for tool 'context'/);
});
