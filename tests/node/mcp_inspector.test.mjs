// The inspector's command line against `quire mcp`, as a person would use it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { mcpArguments, quire, root, skip, workspace } from "./support/workspace.mjs";

const cli = join(root, "tests/node/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");

async function inspect(folder, ...args) {
    const { stdout } = await promisify(execFile)(
        process.execPath, [cli, "--cli", quire, ...mcpArguments(folder), ...args], { timeout: 60_000, maxBuffer: 1 << 24 });
    return JSON.parse(stdout);
}

test("the inspector lists tools", { skip }, async (t) => {
    const { tools } = await inspect(workspace(t), "--method", "tools/list");
    assert.ok(tools.some((tool) => tool.name === "block_create"));
});

test("the inspector calls a tool and reads the resource it made", { skip }, async (t) => {
    const folder = workspace(t);
    const made = await inspect(folder, "--method", "tools/call", "--tool-name", "block_create",
        "--tool-arg", "role=user", "--tool-arg", "kind=text", "--tool-arg", "content=hello");
    assert.ok(!made.isError);
    const { block_id } = made.structuredContent;
    const read = await inspect(folder, "--method", "resources/read", "--uri", `block://${block_id}`);
    assert.equal(read.contents[0].text, "hello");
});

test("the inspector lists resource templates", { skip }, async (t) => {
    const { resourceTemplates } = await inspect(workspace(t), "--method", "resources/templates/list");
    assert.ok(resourceTemplates.length >= 2);
});
