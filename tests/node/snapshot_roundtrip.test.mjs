// Snapshots that we decoded and wrote anew, given back to Loro: they show the same, at the same version,
// agree op by op with the history that made them, and go on being edited.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { assertSame, edit, newDoc, randomness, script } from "./support/documents.mjs";
import { share } from "./support/share.mjs";

const echo = process.env.SNAPSHOT_ECHO;
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const scripts = process.env.QUIRE_LONG ? 2000 : share(60);
const seconds = process.env.QUIRE_LONG ? 100 : 40;  // For each compression, of which there are two.
const ROUND = 20;
const folder = mkdtempSync(join(tmpdir(), "snapshots-"));
after(() => rmSync(folder, { recursive: true }));

test("there is something to echo with", () => assert.ok(echo, "SNAPSHOT_ECHO names the program"));

function assertGoesOn(name, blob, original, earlier) {
    const docs = [];
    const opened = (peer, ...blobs) => {
        const doc = newDoc(peer);
        docs.push(doc);
        for (const each of blobs) doc.import(each);
        return doc;
    };
    const loaded = opened(77, blob);
    assertSame(loaded, original, name);
    loaded.checkout(loaded.frontiers());
    loaded.checkoutToLatest();

    // Loro compares what a document has with what a blob says, op by op, where that brings anything new.
    assertSame(opened(78, earlier, blob), original, `${name}, over half of it`);

    // States hold ids and lamports that no value shows: edits that build on them do.
    const random = randomness(seed ^ 0x5555);
    const before = loaded.version();
    for (let step = 0; step < 30; ++step) edit(loaded, random);
    loaded.commit();
    const peer = opened(79, original.export({ mode: "update" }));
    for (let step = 0; step < 10; ++step) edit(peer, random);
    peer.commit();
    peer.import(loaded.export({ mode: "update", from: before }));
    loaded.import(peer.export({ mode: "update" }));
    assertSame(loaded, peer, `${name}, edited further`);
    assertSame(opened(80, loaded.export({ mode: "update" })), loaded, `${name}, replayed`);
    assertSame(opened(81, loaded.export({ mode: "snapshot" })), loaded, `${name}, as a snapshot again`);
    for (const doc of docs) doc.free();
}

for (const compression of ["none", "lz4"]) {
    test(`documents from seed ${seed}, compression ${compression}`, async (t) => {
        const deadline = Date.now() + seconds * 1000;
        let done = 0;
        for (; done < scripts && (done === 0 || Date.now() < deadline); done += ROUND) {
            const from = mkdtempSync(join(folder, "from-"));
            const to = mkdtempSync(join(folder, "to-"));
            const made = Array.from({ length: ROUND }, (_, i) => ({ name: `script-${seed + done + i}`, ...script(seed + done + i) }));
            for (const { name, doc } of made) writeFileSync(join(from, name), doc.export({ mode: "snapshot" }));
            execFileSync(echo, [compression, from, to], { stdio: ["ignore", "ignore", "inherit"] });
            for (const { name, doc, earlier } of made) {
                assertGoesOn(name, readFileSync(join(to, name)), doc, earlier);
                doc.free();
            }
            for (const used of [from, to]) rmSync(used, { recursive: true });
            await nextTurn();  // Containers that nobody holds any more are given back then, and their documents with them.
        }
        t.diagnostic(`${done} documents`);
    });
}

test("trimmed histories, with their state and without", () => {
    const from = join(folder, "trimmed-from");
    const to = join(folder, "trimmed-to");
    mkdirSync(from);
    mkdirSync(to);
    const originals = new Map();
    for (const edits of [5, 2000]) {
        const random = randomness(seed + edits);
        const doc = newDoc(5);
        for (let step = 0; step < 40; ++step) edit(doc, random);
        doc.commit();
        const start = doc.frontiers();
        for (let step = 0; step < edits; ++step) edit(doc, random);
        doc.commit();
        originals.set(`${edits}`, doc);
        writeFileSync(join(from, `${edits}`), doc.export({ mode: "shallow-snapshot", frontiers: start }));
    }
    execFileSync(echo, ["lz4", from, to], { stdio: ["ignore", "ignore", "inherit"] });
    for (const [name, original] of originals) {
        const loaded = newDoc(6);
        loaded.import(readFileSync(join(to, name)));
        assert.ok(loaded.isShallow());
        assertSame(loaded, original, name);
        const random = randomness(seed);
        for (let step = 0; step < 20; ++step) edit(loaded, random);
        loaded.commit();
        original.import(loaded.export({ mode: "update", from: original.version() }));
        assertSame(loaded, original, `${name}, edited further`);
    }
});
