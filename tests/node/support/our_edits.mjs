// Random edits of every kind through `quire engine`, on the roots that support/documents.mjs writes to.
import { value } from "./documents.mjs";

const plain = (item) => {
    if (item instanceof Uint8Array) return { $bytes: Buffer.from(item).toString("base64") };
    if (Array.isArray(item)) return item.map(plain);
    if (item === null || typeof item !== "object") return item;
    return Object.fromEntries(Object.entries(item).map(([key, child]) => [key, plain(child)]));
};

const KINDS = ["Map", "List", "Text", "MovableList", "Tree", "Counter"];
const cid = (name, kind) => `cid:root-${name}:${kind}`;

// `ask(op, fields)` goes to the document.
export async function ourEdit(ask, random) {
    const text = { cid: cid("text", "Text") };
    const list = { cid: cid("list", "List") };
    const map = { cid: cid("map", "Map") };
    const movable = { cid: cid("movable", "MovableList") };
    const tree = { cid: cid("tree", "Tree") };
    switch (random(6)) {
        case 0: {
            const { unicode } = await ask("text.len", text);
            const at = random(unicode + 1);
            if (unicode < 2 || random(2)) return ask("text.insert", { ...text, pos: at, text: ["x", "é😀", "longer text"][random(3)] });
            const begin = random(unicode - 1);
            const end = begin + 1 + random(unicode - begin);
            if (random(2)) return ask("text.delete", { ...text, pos: begin, len: Math.min(3, unicode - begin) });
            return ask("text.mark", { ...text, start: begin, end, key: ["bold", "link"][random(2)], value: [true, null, { url: "u" }][random(3)] });
        }
        case 1: {
            const { length } = await ask("value", list);
            if (length > 0 && random(3) === 0) return ask("list.delete", { ...list, pos: random(length), len: 1 });
            if (random(5) === 0) return ask("list.insert_container", { ...list, pos: random(length + 1), kind: KINDS[random(6)] });
            return ask("list.insert", { ...list, pos: random(length + 1), value: plain(value(random)) });
        }
        case 2: {
            const key = `k${random(6)}`;
            if (random(4) === 0) return ask("map.delete", { ...map, key });
            if (random(5) === 0) return ask("map.insert_container", { ...map, key, kind: KINDS[random(6)] });
            return ask("map.set", { ...map, key, value: plain(value(random)) });
        }
        case 3: {
            const { length } = await ask("value", movable);
            if (length === 0 || random(3) === 0) return ask("mlist.insert", { ...movable, pos: random(length + 1), value: plain(value(random)) });
            const pos = random(length);
            if (random(3) === 0) return ask("mlist.delete", { ...movable, pos, len: 1 });
            if (random(2)) return ask("mlist.move", { ...movable, from: pos, to: random(length) });
            if (random(4) === 0) return ask("mlist.set_container", { ...movable, pos, kind: KINDS[random(6)] });
            return ask("mlist.set", { ...movable, pos, value: plain(value(random)) });
        }
        case 4: {
            const nodes = [];
            const walk = (level) => level.forEach(({ id, children }) => (nodes.push(id), walk(children)));
            walk(await ask("tree.nodes", tree));
            const any = () => nodes[random(nodes.length)];
            if (nodes.length === 0 || random(3) === 0) return ask("tree.create", { ...tree, parent: nodes.length > 0 && random(2) ? any() : null });
            if (random(4) === 0) return ask("tree.delete", { ...tree, node: any() });
            if (random(3) === 0) return ask("map.set", { cid: await ask("tree.meta", { ...tree, node: any() }), key: "title", value: random(100) });
            // A node cannot be moved below itself.
            return ask("tree.move", { ...tree, node: any(), parent: random(3) ? any() : null }).catch((error) => {
                if (error.code !== "cyclic_move") throw error;
            });
        }
        default:
            return ask("counter.add", { cid: cid("counter", "Counter"), delta: (random(64) - 32) / 4 });
    }
}
