// Yjs, Automerge and diamond-types of npm as writers of one text: {name: engine}, without those that are not installed.
// An engine writes patches [at, deleted, inserted] at once (apply) or with an update for each (send), and begins from
// saved bytes (load).
import { createRequire } from "node:module";
import { join } from "node:path";

import { root } from "../../tests/node/support/workspace.mjs";

const require = createRequire(join(root, "bench/node/package.json"));

function found(name) {
    try { return require(name); } catch { return null; }
}

function splice(text, at, gone, added) {
    if (gone) text.delete(at, gone);
    if (added) text.insert(at, added);
}

// A transaction for each edit: all of them in one takes Yjs longer.
const yjs = (Y) => Y && {
    apply: (patches) => {
        const doc = new Y.Doc();
        const text = doc.getText("text");
        for (const [at, gone, added] of patches) doc.transact(() => splice(text, at, gone, added));
        return { text: () => text.toString(), save: () => Y.encodeStateAsUpdate(doc) };
    },
    send: (patches) => {
        const doc = new Y.Doc();
        const text = doc.getText("text");
        let sent = 0;
        doc.on("update", (bytes) => { sent += bytes.length; });
        for (const [at, gone, added] of patches) doc.transact(() => splice(text, at, gone, added));
        return { text: () => text.toString(), sent };
    },
    load: (bytes) => { const doc = new Y.Doc(); Y.applyUpdate(doc, bytes); return doc.getText("text").toString(); },
};

const automerge = (Automerge) => Automerge && {
    apply: (patches) => {
        const doc = Automerge.change(Automerge.from({ text: "" }), (draft) => {
            for (const [at, gone, added] of patches) Automerge.splice(draft, ["text"], at, gone, added);
        });
        return { text: () => doc.text, save: () => Automerge.save(doc) };
    },
    load: (bytes) => Automerge.load(bytes).text,
};

const diamondTypes = (dt) => dt && {
    apply: (patches) => {
        const doc = new dt.Doc("a");
        for (const [at, gone, added] of patches) {
            if (gone) doc.del(at, gone);
            if (added) doc.ins(at, added);
        }
        return { text: () => doc.get(), save: () => doc.toBytes() };
    },
    load: (bytes) => dt.Doc.fromBytes(bytes, "b").get(),
};

export function textPeers() {
    const all = { Yjs: yjs(found("yjs")), Automerge: automerge(found("@automerge/automerge")), "diamond-types": diamondTypes(found("diamond-types-node")) };
    return Object.fromEntries(Object.entries(all).filter(([, engine]) => engine));
}
