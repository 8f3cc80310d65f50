// Clients show a model the structured result and not our text. So in profile `model` it has about as many bytes as
// the text form had, and leaves out what says nothing.
import assert from "node:assert/strict";
import { test } from "node:test";

import { calls, files } from "./support/twenty_calls.mjs";
import { connectQuire, ok } from "./support/sdk.mjs";
import { skip, workspace } from "./support/workspace.mjs";

const bytes = (value) => Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
// How many times its text form an answer may be.
const most = { read: 1.2, search: 1.2, list: 2, change: Infinity };

test("the answers of twenty common calls are lean", { skip }, async (t) => {
    const client = await connectQuire(t, "SDK v1", workspace(t, files), { profile: "model" });
    let before = 0;
    let now = 0;
    let block;
    for (const call of calls) {
        const args = call.args.block_id ? { ...call.args, block_id: block } : call.args;
        const { structuredContent, content } = await client.callTool({ name: call.tool, arguments: args });
        const told = `${call.tool} ${JSON.stringify(args).slice(0, 80)}`;
        assert.ok(!structuredContent.error, `${told}: ${content[0].text}`);
        if (call.tool === "block_create") block = structuredContent.block_id;
        const size = bytes(structuredContent);
        t.diagnostic(`${call.kind} ${call.structured} -> ${size}, text ${bytes(content[0].text)} of ${call.text}: ${told}`);
        assert.ok(size <= most[call.kind] * call.text, `${told}: ${size} bytes for a text of ${call.text}`);
        before += call.structured;
        now += size;
    }
    assert.equal(calls.length, 20);
    assert.ok(now <= 0.6 * before, `${now} bytes, ${before} before`);
});
