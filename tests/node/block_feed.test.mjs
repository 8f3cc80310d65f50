// Blocks under way: what several writers do reaches a subscriber as notifications, pulls and resource
// updates, of whichever of its doors.
import assert from "node:assert/strict";
import { test } from "node:test";

import { rawQuire, skip, workspace } from "./support/workspace.mjs";

async function client(t, folder, actor = "agent:test") {
    const raw = rawQuire(t, folder, { profile: "full", actor });
    await raw.initialize();
    const answer = async (tool, args) => {
        const { result } = await raw.call(tool, args);
        assert.ok(!result.isError, JSON.stringify(result));
        return result.structuredContent;
    };
    return { raw, answer };
}

// A copy of a text, kept by events alone.
function applied(copy, event) {
    if (event.version <= copy.version) return copy;
    if (event.type === "created") return { version: event.version, text: event.content };
    let { text } = copy;
    if (event.text !== undefined) text += event.text;
    for (const { start, end, content } of (event.edits ?? []).toReversed()) {
        const lines = text.split(/(?<=\n)/);
        lines.splice(start, end - start, content);
        text = lines.join("");
    }
    return { version: event.version, text };
}

test("a subscriber's copy follows several writers in other sessions", { skip }, async (t) => {
    const folder = workspace(t);
    const reader = await client(t, folder, "agent:reader");
    const writers = [await client(t, folder, "agent:ada"), await client(t, folder, "agent:bob")];
    const { block_id } = await writers[0].answer("block_create", { role: "user", kind: "text", content: "zero\n" });

    const { subscription_id } = await reader.answer("block_subscribe", { block_ids: [block_id] });
    const { content, version } = await reader.answer("block_read", { block_id, line_numbers: false });
    let copy = { version, text: content };
    await Promise.all(writers.map(async (writer, who) => {
        for (let i = 0; i < 40; ++i) {
            if (i % 4 === 3) await writer.answer("block_splice", { block_id, offset: 0, delete_count: 1, insert: `${who}\n` });
            else await writer.answer("block_append", { block_id, text: `${who} ${i}\n`, ack: i % 2 ? "accepted" : "durable" });
        }
    }));
    const end = await reader.answer("block_read", { block_id, line_numbers: false });
    while (copy.version < end.version) {
        const { params } = await reader.raw.receive((m) => m.method === "notifications/quire/blocks");
        assert.equal(params.subscription_id, subscription_id);
        for (const event of params.events) copy = applied(copy, event);
    }
    assert.deepEqual(copy, { version: end.version, text: end.content });

    let pulled = { version, text: content };
    for (const event of (await reader.answer("block_events", { subscription_id })).events) pulled = applied(pulled, event);
    assert.deepEqual(pulled, copy, "the same stream, pulled");
    let synced = { version, text: content };
    for (const event of (await reader.answer("block_sync", { versions: [[block_id, version]] })).patches) synced = applied(synced, event);
    assert.deepEqual(synced, copy, "the same events, without a subscription");
});

test("a pull waits for the next event", { skip }, async (t) => {
    const folder = workspace(t);
    const { answer } = await client(t, folder);
    const { subscription_id } = await answer("block_subscribe", {});
    const waiting = answer("block_events", { subscription_id, wait_ms: 10_000 });
    await answer("block_create", { role: "user", kind: "text", content: "hello" });
    const { events } = await waiting;
    assert.equal(events.length, 1);
    assert.equal(events[0].type, "created");
});

test("private memory is told to its owner alone", { skip }, async (t) => {
    const folder = workspace(t);
    const ada = await client(t, folder, "agent:ada");
    const bob = await client(t, folder, "agent:bob");
    const own = await ada.answer("block_subscribe", {});
    const others = await bob.answer("block_subscribe", {});
    await ada.answer("context", { operation: "create", label: "secret", schema: "Text" });
    await ada.answer("context", { operation: "append", label: "secret", content: "mine\n" });
    const { events } = await ada.answer("block_events", { subscription_id: own.subscription_id, wait_ms: 5000 });
    assert.ok(events.every((event) => event.label === "secret" && event.owner === "agent:ada"));
    assert.deepEqual((await bob.answer("block_events", { subscription_id: others.subscription_id, wait_ms: 200 })).events, []);
    const refused = await bob.raw.call("block_events", { subscription_id: own.subscription_id });
    assert.equal(refused.result.structuredContent.error.reason, "invalid_reference");
});

test("a client is told that a resource it follows has changed", { skip }, async (t) => {
    const folder = workspace(t, { "a.txt": "one\n" });
    const { raw, answer } = await client(t, folder, "agent:ada");
    const { block_id } = await answer("block_create", { role: "user", kind: "text", content: "hello" });
    await answer("context", { operation: "create", label: "plan", schema: "Text" });
    const uris = [`block://${block_id}`, "file:///a.txt", "memory://agent:ada/plan"];
    for (const uri of uris) assert.deepEqual((await raw.request("resources/subscribe", { uri })).result, {});
    const missing = await raw.request("resources/subscribe", { uri: "block://b999" });
    assert.ok(missing.error, JSON.stringify(missing));

    const other = await client(t, folder, "agent:bob");
    await other.answer("block_append", { block_id, text: "!" });
    await other.answer("file", { operation: "append", path: "a.txt", content: "two\n" });
    await answer("context", { operation: "append", label: "plan", content: "step\n" });
    for (const uri of uris) {
        const { params } = await raw.receive((m) => m.method === "notifications/resources/updated" && m.params.uri === uri);
        assert.deepEqual(params, { uri });
    }

    assert.deepEqual((await raw.request("resources/unsubscribe", { uri: uris[0] })).result, {});
    await other.answer("block_append", { block_id, text: "?" });
    await other.answer("file", { operation: "append", path: "a.txt", content: "three\n" });
    const { params } = await raw.receive((m) => m.method === "notifications/resources/updated");
    assert.equal(params.uri, uris[1], "the one that was given up is told no more");
});
