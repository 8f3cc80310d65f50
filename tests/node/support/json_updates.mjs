// JSON updates taken apart atom by atom, so that two exports of one history can be compared however each of
// them cuts it into changes and ops.

// The peers' numbers replaced by the peers: "3@0" to "3@PEER", in ids, containers and elements alike.
function inlined(json) {
    if (!json.peers) return json;
    const peer = (index) => json.peers[Number(index)];
    const id = (text) => text.replace(/@(\d+)$/, (_, index) => `@${peer(index)}`);
    const container = (text) => (text.startsWith("cid:root-") ? text : text.replace(/@(\d+):/, (_, index) => `@${peer(index)}:`));
    const value = (item) => (typeof item === "string" && item.startsWith("🦜:cid:") ? container(item) : item);
    return {
        ...json,
        changes: json.changes.map((change) => ({
            ...change,
            id: id(change.id),
            deps: change.deps.map(id),
            ops: change.ops.map((op) => {
                const content = { ...op.content };
                const kind = op.container.slice(op.container.lastIndexOf(":") + 1);
                for (const key of ["start_id", "elem_id", "target", "parent"]) if (typeof content[key] === "string") content[key] = id(content[key]);
                if (kind === "List" || kind === "MovableList" || kind === "Map") {
                    if (content.type === "insert" && kind !== "Map") content.value = content.value.map(value);
                    else if ("value" in content) content.value = value(content.value);
                }
                return { ...op, container: container(op.container), content };
            }),
        })),
    };
}

function atomsOf({ container, content }) {
    if (content.type === "insert" && "text" in content) return [...content.text].map((text, i) => ({ ...content, pos: content.pos + i, text }));
    if (content.type === "insert" && "pos" in content) return content.value.map((value, i) => ({ ...content, pos: content.pos + i, value }));
    if (content.type === "delete" && "len" in content) {
        const [counter, peer] = content.start_id.split("@");
        const size = Math.abs(content.len);
        return Array.from({ length: size }, (_, i) => ({
            type: "delete",
            pos: content.len > 0 ? content.pos : content.pos - i,
            start_id: `${Number(counter) + (content.len > 0 ? i : size - 1 - i)}@${peer}`,
        }));
    }
    return [{ ...content, container: undefined }];
}

const ordered = (value) => {
    if (Array.isArray(value)) return value.map(ordered);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, ordered(value[key])]));
};

// Sorted lines: an atom each, and each dependency that is not on the atom before.
export function atoms(json) {
    const lines = [];
    for (const change of inlined(json).changes) {
        const [first, peer] = change.id.split("@");
        for (const dep of change.deps) if (dep !== `${Number(first) - 1}@${peer}`) lines.push(`${change.id} after ${dep}`);
        for (const op of change.ops) {
            atomsOf(op).forEach((content, i) => {
                const counter = op.counter + i;
                const at = { lamport: change.lamport + counter - Number(first), timestamp: change.timestamp, msg: change.msg };
                lines.push(`${counter}@${peer} ${op.container} ${JSON.stringify(ordered(content))} ${JSON.stringify(at)}`);
            });
        }
    }
    return lines.sort();
}
