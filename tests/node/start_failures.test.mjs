// A start of `quire mcp` that fails is answered to the client, in either era of the protocol, before the
// process ends.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
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

// Root may write anything, so the program runs as an ordinary user, to whom the folder belongs.
const user = 65534;
const asUser = (...args) => spawnSync(quire, args, { encoding: "utf8", uid: user, gid: user, cwd: "/", env: { ...process.env, HOME: "/tmp" }, timeout: 60_000 });
const noUser = isRoot ? asUser("--version").status !== 0 && "another user cannot run the program" : "only root can act as another user";

for (const [path, mode, command] of [[".quire/quire.db", 0o400, "chmod u+rw "], [".quire/quire.db-wal", 0o400, "chmod u+rw "],
    [".quire", 0o500, "chmod u+rwx"], [".quire", 0o000, "chmod u+rwx "]]) {
    test(`${path} of mode ${mode.toString(8)} is named, with the command that helps`, { skip: skip || noUser }, (t) => {
        const folder = workspace(t);
        chmodSync(folder, 0o755);
        chownSync(folder, user, user);
        const made = asUser("call", "block_create", '{"content":"kept\\n"}', "--workspace", folder);
        assert.equal(made.status, 0, made.stderr);
        assert.equal(asUser("stop", "--workspace", folder).status, 0);
        chmodSync(join(folder, path), mode);

        const refused = asUser("call", "block_create", '{"content":"more\\n"}', "--workspace", folder);
        const doctor = asUser("doctor", "--workspace", folder);

        assert.equal(refused.status, 1);
        const { error } = JSON.parse(refused.stderr);
        assert.equal(error.code, "unavailable");
        assert.ok(error.message.includes(path.split("/").at(-1)), error.message);
        assert.ok(error.message.includes(command), error.message);
        assert.doesNotMatch(error.message, /disk I\/O error|Bad file descriptor|Address already in use/);
        assert.equal(doctor.status, 1, doctor.stdout);
        assert.match(doctor.stdout, /broken +store .*\n +-> +let its owner run: chmod/);

        chmodSync(join(folder, path), path === ".quire" ? 0o700 : 0o600);
        const after = asUser("call", "block_list", "{}", "--workspace", folder);
        assert.match(after.stdout, /kept/);
        asUser("stop", "--workspace", folder);
    });
}
