// What the engine shows, beside npm's loro-crdt: mergeable children in their places, roots that were only named,
// nulls, and which reads leave a transaction pending.
import assert from "node:assert/strict";
import test from "node:test";
import { LoroDoc, LoroMap } from "loro-crdt";
import { EngineDriver } from "./engine_driver.mjs";
import { comparable, random } from "./engine_script.mjs";
import { plain } from "./engine_shadow.mjs";
import { share } from "./support/share.mjs";

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const RUNS = Number(process.env.QUIRE_STEPS ?? (process.env.QUIRE_LONG ? 500 : share(20)));
const KINDS = ["Map", "List", "Text", "MovableList", "Tree", "Counter"];
const KEYS = ["a", "b", "de/ep>", "back\\slash", "nul\0", "é😀"];

async function withEngine(body) {
    const engine = new EngineDriver();
    try {
        await body(engine);
    } finally {
        assert.equal(await engine.close(), 0);
    }
}

const blob = (doc, mode) => Buffer.from(doc.export({ mode })).toString("base64");

// Somebody who makes mergeable children, in maps of all sorts, writes to them, and replaces them.
class Maker {
    constructor(rand, peer) {
        this.below = (n) => Math.floor(rand() * n);
        this.pick = (list) => list[this.below(list.length)];
        this.doc = new LoroDoc();
        this.doc.setPeerId(peer);
    }

    map() {
        let map = this.doc.getMap(this.pick(["m", "n>o"]));
        for (let depth = this.below(3); depth > 0; --depth) {
            const inside = map.values().filter((value) => value?.kind?.() === "Map");
            if (inside.length === 0) break;
            map = this.pick(inside);
        }
        return map;
    }

    edit() {
        const map = this.map();
        const key = this.pick(KEYS);
        switch (this.below(6)) {
            case 0: return map.set(key, this.pick([1, null, "v", new Uint8Array([0, 0x4c, 0x4d, 1, 2, 1, 2, 3])]));
            case 1: return map.delete(key);
            case 2: return void map.setContainer(key, new LoroMap());
        }
        const held = map.get(key);
        if (held !== undefined && held !== null && !held.id?.startsWith("cid:root-")) map.delete(key);
        const kind = held?.id?.startsWith("cid:root-") ? held.kind() : this.pick(KINDS);
        const child = map[`ensureMergeable${kind}`](key);
        switch (kind) {
            case "Map": return child.set(this.pick(KEYS), this.below(9));
            case "Text": return child.insert(0, "é😀");
            case "Counter": return child.increment(1 + this.below(5));
            case "Tree": return void child.createNode().data.set("k", this.below(9));
            default: return child.insert(0, this.below(9));
        }
    }
}

test(`mergeable children are shown where they are (SEED=${SEED})`, async () => withEngine(async (engine) => {
    let shown = 0;
    for (let run = 0; run < RUNS; ++run) {
        const rand = random(SEED + run);
        const makers = ["1", "18446744073709551614"].map((peer) => new Maker(rand, peer));
        const versions = [];
        for (let round = 0; round < 6; ++round) {
            for (const maker of makers) {
                for (let i = 0; i < 4; ++i) maker.edit();
                maker.doc.commit();
                versions.push([maker, maker.doc.frontiers(), maker.doc.toJSON()]);
            }
            if (round % 2 === 0) continue;
            makers[0].doc.import(makers[1].doc.export({ mode: "update" }));
            makers[1].doc.import(makers[0].doc.export({ mode: "update" }));
        }
        for (const mode of ["update", "snapshot"]) {
            const doc = `${run} ${mode}`;
            const { doc: theirs } = makers[0];
            theirs.import(makers[1].doc.export({ mode: "update" }));
            await engine.ask("new", { doc, peer: "7" });
            await engine.ask("import", { doc, bytes: blob(theirs, mode) });
            const value = await engine.ask("value", { doc });
            assert.deepEqual(comparable(value), comparable(theirs.toJSON()), doc);
            assert.deepEqual(ids(await engine.ask("value_with_ids", { doc })), ids(theirs.getDeepValueWithID()), doc);
            shown += JSON.stringify(ids(theirs.getDeepValueWithID())).split("\u{1F91D}").length - 1;
            for (const [maker, frontiers, then] of versions) {
                await engine.ask("checkout", { doc, frontiers: frontiers.map(({ peer, counter }) => `${counter}@${peer}`) });
                assert.deepEqual(comparable(await engine.ask("value", { doc })), comparable(then), `${doc} by ${maker.doc.peerIdStr}`);
            }
            await engine.ask("drop", { doc });
        }
    }
    assert.ok(shown > RUNS, "there were mergeable children");
}));

// Ids of containers with kinds of what they hold, whatever else a tree's nodes have.
function ids(value) {
    if (Array.isArray(value)) return value.map(ids);
    if (value === null || typeof value !== "object" || value instanceof Uint8Array) return plain(value);
    const isNode = value.fractional_index !== undefined;
    if (isNode) return { id: value.id, meta: ids(value.meta?.value ?? value.meta), children: ids(value.children) };
    const entries = Object.entries(value).map(([key, item]) => [key, ids(item)]);
    return plain(Object.fromEntries(entries.filter(([, item]) => !(item?.cid?.startsWith("cid:root-") && isEmpty(item.value)))));
}
const isEmpty = (value) => value === "" || value === 0 || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

test("a root that was only named is there, as it is for them", async () => withEngine(async (engine) => {
    const theirs = new LoroDoc();
    const doc = "a";
    await engine.ask("new", { doc, peer: "1" });
    for (const kind of KINDS) {
        theirs[`get${kind}`](`my ${kind}`);
        await engine.ask("value", { doc, cid: `cid:root-my ${kind}:${kind}` });
    }
    assert.deepEqual(await engine.ask("value", { doc }), theirs.toJSON());
    assert.deepEqual(await engine.ask("value_with_ids", { doc }), theirs.getDeepValueWithID());
}));

test("what makes no op there makes none here, and what makes one does", async () => withEngine(async (engine) => {
    const theirs = new LoroDoc();
    theirs.setPeerId("1");
    const doc = "a";
    await engine.ask("new", { doc, peer: "1" });
    const list = theirs.getMovableList("l");
    const map = theirs.getMap("m");
    const cid = { l: "cid:root-l:MovableList", m: "cid:root-m:Map" };
    const steps = [
        [() => list.insert(0, 5), "mlist.insert", { cid: cid.l, pos: 0, value: 5 }],
        [() => list.set(0, 5), "mlist.set", { cid: cid.l, pos: 0, value: 5 }],
        [() => list.move(0, 0), "mlist.move", { cid: cid.l, from: 0, to: 0 }],
        [() => map.set("k", null), "map.set", { cid: cid.m, key: "k", value: null }],
        [() => map.set("k", null), "map.set", { cid: cid.m, key: "k", value: null }],
        [() => map.delete("k"), "map.delete", { cid: cid.m, key: "k" }],
        [() => map.delete("k"), "map.delete", { cid: cid.m, key: "k" }],
    ];
    for (const [there, op, args] of steps) {
        there();
        await engine.ask(op, { doc, ...args });
        assert.deepEqual(await engine.ask("vv", { doc }), Object.fromEntries(theirs.version().toJSON()), op);
    }
}));

test("a null and a key that is gone are told apart, as they are there", async () => withEngine(async (engine) => {
    const theirs = new LoroDoc();
    theirs.setPeerId("1");
    const map = theirs.getMap("m");
    map.set("k", 1);
    map.set("gone", null);
    theirs.commit();
    const before = theirs.frontiers();
    map.set("k", null);
    map.delete("gone");
    theirs.commit();
    const [[, { updated }]] = theirs.diff(before, theirs.frontiers());
    const doc = "a";
    await engine.ask("new", { doc, peer: "2" });
    await engine.ask("import", { doc, bytes: blob(theirs, "update") });
    const name = ({ peer, counter }) => `${counter}@${peer}`;
    const [{ diff }] = await engine.ask("diff", { doc, from: before.map(name), to: theirs.frontiers().map(name) });
    assert.deepEqual(Object.keys(diff.map.updated).sort(), Object.keys(updated).sort());
    for (const [key, value] of Object.entries(updated)) assert.equal(diff.map.nulls.includes(key), value === null, key);
}));

test("the same reads leave what is pending", async () => withEngine(async (engine) => {
    const reads = {
        value: (doc) => doc.toJSON(), value_with_ids: (doc) => doc.getDeepValueWithID(), changes: (doc) => doc.getAllChanges(),
        stats: (doc) => doc.opCount(), vv: (doc) => doc.version(), frontiers: (doc) => doc.frontiers(),
        oplog_vv: (doc) => doc.oplogVersion(), oplog_frontiers: (doc) => doc.oplogFrontiers(), is_detached: (doc) => doc.isDetached(),
        export_json: (doc) => doc.exportJsonUpdates(), export: (doc) => doc.export({ mode: "update" }), fork: (doc) => doc.fork(),
        diff: (doc) => doc.diff([], []), checkout_to_latest: (doc) => doc.checkoutToLatest(),
    };
    const args = { export: { mode: "updates" }, fork: { as: "another", peer: "9" }, diff: { from: [], to: [] } };
    for (const [op, there] of Object.entries(reads)) {
        const theirs = new LoroDoc();
        theirs.getText("t").insert(0, "a");
        there(theirs);
        const doc = op;
        await engine.ask("new", { doc, peer: "1" });
        await engine.ask("text.insert", { doc, cid: "cid:root-t:Text", pos: 0, text: "a" });
        await engine.ask(op, { doc, ...args[op] });
        await engine.ask("commit", { doc, message: "last" });
        const [{ message }] = await engine.ask("changes", { doc });
        assert.equal(message === "last", theirs.getPendingTxnLength() > 0, op);
    }
}));

test("ensure_mergeable makes Loro's children, hides one by another, and refuses what Loro refuses", async () => {
    await withEngine(async (engine) => {
        const npm = new LoroDoc();
        npm.setPeerId("1");
        await engine.ask("new", { doc: "a", peer: "2" });
        const map = npm.getMap("m");
        const cid = "cid:root-m:Map";
        const code = async (op, fields) => engine.ask(op, { doc: "a", ...fields }).then(() => "fine", (error) => error.code);
        for (const key of KEYS) {
            for (const kind of KINDS) {
                const theirs = map[`ensureMergeable${kind}`](key).id;
                assert.equal(await engine.ask("map.ensure_mergeable", { doc: "a", cid, key, kind }), theirs);
            }
        }
        await engine.ask("commit", { doc: "a" });
        npm.commit();
        // One key, two peers, one text.
        const text = await engine.ask("map.ensure_mergeable", { doc: "a", cid, key: "a", kind: "Text" });
        await engine.ask("text.insert", { doc: "a", cid: text, pos: 0, text: "ours " });
        map.ensureMergeableText("a").insert(0, "theirs ");
        npm.commit();
        await engine.ask("import", { doc: "a", bytes: blob(npm, "update") });
        npm.import(new Uint8Array(Buffer.from(await engine.ask("export", { doc: "a", mode: "updates" }), "base64")));
        const shown = (await engine.ask("value", { doc: "a" })).m.a;
        assert.equal(shown, npm.getMap("m").get("a").toString());
        assert.equal(shown.length, "ours theirs ".length);
        // Hidden by another kind, it is not edited.
        await engine.ask("map.ensure_mergeable", { doc: "a", cid, key: "a", kind: "List" });
        assert.equal(await code("text.insert", { cid: text, pos: 0, text: "x" }), "container_deleted");
        await engine.ask("map.set", { doc: "a", cid, key: "plain", value: 1 });
        assert.equal(await code("map.ensure_mergeable", { cid, key: "plain", kind: "Text" }), "key_taken");
        await engine.ask("map.set", { doc: "a", cid, key: "null", value: null });
        assert.equal(await code("map.ensure_mergeable", { cid, key: "null", kind: "Text" }), "fine");
    });
});
