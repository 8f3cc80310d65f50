// Writes the snapshots of this folder with loro-crdt; see PROVENANCE.md. Run it in a folder where that
// package is installed: node generate.mjs OUTPUT_FOLDER [PREFIX | "" UPDATES_WITH_AN_UNKNOWN_CONTAINER]
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LoroCounter, LoroDoc, LoroList, LoroMap, LoroMovableList, LoroText, LoroTree } from "loro-crdt";

const output = process.argv[2] ?? ".";
const prefix = process.argv[3] ?? "";

function newDoc(peer) {
    const doc = new LoroDoc();
    doc.setPeerId(BigInt(peer));
    doc.setChangeMergeInterval(0);
    doc.configTextStyle({ bold: { expand: "after" }, link: { expand: "none" }, comment: { expand: "none" } });
    return doc;
}

const snapshot = (doc) => doc.export({ mode: "snapshot" });
const updates = (doc) => doc.export({ mode: "update" });

// Numbers without a pattern, the same each time.
function noise(size) {
    const bytes = new Uint8Array(size);
    let state = 12345;
    for (let i = 0; i < size; ++i) {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        bytes[i] = state >>> 16;
    }
    return bytes;
}

const scenes = {
    empty() {
        return newDoc(1);
    },
    map() {
        const doc = newDoc(7);
        const map = doc.getMap("map");
        map.set("integer", -70000);
        map.set("float", 1.5);
        map.set("text", "wörld 😀");
        map.set("yes", true);
        map.set("no", false);
        map.set("nothing", null);
        map.set("bytes", new Uint8Array([0, 1, 255]));
        map.set("list", [1, ["x", null], { k: { deep: 2 } }]);
        map.set("", "the empty key");
        // UTF-16 and UTF-8 order these two differently.
        map.set("\u{10000}", "astral");
        map.set("\u{e000}", "private");
        map.set("erased", 1);
        map.delete("erased");
        map.delete("never there");
        return doc;
    },
    list() {
        const doc = newDoc(7);
        const list = doc.getList("list");
        [1, -70000, 1.5, "é", true, false, null, new Uint8Array([0, 255]), [1, ["x"]], { k: { deep: 2 } }].forEach((value) => list.push(value));
        list.insertContainer(1, new LoroText()).insert(0, "in");
        list.insertContainer(0, new LoroMap()).set("a", 1);
        list.delete(3, 2);
        const other = newDoc(3);
        other.import(updates(doc));
        other.getList("list").insert(2, "from the other");
        doc.import(updates(other));
        return doc;
    },
    text() {
        const doc = newDoc(7);
        const text = doc.getText("text");
        text.insert(0, "Hello, wörld 😀!");
        text.delete(0, 2);
        text.insert(3, "日本");
        return doc;
    },
    marks() {
        const doc = newDoc(7);
        const text = doc.getText("text");
        text.insert(0, "The quick brown 😀 fox jumps");
        text.mark({ start: 4, end: 9 }, "bold", true);
        text.mark({ start: 0, end: 15 }, "link", { url: "https://example.org", tags: ["a", null, 1.5] });
        text.unmark({ start: 5, end: 7 }, "bold");
        text.mark({ start: 2, end: 12 }, "comment:1", "first");
        text.mark({ start: 8, end: 20 }, "comment:2", "second");
        const other = newDoc(2n ** 63n + 5n);
        other.import(updates(doc));
        other.getText("text").mark({ start: 6, end: 18 }, "bold", true);
        text.delete(4, 3);
        doc.commit();
        doc.import(updates(other));
        return doc;
    },
    movable_list() {
        const doc = newDoc(7);
        const list = doc.getMovableList("list");
        ["a", "b", "c", "d", "e"].forEach((value) => list.push(value));
        list.move(0, 2);
        list.move(3, 0);
        list.set(1, "B");
        list.setContainer(0, new LoroMap()).set("k", 1);
        doc.commit();
        const other = newDoc(9);
        other.import(updates(doc));
        other.getMovableList("list").move(1, 4);
        list.move(1, 0);
        list.delete(3, 1);
        doc.commit();
        doc.import(updates(other));
        return doc;
    },
    tree() {
        const doc = newDoc(7);
        const tree = doc.getTree("tree");
        tree.enableFractionalIndex(0);
        const a = tree.createNode();
        const b = tree.createNode();
        const a1 = a.createNode();
        const a2 = a1.createNode();
        a2.data.set("title", "a2");
        b.createNode();
        const gone = tree.createNode();
        gone.createNode().createNode();
        doc.commit();
        tree.move(a1.id, undefined, 0);
        tree.delete(gone.id);
        const other = newDoc(9);
        doc.commit();
        other.import(updates(doc));
        other.getTree("tree").createNode(b.id).data.set("title", "of the other");
        tree.move(b.id, a.id);
        doc.commit();
        doc.import(updates(other));
        return doc;
    },
    counter() {
        const doc = newDoc(7);
        const counter = doc.getCounter("counter");
        counter.increment(3);
        counter.decrement(1);
        counter.increment(0.5);
        counter.increment(2 ** 40);
        doc.getCounter("zero").increment(1);
        doc.getCounter("zero").decrement(1);
        return doc;
    },
    nested() {
        const doc = newDoc(7);
        const map = doc.getMap("map");
        const list = map.setContainer("list", new LoroList());
        const inner = list.insertContainer(0, new LoroMap());
        inner.setContainer("text", new LoroText()).insert(0, "deep");
        inner.setContainer("count", new LoroCounter()).increment(2);
        const movable = inner.setContainer("movable", new LoroMovableList());
        movable.insertContainer(0, new LoroText()).insert(0, "deeper");
        const tree = inner.setContainer("tree", new LoroTree());
        const node = tree.createNode();
        node.data.setContainer("notes", new LoroList()).push("at a node");
        map.setContainer("empty list", new LoroList());
        map.setContainer("empty text", new LoroText());
        map.setContainer("replaced", new LoroText()).insert(0, "unseen");
        map.set("replaced", "seen");
        return doc;
    },
    several_peers() {
        const docs = [1, 2n ** 63n + 5n, 300, 4].map(newDoc);
        docs.forEach((doc, i) => {
            doc.getText("text").insert(0, `from ${i} `);
            doc.getMap("map").set(`key ${i}`, i);
            doc.getMap("map").set("shared", i);
            doc.getList("list").push(i);
            doc.commit({ message: `first of ${i}`, timestamp: 1000 + i });
        });
        for (const from of docs) for (const to of docs) if (from !== to) to.import(updates(from));
        docs[1].getText("text").insert(3, "both");
        docs[1].commit({ timestamp: 2_000_000_001 });
        docs[2].getText("text").delete(1, 9);
        docs[2].commit({ message: "zweiter ö", timestamp: 2_000_000_000 });
        docs[0].import(updates(docs[1]));
        docs[0].import(updates(docs[2]));
        return docs[0];
    },
    emptied() {
        const doc = newDoc(7);
        doc.getText("text").insert(0, "gone");
        doc.getText("text").mark({ start: 1, end: 3 }, "bold", true);
        doc.getText("text").delete(0, 4);
        doc.getList("list").push(1);
        doc.getList("list").delete(0, 1);
        doc.getMovableList("movable").push(1);
        doc.getMovableList("movable").push(2);
        doc.getMovableList("movable").move(0, 1);
        doc.getMovableList("movable").delete(0, 2);
        doc.getMap("map").set("k", 1);
        doc.getMap("map").delete("k");
        const tree = doc.getTree("tree");
        tree.delete(tree.createNode().id);
        return doc;
    },
    // Values that have a block of their own: one that LZ4 makes smaller, one that it does not.
    big_values() {
        const doc = newDoc(7);
        doc.getText("repeats").insert(0, "All work and no play makes Jack a dull boy.\n".repeat(700));
        doc.getMap("map").set("noise", noise(5000));
        doc.getMap("small").set("k", 1);
        return doc;
    },
    many_containers() {
        const doc = newDoc(7);
        const list = doc.getList("list");
        for (let i = 0; i < 150; ++i) {
            const map = list.insertContainer(i, new LoroMap());
            map.set("title", `item number ${i}`);
            map.set("done", i % 3 === 0);
        }
        return doc;
    },
    many_changes() {
        const doc = newDoc(7);
        for (let i = 0; i < 400; ++i) {
            doc.getText("text").insert((i * 7) % (i + 1), String.fromCodePoint(97 + (i % 26)));
            if (i % 3 === 0) doc.getMap("map").set(`k${i % 11}`, i);
            doc.commit({ timestamp: 1_700_000_000 + i * i * 10, message: i % 5 === 0 ? `message ${i}` : undefined });
        }
        return doc;
    },
};

function trimmed(edits) {
    const doc = newDoc(7);
    doc.getText("text").insert(0, "before");
    doc.getMap("map").set("a", 1);
    doc.getMap("untouched").set("k", "as it was");
    doc.commit();
    const at = doc.frontiers();
    for (let i = 0; i < edits; ++i) doc.getText("text").insert(i, String.fromCodePoint(97 + (i % 26)));
    doc.getMap("map").set("b", 2);
    doc.getList("later").push(1);
    doc.commit();
    return [doc, doc.export({ mode: "shallow-snapshot", frontiers: at })];
}

const expected = {};

// What JSON has no word for: {"$bytes": hexadecimal}.
const plain = (_, value) => (value instanceof Uint8Array ? { $bytes: Buffer.from(value).toString("hex") } : value);

function expectation(doc) {
    const versions = Object.fromEntries([...doc.version().toJSON()].map(([peer, end]) => [peer, end]));
    const marked = typeof doc.toJSON().text === "string" ? doc.getText("text").toDelta() : undefined;
    return { version: versions, heads: doc.frontiers(), value: doc.toJSON(), delta: marked };
}

function write(name, doc, bytes = snapshot(doc)) {
    writeFileSync(join(output, `${prefix}${name}.bin`), bytes);
    expected[prefix + name] = expectation(doc);
}

for (const [name, scene] of Object.entries(scenes)) {
    if (prefix && !["nested", "marks", "tree", "movable_list"].includes(name)) continue;
    const doc = scene();
    doc.commit();
    write(name, doc);
}
if (!prefix) {
    write("trimmed", ...trimmed(10));
    write("trimmed_with_state", ...trimmed(400));
    const doc = newDoc(7);
    doc.getMap("map").ensureMergeableText("mt").insert(0, "merges");
    doc.getMap("map").ensureMergeableCounter("mc").increment(2);
    doc.commit();
    write("mergeable", doc);
    const carrier = newDoc(8);
    carrier.import(readFileSync(process.argv[4]));
    write("unknown_container", carrier);
}

writeFileSync(join(output, `${prefix}expected.json`), 
    `{\n${Object.entries(expected).map(([name, what]) => `${JSON.stringify(name)}: ${JSON.stringify(what, plain)}`).join(",\n")}\n}\n`);
