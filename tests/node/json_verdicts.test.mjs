// What is taken and what is refused of JSON updates, by `quire engine` and by npm's loro-crdt: the same, but for
// the differences that are listed and have their reasons.
//
// SEED=n starts from another seed; QUIRE_LONG=1 tries more.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { EngineDriver } from "./engine_driver.mjs";
import { newDoc, randomness, script } from "./support/documents.mjs";
import { atoms } from "./support/json_updates.mjs";

const driver = new EngineDriver();
after(() => driver.close());

const seed = Number(process.env.SEED ?? 20261122);
const isLong = Boolean(process.env.QUIRE_LONG);

let documents = 0;
// Both documents begin empty. {ours, theirs}: why it was refused, or null; `same`: what was taken, by both, is.
async function verdicts(json) {
    const doc = `document ${++documents}`;
    await driver.ask("new", { doc, peer: "1000" });
    const before = JSON.stringify([await driver.ask("value", { doc }), await driver.ask("vv", { doc })]);
    let ours = null;
    await driver.ask("import_json", { doc, json }).catch((error) => {
        assert.ok(["corrupt", "op_id_reused"].includes(error.code), error.message);
        ours = error.message;
    });
    if (ours !== null) {
        assert.equal(JSON.stringify([await driver.ask("value", { doc }), await driver.ask("vv", { doc })]), before, "a refusal changes nothing");
        await assert.rejects(driver.ask("import_json", { doc, json }), { message: ours }, "the same JSON, the same verdict");
    }
    const loro = newDoc(9);
    let theirs = null;
    try {
        loro.importJsonUpdates(json);
    } catch (error) {
        theirs = String(error);
    }
    const took = ours === null && theirs === null;
    const both = took ? [atoms(await driver.ask("export_json", { doc })), atoms(loro.exportJsonUpdates())] : [];
    await driver.ask("drop", { doc });
    return { ours, theirs, both };
}
const winner = ({ ours, theirs }) => (ours === null ? (theirs === null ? "both" : "ours") : theirs === null ? "loro" : "neither");

// --- cases by name ---

const change = (id, deps, ops, more = {}) => ({ id, timestamp: 0, deps, lamport: 0, msg: null, ops, ...more });
const updates = (changes, more = {}) => ({ schema_version: 1, start_version: {}, peers: ["7"], changes, ...more });
const op = (container, content, counter = 0) => ({ container: `cid:root-${container}`, counter, content });
// Ops of one change, which take one counter each.
const ops = (container, ...contents) => updates([change("0@0", [], contents.map((content, i) => op(container, content, i)))]);
const counter = (content) => ops("c:Counter", { type: "counter", prop: 0, value_type: "f64", value: 2, ...content });
const create = (content) => ops("tree:Tree", { type: "create", target: "0@0", parent: null, fractional_index: "80", ...content });
const text = (...contents) => ops("t:Text", { type: "insert", pos: 0, text: "a" }, ...contents);
const list = (content) => ops("l:MovableList", { type: "insert", pos: 0, value: [1] }, content);
const set = (value) => ops("map:Map", { type: "insert", key: "k", value });
const without = (json, ...path) => {
    const last = path.pop();
    delete path.reduce((node, key) => node[key], json)[last];
    return json;
};
const firstOp = ["changes", 0, "ops", 0, "content"];
// Two changes of one peer.
const twoChanges = (deps, first = op("map:Map", { type: "insert", key: "k", value: 0 })) =>
    updates([change("0@0", [], [first]), change("1@0", deps, [op("map:Map", { type: "insert", key: "k", value: 1 }, 1)], { msg: "second" })]);

const BOTH_TAKE = {
    "a counter's float": counter({}),
    "a counter's integer": counter({ value_type: "i64" }),
    "a counter's float with a fraction": counter({ value: 2.5 }),
    "a counter whose property is anything": counter({ prop: "x" }),
    "a counter's op of any type": counter({ type: "insert" }),
    "a counter without type and property": without(without(counter({}), ...firstOp, "type"), ...firstOp, "prop"),
    "a node without a position": without(create({}), ...firstOp, "fractional_index"),
    "a node with an empty position": create({ fractional_index: "" }),
    "a position in small letters": create({ fractional_index: "aB" }),
    "a move that makes its node": create({ type: "move" }),
    "a move of a node that is not there": create({ type: "move", target: "5@0" }),
    "peers that are null": { ...set(1), changes: [change("0@7", [], set(1).changes[0].ops)], peers: null },
    "members that nobody knows": { ...set(1), more: 1 },
    "a change that does not name its own peer's last one": twoChanges([]),
    "a message that is missing": without(set(1), "changes", 0, "msg"),
    "a lamport that is wrong": updates([change("0@0", [], set(1).changes[0].ops, { lamport: 77 })]),
};

const BOTH_REFUSE = {
    "a counter without the type of its number": without(counter({}), ...firstOp, "value_type"),
    "a counter whose type of number is null": counter({ value_type: null }),
    "a counter of a type that no counter has": counter({ value_type: "i32" }),
    "a counter of a type of other values": counter({ value_type: "null", value: null }),
    "a counter's type in capitals": counter({ value_type: "F64" }),
    "a counter's integer with a fraction": counter({ value_type: "i64", value: 2.5 }),
    "a counter's number as text": counter({ value: "2" }),
    "a counter without a number": without(counter({}), ...firstOp, "value"),
    "a node without a parent": without(create({}), ...firstOp, "parent"),
    "a move without a parent": without(create({ type: "move" }), ...firstOp, "parent"),
    "a parent that is no id": create({ parent: "" }),
    "a position that is null": create({ fractional_index: null }),
    "a position with half a byte": create({ fractional_index: "8" }),
    "a position that is not hexadecimal": create({ fractional_index: "zz" }),
    "a node made by another op than its own": create({ target: "1@0" }),
    "no table of peers": without(set(1), "peers"),
    "a peer that is no number": { ...set(1), peers: ["seven"] },
    "a peer beyond the table": updates([change("0@1", [], set(1).changes[0].ops)]),
    "no start version": without(set(1), "start_version"),
    "another schema": { ...set(1), schema_version: 2 },
    "a change without ops": updates([change("0@0", [], [])]),
    "ops with a gap between them": updates([change("0@0", [], [op("map:Map", { type: "delete", key: "k" }), op("map:Map", { type: "delete", key: "k" }, 2)])]),
    "a map's op without a key": ops("map:Map", { type: "insert", value: 1 }),
    "a map's op without a value": ops("map:Map", { type: "insert", key: "k" }),
    "an op of another container's type": ops("map:Map", { type: "mark_end" }),
    "a deletion beyond the start": text({ type: "delete", pos: 0, len: -2, start_id: "0@0" }),
    "a deletion of what is not there": text({ type: "delete", pos: 4, len: 1, start_id: "0@0" }),
    "a deletion without a start": text({ type: "delete", pos: 0, len: 1 }),
    "a mark without its info": text({ type: "mark", start: 0, end: 1, style_key: "bold", style_value: true }),
    "an element that was never there": list({ type: "set", elem_id: "L5@0", value: 1 }),
    "a move beyond the end": list({ type: "move", from: 0, to: 5, elem_id: "L0@0" }),
    "a container inside a value": set(["🦜:cid:0@0:Map"]),
    "a child whose id is another op's": set("🦜:cid:1@0:Map"),
    "a child with a name": set("🦜:cid:root-a:Map"),
};

// Where the two differ, who takes it, why, and how the refusal reads.
const DIFFERENCES = [
    { who: "ours", why: "Loro itself writes texts that begin so", refusal: /Invalid container id/, json: set("🦜:nothing") },
    { who: "ours", why: "npm hands on whole numbers from 2^53 as floats", refusal: /floating point `9007199254740992/,
        json: updates([change("0@0", [], set(1).changes[0].ops, { timestamp: 2 ** 53 })]) },
    { who: "ours", why: "what a peer did before is known to what it does next, listed or not", refusal: /not in the list's causal history|unreachable/, of: "deps",
        json: (() => {
            const json = twoChanges([], op("l:MovableList", { type: "insert", pos: 0, value: [1] }));
            json.changes[0].ops.push(op("l:MovableList", { type: "set", elem_id: "L0@0", value: 2 }, 1));
            json.changes[1].id = "2@0";
            json.changes[1].ops[0].counter = 2;
            return json;
        })() },
    { who: "loro", why: "npm takes an empty array for an empty object", refusal: /start_version is no object/, json: { ...set(1), start_version: [] } },
    { who: "loro", why: "a number is spelled in one way", refusal: /is no (id|peer|container id)/, spelled: true, json: { ...set(1), peers: ["07"] } },
    { who: "loro", why: "no id and no lamport is beyond the last", refusal: /is no id \(|is no integer from 0 to (2147483646|4294967294)$/, last: true,
        json: updates([change("0@0", [], set(1).changes[0].ops, { lamport: 2 ** 32 - 1 })]) },
    { who: "loro", why: "what depends on itself would wait for ever", refusal: /depends on itself/, json: twoChanges(["1@0"]) },
    { who: "loro", why: "no peer has the number that stands for none", refusal: /is no peer$/, reserved: true, json: { ...set(1), peers: ["18446744073709551615"] } },
    { who: "loro", why: "changes that overlap say the same", refusal: /are known here with other content/,
        json: updates([change("0@0", [], [op("t:Text", { type: "insert", pos: 0, text: "ab" })]), change("1@0", [], [op("map:Map", { type: "insert", key: "k", value: 1 }, 1)])]) },
    { who: "loro", why: "a style that ends before it begins stops Loro dead at its next checkout (seed 2000188)", refusal: /\.end is no integer from [1-9]\d* to 1073741821$/,
        json: updates([change("0@0", [], [op("t:Text", { type: "insert", pos: 0, text: "ab" }), op("t:Text", { type: "mark", start: 2, end: 1, style_key: "bold", style_value: true, info: 132 }, 2),
            op("t:Text", { type: "mark_end" }, 3)])]) },
    { who: "loro", why: "a style that ends has begun", refusal: /no start before it/,
        json: updates([change("0@0", [], [op("t:Text", { type: "insert", pos: 0, text: "ab" }), op("u:Text", { type: "mark", start: 0, end: 0, style_key: "bold", style_value: true, info: 132 }, 2),
            op("t:Text", { type: "mark_end" }, 3)])]) },
];

function agree(expected, cases) {
    for (const [name, json] of Object.entries(cases)) {
        test(`${expected}: ${name}`, async () => {
            const { ours, theirs } = await verdicts(json);
            assert.equal(winner({ ours, theirs }), expected, `${ours} / ${theirs}`);
        });
    }
}
agree("both", BOTH_TAKE);
agree("neither", BOTH_REFUSE);

for (const { who, why, refusal, json } of DIFFERENCES) {
    test(`${who === "ours" ? "taken here" : "refused here"} alone: ${why}`, async () => {
        const found = await verdicts(json);
        assert.equal(winner(found), who, `${found.ours} / ${found.theirs}`);
        assert.match(found.ours ?? found.theirs, refusal);
    });
}

// --- everything replaced by everything ---

const NONE = Symbol("none");
const OTHERS = [NONE, null, -1, 0, 1, 5, 255, 256, 2 ** 30 - 3, 2 ** 30 - 2, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 1.5, 1e300, "", "x", "0@0", "5@0",
    "1@1", "0@7", "@0", "0@", "-1@0", "00@0", "+1@0", " 0@0", "2147483646@0", "2147483647@0", "7", "f64", "i64", "insert", "delete", "move", "create", "set", "mark", "mark_end",
    "counter", "unknown", "80", "8", "zz", "aB", "L10@0", "L0@0", "L010@0", "cid:root-list:List", "cid:root-x:Text", "cid:3@0:Map", "cid:8@0:Map", "cid:08@0:Map", "cid:root-c:Counter",
    "cid:root-tree:Tree", "cid:root-m:MovableList", "cid:root-:Map", "cid:root-a/b:Map", "cid:root-u:Unknown(9)", "🦜:cid:0@0:Map", "🦜:cid:16@0:Map", "🦜:cid:root-a:Map", "🦜:", "🦜:x",
    [], {}, true, false, [1], [[]], ["🦜:cid:16@0:Map"], { a: "🦜:cid:16@0:Map" }, { "": 1 }, ["7", "7"], ["7", "8"], ["18446744073709551615"], ["07"], [7]];

// Every kind of op.
const everything = () => updates([
    change("0@0", [], [
        op("t:Text", { type: "insert", pos: 0, text: "abcd" }),
        op("t:Text", { type: "mark", start: 0, end: 2, style_key: "bold", style_value: true, info: 132 }, 4),
        op("t:Text", { type: "mark_end" }, 5),
        op("t:Text", { type: "delete", pos: 1, len: 1, start_id: "0@0" }, 6),
        op("l:List", { type: "insert", pos: 0, value: [1, "🦜:cid:8@0:Map"] }, 7),
        op("l:List", { type: "delete", pos: 0, len: 1, start_id: "7@0" }, 9),
        op("m:MovableList", { type: "insert", pos: 0, value: [1, 2] }, 10),
        op("m:MovableList", { type: "move", from: 0, to: 1, elem_id: "L10@0" }, 12),
        op("m:MovableList", { type: "set", elem_id: "L10@0", value: 4 }, 13),
        op("m:MovableList", { type: "delete", pos: 0, len: 1, start_id: "11@0" }, 14),
        op("map:Map", { type: "insert", key: "k", value: "🦜:cid:15@0:Text" }, 15),
        op("map:Map", { type: "insert", key: "k", value: { a: [1, null, "x", 1.5] } }, 16),
        op("map:Map", { type: "delete", key: "k" }, 17),
        op("tree:Tree", { type: "create", target: "18@0", parent: null, fractional_index: "80" }, 18),
        op("tree:Tree", { type: "create", target: "19@0", parent: "18@0", fractional_index: "80" }, 19),
        op("tree:Tree", { type: "move", target: "19@0", parent: null, fractional_index: "8180" }, 20),
        op("tree:Tree", { type: "delete", target: "18@0" }, 21),
        op("c:Counter", { type: "counter", prop: 0, value_type: "f64", value: 2.5 }, 22),
        { container: "cid:8@0:Map", counter: 23, content: { type: "insert", key: "k", value: "s" } },
    ]),
    change("24@0", ["23@0"], [op("map:Map", { type: "insert", key: "k", value: true }, 24)], { timestamp: 5, lamport: 24, msg: "hello" }),
], { start_version: { 7: 0 } });

function placesIn(node, path = [], found = []) {
    if (node === null || typeof node !== "object") return found;
    for (const key of Object.keys(node)) {
        found.push([...path, key]);
        placesIn(node[key], [...path, key], found);
    }
    return found;
}

function replaced(json, path, other) {
    const node = path.slice(0, -1).reduce((inside, key) => inside[key], json);
    const key = path.at(-1);
    if (other !== NONE) node[key] = other;
    else if (Array.isArray(node)) node.splice(key, 1);
    else delete node[key];
    return json;
}

const isSpelledOtherwise = (value) => /(^|[:L"])(0\d|\+)/.test(JSON.stringify(value) ?? "");
const isReserved = (value) => JSON.stringify(value) === JSON.stringify(["18446744073709551615"]);
const isBeyondLast = (value) => /^(2147483647@0|2147483647|4294967295)$/.test(String(value));

// The difference that explains two verdicts which are not the same; undefined for none. Where Loro misses what a change leaves
// out of its deps, it finds fault with whatever comes first.
function explanation(found, path, value) {
    const who = winner(found);
    return DIFFERENCES.find((each) => each.who === who && (path.includes(each.of) || each.refusal.test(found.ours ?? found.theirs)) &&
        (!each.spelled || isSpelledOtherwise(value)) && (!each.last || isBeyondLast(value)) && (!each.reserved || isReserved(value)));
}

async function expectSame(json, path, value, where) {
    const found = await verdicts(json);
    const who = winner(found);
    if (who === "ours" || who === "loro") assert.ok(explanation(found, path, value), `${where}: ${who} alone takes it: ${found.ours} / ${found.theirs}`);
    return { who, both: found.both };
}

test("whatever stands wherever, the verdict is the same or is explained", async (t) => {
    const random = randomness(seed);
    const counts = { both: 0, neither: 0, ours: 0, loro: 0 };
    for (const path of placesIn(everything())) {
        for (const other of OTHERS) {
            if (random(isLong ? 3 : 12) > 0) continue;
            const json = replaced(everything(), path, other === NONE ? NONE : structuredClone(other));
            const { who } = await expectSame(json, path, other, `${path.join(".")} = ${other === NONE ? "nothing" : JSON.stringify(other)}`);
            ++counts[who];
        }
    }
    t.diagnostic(JSON.stringify(counts));
    assert.ok(counts.both > 0 && counts.neither > 0);
});

// An empty message is none, as it is in the binary form; Loro keeps it until then.
const withoutEmpty = (line) => line.replace(/"msg":""}$/, '"msg":null}');

// Where a change claims to be earlier than the one before it by the same peer, under the same message, Loro joins the
// two and loses its time: `lines` of ours, as Loro tells them.
function withTimeGoingOn(lines) {
    const parts = /^(\d+)@(\d+) (.*) (\{"lamport":\d+,"timestamp":)(-?\d+)(,"msg":.*\})$/;
    const branches = new Set(lines.map((line) => /^(\S+) after /.exec(line)?.[1]));
    const atoms = lines.map((line) => parts.exec(line)).filter((found) => found !== null);
    const known = new Map(atoms.map(([, at, peer, , , time, msg]) => [`${at}@${peer}`, { time: Number(time), msg }]));
    atoms.sort((a, b) => a[1] - b[1]);
    for (const [, at, peer] of atoms) {
        const before = known.get(`${at - 1}@${peer}`);
        const here = known.get(`${at}@${peer}`);
        if (before && !branches.has(`${at}@${peer}`) && before.msg === here.msg) here.time = Math.max(here.time, before.time);
    }
    return lines.map((line) => line.replace(parts, (_, at, peer, what, lamport, time, msg) => `${at}@${peer} ${what} ${lamport}${known.get(`${at}@${peer}`).time}${msg}`));
}

test("a change that claims to be earlier than the one before it keeps its time here alone (seed 1000181)", async () => {
    const json = updates([change("0@0", [], set(1).changes[0].ops, { timestamp: 2 ** 31 }), change("1@0", ["0@0"], [op("map:Map", { type: "delete", key: "k" }, 1)], { timestamp: 859264 })]);
    const { both: [ours, theirs] } = await verdicts(json);
    assert.match(ours[1], /"timestamp":859264/);
    assert.match(theirs[1], /"timestamp":2147483648/);
    assert.deepEqual(withTimeGoingOn(ours), theirs);
    json.changes[1].msg = "another";
    const told = await verdicts(json);
    assert.deepEqual(told.both[0], told.both[1]);
    assert.deepEqual(withTimeGoingOn(told.both[0]), told.both[0]);
});

test("histories with something replaced: the same verdict, and the same history where both take it", async (t) => {
    const random = randomness(seed);
    const counts = { both: 0, neither: 0, ours: 0, loro: 0 };
    for (let at = seed; at < seed + (isLong ? 200 : 40); ++at) {
        const history = script(at).doc.exportJsonUpdates();
        const places = placesIn(history);
        for (let i = 0; i < 12; ++i) {
            const path = places[random(places.length)];
            const before = path.reduce((node, key) => node[key], history);
            const others = [NONE, null, -1, 0, 1, 5, 2 ** 31, 1.5, "", "x", "0@0", "1@0", "7@0", "cid:root-list:List", "cid:3@0:Map", "🦜:cid:0@0:Map", [], {}, true];
            const other = typeof before === "number" && random(3) === 0 ? before + (random(2) ? 1 : -1) : others[random(others.length)];
            const json = replaced(structuredClone(history), path, other === NONE ? NONE : structuredClone(other));
            const { who, both } = await expectSame(json, path, other, `seed ${at}, ${path.join(".")} = ${other === NONE ? "nothing" : JSON.stringify(other)}`);
            // Where deps leave out what the same peer did before, Loro's lamports start again from those that are left.
            if (who === "both" && !path.includes("deps")) assert.deepEqual(withTimeGoingOn(both[0]), both[1].map(withoutEmpty), `seed ${at}, ${path.join(".")}`);
            ++counts[who];
        }
    }
    t.diagnostic(JSON.stringify(counts));
    assert.ok(counts.both > 0 && counts.neither > 0);
});
