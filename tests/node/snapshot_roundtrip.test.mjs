// Snapshots that we decoded and wrote anew, given back to Loro: they show the same, at the same version,
// agree op by op with the history that made them, and go on being edited.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { assertSame, edit, newDoc, randomness, script } from "./support/documents.mjs";

const echo = process.env.SNAPSHOT_ECHO;
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const scripts = process.env.QUIRE_LONG ? 2000 : 60;
const folder = mkdtempSync(join(tmpdir(), "snapshots-"));
after(() => rmSync(folder, { recursive: true }));

test("there is something to echo with", () => assert.ok(echo, "SNAPSHOT_ECHO names the program"));

const made = new Map();
for (let i = 0; i < scripts; ++i) made.set(`script-${seed + i}`, script(seed + i));
mkdirSync(join(folder, "from"));
for (const [name, { doc }] of made) writeFileSync(join(folder, "from", name), doc.export({ mode: "snapshot" }));

for (const compression of ["none", "lz4"]) {
    test(`${scripts} documents from seed ${seed}, compression ${compression}`, () => {
        const to = join(folder, compression);
        mkdirSync(to);
        execFileSync(echo, [compression, join(folder, "from"), to], { stdio: ["ignore", "ignore", "inherit"] });
        for (const [name, { doc: original, earlier }] of made) {
            const blob = readFileSync(join(to, name));
            const loaded = newDoc(77);
            loaded.import(blob);
            assertSame(loaded, original, name);
            loaded.checkout(loaded.frontiers());
            loaded.checkoutToLatest();

            // Loro compares what a document has with what a blob says, op by op, where that brings anything new.
            const behind = newDoc(78);
            behind.import(earlier);
            behind.import(blob);
            assertSame(behind, original, `${name}, over half of it`);

            // States hold ids and lamports that no value shows: edits that build on them do.
            const random = randomness(seed ^ 0x5555);
            const before = loaded.version();
            for (let step = 0; step < 30; ++step) edit(loaded, random);
            loaded.commit();
            const peer = newDoc(79);
            peer.import(original.export({ mode: "update" }));
            for (let step = 0; step < 10; ++step) edit(peer, random);
            peer.commit();
            peer.import(loaded.export({ mode: "update", from: before }));
            loaded.import(peer.export({ mode: "update" }));
            assertSame(loaded, peer, `${name}, edited further`);
            const replayed = newDoc(80);
            replayed.import(loaded.export({ mode: "update" }));
            assertSame(replayed, loaded, `${name}, replayed`);
            const again = newDoc(81);
            again.import(loaded.export({ mode: "snapshot" }));
            assertSame(again, loaded, `${name}, as a snapshot again`);
        }
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
