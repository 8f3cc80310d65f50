// Our engine beside Loro's own (npm loro-crdt), step by step: peers of both edit and exchange updates at random
// and must end alike; Loro must take our re-encoding of its whole history as its own.
//
// Which scripts: support/seeds.mjs; fewer where the time is short, and the test says how many that were.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { LoroDoc } from "loro-crdt";
import { EngineDriver } from "./engine_driver.mjs";
import { everything, makeScript, objection, run, shrink } from "./engine_script.mjs";
import { mutate } from "./loro_blob.mjs";
import { seeds } from "./support/seeds.mjs";

const driver = new EngineDriver();
after(() => driver.close());

const FIRST = 20261121;
const { base, count } = seeds(FIRST, { usual: 300, long: 5000 });
const fewest = Math.min(count, 20);
const seconds = process.env.QUIRE_LONG ? 240 : 50;

async function report(script, fault) {
    const small = await shrink(script, async (candidate) => (await run(driver, candidate)) !== null);
    const lines = small.steps.map((step) => `  ${JSON.stringify(step)}`).join("\n");
    return `seed ${script.seed}: ${fault}\nshrunk to ${small.steps.length} steps, peers ${JSON.stringify(small.peers)}:\n${lines}\n`
        + `which ends: ${await run(driver, small)}`;
}

test(`random histories of peers in both engines end alike (first seed ${base})`, async (t) => {
    const deadline = Date.now() + seconds * 1000;
    let seed = base;
    for (; seed < base + count && (seed < base + fewest || Date.now() < deadline); ++seed) {
        const script = makeScript(seed);
        const fault = await run(driver, script);
        if (fault !== null) assert.fail(await report(script, fault));
    }
    t.diagnostic(`${seed - base} histories`);
});

const step = (op, fields) => ({ peer: 0, op, at: 0, where: 0, size: 0.3, other: 0, text: "a", value: 0, key: "a", kind: "Map", ...fields });

// npm's deep value with ids has none for what stands in a tree node's map: such a text was not compared at all.
test("a styled text in a tree node's map is compared as any other (seed 20261557)", async () => {
    const peers = [{ id: "3000000000", ours: true }, { id: "18446744073709551614", ours: false }];
    const steps = [
        step("tree.create", { size: 0 }),
        step("map.insert_container", { at: 0.99, key: "b", kind: "Text" }),
        step("text.apply_delta", { at: 0.99, text: "\n", value: { $bytes: "AP8=" } }),
        step("sync", { peer: 1, other: 0 }),
        step("text.insert", { peer: 1, at: 0.99 }),
    ];
    assert.equal(await run(driver, { seed: 20261557, peers, steps }), null);
});

// A document with every kind of op, and what our engine makes of it with one op more.
async function carried() {
    const doc = new LoroDoc();
    doc.setPeerId("7");
    doc.configTextStyle({ bold: { expand: "after" }, link: { expand: "none" } });
    const text = doc.getText("text");
    text.insert(0, "0123456789".repeat(10));
    text.delete(77, 1);
    text.mark({ start: 11, end: 48 }, "bold", true);
    text.mark({ start: 30, end: 60 }, "link", { url: "x" });
    const list = doc.getMovableList("movable");
    for (const value of [2 ** 50, 1.5, "MARKER", new Uint8Array([1, 2, 3])]) list.push(value);
    list.move(0, 2);
    list.set(1, "set");
    const tree = doc.getTree("tree");
    const root = tree.createNode();
    const child = root.createNode();
    child.data.set("title", "child");
    child.move(tree.createNode());
    tree.delete(root.id);
    doc.getCounter("counter").increment(5);
    doc.getCounter("counter").increment(0.25);
    doc.commit();
    await driver.ask("new", { doc: "carrier", peer: "8" });
    await driver.ask("import", { doc: "carrier", bytes: Buffer.from(doc.export({ mode: "update" })).toString("base64") });
    const exported = async () => new Uint8Array(Buffer.from(await driver.ask("export", { doc: "carrier", mode: "updates" }), "base64"));
    const unchanged = await exported();
    await driver.ask("map.set", { doc: "carrier", cid: "cid:root-map:Map", key: "one more", value: 1 });
    const oneMore = await exported();
    await driver.ask("drop", { doc: "carrier" });
    return { doc, unchanged, oneMore };
}

test("marks, movable lists, trees and counters pass through our engine unharmed", async () => {
    const { doc, unchanged, oneMore } = await carried();
    const fresh = new LoroDoc();
    fresh.configTextStyle({ bold: { expand: "after" }, link: { expand: "none" } });
    fresh.import(unchanged);
    assert.equal(everything(fresh), everything(doc));
    assert.deepEqual(fresh.exportJsonUpdates(), doc.exportJsonUpdates());
    assert.equal(objection(doc, oneMore), null);
});

test("the comparison sees a changed style, number type, value, position, element, delta and delete", async () => {
    const faults = {
        "a style's info byte": [[0x84, 37], 0, 0x86],
        "an integer as a float": [[0x03, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02], 0, 0x04],
        "a letter of a value": [Buffer.from("MARKER"), 5, 0x53],
        "a position in a tree": [[0x01, 0x80, 0x02, 0x81, 0x80], 3, 0x82],
        "a delete's start id": [[0x03, 0x01, 0x9a, 0x01], 2, 0x9c],
        "the element that is moved": [[0x00, 0x00, 0x69, 0x00, 0x6b], 2, 0x6a],
        "the element that is set": [[0x6b, 0x05, 0x03, ...Buffer.from("set")], 0, 0x6a],
        "a counter's delta": [[0x3f, 0xd0, 0, 0, 0, 0, 0, 0], 1, 0xe0],
    };
    for (const [what, [pattern, offset, byte]] of Object.entries(faults)) {
        const { doc, oneMore } = await carried();
        assert.match(objection(doc, mutate(oneMore, pattern, offset, byte)) ?? "nothing", /has been used/, what);
    }
});

test("the comparison sees a peer that missed an update", async () => {
    let seen = 0;
    for (let seed = FIRST; seed < FIRST + 5; ++seed) {
        if ((await run(driver, makeScript(seed), { skipLast: true })) !== null) ++seen;
    }
    assert.ok(seen >= 4, `${seen} of 5`);
});

test("whatever a line is, it gets its reply and the engine goes on", async () => {
    for (const line of ["", "nonsense", "[]", "{}", '{"op":1}', `${"[".repeat(100_000)}`, '{"op":"import","doc":"none","bytes":"?"}']) {
        const reply = await driver.askLine(line);
        assert.equal(typeof reply.error?.code, "string", line.slice(0, 40));
    }
    assert.equal((await driver.askLine('{"op":"redact","name":"x","id":[1]}')).error.code, "unsupported");
});

test("the engine ends with its input", async () => {
    const another = new EngineDriver();
    await another.ask("new", { doc: "a" });
    assert.equal(await another.close(), 0);
});
