// The official SDKs as one shape: connect() to a server on stdio, by line of the SDK and protocol era.
import assert from "node:assert/strict";

import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";

import { mcpArguments, quire } from "./workspace.mjs";

const info = { name: "quire-tests", version: "1.0.0" };

// `answer` is the person in front of the client: called with the params of each elicitation/create, it says
// what they do. With it the client declares that it can ask.
const able = (answer) => (answer ? { capabilities: { elicitation: { form: {} } } } : {});
function v1(answer) {
    const client = new ClientV1(info, able(answer));
    if (answer) client.setRequestHandler(ElicitRequestSchema, ({ params }, extra) => answer(params, extra));
    return client;
}
function v2(answer, options = {}) {
    const client = new ClientV2(info, { ...options, ...able(answer) });
    if (answer) client.setRequestHandler("elicitation/create", ({ params }, extra) => answer(params, extra));
    return client;
}

export const kinds = {
    "SDK v1": { client: v1, transport: StdioV1 },
    "SDK v2, negotiating": { client: (answer) => v2(answer, { versionNegotiation: { mode: "auto" } }), transport: StdioV2 },
    "SDK v2, pinned to 2026-07-28": {
        client: (answer) => v2(answer, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
        transport: StdioV2,
    },
    "SDK v2, legacy": { client: (answer) => v2(answer), transport: StdioV2 },
};

export async function connect(t, kind, command, args, { answer, ...options } = {}) {
    const { client: make, transport: Transport } = kinds[kind];
    const client = make(answer);
    await client.connect(new Transport({ command, args, stderr: "pipe", ...options }));
    t?.after(() => client.close());
    return client;
}

export function connectQuire(t, kind, folder, options) {
    return connect(t, kind, quire, mcpArguments(folder, options), { answer: options?.answer });
}

// Calls `name` and demands success. Refusals come back as results too, so they are looked at here.
export async function ok(client, name, args) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, `${name} ${JSON.stringify(args)}: ${JSON.stringify(result.structuredContent ?? result.content)}`);
    assert.ok(result.structuredContent, `${name} has no structuredContent`);
    assert.equal(result.content[0]?.type, "text");
    return result.structuredContent;
}

export async function refused(client, name, args, code, reason) {
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.isError, true, `${name} ${JSON.stringify(args)} was accepted`);
    const { error } = result.structuredContent;
    assert.deepEqual({ code: error.code, reason: error.reason }, { code, reason }, error.message);
    assert.ok(error.message.length > 0);
    return error;
}
