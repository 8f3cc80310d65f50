// Writes json_updates/ from the blobs in updates/, and cursors/, with loro-crdt. Run it in a folder where that
// package is installed: node generate.mjs CORPUS_FOLDER
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LoroDoc } from "loro-crdt";

const folder = process.argv[2] ?? ".";
for (const name of readdirSync(join(folder, "updates"))) {
    const doc = new LoroDoc();
    try {
        doc.import(readFileSync(join(folder, "updates", name)));
    } catch {
        continue;
    }
    const json = JSON.stringify(doc.exportJsonUpdates());
    if (json.length < 20_000) writeFileSync(join(folder, "json_updates", name.replace(".bin", ".json")), json);
}

const doc = new LoroDoc();
doc.setPeerId("1");
const text = doc.getText("t");
text.insert(0, "abcdef");
text.delete(1, 2);
doc.commit();
const cursors = { left: [0, -1], middle: [2, 0], end: [4, 1] };
for (const [name, [pos, side]] of Object.entries(cursors)) writeFileSync(join(folder, "cursors", `${name}.bin`), text.getCursor(pos, side).encode());
