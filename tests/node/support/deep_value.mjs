// A document of npm's as a deep value in which every container has its id. `getDeepValueWithID` alone gives none
// to what stands in a tree node's map.
import { isContainer } from "loro-crdt";

export function deepValueWithIds(doc) {
    return Object.fromEntries(Object.keys(doc.getDeepValueWithID()).map((name) => [name, withId(doc, doc.getByPath(name))]));
}

function withId(doc, item) {
    if (!isContainer(item)) return item;
    return { cid: item.id, value: valueOf(doc, item) };
}

function valueOf(doc, container) {
    switch (container.kind()) {
        case "Map": return Object.fromEntries(container.entries().map(([key, item]) => [key, withId(doc, item)]));
        case "List": case "MovableList": return container.toArray().map((item) => withId(doc, item));
        case "Tree": return container.toJSON().map((node) => nodeWithIds(doc, node));
        case "Text": return container.toString();
        case "Counter": return container.value;
    }
}

function nodeWithIds(doc, node) {
    const meta = withId(doc, doc.getContainerById(`cid:${node.id}:Map`));
    return { ...node, meta, children: node.children.map((child) => nodeWithIds(doc, child)) };
}
