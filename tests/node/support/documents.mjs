// Random documents of every kind of container, made by npm's loro-crdt, and how they are compared.
import assert from "node:assert/strict";
import { LoroCounter, LoroDoc, LoroList, LoroMap, LoroMovableList, LoroText, LoroTree } from "loro-crdt";

import { randomness } from "./random.mjs";

export { randomness };

export function newDoc(peer) {
    const doc = new LoroDoc();
    doc.setPeerId(BigInt(peer));
    doc.configTextStyle({ bold: { expand: "after" }, link: { expand: "none" }, both: { expand: "both" } });
    return doc;
}

export const KINDS = [LoroMap, LoroList, LoroText, LoroMovableList, LoroTree, LoroCounter];
const TEXTS = ["a", "héllo", "😀", "日本語 text", "\n", "line one\nline two\n", "x".repeat(300)];

export function value(random) {
    const values = [null, true, random(1000) - 500, random(1000) / 8, TEXTS[random(TEXTS.length)], new Uint8Array([0, random(256)]),
        [1, [null, "x"]], { k: { deep: random(9) }, "": [] }];
    return values[random(values.length)];
}

function editText(text, random) {
    // Positions are UTF-16: keep them off the middle of a pair.
    const safe = (at) => (/[\udc00-\udfff]/.test(text.toString()[at] ?? "") ? at - 1 : at);
    const a = safe(random(text.length + 1));
    const b = safe(random(text.length + 1));
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    if (text.length === 0 || random(3) > 0) text.insert(a, TEXTS[random(TEXTS.length)]);
    else if (to > from && random(2)) text.mark({ start: from, end: to }, ["bold", "link", "both"][random(3)], [true, null, { url: "u" }][random(3)]);
    else if (to > from) text.delete(from, Math.min(to - from, safe(from + 4) > from ? safe(Math.min(to, from + 4)) - from || to - from : to - from));
}

function editContainer(container, random) {
    const kind = container.kind();
    if (kind === "Text") return editText(container, random);
    if (kind === "Counter") return container.increment((random(64) - 32) / 4);
    if (kind === "Map") {
        const key = `k${random(6)}`;
        if (random(5) === 0) container.delete(key);
        else if (random(4) === 0) container.setContainer(key, new KINDS[random(6)]());
        else container.set(key, value(random));
        return;
    }
    if (kind === "Tree") {
        const nodes = container.getNodes();
        const any = () => nodes[random(nodes.length)];
        if (nodes.length === 0 || random(3) === 0) container.createNode(nodes.length > 0 && random(2) ? any().id : undefined);
        else if (random(3) === 0) any().data.set("title", value(random));
        else if (random(4) === 0) container.delete(any().id);
        else {
            try {
                container.move(any().id, random(3) ? any().id : undefined, 0);
            } catch { /* A node cannot be moved below itself. */ }
        }
        return;
    }
    const at = random(container.length + 1);
    if (container.length === 0 || random(3) === 0) container.insert(at, value(random));
    else if (random(6) === 0) container.insertContainer(at, new KINDS[random(6)]());
    else if (kind === "MovableList" && random(2)) container.move(random(container.length), random(container.length));
    else if (kind === "MovableList" && random(2)) container.set(random(container.length), value(random));
    else container.delete(random(container.length), 1);
}

export function edit(doc, random) {
    const roots = [doc.getMap("map"), doc.getList("list"), doc.getText("text"), doc.getMovableList("movable"), doc.getTree("tree"), doc.getCounter("counter")];
    const children = doc.getMap("map").values().concat(doc.getList("list").toArray(), doc.getMovableList("movable").toArray())
        .filter((child) => child !== null && typeof child === "object" && typeof child.kind === "function");
    const all = roots.concat(children);
    editContainer(all[random(all.length)], random);
    if (random(3) === 0) doc.commit({ message: random(2) ? `message ${random(100)}` : undefined, timestamp: random(1e6) });
}

// A document of three peers, with what one of them had some time before the end.
export function script(seedOfScript) {
    const random = randomness(seedOfScript);
    const docs = [3, 1, 2n ** 63n + 9n].map((peer) => newDoc(peer));
    let earlier;
    const steps = 5 + random(120);
    for (let step = 0; step < steps; ++step) {
        edit(docs[random(3)], random);
        if (random(8) === 0) docs[random(3)].import(docs[random(3)].export({ mode: "update" }));
        if (step === steps >> 1) earlier = docs[0].export({ mode: "update" });
    }
    for (const doc of docs) docs[0].import(doc.export({ mode: "update" }));
    docs[0].commit();
    for (const doc of docs.slice(1)) doc.free();
    return { doc: docs[0], earlier };
}

export const version = (doc) => JSON.stringify([...doc.version().toJSON()].sort());
export const heads = (doc) => JSON.stringify(doc.frontiers().sort((a, b) => (a.peer < b.peer ? -1 : 1)));
// Which empty roots are printed differs from document to document.
export function shown(doc) {
    return Object.fromEntries(Object.entries(doc.toJSON()).filter(([, root]) => root !== 0 && Object.keys(root).length > 0 || typeof root === "number" && root !== 0));
}

export function assertSame(doc, original, what) {
    assert.equal(version(doc), version(original), what);
    assert.equal(heads(doc), heads(original), what);
    assert.deepEqual(shown(doc), shown(original), what);
    assert.deepEqual(doc.getText("text").toDelta(), original.getText("text").toDelta(), what);
}
