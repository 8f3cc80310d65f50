// The same edits of trees in npm loro-crdt and in `quire engine`, by peers of the same names: each step must leave
// the same nodes at the same places under the same fractional indexes, and the same ops behind.
//
// Which scripts: support/seeds.mjs.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { LoroDoc } from "loro-crdt";
import { EngineDriver } from "./engine_driver.mjs";
import { random } from "./engine_script.mjs";
import { withoutParents } from "./support/tree_steps.mjs";
import { seeds } from "./support/seeds.mjs";

const driver = new EngineDriver();
after(() => driver.close());

const CID = "cid:root-tree:Tree";
const FIRST = 20261122;
const { base, count } = seeds(FIRST, { usual: 60, long: 2000 });

const flat = (nodes) => nodes.flatMap((node) => [node, ...flat(node.children)]);
const opsOf = (doc) => doc.exportJsonUpdates(undefined, undefined, false).changes
    .flatMap(({ id, ops }) => ops.map((op) => JSON.stringify([id.split("@")[1], op]))).sort();

const elsewhere = (index) => (index > 0 ? index - 1 : index);

// `fault`: ours moves nodes to another place than npm.
async function run(seed, { fault = false } = {}) {
    const rand = random(seed);
    const pick = (list) => list[Math.floor(rand() * list.length)];
    const peers = await Promise.all(["7", "3", "18446744073709551614"].map(async (peer) => {
        const doc = new LoroDoc();
        doc.setPeerId(peer);
        const name = `${seed} ${peer}${fault ? " with a fault" : ""}`;
        await driver.ask("new", { doc: name, peer });
        return { doc, ask: (op, fields) => driver.ask(op, { doc: name, cid: CID, ...fields }) };
    }));
    const same = async ({ doc, ask }, what) => {
        const theirs = withoutParents(doc.getTree("tree").toJSON());
        assert.deepEqual(await ask("tree.nodes"), theirs, `seed ${seed}: ${what}`);
        return theirs;
    };
    // Both engines do it or both refuse.
    const both = async (what, theirs, ours) => {
        let refused = null;
        try { theirs(); } catch (error) { refused = error; }
        if (refused) await assert.rejects(ours, undefined, `seed ${seed}: ${what} should fail as in npm: ${refused}`);
        else await ours();
    };
    for (let step = 0; step < 60; ++step) {
        const peer = pick(peers);
        const tree = peer.doc.getTree("tree");
        const roots = tree.toJSON();
        const nodes = flat(roots);
        const choice = rand();
        const parent = nodes.length === 0 || rand() < 0.4 ? null : pick(nodes);
        const siblings = parent?.children ?? roots;
        if (nodes.length === 0 || choice < 0.35) {
            const index = rand() < 0.3 ? undefined : Math.floor(rand() * (siblings.length + 1.1));
            await both("create", () => tree.createNode(parent?.id, index), () => peer.ask("tree.create", { parent: parent?.id ?? null, index }));
        } else if (choice < 0.65) {
            const node = pick(nodes);
            const index = rand() < 0.3 ? undefined : Math.floor(rand() * (siblings.length + 1));
            await both("move", () => tree.move(node.id, parent?.id, index), () => peer.ask("tree.move", { node: node.id, parent: parent?.id ?? null, index: fault ? elsewhere(index) : index }));
        } else if (choice < 0.72) {
            const node = pick(nodes);
            await both("delete", () => tree.delete(node.id), () => peer.ask("tree.delete", { node: node.id }));
        } else if (choice < 0.8) {
            const node = pick(nodes);
            const cid = await peer.ask("tree.meta", { node: node.id });
            assert.equal(cid, tree.getNodeByID(node.id).data.id);
            tree.getNodeByID(node.id).data.set("k", step);
            await peer.ask("map.set", { cid, key: "k", value: step });
        } else {
            const other = pick(peers);
            if (other === peer) continue;
            other.doc.commit();
            peer.doc.commit();
            await peer.ask("import", { bytes: await other.ask("export", { mode: "updates" }) });
            peer.doc.import(other.doc.export({ mode: "update" }));
        }
        await same(peer, `after step ${step}`);
    }
    for (const peer of peers) {
        peer.doc.commit();
        const copy = new LoroDoc();
        copy.import(new Uint8Array(Buffer.from(await peer.ask("export", { mode: "updates" }), "base64")));
        assert.deepEqual(opsOf(copy), opsOf(peer.doc), `seed ${seed}: ops`);
        copy.free();
        await peer.ask("drop");
    }
    peers.forEach(({ doc }) => doc.free());
}

test(`the same edits make the same tree in both engines (first seed ${base})`, async (t) => {
    const deadline = Date.now() + (process.env.QUIRE_LONG ? 240_000 : 40_000);
    let seed = base;
    for (; seed < base + count && (seed < base + 5 || Date.now() < deadline); ++seed) await run(seed);
    t.diagnostic(`${seed - base} scripts`);
});

test("the comparison sees a node that was put one place off", async () => {
    let seen = 0;
    for (let seed = FIRST; seed < FIRST + 5; ++seed) await run(seed, { fault: true }).catch(() => ++seen);
    assert.ok(seen >= 4, `${seen} of 5`);
});

test("a create by another name than its op is refused, as there", async () => {
    const json = {
        schema_version: 1, start_version: {}, peers: ["5"],
        changes: [{ id: "0@0", timestamp: 0, deps: [], lamport: 0, msg: null, ops: [
            { container: "cid:root-tree:Tree", counter: 0, content: { type: "create", target: "9@0", parent: null, fractional_index: "80" } }] }],
    };
    const doc = new LoroDoc();
    assert.throws(() => doc.importJsonUpdates(json));
    await driver.ask("new", { doc: "strict" });
    await assert.rejects(driver.ask("import_json", { doc: "strict", json }));
});

test("errors say what is wrong and change nothing", async () => {
    const ask = (op, fields) => driver.ask(op, { doc: "errors", cid: CID, ...fields });
    await driver.ask("new", { doc: "errors", peer: "1" });
    const top = await ask("tree.create");
    const leaf = await ask("tree.create", { parent: top });
    const code = async (op, fields) => {
        try { await ask(op, fields); } catch (error) { return error.code; }
        return null;
    };
    const before = await ask("tree.nodes");
    assert.equal(await code("tree.move", { node: top, parent: leaf }), "cyclic_move");
    assert.equal(await code("tree.move", { node: "9@9" }), "node_not_found");
    assert.equal(await code("tree.create", { parent: "9@9" }), "node_not_found");
    assert.equal(await code("tree.create", { index: 2 }), "out_of_bound");
    assert.equal(await code("tree.create", { parent: "nonsense" }), "invalid_argument");
    assert.equal(await code("tree.create", { cid: "cid:root-tree:Map" }), "wrong_kind");
    assert.deepEqual(await ask("tree.nodes"), before);
});
