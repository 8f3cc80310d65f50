// Twenty calls as a model makes them in a session on a small project, in their order, with the bytes of their
// answers before structured results left out what says nothing: `structured` as compact JSON, and `text`.
const source = (name) => Array.from({ length: 6 }, (_, i) => [
    `// ${name} ${i}: what a caller may rely on stands in the page of the module.`,
    `export function ${name}${i}(width, height) {`,
    `    const scale = factorOf("${name}", ${i});`,
    `    return width * height * scale;`,
    "}",
].join("\n")).join("\n\n") + "\n";
const names = ["angle", "area", "border", "circle", "colour", "corner", "curve", "edge", "ellipse", "grid", "layer", "line", "margin",
    "matrix", "path", "plane", "point", "polygon", "ratio", "ring", "scale", "shape", "square", "vector"];

export const files = Object.fromEntries([
    ["README.md", "# Shapes\n\nAreas and borders of simple shapes.\n"],
    ["package.json", '{\n  "name": "shapes",\n  "type": "module"\n}\n'],
    ...names.map((name) => [`src/shapes/${name}.js`, source(name)]),
    ...names.map((name) => [`test/shapes/${name}.test.js`, `import { ${name}0 } from "../../src/shapes/${name}.js";\n`]),
    ...names.map((name) => [`types/shapes/${name}.d.ts`, `export function ${name}0(width: number, height: number): number;\n`]),
    ...names.map((name) => [`docs/shapes/${name}.md`, `# ${name}\n\nWhat a caller may rely on.\n`]),
    ...names.map((name) => [`demo/shapes/${name}.html`, `<script type="module" src="../../src/shapes/${name}.js"></script>\n`]),
]);

const plan = ["Plan for the release of the shapes:", ...["measure what is slow today", "write down what callers rely on", "make the areas exact",
    "make the borders exact", "let two people try it for a week", "read what they say about it", "change what they could not use",
    "measure again, on the same machine", "write the notes for users", "publish"].map((step, i) => `${i + 1}. ${step}`)].join("\n") + "\n";
const area = "src/shapes/area.js";

// `kind` says how long an answer may be (mcp_lean.test.mjs). $block is the id of the block that the first
// block_create made.
export const calls = [
    { kind: "list", structured: 12488, text: 4569, tool: "file", args: { operation: "list" } },
    { kind: "list", structured: 2453, text: 870, tool: "file", args: { operation: "list", pattern: "src/**" } },
    { kind: "read", structured: 1519, text: 1285, tool: "file", args: { operation: "read", path: area } },
    { kind: "read", structured: 649, text: 471, tool: "file", args: { operation: "read", path: area, range: { start: 7, end: 17 } } },
    // The figures are of a time when a search found opened files alone, and `area` was the only one.
    { kind: "search", structured: 1599, text: 1270, tool: "block_search", args: { query: 'factorOf\\("area"' } },
    { kind: "change", structured: 363, text: 247, tool: "file", args: { operation: "replace", path: area, find: 'factorOf("area", 3)', replace: "1" } },
    { kind: "change", structured: 447, text: 323, tool: "file", args: { operation: "edit", path: area, operations: [
        { op: "replace", start_line: 3, end_line: 3, content: "    const scale = 2;\n" }, { op: "delete", start_line: 6, end_line: 6 }] } },
    { kind: "change", structured: 118, text: 96, tool: "file", args: { operation: "create", path: "src/shapes/round.js", content: "export const round = (n) => Math.round(n);\n" } },
    { kind: "change", structured: 96, text: 48, tool: "file", args: { operation: "save", path: area } },
    { kind: "list", structured: 270, text: 155, tool: "file", args: { operation: "status" } },
    { kind: "change", structured: 217, text: 188, tool: "block_create", args: { role: "model", content: plan } },
    { kind: "read", structured: 554, text: 409, tool: "block_view", args: { block_id: "$block" } },
    { kind: "search", structured: 327, text: 215, tool: "block_search", args: { query: "exact", mode: "literal", block_id: "$block" } },
    { kind: "change", structured: 195, text: 121, tool: "block_str_replace", args: { block_id: "$block", old_str: "publish", new_str: "publish it" } },
    { kind: "change", structured: 109, text: 93, tool: "block_append", args: { block_id: "$block", text: "11. rest\n" } },
    { kind: "list", structured: 696, text: 319, tool: "block_list", args: {} },
    { kind: "change", structured: 45, text: 31, tool: "context", args: { operation: "create", label: "notes", template: "scratchpad",
        description: "What is worth knowing about this project in the next session" } },
    { kind: "change", structured: 45, text: 31, tool: "context", args: { operation: "append", label: "notes",
        content: "Areas must not be rounded: the callers in billing add thousands of them, and the sums came out wrong in May." } },
    { kind: "list", structured: 193, text: 96, tool: "context", args: { operation: "list" } },
    { kind: "list", structured: 335, text: 127, tool: "context", args: { operation: "search", query: "areas" } },
];
