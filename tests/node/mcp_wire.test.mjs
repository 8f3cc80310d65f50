// What no SDK would send: malformed, enormous, unknown and interrupted, on the wire of `quire mcp`. Each is
// answered in so many words and the session goes on.
import assert from "node:assert/strict";
import { test } from "node:test";

import { quickest, rawQuire, skip, workspace } from "./support/workspace.mjs";

// The _meta of a request without initialize.
const stateless = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "wire", version: "1" },
};

async function started(t, options) {
    const client = rawQuire(t, workspace(t, { "a.txt": "a\n" }), options);
    await client.initialize();
    return client;
}

// The session still works: what was sent before did not end it or put it out of step.
async function stillServes(client) {
    const answer = await client.request("tools/list", {});
    assert.ok(answer.result.tools.length > 0);
}

async function refusal(client, name, args) {
    const answer = await client.call(name, args);
    assert.ok(answer.result, JSON.stringify(answer));
    assert.equal(answer.result.isError, true, `${name} was accepted`);
    return answer.result;
}

test("an unknown tool is a protocol error that names those there are", { skip }, async (t) => {
    const client = await started(t);
    const answer = await client.call("block_frobnicate", {});
    assert.equal(answer.error.code, -32602);
    assert.match(JSON.stringify(answer.error), /block_read/);
    await stillServes(client);
});

// The contract's bound for the `tools` array; the operations of memory take most of it.
test("the default profile's tools/list has at most 16,384 bytes in both eras", { skip }, async (t) => {
    for (const params of [{}, { _meta: stateless }]) {
        const client = params._meta
            ? rawQuire(t, workspace(t, {}), { profile: "model" })
            : await started(t, { profile: "model" });
        const bytes = Buffer.byteLength(JSON.stringify(await client.request("tools/list", params)));
        t.diagnostic(`${bytes} bytes`);
        assert.ok(bytes <= 16_384, `${bytes} bytes`);
    }
});

test("an unknown method is -32601", { skip }, async (t) => {
    const client = await started(t);
    assert.equal((await client.request("tools/frobnicate", {})).error.code, -32601);
    await stillServes(client);
});

test("an unknown field is refused by its name", { skip }, async (t) => {
    const client = await started(t);
    const result = await refusal(client, "block_create", { role: "user", kind: "text", contents: "x" });
    assert.equal(result.structuredContent.error.code, "invalid_argument");
    assert.match(result.structuredContent.error.message, /contents/);
    await stillServes(client);
});

test("a wrong type, a missing argument and a word outside an enum are refused", { skip }, async (t) => {
    const client = await started(t);
    for (const args of [{ role: 1, kind: "text" }, { kind: "text" }, { role: "user", kind: "poem" }]) {
        const result = await refusal(client, "block_create", args);
        assert.equal(result.structuredContent.error.code, "invalid_argument");
    }
    await stillServes(client);
});

test("the text of a refusal says first that nothing was changed", { skip }, async (t) => {
    const client = await started(t);
    const result = await refusal(client, "block_read", { block_id: "nothing" });
    assert.match(result.content[0].text.split("\n")[0], /nothing (was|has been) changed/i);
});

test("operations that arrive as a string of JSON are unwrapped once", { skip }, async (t) => {
    const client = await started(t);
    const { block_id } = (await client.call("block_create", { role: "user", kind: "text", content: "a\n" })).result.structuredContent;
    const answer = await client.call("block_edit", { block_id, operations: JSON.stringify([{ op: "insert", line: 0, content: "b\n" }]) });
    assert.ok(!answer.result.isError, JSON.stringify(answer.result.structuredContent));
});

test("the dotted spelling of a tool is accepted", { skip }, async (t) => {
    const client = await started(t);
    const answer = await client.call("block.create", { role: "user", kind: "text" });
    assert.ok(answer.result.structuredContent.block_id);
});

test("a line that is no JSON is -32700 and the next line is served", { skip }, async (t) => {
    const client = await started(t);
    const answered = client.receive((m) => m.error && (m.id === null || m.id === undefined));
    client.write("this is not JSON\n");
    assert.equal((await answered).error.code, -32700);
    await stillServes(client);
});

test("100,000 nested brackets are refused without a crash", { skip }, async (t) => {
    const client = await started(t);
    const depth = 100_000;
    const answered = client.receive((m) => m.error !== undefined || m.id === 77);
    client.write(`{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"block_create","arguments":{"metadata":${"[".repeat(depth)}${"]".repeat(depth)}}}}\n`);
    const answer = await answered;
    assert.ok(answer.error ?? answer.result.isError);
    assert.equal(answer.id, 77, "its sender waits for an answer to 77");
    await stillServes(client);
});

test("a message of 64 MB is refused and the next one is served", { skip, timeout: 120_000 }, async (t) => {
    const client = await started(t);
    const answered = client.receive((m) => m.error !== undefined || m.id === 78, 60_000);
    client.write(`{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":"block_create","arguments":{"role":"user","kind":"text","content":"`);
    const chunk = Buffer.alloc(1 << 20, "x");
    for (let i = 0; i < 64; i++) client.write(chunk);
    client.write('"}}}\n');
    const answer = await answered;
    assert.ok(answer.error ?? answer.result.isError, "a 64 MB message was accepted");
    assert.equal(answer.id, 78, "its sender waits for an answer to 78");

    const another = client.receive((m) => m.error !== undefined || m.id === "last", 60_000);
    client.write('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"block_create","arguments":{"content":"');
    for (let i = 0; i < 65; i++) client.write(chunk);
    client.write('"}},"id":"last"}\n');
    assert.equal((await another).id, "last", "an id may stand at the end");
    await stillServes(client);
});

test("invalid UTF-8 is refused and stores nothing", { skip }, async (t) => {
    const client = await started(t);
    const answered = client.receive((m) => m.error !== undefined || m.id === 79);
    client.write(Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":79,"method":"tools/call","params":{"name":"block_create","arguments":{"role":"user","kind":"text","content":"'),
        Buffer.from([0xc3, 0x28, 0xff]),
        Buffer.from('"}}}\n'),
    ]));
    const answer = await answered;
    assert.ok(answer.error ?? answer.result.isError, JSON.stringify(answer));
    assert.equal(answer.id, 79);
    assert.deepEqual((await client.call("block_list", {})).result.structuredContent.blocks, []);
});

test("requests that arrive in one write are answered each", { skip }, async (t) => {
    const client = rawQuire(t, workspace(t));
    const opening = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    const answers = [1, 2, 3].map((id) => client.receive((m) => m.id === id));
    client.write([
        { id: 1, method: "initialize", params: opening },
        { method: "notifications/initialized" },
        { id: 2, method: "tools/list" },
        { id: 3, method: "ping" },
    ].map((m) => `${JSON.stringify({ jsonrpc: "2.0", ...m })}\n`).join(""));
    const [hello, list, pong] = await Promise.all(answers);
    assert.equal(hello.result.protocolVersion, "2025-11-25");
    assert.ok(list.result.tools.length > 0);
    assert.deepEqual(pong.result, {});
});

test("an answer that is too long is an error of its own, and harms no other", { skip }, async (t) => {
    const client = await started(t);
    const made = await client.call("block_create", { role: "user", kind: "text" });
    const { block_id } = made.result.structuredContent;
    // Six bytes each in JSON.
    const text = "\u0001".repeat((1 << 20) - 1) + "\n";
    for (let i = 0; i < 9; ++i) await client.call("block_append", { block_id, text });
    const [read, listed] = await Promise.all([
        client.request("resources/read", { uri: `block://${block_id}` }),
        client.call("block_list", {}),
    ]);
    assert.equal(read.error.data.reason, "too_large");
    assert.equal(listed.result.structuredContent.blocks[0].block_id, block_id);
});

test("the stateless era needs no initialize", { skip }, async (t) => {
    const client = rawQuire(t, workspace(t));
    const meta = stateless;
    const discovered = await client.request("server/discover", { _meta: meta });
    const listed = await client.request("tools/list", { _meta: meta });
    assert.ok(discovered.result.supportedVersions.includes("2026-07-28"));
    assert.equal(listed.result.resultType, "complete");
    assert.equal(typeof listed.result.ttlMs, "number");

    const unknown = await client.request("tools/list", { _meta: { ...meta, "io.modelcontextprotocol/protocolVersion": "2099-01-01" } });
    assert.equal(unknown.error.code, -32022);
    assert.ok(unknown.error.data.supported.includes("2026-07-28"));
});

test("the end of input ends it at once, with status 0", { skip }, async (t) => {
    const ms = await quickest(2000, async () => {
        const client = await started(t);
        const began = Date.now();
        assert.deepEqual(await client.end(), { code: 0, signal: null });
        return Date.now() - began;
    });
    assert.ok(ms < 2000, `${ms} ms`);
});

test("SIGINT ends it at once", { skip }, async (t) => {
    const ms = await quickest(2000, async () => {
        const client = await started(t);
        const began = Date.now();
        const end = await client.signal("SIGINT");
        assert.ok(end.code === 0 || end.code === 130 || end.signal === "SIGINT", JSON.stringify(end));
        return Date.now() - began;
    });
    assert.ok(ms < 2000, `${ms} ms`);
});

test("settings with a mistake end the start, and say where", { skip }, async (t) => {
    for (const [settings, word] of [
        ["[[files.rules]]\npattern = \"**\"\npermission = \"everything\"\n", /everything/],
        ["[nonsense]\nx = 1\n", /nonsense/],
        ["[[files.rules]\n", /quire\.toml/],
    ]) {
        const client = rawQuire(t, workspace(t, {}, settings));
        const end = await client.exit;
        assert.notEqual(end.code, 0);
        assert.match(client.errors, word);
        assert.match(client.errors, /quire\.toml/);
    }
});

// Pieces of a pipe and of a socket have 64 KB: what is longer is put together from several.
test("answers of 64 KB and more arrive byte for byte", { skip }, async (t) => {
    const client = await started(t);
    for (const size of [65_535, 65_536, 65_537, 200_000, 1_000_000]) {
        const line = (i) => `${i} ${"äb€c😀".repeat(60)}`;
        let content = "";
        for (let i = 0; Buffer.byteLength(content) < size; ++i) content += `${line(i)}\n`;
        const made = await client.call("block_create", { role: "user", kind: "text", content });

        const read = await client.call("block_read", { block_id: made.result.structuredContent.block_id, line_numbers: false });

        assert.equal(read.result.structuredContent.bytes, Buffer.byteLength(content));
        assert.ok(Buffer.from(read.result.structuredContent.content).equals(Buffer.from(content)), `${size} bytes`);
    }
});

test("an integer that a double holds is accepted in digits and as JavaScript writes it", { skip }, async (t) => {
    const client = await started(t);
    await client.call("context", { operation: "create", label: "sum", schema: { Map: { fields: [{ name: "n", field_type: "Number" }] } } });
    for (const number of ["9223372036854775808", `${2 ** 63}`, `${2 ** 64}`, "18446744073709551616", `${1e20}`, "1000000000000000000000"]) {
        client.write(`{"jsonrpc":"2.0","id":"${number}","method":"tools/call","params":{"name":"context","arguments":{"operation":"set_field","label":"sum","field":"n","value":${number}}}}\n`);
        const { result } = await client.receive((message) => message.id === number);

        assert.ok(!result.isError, `${number}: ${JSON.stringify(result.structuredContent)}`);
        const view = await client.call("context", { operation: "view", label: "sum" });
        assert.equal(view.result.structuredContent.value.n, Number(number));
    }
});
