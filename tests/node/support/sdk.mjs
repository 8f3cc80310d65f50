// The official SDKs as one shape: connect() to a server on stdio, by line of the SDK and protocol era.
import assert from "node:assert/strict";

import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";

import { mcpArguments, quire } from "./workspace.mjs";

const info = { name: "quire-tests", version: "1.0.0" };

export const kinds = {
    "SDK v1": { client: () => new ClientV1(info), transport: StdioV1 },
    "SDK v2, negotiating": {
        client: () => new ClientV2(info, { versionNegotiation: { mode: "auto" } }),
        transport: StdioV2,
    },
    "SDK v2, pinned to 2026-07-28": {
        client: () => new ClientV2(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
        transport: StdioV2,
    },
    "SDK v2, legacy": { client: () => new ClientV2(info), transport: StdioV2 },
};

export async function connect(t, kind, command, args, options = {}) {
    const { client: make, transport: Transport } = kinds[kind];
    const client = make();
    await client.connect(new Transport({ command, args, stderr: "pipe", ...options }));
    t?.after(() => client.close());
    return client;
}

export function connectQuire(t, kind, folder, options) {
    return connect(t, kind, quire, mcpArguments(folder, options));
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
