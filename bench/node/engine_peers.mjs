// loro-crdt, Yjs, Automerge and diamond-types of npm at the work of bench/wire_bench.cc and engine_bench.cc:
// node engine_peers.mjs BLOBS [--quick]. BLOBS is what bench_blobs wrote; loro-crdt takes in those very bytes, the
// others do the same work in their own format. Prints {work: {peer: milliseconds, or why there is none}}.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { root } from "../../tests/node/support/workspace.mjs";

const { LoroDoc } = createRequire(join(root, "tests/node/package.json"))("loro-crdt");
const require = createRequire(join(root, "bench/node/package.json"));
const peer = (name) => {
    try { return require(name); } catch { return null; }
};
const Y = peer("yjs"), Automerge = peer("@automerge/automerge"), dt = peer("diamond-types-node");

const [blobs] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const runs = process.argv.includes("--quick") ? 1 : 3;
const folder = process.env.QUIRE_TRACES ?? join(root, "../shared/data/traces");

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const measured = {};

// `work` returns the milliseconds that count; a second is enough for one run, and what takes longer has no second one.
function measure(name, peerName, work) {
    const row = (measured[name] ??= {});
    const took = [];
    for (let i = 0; i < runs && took.reduce((sum, ms) => sum + ms, 0) < 5000; i++) took.push(work());
    row[peerName] = median(took);
    console.error(`  ${name}, ${peerName}: ${row[peerName].toFixed(2)} ms`);
}

function timed(work) {
    const began = performance.now();
    const result = work();
    return { took: performance.now() - began, result };
}

function must(right, what) {
    if (!right) throw new Error(`${what}: the text differs`);
}

function blobsOf(name) {
    return readdirSync(blobs).filter((file) => file.startsWith(`${name}.`) && file.endsWith(".bin"))
        .sort((a, b) => Number(a.split(".").at(-2)) - Number(b.split(".").at(-2)))
        .map((file) => new Uint8Array(readFileSync(join(blobs, file))));
}

const paperPath = join(folder, "sequential", "automerge-paper.json.gz");
const paper = existsSync(paperPath) ? JSON.parse(gunzipSync(readFileSync(paperPath))) : null;
const edits = paper ? paper.txns.flatMap(({ patches }) => patches) : [];

// Each peer's way to write the trace in one go, to write it with an update for each edit, and to begin from bytes.
const peers = {
    "loro-crdt": {
        apply: () => {
            const doc = new LoroDoc();
            const text = doc.getText("text");
            for (const [at, gone, added] of edits) splice(text, at, gone, added);
            doc.commit();
            return { text: () => text.toString(), save: () => doc.export({ mode: "update" }) };
        },
        send: () => {
            const doc = new LoroDoc();
            const text = doc.getText("text");
            let sent = 0, last = doc.version();
            for (const [at, gone, added] of edits) {
                splice(text, at, gone, added);
                doc.commit();
                sent += doc.export({ mode: "update", from: last }).length;
                last = doc.version();
            }
            return { text: () => text.toString(), sent };
        },
        load: (bytes) => { const doc = new LoroDoc(); doc.import(bytes); return doc.getText("text").toString(); },
    },
    Yjs: Y && {
        // A transaction for each edit: all of them in one takes Yjs longer.
        apply: () => {
            const doc = new Y.Doc();
            const text = doc.getText("text");
            for (const [at, gone, added] of edits) doc.transact(() => splice(text, at, gone, added));
            return { text: () => text.toString(), save: () => Y.encodeStateAsUpdate(doc) };
        },
        send: () => {
            const doc = new Y.Doc();
            const text = doc.getText("text");
            let sent = 0;
            doc.on("update", (bytes) => { sent += bytes.length; });
            for (const [at, gone, added] of edits) doc.transact(() => splice(text, at, gone, added));
            return { text: () => text.toString(), sent };
        },
        load: (bytes) => { const doc = new Y.Doc(); Y.applyUpdate(doc, bytes); return doc.getText("text").toString(); },
    },
    Automerge: Automerge && {
        apply: () => {
            const doc = Automerge.change(Automerge.from({ text: "" }), (draft) => {
                for (const [at, gone, added] of edits) Automerge.splice(draft, ["text"], at, gone, added);
            });
            return { text: () => doc.text, save: () => Automerge.save(doc) };
        },
        load: (bytes) => Automerge.load(bytes).text,
    },
    "diamond-types": dt && {
        apply: () => {
            const doc = new dt.Doc("a");
            for (const [at, gone, added] of edits) {
                if (gone) doc.del(at, gone);
                if (added) doc.ins(at, added);
            }
            return { text: () => doc.get(), save: () => doc.toBytes() };
        },
        load: (bytes) => dt.Doc.fromBytes(bytes, "b").get(),
    },
};

function splice(text, at, gone, added) {
    if (gone) text.delete(at, gone);
    if (added) text.insert(at, added);
}

if (paper) {
    for (const [name, kind] of Object.entries(peers)) {
        if (!kind) continue;
        let bytes;
        for (const [work, run] of [["apply", kind.apply], ["commit_and_send", kind.send]]) {
            if (!run) continue;
            measure(work, name, () => {
                const { took, result } = timed(run);
                must(result.text() === paper.endContent, `${name}, ${work}`);
                if (result.save) bytes = result.save();
                return took;
            });
        }
        measure("import_updates", name, () => {
            const { took, result } = timed(() => kind.load(bytes));
            must(result === paper.endContent, `${name}, import_updates`);
            return took;
        });
    }
    // What only loro-crdt has beside us: snapshots, and travel in time.
    const source = new LoroDoc();
    source.import(blobsOf("import_updates")[0]);
    const snapshot = source.export({ mode: "snapshot" });
    measure("open_snapshot", "loro-crdt", () => timed(() => { const doc = new LoroDoc(); doc.import(snapshot); return doc.getText("text").toString(); }).took);
    measure("open_edit_send", "loro-crdt", () => timed(() => {
        const doc = new LoroDoc();
        doc.import(snapshot);
        const before = doc.version();
        doc.getText("text").insert(1000, "edit");
        doc.commit();
        return doc.export({ mode: "update", from: before });
    }).took);
    const middle = [{ peer: "1", counter: Math.floor(source.opCount() / 2) }];
    const away = [], back = [];
    for (let i = 0; i < 3; i++) {
        away.push(timed(() => { source.checkout(middle); return source.getText("text").toString(); }).took);
        back.push(timed(() => { source.checkoutToLatest(); return source.getText("text").toString(); }).took);
    }
    measured.checkout_middle = { "loro-crdt": median(away) };
    measured.checkout_back = { "loro-crdt": median(back) };
}

// The same bytes for loro-crdt, one blob after the other.
for (const name of ["import_friendsforever", "import_clownschool", "import_A1-node_nodecc", "import_A2-git-makefile",
    "merge_two_branches", "merge_two_halves", "peers_250", "peers_500", ...(runs > 1 ? ["peers_1000"] : [])]) {
    const all = blobsOf(name);
    if (all.length === 0) continue;
    try {
        measure(name, "loro-crdt", () => timed(() => {
            const doc = new LoroDoc();
            for (const blob of all) doc.import(blob);
            return doc.getText("text").toString();
        }).took);
    } catch (error) {
        measured[name]["loro-crdt"] = `does not manage: ${String(error).slice(0, 80)}`;
    }
}
for (const rounds of [1000, 2000, ...(runs > 1 ? [4000] : [])]) {
    measure(`ping_pong/${rounds}`, "loro-crdt", () => {
        const docs = [new LoroDoc(), new LoroDoc()];
        const ends = docs.map((doc) => doc.version());
        return timed(() => {
            for (let i = 0; i < rounds; i++) {
                const sent = docs.map((doc, k) => {
                    const text = doc.getText("text");
                    text.insert(k === 0 ? 0 : text.length, "x");
                    doc.commit();
                    return doc.export({ mode: "update", from: ends[k] });
                });
                docs.forEach((doc, k) => { doc.import(sent[1 - k]); ends[k] = doc.version(); });
            }
        }).took;
    });
}
console.log(JSON.stringify(measured));
