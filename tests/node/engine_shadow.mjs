// A document made of `quire engine`'s diffs alone: what it shows must be what the engine shows.
import assert from "node:assert/strict";

const EMPTY = { Map: () => ({}), List: () => [], MovableList: () => [], Text: () => [], Tree: () => ({ parent: null, children: [] }), Counter: () => 0 };
const kindOf = (cid) => cid.slice(cid.lastIndexOf(":") + 1);
const childOf = (item) => (item !== null && typeof item === "object" ? item.$container : undefined);

export class Shadow {
    constructor() { this.containers = new Map(); }

    apply(diffs) {
        for (const { cid, diff } of diffs) {
            const kind = kindOf(cid);
            const now = this.containers.get(cid) ?? EMPTY[kind]();
            const [what] = Object.keys(diff);
            this.containers.set(cid, this[`_${what}`](now, diff[what]));
        }
        // What cannot be reached is forgotten: should it come back, a diff tells all of it.
        const found = new Set();
        for (const cid of this.containers.keys()) if (cid.startsWith("cid:root-")) this.#reach(cid, found);
        for (const cid of [...this.containers.keys()]) if (!found.has(cid)) this.containers.delete(cid);
    }

    // Deep values by root, without the roots that hold nothing.
    value() {
        const roots = {};
        for (const cid of this.containers.keys()) {
            if (cid.startsWith("cid:root-")) roots[cid.slice("cid:root-".length, cid.lastIndexOf(":"))] = this.#value(cid);
        }
        return roots;
    }

    // [{letter, attributes}] of a text.
    letters(cid) { return this.containers.get(cid) ?? []; }

    _text(letters, delta) {
        const out = [];
        let at = 0;
        for (const step of delta) {
            if (step.insert !== undefined) {
                for (const letter of step.insert) out.push({ letter, attributes: step.attributes ?? {} });
                continue;
            }
            const part = letters.slice(at, at += step.retain ?? step.delete);
            assert.equal(part.length, step.retain ?? step.delete, "a step goes beyond the end");
            if (step.delete !== undefined) continue;
            for (const { letter, attributes } of part) {
                const all = Object.entries({ ...attributes, ...step.attributes }).filter(([, value]) => value !== null);
                out.push({ letter, attributes: Object.fromEntries(all) });
            }
        }
        return [...out, ...letters.slice(at)];
    }

    _list(items, delta) {
        const out = [];
        let at = 0;
        for (const step of delta) {
            if (step.insert !== undefined) { out.push(...step.insert); continue; }
            const part = items.slice(at, at += step.retain ?? step.delete);
            assert.equal(part.length, step.retain ?? step.delete, "a step goes beyond the end");
            if (step.retain !== undefined) out.push(...part);
        }
        return [...out, ...items.slice(at)];
    }

    _map(entries, { updated }) {
        const out = { ...entries };
        for (const [key, value] of Object.entries(updated)) {
            if (value === null) delete out[key];
            else out[key] = value;
        }
        return out;
    }

    _tree(tree, actions) {
        const nodes = new Map();
        const copy = (node) => {
            const mine = { id: node.id, position: node.position, children: node.children.map(copy) };
            if (mine.id) nodes.set(mine.id, mine);
            return mine;
        };
        const top = copy(tree);
        const at = (id) => (id === null ? top : nodes.get(id));
        const takeOut = (action) => {
            const [node] = at(action.old_parent).children.splice(action.old_index, 1);
            assert.equal(node.id, action.target, "another node is at the old index");
            return node;
        };
        const forget = (node) => { nodes.delete(node.id); node.children.forEach(forget); };
        for (const action of actions) {
            if (action.action === "delete") { forget(takeOut(action)); continue; }
            const node = action.action === "move" ? takeOut(action) : { id: action.target, children: [] };
            node.position = action.fractional_index;
            nodes.set(node.id, node);
            const siblings = at(action.parent).children;
            assert.ok(action.index <= siblings.length, "an index beyond the end");
            siblings.splice(action.index, 0, node);
        }
        return top;
    }

    _counter(sum, increment) { return sum + increment; }

    #reach(cid, found) {
        found.add(cid);
        const content = this.containers.get(cid);
        if (content === undefined || kindOf(cid) === "Text") return;
        if (kindOf(cid) === "Tree") {
            const walk = (node) => { if (node.id) this.#reach(`cid:${node.id}:Map`, found); node.children.forEach(walk); };
            return walk(content);
        }
        if (typeof content === "object") {
            for (const item of Object.values(content)) if (childOf(item)) this.#reach(childOf(item), found);
        }
    }

    #value(cid) {
        const content = this.containers.get(cid) ?? EMPTY[kindOf(cid)]();
        const item = (value) => (childOf(value) ? this.#value(childOf(value)) : value);
        switch (kindOf(cid)) {
            case "Text": return content.map(({ letter }) => letter).join("");
            case "Map": return Object.fromEntries(Object.entries(content).map(([key, value]) => [key, item(value)]));
            case "Tree": {
                const nodes = ({ children }) => children.map((node, index) => ({
                    id: node.id, index, fractional_index: node.position, meta: this.#value(`cid:${node.id}:Map`), children: nodes(node),
                }));
                return nodes(content);
            }
            case "Counter": return content;
            default: return content.map(item);
        }
    }
}

// Bytes as the engine spells them, keys in order.
export function plain(value) {
    if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
    if (Array.isArray(value)) return value.map(plain);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, plain(value[key])]));
}

export const isEmpty = (value) => value === "" || value === 0 || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

// Which empty roots are shown is each engine's own affair.
export const comparable = (roots) => plain(Object.fromEntries(Object.entries(roots).filter(([, value]) => !isEmpty(value))));
