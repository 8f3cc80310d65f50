// What random scripts do with trees.

const flat = (nodes) => nodes.flatMap((node) => [node, ...flat(node.children)]);
const share = (fraction, count) => Math.min(Math.floor(fraction * count), count - 1);

// The maps that nodes hold, by id, and what stands in them; npm shows them without their ids.
export function metasOf(nodes) {
    return flat(nodes).map(({ id, meta }) => ({ cid: `cid:${id}:Map`, value: meta.cid ? meta.value : meta }));
}

// npm's nodes name their parent, too.
export function withoutParents(value) {
    if (Array.isArray(value)) return value.map(withoutParents);
    if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
    const { parent, ...rest } = value;
    const isNode = parent !== undefined && "fractional_index" in rest && "children" in rest;
    return Object.fromEntries(Object.entries(isNode ? rest : value).map(([key, item]) => [key, withoutParents(item)]));
}

// What the step's fractions mean for these nodes; null when there is nothing to do.
export function treeArgs(step, roots) {
    const nodes = flat(roots);
    if (step.op === "tree.create") {
        const parent = nodes.length === 0 || step.size < 0.4 ? null : nodes[share(step.where, nodes.length)];
        const siblings = parent ? parent.children : roots;
        return { parent: parent?.id ?? null, index: share((step.size * 7) % 1, siblings.length + 1) };
    }
    if (nodes.length === 0) return null;
    const node = nodes[share(step.where, nodes.length)];
    if (step.op === "tree.delete") return { node: node.id };
    const inside = new Set(flat([node]).map(({ id }) => id));
    const parents = [null, ...nodes.filter(({ id }) => !inside.has(id))];
    const parent = parents[share(step.size, parents.length)];
    const siblings = (parent ? parent.children : roots).filter(({ id }) => id !== node.id);
    return { node: node.id, parent: parent?.id ?? null, index: share((step.size * 7) % 1, siblings.length + 1) };
}

// In npm; the engine's own names are those of the steps.
export function editTree(tree, op, { node, parent, index }) {
    if (op === "tree.create") tree.createNode(parent ?? undefined, index);
    else if (op === "tree.move") tree.move(node, parent ?? undefined, index);
    else tree.delete(node);
}
