// Histories that several peers of npm's loro-crdt write at random, into every kind of container.
import { LoroDoc, LoroCounter, LoroList, LoroMap, LoroMovableList, LoroText, LoroTree } from "loro-crdt";
import { random } from "./engine_script.mjs";
import { comparable } from "./engine_shadow.mjs";
import { deepValueWithIds } from "./support/deep_value.mjs";

export const STYLES = { bold: { expand: "after" }, link: { expand: "none" }, note: { expand: "both" } };
const KINDS = { Map: LoroMap, List: LoroList, Text: LoroText, MovableList: LoroMovableList, Tree: LoroTree };

export class Writers {
    constructor(seed) {
        this.rand = random(seed);
        this.docs = Array.from({ length: 2 + this.below(2) }, (_, i) => {
            const doc = new LoroDoc();
            doc.setPeerId(`${7 + 5 * i}`);
            doc.configTextStyle(STYLES);
            return doc;
        });
        this.versions = [[]];
        this.blobs = [];
    }

    below(n) { return Math.floor(this.rand() * n); }
    pick(list) { return list[this.below(list.length)]; }

    write(steps) {
        for (let i = 0; i < steps; ++i) {
            const doc = this.pick(this.docs);
            if (this.below(5) === 0) { doc.import(this.pick(this.docs).export({ mode: "update" })); continue; }
            const before = doc.version();
            for (let n = this.below(4); n >= 0; --n) this.edit(doc);
            doc.commit();
            this.blobs.push(doc.export({ mode: "update", from: before }));
            this.versions.push(doc.frontiers());
        }
    }

    // A container of this kind that the document shows: the root, or one inside another.
    container(doc, kind) {
        const found = [doc[`get${kind}`](kind.toLowerCase())];
        const walk = (value) => {
            if (value === null || typeof value !== "object") return;
            if (typeof value.cid === "string" && value.cid.endsWith(`:${kind}`)) found.push(doc.getContainerById(value.cid));
            for (const child of Object.values(value)) walk(child);
        };
        if (this.below(2) === 0) walk(deepValueWithIds(doc));
        return this.pick(found);
    }

    child() { return new KINDS[this.pick(Object.keys(KINDS))](); }
    value() { return this.pick([0, 1, 1.5, "v", "é😀", true, [1, { x: null }], new Uint8Array([0, 255])]); }

    edit(doc) {
        const kind = this.pick(["Text", "Text", "List", "Map", "MovableList", "MovableList", "Tree", "Tree", "Counter"]);
        if (kind === "Counter") return doc.getCounter("counter").increment(this.below(8) / 4 - 1);
        const at = this.container(doc, kind);
        return this[kind](at);
    }

    Text(text) {
        const letters = [...text.toString()];
        const utf16 = (n) => letters.slice(0, n).join("").length;
        const from = this.below(letters.length + 1);
        const to = Math.min(letters.length, from + 1 + this.below(4));
        const what = this.below(6);
        if (what < 3 || from === to) return text.insert(utf16(from), this.pick(["a", "bc", "é😀", "\n"]));
        if (what === 3) return text.delete(utf16(from), utf16(to) - utf16(from));
        const key = this.pick(Object.keys(STYLES));
        if (what === 4) return text.mark({ start: utf16(from), end: utf16(to) }, key, this.pick([true, 1, "x"]));
        return text.unmark({ start: utf16(from), end: utf16(to) }, key);
    }

    List(list) {
        const at = this.below(list.length + 1);
        const what = this.below(5);
        if (what === 0) return void list.insertContainer(at, this.child());
        if (what < 3 || at === list.length) return list.insert(at, this.value());
        return list.delete(at, 1);
    }

    Map(map) {
        const key = this.pick(["a", "b", "c"]);
        const what = this.below(5);
        if (what === 0) return void map.setContainer(key, this.child());
        if (what === 1) return map.delete(key);
        return map.set(key, this.value());
    }

    MovableList(list) {
        const at = this.below(list.length + 1);
        const what = this.below(8);
        if (what < 2 || at === list.length) return list.insert(at, this.value());
        if (what === 2) return void list.insertContainer(at, this.child());
        if (what === 3) return list.delete(at, 1);
        if (what === 4) return list.set(at, this.value());
        if (what === 5) return void list.setContainer(at, this.child());
        return list.move(at, this.below(list.length));
    }

    Tree(tree) {
        const nodes = tree.getNodes({ withDeleted: false });
        const node = this.pick(nodes);
        const what = this.below(6);
        if (what < 2 || node === undefined) {
            const parent = this.below(2) === 0 ? undefined : node;
            return void (parent ?? tree).createNode().data.set("k", this.value());
        }
        if (what === 2) return tree.delete(node.id);
        if (what === 3) return node.data.set("k", this.value());
        // Below itself it cannot go.
        try { node.move(this.below(2) === 0 ? undefined : this.pick(nodes)); } catch { /* A cycle. */ }
    }
}

export const ids = (frontiers) => frontiers.map(({ peer, counter }) => `${counter}@${peer}`);
export const base64 = (bytes) => Buffer.from(bytes).toString("base64");

// What npm shows, in the engine's words: trees with their positions as hexadecimal.
export function shown(doc) {
    const words = (value) => {
        if (Array.isArray(value)) return value.map(words);
        if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
        const node = "fractional_index" in value && "meta" in value;
        return Object.fromEntries(Object.entries(value).filter(([key]) => !node || key !== "parent").map(([key, item]) => [key, words(item)]));
    };
    return comparable(words(doc.toJSON()));
}
