// `quire mcp` under the official TypeScript SDKs: every tool called, every result held to its published
// schema by the SDK itself, in each protocol era.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { connectQuire, kinds, ok, refused } from "./support/sdk.mjs";
import { skip, workspace } from "./support/workspace.mjs";

const files = { "src/poem.txt": "one\ntwo\nthree\n", "notes.md": "# Notes\n" };

// Of both profiles: a block with a field that is not the agent's, and one without a form.
async function remember(client) {
    const context = (operation, args) => ok(client, "context", { operation, ...args });
    const label = "build";
    const made = await context("create", {
        label, type: "core",
        schema: { Map: { fields: [
            { name: "status", field_type: "Text" }, { name: "origin", field_type: "Text", read_only: true },
            { name: "visits", field_type: "Counter" }, { name: "tags", field_type: "List" },
        ] } },
    });
    // Profile `model` does not repeat the label that the call names.
    assert.deepEqual({ label, ...made, block_id: "" }, { label, block_id: "", version: 1 });
    await context("set_field", { label, field: "status", value: "busy" });
    assert.equal((await context("increment_counter", { label, field: "visits", delta: 2 })).value, 2);
    await context("append_to_list", { label, field: "tags", item: "old" });
    await context("append_to_list", { label, field: "tags", item: "new" });
    assert.equal((await context("remove_from_list", { label, field: "tags", index: 0 })).removed, "old");
    const error = await refused(client, "context",
        { operation: "set_field", label, field: "origin", value: "me" }, "denied", "read_only_field");
    assert.equal(error.message, "Field 'origin' is read-only and cannot be modified by agent");

    const view = await context("view", { label });
    assert.deepEqual(view.value, { status: "busy", visits: 2, tags: ["new"] });
    assert.equal(view.version, 6);
    assert.match(view.rendered, /^<block:build permission=.*\nstatus: busy\n/s);
    await context("undo", { label });
    assert.deepEqual((await context("view", { label })).value.tags, ["old", "new"]);
    await context("redo", { label });
    assert.deepEqual((await context("view", { label })).value.tags, ["new"]);
    assert.equal((await context("history", { label })).versions[0].version_id, "8");

    await context("create", { label: "pad", template: "scratchpad" });
    await context("append", { label: "pad", content: "one two one" });
    await context("replace", { label: "pad", find: "one", replace: "1" });
    assert.equal((await context("view", { label: "pad" })).value, "1 two 1");
    await context("share", { label: "pad", with: "bo", permission: "read_only" });
    await context("unshare", { label: "pad", with: "bo" });
    await context("delete", { label: "pad" });
    await refused(client, "context", { operation: "view", label: "pad" }, "not_found", "invalid_reference");
    assert.deepEqual((await context("list", { type: "core" })).blocks.map((block) => block.label), [label]);
}

// Each tool of profile `full` that the product has, used as the contract says, in one story.
const full = {
    async block_create(client, story) {
        const made = await ok(client, "block_create", { role: "user", kind: "text", content: "alpha\nbeta\n", client_token: "t1" });
        const again = await ok(client, "block_create", { role: "user", kind: "text", content: "alpha\nbeta\n", client_token: "t1" });
        assert.equal(again.block_id, made.block_id);
        story.block_id = made.block_id;
    },
    async block_append(client, { block_id }) {
        assert.equal((await ok(client, "block_append", { block_id, text: "gamma\n" })).durable, true);
    },
    async block_edit(client, { block_id }) {
        const edited = await ok(client, "block_edit", {
            block_id,
            operations: [
                { op: "replace", start_line: 1, end_line: 2, content: "BETA\n", expected_text: "beta\n" },
                { op: "insert", line: 0, content: "first\n" },
            ],
        });
        assert.equal(edited.line_count, 4);
        await refused(client, "block_edit",
            { block_id, operations: [{ op: "delete", start_line: 0, end_line: 1, expected_text: "elsewhere\n" }] },
            "conflict", "content_mismatch");
    },
    async block_splice(client, { block_id }) {
        await ok(client, "block_splice", { block_id, offset: 0, delete_count: 5, insert: "FIRST", expected: "first" });
    },
    async block_read(client, { block_id }) {
        const read = await ok(client, "block_read", { block_id, line_numbers: false });
        assert.equal(read.content, "FIRST\nalpha\nBETA\ngamma\n");
        assert.equal(read.eol, "lf");
        assert.equal(read.final_newline, true);
        await refused(client, "block_read", { block_id, range: { start: 99, end: 100 } }, "out_of_range", "line_out_of_range");
    },
    async block_search(client, { block_id }) {
        const found = await ok(client, "block_search", { block_id, query: "B[E]TA" });
        assert.equal(found.matches[0].line, 2);
    },
    async block_list(client, { block_id }) {
        const listed = await ok(client, "block_list", {});
        assert.ok(listed.blocks.some((block) => block.block_id === block_id));
    },
    async block_undo(client, { block_id }) {
        await ok(client, "block_undo", { block_id });
        const read = await ok(client, "block_read", { block_id, line_numbers: false });
        assert.equal(read.content, "first\nalpha\nBETA\ngamma\n");
    },
    async block_redo(client, { block_id }) {
        await ok(client, "block_redo", { block_id });
        const read = await ok(client, "block_read", { block_id, line_numbers: false });
        assert.equal(read.content, "FIRST\nalpha\nBETA\ngamma\n");
    },
    async block_history(client, { block_id }) {
        const history = await ok(client, "block_history", { block_id });
        assert.ok(history.versions.length >= 4);
        assert.ok(history.versions.every((v) => v.actor === "agent:test"));
    },
    async block_diff(client, { block_id }) {
        const { diff } = await ok(client, "block_diff", { block_id, from: "1", to: "2" });
        assert.equal(diff, `--- ${block_id}\tversion 1\n+++ ${block_id}\tversion 2\n@@ -1,2 +1,3 @@\n alpha\n beta\n+gamma\n`);
        await refused(client, "block_diff", { block_id, from: "99" }, "not_found", "invalid_reference");
    },
    async block_rollback(client, { block_id }) {
        await ok(client, "block_rollback", { block_id, version_id: "1" });
        assert.equal((await ok(client, "block_read", { block_id, line_numbers: false })).content, "alpha\nbeta\n");
        await ok(client, "block_undo", { block_id });
        await refused(client, "block_rollback", { block_id, version_id: "99" }, "not_found", "invalid_reference");
    },
    async block_subscribe(client, story) {
        const { block_id } = story;
        story.subscription_id = (await ok(client, "block_subscribe", { block_ids: [block_id], from_versions: [[block_id, 1]] })).subscription_id;
        await refused(client, "block_subscribe", { block_ids: ["b999"] }, "not_found", "invalid_reference");
    },
    async block_events(client, { block_id, subscription_id }) {
        const { events } = await ok(client, "block_events", { subscription_id, wait_ms: 5000 });
        assert.deepEqual(events[0], { block_id, version: 2, actor: "agent:test", type: "appended", text: "gamma\n" });
        await refused(client, "block_events", { subscription_id: "none" }, "not_found", "invalid_reference");
    },
    async block_sync(client, { block_id }) {
        const { patches } = await ok(client, "block_sync", { versions: [[block_id, 1]] });
        assert.equal(patches[0].text, "gamma\n");
        const { new_blocks } = await ok(client, "block_sync", { versions: [] });
        assert.ok(new_blocks.some((event) => event.block_id === block_id));
        const { patches: [first] } = await ok(client, "block_sync", { versions: [[block_id, 1]], format: "ops" });
        assert.ok(first.updates.length > 0);
    },
    async block_mark(client, { block_id }) {
        const { version } = await ok(client, "block_mark", { block_id, excluded: true });
        const row = (list) => list.blocks.find((block) => block.block_id === block_id);
        const marked = row(await ok(client, "block_list", { depth: 0 }));
        assert.deepEqual([marked.version, marked.excluded, "collapsed" in marked], [version, true, false]);
        await ok(client, "block_mark", { block_id, excluded: false });
        assert.equal("excluded" in row(await ok(client, "block_list", { depth: 0 })), false);
        await refused(client, "block_mark", { block_id: "b999", excluded: true }, "not_found", "invalid_reference");
    },
    async block_cursor(client, { block_id }) {
        const set = await ok(client, "block_cursor", { operation: "set", block_id, selections: [{ anchor: 0, head: 2 }] });
        assert.deepEqual(set.cursors, [{ actor: "agent:test", selections: [{ anchor: 0, head: 2 }] }]);
        assert.deepEqual((await ok(client, "block_cursor", { operation: "get", block_id })).cursors, set.cursors);
        assert.deepEqual((await ok(client, "block_cursor", { operation: "clear", block_id })).cursors, []);
        await refused(client, "block_cursor", { operation: "set", block_id, selections: [{ anchor: 0, head: 2000 }] }, "invalid_argument", "invalid_range");
    },
    async block_fork(client, { block_id }) {
        const { conversation, blocks } = await ok(client, "block_fork", { as: "fork", from: block_id, to: block_id });
        assert.equal(conversation, "fork");
        assert.equal(blocks[0][0], block_id);
        const copied = await ok(client, "block_read", { block_id: blocks[0][1], line_numbers: false });
        assert.equal(copied.content, (await ok(client, "block_read", { block_id, line_numbers: false })).content);
        await refused(client, "block_fork", { as: "fork" }, "conflict", "conversation_exists");
    },
    async block_apply_patch(client, { block_id }) {
        const patch = "@@ -1,2 +1,2 @@\n FIRST\n-alpha\n+ALPHA\n";
        const { blocks, diff } = await ok(client, "block_apply_patch", { block_id, patch });
        assert.deepEqual(blocks[0].hunks, [{ applied_at: 1, fuzz: 0 }]);
        assert.match(diff, /^\+ALPHA$/m);
        await refused(client, "block_apply_patch", { block_id, patch }, "conflict", "hunk_not_found");
        await refused(client, "block_apply_patch", { patch: "nothing" }, "invalid_argument", "invalid_patch");
    },
    async block_status(client, { block_id }) {
        await ok(client, "block_status", { block_id, status: "done" });
        await refused(client, "block_status", { block_id, status: "pending" }, "conflict", "invalid_transition");
    },
    async file(client, story) {
        const listed = await ok(client, "file", { operation: "list" });
        assert.ok(JSON.stringify(listed).includes("src/poem.txt"));
        story.file_id = (await ok(client, "file", { operation: "read", path: "src/poem.txt" })).block_id;
        await ok(client, "file", {
            operation: "edit", path: "src/poem.txt",
            operations: [{ op: "replace", start_line: 1, end_line: 2, content: "TWO\n", expected_text: "two\n" }],
        });
        assert.equal(readFileSync(join(story.folder, "src/poem.txt"), "utf8"), "one\ntwo\nthree\n");
        await ok(client, "file", { operation: "save", path: "src/poem.txt" });
        assert.equal(readFileSync(join(story.folder, "src/poem.txt"), "utf8"), "one\nTWO\nthree\n");
        await ok(client, "file", { operation: "patch", path: "src/poem.txt", patch: "@@ -1 +1 @@\n-one\n+ONE\n" });
        await refused(client, "file", { operation: "read", path: "../outside" }, "denied", "outside_workspace");
    },
    async shell(client) {
        const answer = await client.callTool({ name: "shell", arguments: { operation: "execute", command: "cat src/poem.txt; echo x > src/made" } });
        if (answer.structuredContent.error?.reason !== "no_stage") {
            assert.match(answer.structuredContent.stdout, /two/i);
            assert.equal(answer.structuredContent.file_changes[0].committed, true);
        }
        assert.equal((await ok(client, "shell", { operation: "check", command: "rm src/poem.txt" })).predicted.at(-1).operation, "delete");
    },
    async file_history(client) {
        const history = (operation, more) => ok(client, "file_history", { operation, path: "src/poem.txt", ...more });
        const { path, versions } = await history("view", { limit: 1 });
        assert.deepEqual([path, versions.map((each) => each.actor)], ["src/poem.txt", ["agent:test"]]);
        await history("rollback", { version_id: "1" });
        assert.match((await history("diff")).diff, /^--- src\/poem\.txt\ton disk\n.*\n-TWO\n\+two\n/s);
        await history("rollback", { version_id: versions[0].version_id });
        await refused(client, "file_history", { operation: "rollback", path: "src/poem.txt", version_id: "99" }, "not_found", "invalid_reference");
    },
    context: remember,
    async kernel_search(client, { file_id }) {
        const found = await ok(client, "kernel_search", { query: "TWO", mode: "literal" });
        assert.deepEqual(found.blocks.map((block) => block.block_id), [file_id]);
    },
    async block_delete(client, { block_id }) {
        await ok(client, "block_delete", { block_id });
        await refused(client, "block_read", { block_id }, "not_found", "invalid_reference");
    },
};

const model = {
    async block_create(client, story) {
        story.block_id = (await ok(client, "block_create", { role: "user", kind: "text", content: "a\nb\nc\n" })).block_id;
    },
    async block_view(client, { block_id }) {
        const result = await client.callTool({ name: "block_view", arguments: { block_id, start_line: 2, end_line: -1 } });
        assert.ok(!result.isError);
        assert.match(result.content[0].text, /2\tb/);
    },
    async block_str_replace(client, { block_id }) {
        await ok(client, "block_str_replace", { block_id, old_str: "b", new_str: "B" });
        await refused(client, "block_str_replace", { block_id, old_str: "nowhere", new_str: "" }, "conflict", "no_match");
    },
    async block_insert(client, { block_id }) {
        await ok(client, "block_insert", { block_id, insert_line: 0, insert_text: "top\n" });
    },
    async block_replace_lines(client, { block_id }) {
        await ok(client, "block_replace_lines", { block_id, start_line: 4, end_line: 4, new_text: "C\n", expected_text: "c\n" });
        await refused(client, "block_replace_lines",
            { block_id, start_line: 1, end_line: 1, new_text: "x\n", expected_text: "not top\n" }, "conflict", "content_mismatch");
    },
    async block_apply_patch(client, { block_id }) {
        const patch = `*** Begin Patch\n*** Update File: ${block_id}\n@@\n top\n-a\n+A\n*** End Patch\n`;
        const { blocks } = await ok(client, "block_apply_patch", { patch });
        assert.deepEqual(blocks[0].hunks, [{ applied_at: 2, fuzz: 0 }]);
    },
    async block_append(client, { block_id }) {
        const { snippet } = await ok(client, "block_append", { block_id, text: "end\n" });
        assert.match(snippet, /^\s*\d+\tend$/m);
    },
    async block_list(client, { block_id }) {
        assert.ok((await ok(client, "block_list", {})).blocks.some((block) => block.block_id === block_id));
    },
    async block_search(client) {
        assert.ok(JSON.stringify(await ok(client, "block_search", { query: "end" })).includes("end"));
    },
    async block_undo(client, { block_id }) {
        for (const redo of [false, true]) {
            const { snippet } = await ok(client, "block_undo", { block_id, redo });
            assert.match(snippet, /^\s*\d+\t/m);
        }
    },
    context: remember,
    async context_view(client) {
        assert.match((await ok(client, "context_view", { label: "build" })).rendered, /status: busy/);
    },
    async file(client) {
        await ok(client, "file", { operation: "read", path: "notes.md" });
    },
    async shell(client) {
        const { decision } = await ok(client, "shell", { operation: "check", command: "cat notes.md" });
        assert.equal(decision, "allow");
    },
    async file_history(client) {
        const { versions } = await ok(client, "file_history", { operation: "view", path: "notes.md" });
        assert.deepEqual(versions.map((each) => each.actor), ["source:disk"]);
        assert.equal((await ok(client, "file_history", { operation: "diff", path: "notes.md" })).diff, "");
        await ok(client, "file_history", { operation: "rollback", path: "notes.md", version_id: "1" });
    },
    async file_list(client) {
        const { files: listed } = await ok(client, "file_list", { pattern: "*.md" });
        assert.deepEqual(listed.map((file) => file.path), ["notes.md"]);
    },
    async file_read(client) {
        assert.equal((await ok(client, "file_read", { path: "notes.md", range: { start: 1, end: 1 } })).content, "1\t# Notes\n");
    },
};

for (const kind of Object.keys(kinds)) {
    for (const [profile, steps] of Object.entries({ full, model })) {
        test(`${kind} calls every tool of profile ${profile}`, { skip }, async (t) => {
            const story = { folder: workspace(t, files) };
            const client = await connectQuire(t, kind, story.folder, { profile });
            const { tools } = await client.listTools();
            for (const [tool, step] of Object.entries(steps)) {
                assert.ok(tools.some((listed) => listed.name === tool), `${tool} is not listed`);
                await step(client, story);
            }
            const untried = tools.map((tool) => tool.name).filter((name) => !(name in steps));
            assert.deepEqual(untried, [], "a listed tool that this test does not call");
        });
    }

    test(`${kind} sees schemas, output schemas and annotations on every tool`, { skip }, async (t) => {
        const client = await connectQuire(t, kind, workspace(t), { profile: "full" });
        for (const tool of (await client.listTools()).tools) {
            assert.match(tool.name, /^[a-z0-9_]{1,64}$/);
            assert.equal(tool.inputSchema.type, "object");
            assert.equal(tool.outputSchema?.type, "object", `${tool.name} has no output schema`);
            assert.ok(tool.description, `${tool.name} has no description`);
            assert.equal(typeof tool.annotations?.readOnlyHint, "boolean", `${tool.name} has no annotations`);
        }
    });

    test(`${kind} reads what it writes through resources`, { skip }, async (t) => {
        const client = await connectQuire(t, kind, workspace(t, files), { profile: "full" });
        const { block_id } = await ok(client, "block_create", { role: "user", kind: "text", content: "in a resource\n" });
        // A block that speaks of a file is none, unless its kind says so.
        const claim = await ok(client, "block_create", { role: "tool", kind: "notification", content: "not so\n", metadata: { path: "notes.md" } });

        const { resources } = await client.listResources();
        const { resourceTemplates } = await client.listResourceTemplates();
        const block = await client.readResource({ uri: `block://${block_id}` });
        await ok(client, "file", { operation: "load", path: "notes.md" });
        const file = await client.readResource({ uri: "file://notes.md" }).catch(() => client.readResource({ uri: "file:///notes.md" }));

        assert.deepEqual(resources.map((resource) => resource.uri).filter((uri) => uri.startsWith("block:")),
            [`block://${block_id}`, `block://${claim.block_id}`]);
        assert.ok(resourceTemplates.some((template) => template.uriTemplate.startsWith("block://")));
        assert.ok(resourceTemplates.some((template) => template.uriTemplate.startsWith("file://")));
        assert.equal(block.contents[0].text, "in a resource\n");
        assert.equal(file.contents[0].text, "# Notes\n");
        await assert.rejects(client.readResource({ uri: "block://nothing" }), (error) => [-32002, -32602].includes(error.code));
    });

    test(`${kind} goes on after a cancelled call`, { skip }, async (t) => {
        const client = await connectQuire(t, kind, workspace(t, files), { profile: "full" });
        const stop = new AbortController();
        const calls = Array.from({ length: 50 }, () =>
            client.callTool({ name: "block_create", arguments: { role: "user", kind: "text", content: "x" } },
                undefined, { signal: stop.signal }).catch((error) => error));
        stop.abort("enough");
        await Promise.all(calls);

        const listed = await ok(client, "block_list", {});

        assert.ok(Array.isArray(listed.blocks));
    });
}

// A model reads the list at every start, and pays for each byte.
test("tools/list of the default profile has at most 16,384 bytes and says what each argument is", { skip }, async (t) => {
    const client = await connectQuire(t, "SDK v1", workspace(t), { profile: "model" });
    const { tools } = await client.listTools();
    const bytes = Buffer.byteLength(JSON.stringify(tools));
    t.diagnostic(`${bytes} bytes for ${tools.length} tools`);
    assert.ok(bytes <= 16_384, `${bytes} bytes`);
    for (const tool of tools) {
        assert.ok(tool.title, `${tool.name} has no title`);
        assert.equal(tool.outputSchema.type, "object");
        for (const [name, schema] of Object.entries(tool.inputSchema.properties))
            assert.ok(name === "operation" || schema.description, `${tool.name} does not say what ${name} is`);
    }
});

test("a client can allow reads alone by the names of tools", { skip }, async (t) => {
    const client = await connectQuire(t, "SDK v1", workspace(t, files), { profile: "model" });
    const { tools } = await client.listTools();
    const reading = tools.filter((tool) => tool.annotations?.readOnlyHint).map((tool) => tool.name);

    assert.deepEqual(reading, ["block_view", "block_list", "block_search", "file_list", "file_read", "context_view"]);
    const read = await client.callTool({ name: "file_read", arguments: { path: "notes.md" } });
    assert.match(read.content[0].text, /1\t# Notes\n/);
});

test("the instructions say when to use the tools and how edits reach the disk", { skip }, async (t) => {
    const client = await connectQuire(t, "SDK v1", workspace(t), { profile: "model" });

    assert.match(client.getInstructions(), /Prefer these tools to your own .* operation save/s);
});

test("a client that has left leaves what it wrote", { skip }, async (t) => {
    const folder = workspace(t);
    const first = await connectQuire(t, "SDK v1", folder);
    const { block_id } = await ok(first, "block_create", { role: "user", kind: "text", content: "kept\n" });
    await first.close();

    const second = await connectQuire(t, "SDK v2, negotiating", folder, { actor: "agent:other" });
    const read = await ok(second, "block_read", { block_id, line_numbers: false });

    assert.equal(read.content, "kept\n");
});
