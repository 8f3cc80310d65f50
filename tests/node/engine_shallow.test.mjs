// Shallow documents beside npm's loro-crdt: histories are written there, trimmed by either engine, and go on in both.
// Both begin at the same version, show the same, take the same changes and refuse the same.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { LoroDoc, decodeImportBlobMeta } from "loro-crdt";
import { EngineDriver } from "./engine_driver.mjs";
import { Shadow, comparable } from "./engine_shadow.mjs";
import { joined, plain } from "./engine_script.mjs";
import { STYLES, Writers, base64, ids, shown } from "./engine_writers.mjs";
import { seeds } from "./support/seeds.mjs";

const driver = new EngineDriver();
after(() => driver.close());

const { base, count } = seeds(20261129, { usual: 60, long: 3000 });
const bytesOf = (text) => new Uint8Array(Buffer.from(text, "base64"));
const plainVector = (version) => Object.fromEntries([...version.toJSON()].filter(([, end]) => end > 0).sort());
const sortedIds = (frontiers) => ids(frontiers).sort();
const TEXT = "cid:root-text:Text";

let documents = 0;
class Ours {
    static async open(peer = "1000") {
        const ours = new Ours();
        ours.name = `shallow ${++documents}`;
        await ours.ask("new", { peer });
        await ours.ask("config", { text_styles: STYLES });
        return ours;
    }
    ask(op, fields = {}) { return driver.ask(op, { doc: this.name, ...fields }); }
    import(bytes) { return this.ask("import", { bytes: base64(bytes) }); }
    async updates(from = {}) { return bytesOf(await this.ask("export", { mode: "updates", from })); }
    async export(mode, frontiers) { return bytesOf(await this.ask("export", { mode, frontiers })); }
    drop() { return this.ask("drop"); }
}

function newNpm(peer) {
    const doc = new LoroDoc();
    doc.setPeerId(peer);
    doc.configTextStyle(STYLES);
    return doc;
}

async function assertAlike(ours, npm, what) {
    assert.deepEqual(comparable(await ours.ask("value")), shown(npm), what);
    assert.deepEqual(joined(plain(await ours.ask("text.delta", { cid: TEXT }))), joined(plain(npm.getText("text").toDelta())), what);
    assert.deepEqual(await ours.ask("vv"), plainVector(npm.version()), what);
    assert.deepEqual((await ours.ask("frontiers")).sort(), sortedIds(npm.frontiers()), what);
}

// Where a blob begins, as both engines say.
async function startOf(blob) {
    const { start_frontiers: heads, mode } = await driver.ask("inspect", { bytes: base64(blob) });
    assert.deepEqual([...heads].sort(), sortedIds(decodeImportBlobMeta(blob, false).startFrontiers));
    assert.equal(mode, "shallow_snapshot");
    return heads;
}

// An edit of a root that ours makes: npm's writers do the rest.
async function edit(ours, writers) {
    const { unicode: length } = await ours.ask("text.len", { cid: TEXT });
    const pos = writers.below(length + 1);
    switch (writers.below(6)) {
        case 0: if (pos < length) return ours.ask("text.delete", { cid: TEXT, pos, len: 1 });
        // Falls through.
        case 1: return ours.ask("text.insert", { cid: TEXT, pos, text: "o" });
        case 2: if (pos < length) return ours.ask("text.mark", { cid: TEXT, start: pos, end: length, key: "bold", value: true });
        // Falls through.
        case 3: return ours.ask("map.set", { cid: "cid:root-map:Map", key: writers.pick(["a", "b"]), value: writers.below(9) });
        case 4: return ours.ask("mlist.insert", { cid: "cid:root-movablelist:MovableList", pos: 0, value: writers.below(9) });
        default: return ours.ask("list.insert", { cid: "cid:root-list:List", pos: 0, value: writers.below(9) });
    }
}

async function forEachHistory(t, run) {
    for (let seed = base; seed < base + count; ++seed) {
        const writers = new Writers(seed);
        const meet = () => {
            for (const from of writers.docs) for (const to of writers.docs) if (from !== to) to.import(from.export({ mode: "update" }));
        };
        writers.write(18);
        meet();
        if (writers.below(2) === 0) {
            writers.write(6);
            meet();
        }
        writers.docs[0].commit();
        try {
            await run(writers, meet, seed);
        } catch (error) {
            throw new Error(`SEED=${seed}: ${error.message}`, { cause: error });
        }
        for (const doc of writers.docs) doc.free();
    }
    t.diagnostic(`${count} histories from seed ${base}`);
}

// A shallow snapshot of the writers' history, by either engine, and where it begins.
async function trimmed(writers) {
    const source = writers.docs[0];
    const version = writers.below(3) === 0 ? source.frontiers() : writers.pick(writers.versions);
    const theirs = source.export({ mode: "shallow-snapshot", frontiers: version });
    const whole = await Ours.open();
    await whole.import(source.export({ mode: "update" }));
    const ours = await whole.export("shallow_snapshot", ids(version));
    await whole.drop();
    const start = await startOf(ours);
    assert.deepEqual([...start].sort(), [...await startOf(theirs)].sort(), "both begin at one version");
    return { blob: writers.below(2) === 0 ? theirs : ours, start };
}

test("both engines go on from one shallow snapshot alike", async (t) => {
    await forEachHistory(t, async (writers, meet, seed) => {
        const { blob, start } = await trimmed(writers);
        const npm = newNpm("2000");
        const ours = await Ours.open();
        const isTold = seed % 2 === 0;
        if (isTold) await ours.ask("events.start");
        const shadow = new Shadow();
        const check = async (what) => {
            await assertAlike(ours, npm, what);
            if (!isTold) return;
            for (const { diffs } of await ours.ask("events.take")) shadow.apply(diffs);
            assert.deepEqual(comparable(shadow.value()), shown(npm), `events: ${what}`);
        };
        npm.import(blob);
        await ours.import(blob);
        await check("opened");
        assert.equal(npm.isShallow(), start.length > 0);
        for (let round = 0; round < 3; ++round) {
            writers.write(5);
            for (let n = writers.below(3); n > 0; --n) writers.edit(npm);
            npm.commit();
            for (let n = writers.below(3); n > 0; --n) await edit(ours, writers);
            await ours.ask("commit");
            const writer = writers.pick(writers.docs);
            await ours.import(writer.export({ mode: "update", from: writers.docs[0].version() }));
            await ours.import(npm.export({ mode: "update" }));
            npm.import(writer.export({ mode: "update" }));
            npm.import(await ours.updates(plainVector(npm.version())));
            await ours.import(npm.export({ mode: "update" }));
            await check(`round ${round}`);
            writer.import(await ours.updates(plainVector(writer.version())));
            writer.import(npm.export({ mode: "update" }));
        }
        meet();
        const whole = newNpm("3000");
        whole.import(writers.docs[0].export({ mode: "update" }));
        await ours.import(whole.export({ mode: "update" }));
        npm.import(whole.export({ mode: "update" }));
        assert.deepEqual(comparable(await ours.ask("value")), shown(whole));
        await check("everything");
        // Saved by one and opened by the other.
        const again = newNpm("4000");
        again.import(await ours.export("snapshot"));
        assert.deepEqual(shown(again), shown(npm));
        assert.deepEqual(sortedIds(again.shallowSinceFrontiers()), [...start].sort());
        const ourAgain = await Ours.open();
        await ourAgain.import(npm.export({ mode: "snapshot" }));
        await assertAlike(ourAgain, npm, "npm's snapshot of its shallow document");
        for (const doc of [npm, whole, again]) doc.free();
        await ours.drop();
        await ourAgain.drop();
    });
});

test("both show each version from the start on, and refuse those before it", async (t) => {
    await forEachHistory(t, async (writers, meet) => {
        const { blob, start } = await trimmed(writers);
        writers.write(8);
        meet();
        const npm = newNpm("2000");
        const ours = await Ours.open();
        npm.import(blob);
        await ours.import(blob);
        npm.import(writers.docs[0].export({ mode: "update" }));
        await ours.import(writers.docs[0].export({ mode: "update" }));
        for (let i = 0; i < 4; ++i) {
            const version = i === 0 ? npm.shallowSinceFrontiers() : writers.pick(writers.versions);
            let refused = false;
            try { npm.checkout(version); } catch { refused = true; }
            if (refused) {
                await assert.rejects(ours.ask("checkout", { frontiers: ids(version) }), { code: "shallow_snapshot" });
                await assert.rejects(ours.ask("fork_at", { as: "no such fork", frontiers: ids(version) }), { code: "shallow_snapshot" });
                continue;
            }
            await ours.ask("checkout", { frontiers: ids(version) });
            await assertAlike(ours, npm, `at ${ids(version)} of ${start}`);
            npm.checkoutToLatest();
            await ours.ask("checkout_to_latest");
        }
        await assertAlike(ours, npm, "at the latest version again");
        npm.free();
        await ours.drop();
    });
});

test("a state alone is its version, and takes what came later", async (t) => {
    await forEachHistory(t, async (writers) => {
        const source = writers.docs[0];
        const version = writers.pick(writers.versions);
        const whole = await Ours.open();
        await whole.import(source.export({ mode: "update" }));
        const blob = await whole.export("state_only", ids(version));
        await startOf(blob);
        const npm = newNpm("2000");
        npm.import(blob);
        source.checkout(version);
        assert.deepEqual(shown(npm), shown(source));
        assert.deepEqual(plainVector(npm.version()), plainVector(source.version()));
        const ours = await Ours.open();
        await ours.import(blob);
        await assertAlike(ours, npm, "a state alone");
        source.checkoutToLatest();
        const later = source.export({ mode: "update", from: npm.version() });
        let refused = false;
        try { npm.import(later); } catch { refused = true; }
        if (refused) await assert.rejects(ours.import(later), { code: "shallow_snapshot" });
        else {
            await ours.import(later);
            assert.deepEqual(comparable(await ours.ask("value")), shown(source));
        }
        npm.free();
        await ours.drop();
        await whole.drop();
    });
});

// Only hostile histories name an op of another container as a node of a tree. The state of such a node has an empty map
// that lies in that container; a program that opens the state has to see what the history says.
test("a state with a node that another container made is taken by npm, and nobody can write to its map", async () => {
    const source = newNpm("1");
    source.importJsonUpdates({
        schema_version: 1, start_version: {}, peers: ["1"],
        changes: [{ id: "0@0", timestamp: 0, deps: [], lamport: 0, msg: null, ops: [
            { container: "cid:root-map:Map", counter: 0, content: { type: "insert", key: "key", value: "\u{1F99C}:cid:0@0:Map" } },
            { container: "cid:root-map:Map", counter: 1, content: { type: "insert", key: "key", value: 1 } },
            { container: "cid:root-tree:Tree", counter: 2, content: { type: "move", target: "0@0", parent: null, fractional_index: "80" } },
        ] }],
    });
    const ours = await Ours.open();
    await ours.import(source.export({ mode: "update" }));
    const snapshot = await ours.export("snapshot");
    const lazy = await Ours.open("1001");
    await lazy.import(snapshot);
    const npm = newNpm("77");
    npm.import(snapshot);
    const map = "cid:0@1:Map";
    assert.deepEqual(shown(npm), shown(source));
    for (const each of [ours, lazy]) {
        assert.deepEqual(comparable(await each.ask("value")), shown(npm));
        await assert.rejects(each.ask("map.set", { cid: map, key: "key", value: 2 }));
    }
    assert.throws(() => npm.getContainerById(map).set("key", 2));
    npm.getMap("map").set("more", 1);
    npm.commit();
    for (const each of [ours, lazy]) {
        await each.import(npm.export({ mode: "update" }));
        assert.deepEqual(comparable(await each.ask("value")), shown(npm));
        await each.drop();
    }
});
