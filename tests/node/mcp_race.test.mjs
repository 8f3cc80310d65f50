// Many writers, one file: every edit that was acknowledged is there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { rawQuire, skip, workspace } from "./support/workspace.mjs";
import { share } from "./support/share.mjs";

// Each process sends all its edits without waiting for a reply; each edit replaces a line of its own.
async function race(t, processes, edits) {
    const lines = Array.from({ length: processes * edits }, (_, i) => `line ${i}\n`);
    const folder = workspace(t, { "shared.txt": lines.join("") });
    const clients = Array.from({ length: processes }, (_, i) => rawQuire(t, folder, { actor: `agent:writer${i}` }));
    await Promise.all(clients.map((client) => client.initialize()));

    const answers = await Promise.all(clients.flatMap((client, p) => Array.from({ length: edits }, (_, e) => {
        const line = p * edits + e;
        return client.call("file", {
            operation: "edit", path: "shared.txt",
            operations: [{ op: "replace", start_line: line, end_line: line + 1, content: `edit ${line}\n`, expected_text: `line ${line}\n` }],
        }, 120_000);
    })));
    const accepted = answers.filter((answer) => answer.result && !answer.result.isError).length;
    const saved = await clients[0].call("file", { operation: "save", path: "shared.txt" });
    assert.ok(!saved.result.isError, JSON.stringify(saved.result.structuredContent));

    const text = readFileSync(join(folder, "shared.txt"), "utf8");
    const survivors = text.split("\n").filter((line, i) => line === `edit ${i}`).length;
    t.diagnostic(`${survivors} of ${processes * edits} edits survive, ${accepted} were accepted`);
    assert.equal(accepted, processes * edits);
    assert.equal(survivors, processes * edits);
}

test("2 processes x 20 disjoint edits, pipelined", { skip }, (t) => race(t, 2, 20));
test(`8 processes x ${share(500)} disjoint edits, pipelined`, { skip, timeout: 240_000 }, (t) => race(t, 8, share(500)));

test("writers of one line: one wins each round and the others are told", { skip }, async (t) => {
    const folder = workspace(t, { "one.txt": "start\n" });
    const clients = Array.from({ length: 4 }, (_, i) => rawQuire(t, folder, { actor: `agent:w${i}` }));
    await Promise.all(clients.map((client) => client.initialize()));
    const answers = await Promise.all(clients.map((client, i) => client.call("file", {
        operation: "edit", path: "one.txt",
        operations: [{ op: "replace", start_line: 0, end_line: 1, content: `won by ${i}\n`, expected_text: "start\n" }],
    })));
    const errors = answers.filter((answer) => answer.result.isError).map((answer) => answer.result.structuredContent.error);
    assert.equal(errors.length, 3);
    assert.ok(errors.every((error) => error.reason === "content_mismatch" && error.details.actual.startsWith("won by")), JSON.stringify(errors));
});
