// A start of `quire mcp` that fails is answered to the client, in either era of the protocol, before the
// process ends.
import assert from "node:assert/strict";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { RawClient, quire, skip, workspace } from "./support/workspace.mjs";

const stateless = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "start", version: "1" },
};

async function fails(folder, method, params, message) {
    const client = new RawClient(quire, ["mcp", "--workspace", folder]);
    const answer = await client.request(method, params);
    assert.match(answer.error.message, message);
    assert.equal(typeof answer.error.data.reason, "string");
    const end = await client.exit;
    assert.notEqual(end.code, 0);
    assert.match(client.errors, message);
}

const handshake = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "start", version: "1" } };

test("malformed settings are answered to initialize", { skip }, async (t) => {
    const folder = workspace(t, {}, "[files]\nwach = true\n");
    await fails(folder, "initialize", handshake, /quire\.toml:2: unknown key 'files\.wach'/);
});

test("malformed settings are answered to the first request of the later era", { skip }, async (t) => {
    const folder = workspace(t, {}, "[files]\nwach = true\n");
    await fails(folder, "tools/list", { _meta: stateless }, /quire\.toml:2: unknown key 'files\.wach'/);
    await fails(folder, "tools/call", { name: "file", arguments: {}, _meta: stateless }, /quire\.toml:2/);
});

test("a missing folder is answered to initialize", { skip }, async (t) => {
    await fails(join(workspace(t), "no-such-folder"), "initialize", handshake, /no-such-folder/);
});

const isRoot = process.getuid() === 0;
test("a workspace of another user is answered to initialize",
    { skip: skip || (isRoot ? false : "only root can give a folder to another user") }, async (t) => {
        const folder = workspace(t);
        mkdirSync(join(folder, ".quire"), { mode: 0o700 });
        writeFileSync(join(folder, ".quire/.gitignore"), "*\n");
        chownSync(join(folder, ".quire"), 65534, 65534);
        await fails(folder, "initialize", handshake, /belongs to user 65534|65534/);
    });
