// The editing tools scored on bench/tools/: no hand comes to another text than was wanted without being told.
import assert from "node:assert/strict";
import { test } from "node:test";

import { hands } from "../../bench/tools/hands.mjs";
import { score } from "../../bench/tools/scoring.mjs";
import { tasks } from "../../bench/tools/tasks.mjs";
import { skip } from "./support/workspace.mjs";

test("every hand does every task, and no result is wrong", { skip, timeout: 300_000 }, async () => {
    assert.ok(tasks.length >= 60);
    for (const row of await score(hands, tasks)) {
        assert.deepEqual(row.faults.map(({ task, verdict }) => [row.profile, row.hand, task, verdict]), []);
        assert.ok(row.right >= row.tasks * 0.8, `${row.profile}, ${row.hand}: ${row.right} of ${row.tasks} at the first try`);
    }
});

// Shows that the scorer finds a wrong result.
test("a hand that edits a line beside its own is found out", { skip, timeout: 60_000 }, async () => {
    const careless = {
        profile: "model", by: "insert",
        calls: (path, seen, hunks) => hunks.map(({ line, added }) => ["block_insert",
            { block_id: `file:${path}`, insert_line: line === 0 ? 1 : line - 1, insert_text: added.join("") || "x\n" }]),
    };
    const [row] = await score([careless], tasks.filter(({ name }) => name.startsWith("add a")));
    assert.ok(row.tasks >= 4);
    assert.ok(row.wrong === row.tasks, JSON.stringify(row));
});
