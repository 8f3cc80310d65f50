// Random histories of several peers, some in the npm package `loro-crdt`, some in `quire engine`.
//
// A script is a list of steps whose choices are fractions, resolved against what is there when the step is
// run: any step can be left out and the rest still means something, so a failing script can be shrunk.
import { LoroCounter, LoroDoc, LoroList, LoroMap, LoroMovableList, LoroText, LoroTree, VersionVector } from "loro-crdt";
import { deepValueWithIds } from "./support/deep_value.mjs";
import { editTree, metasOf, treeArgs, withoutParents } from "./support/tree_steps.mjs";

// Mulberry32.
export function random(seed) {
    let state = seed | 0;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
}

const TEXTS = ["a", "bc", "é", "😀", "x😀y", "\n", "the quick", "𝔘ñ"];
const VALUES = [0, 1, -5, 1.5, "v", "é😀", null, true, false, [1, [2, "x"]], { k: { deep: null } }, 2 ** 40, { $bytes: "AP8=" }];
const KEYS = ["a", "b", "c", "key with é"];
const KINDS = ["Map", "List", "Text", "Tree", "MovableList", "Counter"];
const STYLES = { bold: { expand: "after" }, link: { expand: "none" }, note: { expand: "both" }, early: { expand: "before" } };
const STYLE_KEYS = ["bold", "link", "note", "early", "note:1"];
const PEERS = ["1", "2", "77", "9007199254740993", "18446744073709551614", "3000000000"];

const EDITS = [
    ["text.insert", 8], ["text.delete", 5], ["text.mark", 4], ["text.unmark", 2], ["text.apply_delta", 2], ["list.insert", 5], ["list.delete", 3], ["list.insert_container", 1],
    ["map.set", 4], ["map.delete", 1], ["map.insert_container", 2],
    ["mlist.insert", 4], ["mlist.delete", 2], ["mlist.move", 5], ["mlist.set", 3], ["mlist.insert_container", 1],
    ["mlist.set_container", 1], ["counter.add", 2],
    ["tree.create", 3], ["tree.move", 3], ["tree.delete", 1], ["commit", 2], ["sync", 5], ["send", 2], ["deliver", 2],
];

export function makeScript(seed) {
    const rand = random(seed);
    const pick = (list) => list[Math.floor(rand() * list.length)];
    const weighted = (list) => {
        let left = rand() * list.reduce((sum, [, weight]) => sum + weight, 0);
        return list.find(([, weight]) => (left -= weight) < 0)[0];
    };
    const ids = [...PEERS].sort(() => rand() - 0.5);
    const count = 2 + Math.floor(rand() * 3);
    // At least one of each kind.
    const peers = Array.from({ length: count }, (_, i) => ({ id: ids[i], ours: i === 0 || (i > 1 && rand() < 0.5) }));
    const steps = Array.from({ length: 20 + Math.floor(rand() * 50) }, () => {
        const peer = Math.floor(rand() * count);
        return {
            peer, op: weighted(EDITS), at: rand(), where: rand(), size: rand(), other: Math.floor(rand() * count),
            text: pick(TEXTS), value: pick(VALUES), key: pick(KEYS), kind: pick(KINDS),
        };
    });
    return { seed, peers, steps };
}

const fraction = (share, count) => Math.min(Math.floor(share * count), count - 1);
const toUtf16 = (characters, at) => characters.slice(0, at).join("").length;

// Bytes as the engine spells them, whole numbers and floats alike: JSON of npm does not tell them apart.
export function plain(value) {
    if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
    if (Array.isArray(value)) return value.map(plain);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, plain(value[key])]));
}

function native(value) {
    if (Array.isArray(value)) return value.map(native);
    if (value === null || typeof value !== "object") return value;
    if (value.$bytes) return new Uint8Array(Buffer.from(value.$bytes, "base64"));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, native(item)]));
}

const isEmpty = (value) => value === "" || value === 0 || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

// What both engines must show alike: which empty roots are shown is their own affair.
export function comparable(value) {
    return Object.fromEntries(Object.entries(plain(withoutParents(value))).filter(([, item]) => !isEmpty(item)));
}

// Containers of each kind by id, from a deep value with ids.
function containersOf(roots) {
    const found = { Map: [], List: [], Text: [], MovableList: [], Counter: [], Tree: [] };
    const walk = (node) => {
        if (node === null || typeof node !== "object") return;
        if (typeof node.cid === "string" && node.cid.startsWith("cid:")) {
            const kind = node.cid.slice(node.cid.lastIndexOf(":") + 1);
            found[kind]?.push({ cid: node.cid, value: node.value });
            if (kind === "Text") return;
            if (kind === "Tree") {
                found.Map.push(...metasOf(node.value));
                return metasOf(node.value).forEach(({ value }) => Object.values(value).forEach(walk));
            }
            node = node.value;
        }
        for (const child of Object.values(node ?? {})) walk(child);
    };
    walk(roots);
    for (const list of Object.values(found)) list.sort((a, b) => (a.cid < b.cid ? -1 : 1));
    return found;
}

const ROOTS = {
    Map: "cid:root-map:Map", List: "cid:root-list:List", Text: "cid:root-text:Text", MovableList: "cid:root-movable:MovableList",
    Counter: "cid:root-counter:Counter", Tree: "cid:root-tree:Tree",
};
const NOTHING = { Map: {}, List: [], Text: "", MovableList: [], Counter: 0, Tree: [] };

// --- a peer in npm ---

class NpmPeer {
    constructor(id) {
        this.doc = new LoroDoc();
        this.doc.setPeerId(id);
        this.doc.configTextStyle(STYLES);
    }

    async containers() {
        return withRoots(containersOf(deepValueWithIds(this.doc)));
    }

    async edit(op, cid, args) {
        const container = () => this.doc.getContainerById(cid);
        switch (op) {
            case "text.insert": return container().insert(toUtf16(args.characters, args.pos), args.text);
            case "text.delete": {
                const begin = toUtf16(args.characters, args.pos);
                return container().delete(begin, toUtf16(args.characters, args.pos + args.len) - begin);
            }
            case "text.mark": case "text.unmark": {
                const range = { start: toUtf16(args.characters, args.start), end: toUtf16(args.characters, args.end) };
                if (op === "text.unmark") return container().unmark(range, args.key);
                return container().mark(range, args.key, native(args.value));
            }
            case "text.apply_delta": return container().applyDelta(native(inUnits(args.delta, args.characters, "utf16")));
            case "list.insert": case "mlist.insert": return container().insert(args.pos, native(args.value));
            case "list.delete": case "mlist.delete": return container().delete(args.pos, args.len);
            case "mlist.move": return container().move(args.from, args.to);
            case "mlist.set": return container().set(args.pos, native(args.value));
            case "mlist.set_container": return void container().setContainer(args.pos, newContainer(args.kind));
            case "counter.add": return container().increment(args.delta);
            case "list.insert_container": case "mlist.insert_container": return void container().insertContainer(args.pos, newContainer(args.kind));
            case "tree.create": case "tree.move": case "tree.delete": return editTree(container(), op, args);
            case "map.set": return container().set(args.key, native(args.value));
            case "map.delete": return container().delete(args.key);
            case "map.insert_container": return void container().setContainer(args.key, newContainer(args.kind));
        }
    }

    async commit(message) { this.doc.commit(message ? { message } : undefined); }
    async version() { return Object.fromEntries(this.doc.version().toJSON()); }
    async frontiers() { return this.doc.frontiers().map(({ peer, counter }) => `${counter}@${peer}`).sort(); }
    async value() { return this.doc.toJSON(); }
    async delta(cid) { return this.doc.getContainerById(cid)?.toDelta() ?? []; }
    async import(bytes) { this.doc.import(bytes); }
    async export(from) {
        if (!from) return this.doc.export({ mode: "update" });
        return this.doc.export({ mode: "update", from: new VersionVector(new Map(Object.entries(from))) });
    }
    async drop() { this.doc.free(); }
}

function newContainer(kind) {
    return new { Map: LoroMap, List: LoroList, Text: LoroText, MovableList: LoroMovableList, Counter: LoroCounter, Tree: LoroTree }[kind]();
}

// --- a peer in ours ---

const UNITS = ["unicode", "utf16", "utf8"];
const inUnit = (characters, at, unit) =>
    unit === "unicode" ? at : unit === "utf16" ? toUtf16(characters, at) : Buffer.byteLength(characters.slice(0, at).join(""));

// A delta that counts characters, counting in a unit.
function inUnits(delta, characters, unit) {
    let at = 0;
    const count = (characters_) => {
        const begin = inUnit(characters, at, unit);
        at += characters_;
        return inUnit(characters, at, unit) - begin;
    };
    return delta.map((step) => {
        if ("retain" in step) return { ...step, retain: count(step.retain) };
        return "delete" in step ? { delete: count(step.delete) } : step;
    });
}

let documents = 0;
class OurPeer {
    constructor(driver, id) {
        this.driver = driver;
        this.name = `peer ${++documents}`;
        this.ready = this.#ask("new", { peer: id }).then(() => this.#ask("config", { text_styles: STYLES }));
    }

    #ask(op, fields = {}) { return this.driver.ask(op, { doc: this.name, ...fields }); }

    async containers() { return withRoots(containersOf(await this.#ask("value_with_ids"))); }

    async edit(op, cid, { characters, unit, ...args }) {
        if (op === "text.insert") args.pos = inUnit(characters, args.pos, unit);
        if (op === "text.delete") {
            const end = inUnit(characters, args.pos + args.len, unit);
            args.pos = inUnit(characters, args.pos, unit);
            args.len = end - args.pos;
        }
        if ("start" in args) args.start = inUnit(characters, args.start, unit);
        if ("end" in args) args.end = inUnit(characters, args.end, unit);
        if (op === "text.apply_delta") args.delta = inUnits(args.delta, characters, unit);
        if (op.startsWith("text")) args.unit = unit;
        await this.#ask(op, { cid, ...args });
    }

    async commit(message) { await this.#ask("commit", message ? { message } : {}); }
    async version() { return this.#ask("vv"); }
    async frontiers() { return (await this.#ask("frontiers")).sort(); }
    async value() { return this.#ask("value"); }
    async delta(cid) { return this.#ask("text.delta", { cid }); }
    async import(bytes) { await this.#ask("import", { bytes: Buffer.from(bytes).toString("base64") }); }
    async export(from) {
        return new Uint8Array(Buffer.from(await this.#ask("export", from ? { mode: "updates", from } : { mode: "updates" }), "base64"));
    }
    async drop() { await this.#ask("drop"); }
}

function withRoots(found) {
    for (const [kind, cid] of Object.entries(ROOTS)) {
        if (!found[kind].some((container) => container.cid === cid)) {
            found[kind].unshift({ cid, value: NOTHING[kind] });
        }
    }
    return found;
}

// --- running ---

const styleKey = (step) => STYLE_KEYS[fraction((step.at * 7) % 1, STYLE_KEYS.length)];

// A delta of a text with so many characters.
function deltaOf(step, length) {
    const kept = fraction(step.where, length + 1);
    const gone = fraction(step.size * step.size, length - kept + 1);
    const styled = fraction(step.at, length - kept - gone + 1);
    const attributes = { [styleKey(step)]: step.value };
    return [
        ...(kept > 0 ? [{ retain: kept }] : []),
        { insert: step.text, ...(step.size < 0.6 ? { attributes } : {}) },
        ...(gone > 0 ? [{ delete: gone }] : []),
        ...(styled > 0 ? [{ retain: styled, attributes }] : []),
    ];
}

async function edit(peer, step) {
    const found = await peer.containers();
    const kind = { text: "Text", list: "List", map: "Map", mlist: "MovableList", counter: "Counter", tree: "Tree" }[step.op.split(".")[0]];
    // The roots more often than their children, so that peers meet.
    const { cid, value } = step.at < 0.5 ? found[kind].find(({ cid: id }) => id === ROOTS[kind])
        : found[kind][fraction((step.at - 0.5) * 2, found[kind].length)];
    const args = {};
    const characters = kind === "Text" ? [...value] : [];
    const length = kind === "Text" ? characters.length : Array.isArray(value) ? value.length : 0;
    switch (step.op) {
        case "text.insert":
            Object.assign(args, { characters, unit: UNITS[fraction(step.size, 3)], pos: fraction(step.where, length + 1), text: step.text });
            break;
        case "text.delete": case "list.delete": case "mlist.delete":
            if (length === 0) return;
            args.pos = fraction(step.where, length);
            args.len = 1 + fraction(step.size * step.size, length - args.pos);
            if (kind === "Text") Object.assign(args, { characters, unit: UNITS[fraction(step.at, 3)] });
            break;
        case "text.mark": case "text.unmark":
            if (length === 0) return;
            args.start = fraction(step.where, length);
            args.end = args.start + 1 + fraction(step.size, length - args.start);
            Object.assign(args, { characters, unit: UNITS[fraction(step.at, 3)], key: styleKey(step) });
            if (step.op === "text.mark") args.value = step.value;
            break;
        case "text.apply_delta":
            Object.assign(args, { characters, unit: UNITS[fraction(step.at, 3)], delta: deltaOf(step, length) });
            break;
        case "list.insert": case "mlist.insert": Object.assign(args, { pos: fraction(step.where, length + 1), value: step.value }); break;
        case "list.insert_container": case "mlist.insert_container": Object.assign(args, { pos: fraction(step.where, length + 1), kind: step.kind }); break;
        case "mlist.move":
            if (length === 0) return;
            Object.assign(args, { from: fraction(step.where, length), to: fraction(step.size, length) });
            break;
        case "mlist.set": case "mlist.set_container":
            if (length === 0) return;
            args.pos = fraction(step.where, length);
            Object.assign(args, step.op === "mlist.set" ? { value: step.value } : { kind: step.kind });
            break;
        // Dyadic: other sums depend on the order in which Loro comes to add them up.
        case "counter.add": args.delta = Math.floor(step.where * 64 - 32) / 4; break;
        case "tree.create": case "tree.move": case "tree.delete": {
            const what = treeArgs(step, value);
            if (what === null) return;
            Object.assign(args, what);
            break;
        }
        case "map.set": Object.assign(args, { key: step.key, value: step.value }); break;
        case "map.delete": Object.assign(args, { key: step.key }); break;
        case "map.insert_container": Object.assign(args, { key: step.key, kind: step.kind }); break;
    }
    await peer.edit(step.op, cid, args);
}

const differs = (a, b) => JSON.stringify(a) !== JSON.stringify(b);
const sorted = (object) => Object.fromEntries(Object.entries(object).filter(([, end]) => end > 0).sort());

// Neighbours with the same attributes as one: npm tells them apart where different marks gave them.
export function joined(delta) {
    const steps = [];
    for (const step of delta) {
        const last = steps.at(-1);
        if (last && !differs(last.attributes, step.attributes)) last.insert += step.insert;
        else steps.push({ ...step });
    }
    return steps;
}

// The styled texts of a peer, those without styles left out.
async function styles(peer) {
    const texts = [];
    for (const { cid } of (await peer.containers()).Text) {
        const delta = joined(plain(await peer.delta(cid)));
        if (delta.some((step) => step.attributes)) texts.push([cid, delta]);
    }
    return texts;
}

// What is wrong with how the peers ended, or null. `skipLast` leaves the last peer out of the exchange.
async function compare(script, peers, skipLast) {
    for (let round = 0; round < 2; ++round) {
        for (const from of peers) {
            for (const to of peers) {
                if (from === to || (skipLast && to === peers.at(-1))) continue;
                await to.import(await from.export(await to.version()));
            }
        }
    }
    const first = { value: comparable(await peers[0].value()), styles: await styles(peers[0]), version: sorted(await peers[0].version()), frontiers: await peers[0].frontiers() };
    for (let i = 1; i < peers.length; ++i) {
        const other = { value: comparable(await peers[i].value()), styles: await styles(peers[i]), version: sorted(await peers[i].version()), frontiers: await peers[i].frontiers() };
        for (const what of Object.keys(first)) {
            if (differs(first[what], other[what])) {
                return `${what} of peer 0 (${script.peers[0].ours ? "ours" : "npm"}) and peer ${i} (${script.peers[i].ours ? "ours" : "npm"}):\n`
                    + `  ${JSON.stringify(first[what])}\n  ${JSON.stringify(other[what])}`;
            }
        }
    }
    return null;
}

// What a document shows in every kind of container, styles included.
export function everything(doc) {
    return JSON.stringify(plain({ value: doc.toJSON(), text: doc.getText("text").toDelta() }));
}

// Loro checks known ops against what it is sent only when the blob brings something new as well: what it says
// to our full history with one more op, or null.
export function objection(doc, blob) {
    const before = doc.opCount();
    try {
        const { pending } = doc.import(blob);
        if (pending && pending.size > 0) return `pending: ${[...pending.keys()]}`;
        if (doc.opCount() <= before) return "nothing new: the check was not made";
    } catch (error) {
        return String(error);
    }
    return null;
}

async function echo(script, peers) {
    const ours = peers[script.peers.findIndex((peer) => peer.ours)];
    const npm = peers[script.peers.findIndex((peer) => !peer.ours)];
    const expected = everything(npm.doc);
    const fresh = new LoroDoc();
    fresh.configTextStyle(STYLES);
    fresh.import(await ours.export());
    const shown = everything(fresh);
    fresh.free();
    // Empty roots are shown once a document was asked for them; asking for the same in both evens that out.
    if (normalized(shown) !== normalized(expected)) return `after a round trip through ours:\n  ${expected}\n  ${shown}`;
    await ours.edit("map.set", ROOTS.Map, { key: "one more", value: 1 });
    return objection(npm.doc, await ours.export());
}

function normalized(text) {
    const { value, text: delta } = JSON.parse(text);
    return JSON.stringify({ value: Object.fromEntries(Object.entries(value).filter(([, item]) => !isEmpty(item) && item !== 0)), delta });
}

// Runs the script on fresh documents: what went wrong, or null.
export async function run(driver, script, { skipLast = false } = {}) {
    const peers = script.peers.map(({ id, ours }) => (ours ? new OurPeer(driver, id) : new NpmPeer(id)));
    await Promise.all(peers.map((peer) => peer.ready));
    const letters = [];
    const sentUpTo = peers.map(() => ({}));
    let index = -1;
    try {
        for (const step of script.steps) {
            ++index;
            const peer = peers[step.peer];
            switch (step.op) {
                case "commit": await peer.commit(step.where < 0.5 ? `message ${step.key}` : undefined); break;
                case "sync": {
                    const from = peers[step.other];
                    if (from !== peer) await peer.import(await from.export(step.where < 0.3 ? undefined : await peer.version()));
                    break;
                }
                // A letter holds what its writer did since the letter before it: delivered alone or out of order, it waits.
                case "send":
                    letters.push(await peer.export(sentUpTo[step.peer]));
                    sentUpTo[step.peer] = await peer.version();
                    break;
                case "deliver":
                    if (letters.length > 0) await peer.import(letters[fraction(step.where, letters.length)]);
                    break;
                default: await edit(peer, step);
            }
        }
        index = -1;
        return (await compare(script, peers, skipLast)) ?? (await echo(script, peers));
    } catch (error) {
        return `${index < 0 ? "after all steps" : `step ${index} (${script.steps[index].op})`}: ${error.stack ?? error}`;
    } finally {
        await Promise.all(peers.map((peer) => peer.drop().catch(() => {})));
    }
}

// Leaves out steps, many at once, then fewer, as long as `fails(script)` holds.
export async function shrink(script, fails, deadline = Date.now() + 20_000) {
    let best = script;
    for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
        for (let at = 0; at < best.steps.length && Date.now() < deadline;) {
            const steps = [...best.steps.slice(0, at), ...best.steps.slice(at + size)];
            const candidate = { ...best, steps };
            if (await fails(candidate)) best = candidate;
            else at += size;
        }
    }
    return best;
}
