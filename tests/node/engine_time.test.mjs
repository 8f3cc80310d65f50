// Time travel and events, beside npm's loro-crdt: histories are written there by several peers, of every kind of
// container, and brought to both. At random versions both show the same; our diffs lead from one to the
// other; a shadow made of our events alone is what npm shows.
import assert from "node:assert/strict";
import test from "node:test";
import { LoroDoc, LoroList } from "loro-crdt";
import { EngineDriver } from "./engine_driver.mjs";
import { Shadow, comparable, isEmpty, plain } from "./engine_shadow.mjs";
import { STYLES, Writers, base64, ids, shown } from "./engine_writers.mjs";
import { deepValueWithIds } from "./support/deep_value.mjs";
import { share } from "./support/share.mjs";

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const RUNS = Number(process.env.QUIRE_STEPS ?? (process.env.QUIRE_LONG ? 2000 : share(40)));

const delta = (letters) => {
    const out = [];
    for (const { letter, attributes } of letters) {
        const last = out.at(-1);
        if (last && JSON.stringify(plain(last.attributes ?? {})) === JSON.stringify(plain(attributes))) last.insert += letter;
        else out.push({ insert: letter, ...(Object.keys(attributes).length > 0 ? { attributes } : {}) });
    }
    return plain(out);
};

// npm leaves neighbours with the same attributes apart where it deleted what lay between them.
const joined = (steps) => delta(steps.flatMap(({ insert, attributes = {} }) => [...insert].map((letter) => ({ letter, attributes }))));

// Both diffs tell of the same containers; `npm` stands where they lead to. Its diffs now and then delete a node that
// stays and make it anew; what is empty below it then is as new, and nothing is told of it.
function assertSameContainers(ours, theirs, npm) {
    const told = new Set(theirs.map(([cid]) => cid));
    const remade = new Set(theirs.flatMap(([, { type, diff }]) => (type === "tree" ? diff : [])).filter(({ action }) => action === "create").map(({ target }) => target));
    const walk = (item, isWithin) => {
        if (item === null || typeof item !== "object") return;
        if (isWithin && item.cid && isEmpty(item.value)) told.add(item.cid);
        for (const child of Object.values(item)) walk(child, isWithin || remade.has(item.id));
    };
    walk(deepValueWithIds(npm), false);
    for (const { cid } of ours) assert.ok(told.has(cid), `${cid} is told of here only`);
}

async function forEachHistory(t, run) {
    console.log(`SEED=${SEED} QUIRE_STEPS=${RUNS}`);
    const driver = new EngineDriver();
    t.after(() => driver.close());
    for (let i = 0; i < RUNS; ++i) {
        const writers = new Writers(SEED + i);
        writers.write(25);
        const npm = new LoroDoc();
        npm.configTextStyle(STYLES);
        for (const doc of writers.docs) npm.import(doc.export({ mode: "update" }));
        const ask = (op, fields = {}) => driver.ask(op, { doc: `d${i}`, ...fields });
        await ask("new", { peer: "1000" });
        await ask("config", { text_styles: STYLES });
        try {
            await run({ writers, npm, ask });
        } catch (error) {
            throw new Error(`SEED=${SEED + i} QUIRE_STEPS=1: ${error.message}`, { cause: error });
        }
        await ask("drop");
        for (const doc of [npm, ...writers.docs]) doc.free();
    }
}

test("both engines show the same at any version, and diffs lead from one to the other", async (t) => {
    await forEachHistory(t, async ({ writers, npm, ask }) => {
        await ask("import", { bytes: base64(npm.export({ mode: "update" })) });
        for (let i = 0; i < 4; ++i) {
            const from = writers.pick(writers.versions);
            const to = writers.pick(writers.versions);
            const shadow = new Shadow();
            shadow.apply(await ask("diff", { from: [], to: ids(from) }));
            npm.checkout(from);
            await ask("checkout", { frontiers: ids(from) });
            assert.deepEqual(comparable(await ask("value")), shown(npm));
            assert.deepEqual(await ask("vv"), Object.fromEntries(npm.version().toJSON()));
            assert.equal(await ask("is_detached"), npm.isDetached());
            assert.deepEqual(comparable(shadow.value()), shown(npm));
            const diff = await ask("diff", { from: ids(from), to: ids(to) });
            shadow.apply(diff);
            const theirs = npm.diff(from, to);
            npm.checkout(to);
            assertSameContainers(diff, theirs, npm);
            await ask("checkout", { frontiers: ids(to) });
            assert.deepEqual(comparable(shadow.value()), shown(npm));
            assert.deepEqual(delta(shadow.letters("cid:root-text:Text")), joined(npm.getText("text").toDelta()));
        }
        npm.checkoutToLatest();
        await ask("checkout_to_latest");
        assert.deepEqual(comparable(await ask("value")), shown(npm));
    });
});

test("a snapshot of a version opens in the other engine as that version", async (t) => {
    await forEachHistory(t, async ({ writers, npm, ask }) => {
        await ask("import", { bytes: base64(npm.export({ mode: "update" })) });
        const at = writers.pick(writers.versions);
        npm.checkout(at);
        const there = new LoroDoc();
        there.configTextStyle(STYLES);
        there.import(Buffer.from(await ask("export", { mode: "snapshot_at", frontiers: ids(at) }), "base64"));
        assert.deepEqual(shown(there), shown(npm));
        assert.deepEqual(Object.fromEntries(there.oplogVersion().toJSON()), Object.fromEntries(npm.version().toJSON()));
        // What came later is merged into it as into any other document.
        npm.checkoutToLatest();
        there.import(npm.export({ mode: "update" }));
        assert.deepEqual(shown(there), shown(npm));
        there.free();
    });
});

test("where npm makes a node anew, its emptied list is told of here alone (SEED=1000055)", async (t) => {
    const [npm, other] = ["12", "7"].map((peer) => {
        const doc = new LoroDoc();
        doc.setPeerId(peer);
        return doc;
    });
    other.getTree("tree").createNode();
    npm.getText("text").insert(0, "its node comes after the other's");
    const list = npm.getTree("tree").createNode().data.setContainer("c", new LoroList());
    npm.commit();
    const to = npm.frontiers();
    npm.import(other.export({ mode: "update" }));
    list.push("x");
    npm.commit();
    const from = npm.frontiers();
    const driver = new EngineDriver();
    t.after(() => driver.close());
    await driver.ask("new", { doc: "d", peer: "1000" });
    await driver.ask("import", { doc: "d", bytes: base64(npm.export({ mode: "update" })) });

    const diff = await driver.ask("diff", { doc: "d", from: ids(from), to: ids(to) });
    const theirs = npm.diff(from, to);

    assert.deepEqual(diff.find(({ cid }) => cid === list.id)?.diff, { list: [{ delete: 1 }] });
    assert.ok(!theirs.some(([cid]) => cid === list.id), "npm has come to tell of it: what excuses it can go");
    npm.checkout(to);
    assertSameContainers(diff, theirs, npm);
    assert.throws(() => assertSameContainers([...diff, { cid: "cid:root-text:Text" }], [], npm), /here only/);
});

test("a shadow made of events alone is what npm shows", async (t) => {
    await forEachHistory(t, async ({ writers, npm, ask }) => {
        await ask("events.start");
        const shadow = new Shadow();
        const replica = new LoroDoc();
        let last = [];
        const follow = async () => {
            for (const { from, to, diffs } of await ask("events.take")) {
                assert.deepEqual(from, last);
                last = to;
                shadow.apply(diffs);
            }
            assert.deepEqual(comparable(shadow.value()), shown(replica));
            assert.deepEqual(delta(shadow.letters("cid:root-text:Text")), joined(replica.getText("text").toDelta()));
        };
        for (const blob of writers.blobs) {
            await ask("import", { bytes: base64(blob) });
            replica.import(blob);
            await follow();
            if (writers.below(4) === 0) {
                const version = writers.pick(writers.versions);
                try { replica.checkout(version); } catch { continue; }  // Not known yet.
                await ask("checkout", { frontiers: ids(version) });
                await follow();
                replica.checkoutToLatest();
                await ask("checkout_to_latest");
                await follow();
            }
        }
        await ask("import", { bytes: base64(npm.export({ mode: "update" })) });
        replica.import(npm.export({ mode: "update" }));
        await follow();
        replica.free();
    });
});

test("reverting leads back, and what it writes npm reads alike", async (t) => {
    await forEachHistory(t, async ({ writers, npm, ask }) => {
        await ask("import", { bytes: base64(npm.export({ mode: "update" })) });
        const version = writers.pick(writers.versions);
        await ask("revert_to", { frontiers: ids(version) });
        await ask("commit");
        const bytes = await ask("export", { mode: "updates" });
        npm.import(new Uint8Array(Buffer.from(bytes, "base64")));
        const now = shown(npm);
        assert.deepEqual(comparable(await ask("value")), now);
        npm.checkout(version);
        // Children are made anew, and nodes have other ids; the rest is as it was.
        const nameless = (value) => {
            if (Array.isArray(value)) return value.map(nameless);
            if (value === null || typeof value !== "object") return value;
            return Object.fromEntries(Object.entries(value).filter(([key]) => key !== "id" && key !== "fractional_index").map(([key, item]) => [key, nameless(item)]));
        };
        assert.deepEqual(nameless(now), nameless(shown(npm)));
    });
});

test("a detached document is edited as in npm where both allow it", async (t) => {
    await forEachHistory(t, async ({ writers, npm, ask }) => {
        await ask("import", { bytes: base64(npm.export({ mode: "update" })) });
        npm.setDetachedEditing(true);
        await ask("config", { detached_editing: true });
        let peer = 5000;
        // Both renew their peer; the same one makes them comparable.
        const renew = async () => {
            npm.setPeerId(`${++peer}`);
            await ask("set_peer", { peer: `${peer}` });
        };
        const same = async () => {
            assert.deepEqual(comparable(await ask("value")), shown(npm));
            assert.deepEqual((await ask("frontiers")).sort(), ids(npm.frontiers()).sort());
            assert.deepEqual((await ask("oplog_frontiers")).sort(), ids(npm.oplogFrontiers()).sort());
            assert.equal(await ask("is_detached"), npm.isDetached());
        };
        for (let i = 0; i < 5; ++i) {
            const version = writers.pick(writers.versions);
            npm.checkout(version);
            await ask("checkout", { frontiers: ids(version) });
            await renew();
            await same();
            for (let n = writers.below(3); n > 0; --n) {
                const at = writers.below([...npm.getText("text").toString()].length + 1);
                npm.getText("text").insert([...npm.getText("text").toString()].slice(0, at).join("").length, "D");
                await ask("text.insert", { cid: "cid:root-text:Text", pos: at, text: "D" });
                npm.getMap("map").set("a", n);
                await ask("map.set", { cid: "cid:root-map:Map", key: "a", value: n });
            }
            if (writers.below(2) === 0) {
                npm.commit();
                await ask("commit");
                await same();
                writers.versions.push(npm.frontiers());
            }
            if (writers.below(2) === 0) {
                const other = writers.pick(writers.docs);
                writers.edit(other);
                other.commit();
                npm.import(other.export({ mode: "update" }));
                await ask("import", { bytes: base64(other.export({ mode: "update" })) });
                await same();
            }
            if (writers.below(3) === 0) {
                npm.checkoutToLatest();
                await ask("checkout_to_latest");
                await renew();
                await same();
            }
        }
        npm.checkoutToLatest();
        await ask("checkout_to_latest");
        await same();
        await ask("config", { detached_editing: false });
        await ask("detach");
        await assert.rejects(ask("map.set", { cid: "cid:root-map:Map", key: "a", value: 1 }), { code: "detached" });
    });
});
