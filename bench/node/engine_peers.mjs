// The engines of npm at the tasks of engine_tasks (bench/tasks.h): node engine_peers.mjs DIR PEER NAME SECONDS. DIR is
// what bench_blobs wrote; loro-crdt takes in those very bytes, the others do the same work in their own format. Prints
// what engine_tasks prints. `engine_peers.mjs DIR` writes loro-crdt's own snapshots to DIR and lists the tasks.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { root } from "../../tests/node/support/workspace.mjs";
import { textPeers } from "./text_peers.mjs";

const { LoroDoc } = createRequire(join(root, "tests/node/package.json"))("loro-crdt");
const [folder, peer, name, seconds] = process.argv.slice(2);
const traces = process.env.QUIRE_TRACES ?? join(root, "../shared/data/traces");

const kWarmUp = 5, kRuns = 25;
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

function hashOf(text) {
    let hash = 2166136261;
    for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 16777619) >>> 0;
    return hash;
}

// Processor time with QUIRE_BENCH_CPU, for a machine on which others work; that of node's other threads counts as well.
function now() {
    if (!process.env.QUIRE_BENCH_CPU) return performance.now();
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
}

function timed(work) {
    const began = now();
    const end = work();
    return { ms: now() - began, end };
}

// The same as run() of engine_tasks.cc.
function run(prepare, most) {
    const once = prepare();
    if (!once) return {};
    const first = once();
    const warm = [];
    let spent = first.ms;
    while (spent + first.ms <= most && warm.length < kWarmUp + kRuns) {
        warm.push(once().ms);
        spent += warm.at(-1);
    }
    warm.splice(0, Math.min(kWarmUp, Math.floor(warm.length / 4)));
    return { first: first.ms, warm: warm.length > 0 ? median(warm) : first.ms, runs: warm.length, end: hashOf(first.end) };
}

function blobsOf(file) {
    const path = join(folder, `${file}.blobs`);
    if (!existsSync(path)) return null;
    const all = readFileSync(path);
    const blobs = [];
    for (let at = 0; at + 4 <= all.length;) {
        const size = all.readUInt32LE(at);
        blobs.push(new Uint8Array(all.subarray(at + 4, at + 4 + size)));
        at += 4 + size;
    }
    return blobs;
}

function writeBlob(file, blob) {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(blob.length);
    writeFileSync(join(folder, `${file}.blobs`), Buffer.concat([size, blob]));
}

const edits = (file) => JSON.parse(readFileSync(join(folder, `${file}.json`)));

// Null where the trace is absent, and where its positions, which count code points, are not those of JavaScript.
function patchesOf(trace) {
    const path = join(traces, "sequential", `${trace}.json.gz`);
    if (!existsSync(path)) return null;
    const { txns } = JSON.parse(gunzipSync(readFileSync(path)));
    return /[\ud800-\udfff]/.test(JSON.stringify(txns)) ? null : txns.flatMap(({ patches }) => patches);
}

const replay = (trace) => () => {
    const patches = patchesOf(trace);
    return patches && applyAll(patches);
};

const textOf = (doc) => doc.getText("text").toString();

// Runs `work`, which returns the document and what it ended in; the document is freed outside the time.
function withDoc(work) {
    let made;
    const done = timed(() => {
        const [doc, end] = work();
        made = doc;
        return end;
    });
    made.free();
    return done;
}

function loaded(file) {
    const blobs = blobsOf(file);
    if (!blobs) return null;
    const doc = new LoroDoc();
    doc.setPeerId("2");
    for (const blob of blobs) doc.import(blob);
    return doc;
}

function opened(snapshot) {
    const doc = new LoroDoc();
    doc.import(snapshot);
    return doc;
}

function splice(text, at, gone, added) {
    if (gone) text.delete(at, gone);
    if (added) text.insert(at, added);
}

// --- texts ---

const applyAll = (patches) => () => withDoc(() => {
    const doc = new LoroDoc();
    const text = doc.getText("text");
    for (const [at, gone, added] of patches) splice(text, at, gone, added);
    doc.commit();
    return [doc, text.toString()];
});

const commitAndSend = (patches) => () => withDoc(() => {
    const doc = new LoroDoc();
    const text = doc.getText("text");
    let sent = 0, last = doc.version();
    for (const [at, gone, added] of patches) {
        splice(text, at, gone, added);
        doc.commit();
        sent += doc.export({ mode: "update", from: last }).length;
        last = doc.version();
    }
    return [doc, text.toString()];
});

const importAll = (file, read = textOf) => () => {
    const blobs = blobsOf(file);
    return blobs && (() => withDoc(() => {
        const doc = new LoroDoc();
        for (const blob of blobs) doc.import(blob);
        return [doc, read(doc)];
    }));
};

const pingPong = (rounds) => () => () => {
    const docs = [new LoroDoc(), new LoroDoc()];
    docs.forEach((doc, i) => doc.setPeerId(String(i + 1)));
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
        return textOf(docs[0]);
    });
};

// The same versions as in text_tasks.cc.
const checkOut = (file, back) => () => {
    const doc = loaded(file);
    if (!doc) return null;
    const written = doc.version().toJSON().get("1");
    let next = 0;
    return () => {
        const counter = Math.floor(written / 2) + (next++ * 37) % 1000 - Math.floor(written / 100);
        const there = timed(() => { doc.checkout([{ peer: "1", counter }]); return textOf(doc); });
        const latest = timed(() => { doc.checkoutToLatest(); return textOf(doc); });
        return back ? latest : there;
    };
};

// --- documents ---

const onBlob = (file, work) => () => {
    const blobs = blobsOf(file);
    return blobs && (() => work(blobs[0]));
};

const openAndRead = (snapshot) => withDoc(() => { const doc = opened(snapshot); return [doc, textOf(doc)]; });

function saveOpened(snapshot) {
    const doc = opened(snapshot);
    let saved;
    const { ms } = timed(() => { saved = doc.export({ mode: "snapshot" }); });
    doc.free();
    return { ms, end: openAndRead(saved).end };
}

function openEditSend(snapshot) {
    return withDoc(() => {
        const doc = opened(snapshot);
        const before = doc.version();
        doc.getText("text").insert(1000, "edit");
        doc.commit();
        doc.export({ mode: "update", from: before });
        return [doc, ""];
    });
}

const forkAndRead = (file) => () => {
    const doc = loaded(file);
    return doc && (() => withDoc(() => { const copy = doc.fork(); return [copy, textOf(copy)]; }));
};

const exportJson = (file) => () => {
    const doc = loaded(file);
    return doc && (() => ({ ms: timed(() => JSON.stringify(doc.exportJsonUpdates())).ms, end: "" }));
};

const writeMarks = () => {
    const marks = edits("marks");
    return () => {
        const doc = new LoroDoc();
        doc.configTextStyle({ bold: { expand: "after" }, link: { expand: "none" } });
        const text = doc.getText("text");
        text.insert(0, "x".repeat(marks.length));
        doc.commit();
        const done = timed(() => {
            for (const [start, end, key, value] of marks) text.mark({ start, end }, key, value);
            doc.commit();
            return String(text.toDelta().length);
        });
        doc.free();
        return done;
    };
};

const keysOf = (doc) => String(Object.keys(doc.getMap("map").toJSON()).length);

const writeMap = () => {
    const keys = Array.from({ length: 200_000 }, (_, i) => `key ${i}`);
    return () => {
        const doc = new LoroDoc();
        const { ms } = timed(() => {
            const map = doc.getMap("map");
            keys.forEach((key, i) => map.set(key, i));
            doc.commit();
        });
        const end = keysOf(doc);
        doc.free();
        return { ms, end };
    };
};

const openMap = (snapshot) => withDoc(() => { const doc = opened(snapshot); return [doc, keysOf(doc)]; });

const writeTree = () => {
    const steps = edits("tree_steps");
    return () => withDoc(() => {
        const doc = new LoroDoc();
        const tree = doc.getTree("tree");
        const ids = [];
        for (const [creates, node, parent] of steps) {
            const above = parent < 0 ? undefined : ids[parent];
            if (creates) ids.push(tree.createNode(above).id);
            else tree.move(ids[node], above);
        }
        doc.commit();
        return [doc, String(tree.roots().length)];
    });
};

function loroTasks() {
    const tasks = {
        commit_and_send: () => { const patches = patchesOf("automerge-paper"); return patches && commitAndSend(patches); },
        random_edits: () => applyAll(edits("random_edits")),
        import_updates: importAll("paper"),
        merge_two_branches: importAll("two_branches"),
        merge_two_halves: importAll("two_halves"),
        checkout_middle: checkOut("paper", false),
        checkout_back: checkOut("paper", true),
        checkout_branches: checkOut("friendsforever", false),
        open_edit_send: onBlob("paper_snapshot.loro", openEditSend),
        fork_paper: forkAndRead("paper"),
        fork_branches: forkAndRead("two_branches"),
        export_json: exportJson("paper"),
        marks: writeMarks,
        write_map: writeMap,
        import_map: importAll("map", keysOf),
        write_tree: writeTree,
        import_tree: importAll("tree", (doc) => String(doc.getTree("tree").toJSON().length)),
    };
    for (const trace of ["automerge-paper", "seph-blog1", "rustcode", "sveltecomponent", "friendsforever_flat", "clownschool_flat", "json-crdt-patch",
        "json-crdt-blog-post", "egwalker"]) tasks[`replay_${trace}`] = replay(trace);
    for (const trace of ["friendsforever", "clownschool", "A1-node_nodecc", "A2-git-makefile"]) tasks[`import_${trace}`] = importAll(trace);
    for (const trace of ["friendsforever", "clownschool"]) tasks[`live_${trace}`] = importAll(`${trace}_live`);
    for (const peers of [250, 500, 1000]) tasks[`spread_${peers}`] = importAll(`spread_${peers}`);
    for (const ids of ["ascending", "descending", "random"]) {
        tasks[`one_place_${ids}_250`] = importAll(`one_place_${ids}_250`);
        tasks[`at_end_${ids}_250`] = importAll(`at_end_${ids}_250`);
        tasks[`list_${ids}_250`] = importAll(`list_${ids}_250`, (doc) => doc.getList("list").toArray().join(""));
    }
    for (const rounds of [1000, 2000, 4000]) tasks[`ping_pong_${rounds}`] = pingPong(rounds);
    for (const writer of ["quire", "loro"]) {
        tasks[`open_paper_${writer}`] = onBlob(`paper_snapshot.${writer}`, openAndRead);
        tasks[`open_branches_${writer}`] = onBlob(`branches_snapshot.${writer}`, openAndRead);
        tasks[`save_paper_${writer}`] = onBlob(`paper_snapshot.${writer}`, saveOpened);
        tasks[`save_branches_${writer}`] = onBlob(`branches_snapshot.${writer}`, saveOpened);
        tasks[`open_map_${writer}`] = onBlob(`map_snapshot.${writer}`, openMap);
    }
    return tasks;
}

// The tasks of another engine: to write the trace, to write it with an update for each edit, and to begin from bytes.
function tasksOf(engine) {
    const patches = patchesOf("automerge-paper");
    if (!engine || !patches) return {};
    return {
        "replay_automerge-paper": () => () => timed(() => engine.apply(patches).text()),
        ...(engine.send ? { commit_and_send: () => () => timed(() => engine.send(patches).text()) } : {}),
        import_updates: () => {
            const bytes = engine.apply(patches).save();
            return () => timed(() => engine.load(bytes));
        },
    };
}

const others = textPeers();
if (name === undefined) {
    for (const [file, updates] of [["paper", "paper"], ["branches", "two_branches"], ["map", "map"]]) {
        const doc = loaded(updates);
        if (doc) writeBlob(`${file}_snapshot.loro`, doc.export({ mode: "snapshot" }));
    }
    const listed = { "loro-crdt": Object.keys(loroTasks()) };
    for (const [other, engine] of Object.entries(others)) listed[other] = Object.keys(tasksOf(engine));
    console.log(JSON.stringify(listed));
} else {
    const tasks = peer === "loro-crdt" ? loroTasks() : tasksOf(others[peer]);
    console.log(JSON.stringify(tasks[name] ? run(tasks[name], Number(seconds) * 1000) : {}));
}
