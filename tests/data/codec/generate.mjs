// Writes the blobs of this folder with loro-crdt; see PROVENANCE.md. Run it in a folder where that package
// is installed: node generate.mjs OUTPUT_FOLDER
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { LoroCounter, LoroDoc, LoroList, LoroMap, LoroText } from "loro-crdt";

const output = process.argv[2] ?? ".";

function newDoc(peer) {
    const doc = new LoroDoc();
    doc.setPeerId(BigInt(peer));
    doc.setChangeMergeInterval(0);
    doc.configTextStyle({ bold: { expand: "after" }, link: { expand: "none" } });
    return doc;
}

function write(name, bytes) {
    writeFileSync(join(output, `${name}.hex`), Buffer.from(bytes).toString("hex").replace(/.{1,100}/g, "$&\n"));
}

const updates = (doc) => doc.export({ mode: "update" });

const scenes = {
    empty() {
        return newDoc(1);
    },
    text() {
        const doc = newDoc(7);
        const text = doc.getText("text");
        text.insert(0, "Hello, wörld 😀!");
        text.delete(0, 2);
        doc.commit();
        text.delete(4, 1);
        text.delete(3, 1);
        text.delete(2, 1);
        doc.commit();
        text.mark({ start: 1, end: 4 }, "bold", true);
        text.mark({ start: 0, end: 3 }, "link", { url: "https://example.org", tags: ["a", null, 1.5] });
        text.unmark({ start: 1, end: 2 }, "bold");
        return doc;
    },
    list() {
        const doc = newDoc(7);
        const list = doc.getList("list");
        [1, -70000, 1.5, "é", true, false, null, new Uint8Array([0, 255]), [1, ["x"]], { k: { deep: 2 } }].forEach((value) => list.push(value));
        list.insertContainer(1, new LoroText()).insert(0, "in");
        list.insertContainer(0, new LoroMap()).set("a", 1);
        list.delete(3, 2);
        return doc;
    },
    map() {
        const doc = newDoc(7);
        const map = doc.getMap("map");
        map.set("a", 1);
        map.set("b", 0.5);
        map.set("a", "again");
        map.delete("b");
        map.delete("never there");
        const child = map.setContainer("child", new LoroMap());
        child.setContainer("list", new LoroList()).push("x");
        child.setContainer("count", new LoroCounter()).increment(2);
        return doc;
    },
    movable_list() {
        const doc = newDoc(7);
        const list = doc.getMovableList("list");
        ["a", "b", "c", "d"].forEach((value) => list.push(value));
        list.move(0, 2);
        list.move(3, 0);
        list.set(1, "B");
        list.setContainer(0, new LoroMap()).set("k", 1);
        list.delete(1, 2);
        return doc;
    },
    tree() {
        const doc = newDoc(7);
        const tree = doc.getTree("tree");
        tree.enableFractionalIndex(0);
        const a = tree.createNode();
        const b = tree.createNode();
        const c = a.createNode();
        c.data.set("title", "c");
        doc.commit();
        tree.move(c.id, b.id);
        tree.move(b.id, undefined, 0);
        tree.delete(a.id);
        return doc;
    },
    counter() {
        const doc = newDoc(7);
        const counter = doc.getCounter("counter");
        counter.increment(3);
        counter.decrement(1);
        doc.commit();
        counter.increment(0.5);
        counter.increment(2 ** 40);
        return doc;
    },
    several_peers() {
        const a = newDoc(1);
        const b = newDoc(2n ** 63n + 5n);
        a.getText("text").insert(0, "from a");
        a.commit({ message: "first", timestamp: 1000 });
        b.getText("text").insert(0, "from b");
        b.commit({ message: "zweiter ö", timestamp: 2_000_000_000 });
        b.import(updates(a));
        b.getText("text").insert(3, "both");
        b.commit({ timestamp: 2_000_000_001 });
        a.import(updates(b));
        a.getMap("map").set("seen", true);
        a.commit({ message: "last", timestamp: 2_000_000_001 });
        a.getMap("map").set("seen", false);
        a.commit({ timestamp: 2_000_000_100 });
        return a;
    },
    many_changes() {
        const doc = newDoc(7);
        for (let i = 0; i < 40; ++i) {
            doc.getText("text").insert((i * 7) % (i + 1), String.fromCodePoint(97 + (i % 26)));
            if (i % 3 === 0) doc.getMap("map").set(`k${i % 11}`, i);
            doc.commit({ timestamp: 1_700_000_000 + i * i * 10, message: i % 5 === 0 ? `message ${i}` : undefined });
        }
        return doc;
    },
};

for (const [name, scene] of Object.entries(scenes)) {
    const doc = scene();
    doc.commit();
    write(name, updates(doc));
}

// A container of a kind that no version knows yet, holding what a counter would: the one byte of its kind
// is changed, the checksum made anew (xxHash32), and the blob is passed once through Loro, which carries
// it as unknown.
const PRIMES = [2654435761, 2246822519, 3266489917, 668265263, 374761393];
const rotate = (x, by) => ((x << by) | (x >>> (32 - by))) >>> 0;
const times = (a, b) => Math.imul(a, b) >>> 0;
function xxh32(bytes, seed) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    let hash = (seed + PRIMES[4]) >>> 0;
    if (bytes.length >= 16) {
        const lanes = [seed + PRIMES[0] + PRIMES[1], seed + PRIMES[1], seed, seed - PRIMES[0]].map((x) => x >>> 0);
        for (; at + 16 <= bytes.length; at += 16) {
            for (let i = 0; i < 4; ++i) {
                lanes[i] = times(rotate((lanes[i] + times(view.getUint32(at + 4 * i, true), PRIMES[1])) >>> 0, 13), PRIMES[0]);
            }
        }
        hash = (rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18)) >>> 0;
    }
    hash = (hash + bytes.length) >>> 0;
    for (; at + 4 <= bytes.length; at += 4) {
        hash = times(rotate((hash + times(view.getUint32(at, true), PRIMES[2])) >>> 0, 17), PRIMES[3]);
    }
    for (; at < bytes.length; ++at) hash = times(rotate((hash + times(bytes[at], PRIMES[4])) >>> 0, 11), PRIMES[0]);
    hash = times(hash ^ (hash >>> 15), PRIMES[1]);
    hash = times(hash ^ (hash >>> 13), PRIMES[2]);
    return (hash ^ (hash >>> 16)) >>> 0;
}

const future = updates(scenes.counter());
const row = Buffer.from(future).indexOf(Buffer.from([4, 1, 5, 0, 0]));  // Fields, root, kind, peer, name.
future[row + 2] = 9;
new DataView(future.buffer, future.byteOffset).setUint32(16, xxh32(future.subarray(20), 0x4f524f4c), true);
const carrier = new LoroDoc();
carrier.import(future);
write("unknown_container", updates(carrier));
