// loro-crdt of npm on the published sequential traces, as a measure for the engine's own replay: the same
// splices, one commit for all of them. Prints {trace: {one_commit_ms, ok}}; the median of three runs each.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { root } from "../../tests/node/support/workspace.mjs";

const require = createRequire(join(root, "tests/node/package.json"));
const { LoroDoc } = require("loro-crdt");

const folder = process.env.QUIRE_TRACES ?? join(root, "../shared/data/traces");
const traces = process.argv.slice(2);
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

function replay(trace) {
    const doc = new LoroDoc();
    const text = doc.getText("content");
    const began = performance.now();
    for (const { patches } of trace.txns) {
        for (const [position, deleted, inserted] of patches) {
            if (deleted > 0) text.delete(position, deleted);
            if (inserted) text.insert(position, inserted);
        }
    }
    doc.commit();
    const took = performance.now() - began;
    return { took, ok: text.toString() === trace.endContent };
}

const measured = {};
for (const name of traces) {
    const path = join(folder, "sequential", `${name}.json.gz`);
    if (!existsSync(path)) {
        measured[name] = { skipped: "the trace is not there" };
        continue;
    }
    const trace = JSON.parse(gunzipSync(readFileSync(path)));
    if (/[\ud800-\udfff]/.test(JSON.stringify(trace.txns))) {
        measured[name] = { skipped: "its positions count code points, where loro-crdt's count UTF-16" };
        continue;
    }
    const runs = Array.from({ length: 3 }, () => replay(trace));
    measured[name] = { one_commit_ms: median(runs.map((run) => run.took)), ok: runs.every((run) => run.ok) };
}
console.log(JSON.stringify(measured));
