// Where local edits of styled text go: our engine and npm loro-crdt, given the same document, write the same
// operations, at the same places among the anchors.
//
// Which scripts: support/seeds.mjs.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { LoroDoc } from "loro-crdt";
import { EngineDriver } from "./engine_driver.mjs";
import { joined, plain, random } from "./engine_script.mjs";
import { seeds } from "./support/seeds.mjs";

const driver = new EngineDriver();
after(() => driver.close());

const FIRST = 20261122;
const { base, count } = seeds(FIRST, { usual: 50, long: 1000 });

const CID = "cid:root-t:Text";
const STYLES = { a: { expand: "after" }, b: { expand: "before" }, c: { expand: "both" }, n: { expand: "none" } };
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));

function styled(doc) {
    doc.configTextStyle(STYLES);
    return doc;
}

// One edit, by what it is to do; positions count ASCII characters, so they are the same in every unit.
function makeEdit(rand, length, number) {
    const below = (n) => Math.floor(rand() * n);
    const choice = length === 0 ? 0 : below(10);
    if (choice < 4) return { op: "insert", pos: below(length + 1), text: "xyz".slice(0, 1 + below(3)) };
    const start = below(length);
    const end = start + 1 + below(Math.min(4, length - start));
    const key = "abcn"[below(4)];
    if (choice < 5) return { op: "delete", pos: start, len: end - start };
    // A value that was never there, so that no mark says what is so already; false and null count as taken away.
    if (choice < 8) return { op: "mark", start, end, key, value: below(6) === 0 ? false : number };
    if (choice < 9) return { op: "unmark", start, end, key };
    const attributes = { [key]: below(4) === 0 ? null : number };
    return {
        op: "apply_delta",
        delta: [
            ...(start > 0 ? [{ retain: start }] : []),
            { insert: "d", ...(below(2) === 0 ? { attributes } : {}) },
            ...(below(2) === 0 ? [{ delete: end - start }] : [{ retain: end - start, attributes }]),
        ],
    };
}

function inNpm(text, edit) {
    switch (edit.op) {
        case "insert": return text.insert(edit.pos, edit.text);
        case "delete": return text.delete(edit.pos, edit.len);
        case "mark": return text.mark({ start: edit.start, end: edit.end }, edit.key, edit.value);
        case "unmark": return text.unmark({ start: edit.start, end: edit.end }, edit.key);
        case "apply_delta": return text.applyDelta(edit.delta);
    }
}

// What the last change of a peer says, without its ids.
function said(doc, from, peer) {
    const { changes, peers } = doc.exportJsonUpdates(from);
    const index = peers.indexOf(peer);
    const ops = changes.filter(({ id }) => id.endsWith(`@${index}`)).flatMap((change) => change.ops);
    return ops.map(({ content }) => plain({ ...content, start_id: undefined }));
}

// Which entities deletes take, however they are cut and ordered.
function taken(ops) {
    const entities = Array.from({ length: 10_000 }, (_, i) => i);
    return ops.flatMap(({ pos, len }) => entities.splice(len < 0 ? pos + len + 1 : pos, Math.abs(len))).sort((a, b) => a - b);
}

const sentence = (edit) => JSON.stringify(edit);

async function runScript(seed, styles = STYLES) {
    const rand = random(seed);
    const doc = styled(new LoroDoc());
    doc.setPeerId("5");
    const other = styled(new LoroDoc());
    other.setPeerId(rand() < 0.5 ? "3" : "9");
    await driver.ask("new", { doc: "mirror", peer: "5" });
    await driver.ask("config", { doc: "mirror", text_styles: styles });
    const edits = [];
    try {
        for (let i = 0; i < 40; ++i) {
            // Somebody else's edits, now and then, so that anchors of both lie beside each other.
            if (rand() < 0.3) {
                const edit = makeEdit(rand, other.getText("t").length, 1000 + i);
                edits.push(`other: ${sentence(edit)}`);
                inNpm(other.getText("t"), edit);
                if (rand() < 0.5) doc.import(other.export({ mode: "update" }));
                if (rand() < 0.5) other.import(doc.export({ mode: "update" }));
            }
            doc.commit();
            await driver.ask("import", { doc: "mirror", bytes: base64(doc.export({ mode: "update" })) });
            const text = doc.getText("t");
            const edit = makeEdit(rand, text.length, i);
            edits.push(sentence(edit));
            const from = doc.version();
            const before = JSON.stringify(joined(plain(text.toDelta())));

            await driver.ask("fork", { doc: "mirror", as: "try", peer: "5" });
            const fields = edit.op === "apply_delta" ? { delta: edit.delta } : edit;
            await driver.ask(`text.${edit.op}`, { doc: "try", cid: CID, ...fields, op: `text.${edit.op}` });
            inNpm(text, edit);
            doc.commit();

            const shown = plain(await driver.ask("text.delta", { doc: "try", cid: CID }));
            assert.deepEqual(shown, joined(plain(text.toDelta())), edits.join("\n"));
            const ours = new LoroDoc();
            ours.import(bytes(await driver.ask("export", { doc: "try", mode: "updates" })));
            await driver.ask("drop", { doc: "try" });
            const theirs = said(doc, from, "5");
            const mine = said(ours, from, "5");
            ours.free();
            // An unmark that changes nothing may be an op in npm.
            const isIdle = mine.length === 0 && JSON.stringify(joined(plain(text.toDelta()))) === before;
            const written = edit.op === "delete" ? taken : (ops) => ops;
            if (!isIdle && edit.op !== "apply_delta") assert.deepEqual(written(mine), written(theirs), edits.join("\n"));
        }
    } finally {
        await driver.ask("drop", { doc: "mirror" });
        doc.free();
        other.free();
    }
}

test(`local edits beside styles go where npm puts them (first seed ${base})`, async (t) => {
    for (let seed = base; seed < base + count; ++seed) {
        await runScript(seed).catch((error) => { throw new Error(`seed ${seed}: ${error.message}`, { cause: error }); });
    }
    t.diagnostic(`${count} scripts`);
});

test("the comparison sees a style that expands otherwise", async () => {
    const wrong = { ...STYLES, a: { expand: "both" } };
    let seen = 0;
    for (let seed = FIRST; seed < FIRST + 5; ++seed) await runScript(seed, wrong).catch(() => ++seen);
    assert.ok(seen >= 4, `${seen} of 5`);
});

test("deltas count in the unit that is named", async () => {
    await driver.ask("new", { doc: "units", peer: "1" });
    const ask = (op, fields) => driver.ask(`text.${op}`, { doc: "units", cid: CID, ...fields });
    await ask("insert", { pos: 0, text: "é😀z" });
    await ask("mark", { start: 1, end: 3, unit: "utf16", key: "bold", value: true });
    await ask("apply_delta", { unit: "utf8", delta: [{ retain: 6, attributes: { link: "u" } }, { insert: "q" }, { delete: 1 }] });
    assert.deepEqual(await ask("delta"), [
        { insert: "é", attributes: { link: "u" } }, { insert: "😀", attributes: { bold: true, link: "u" } }, { insert: "q" },
    ]);
    await assert.rejects(ask("mark", { start: 0, end: 2, unit: "utf16", key: "bold", value: 1 }), { code: "position_not_on_boundary" });
    await assert.rejects(ask("apply_delta", { unit: "utf16", delta: [{ retain: 2 }, { insert: "x" }] }), { code: "position_not_on_boundary" });
    await assert.rejects(ask("mark", { start: 0, end: 9, key: "bold", value: 1 }), { code: "out_of_bound" });
    await assert.rejects(ask("mark", { start: 0, end: 1, key: "colour", value: 1 }), { code: "unknown_style_key" });
    await driver.ask("config", { doc: "units", default_text_style: { expand: "none" } });
    await ask("mark", { start: 0, end: 1, key: "colour", value: 1 });
    await driver.ask("drop", { doc: "units" });
});
