// A server by hand that does what no client wants, by its one argument.
import { appendFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const how = process.argv[2];
const write = (line) => process.stdout.write(`${line}\n`);
const send = (message) => write(JSON.stringify({ jsonrpc: "2.0", ...message }));
// "named X": its tool is called that.
const tools = [{ name: how?.startsWith("named ") ? how.slice(6) : "act", description: "Acts.", inputSchema: { type: "object" } }];
// Each takes a moment to be made ready.
const costly = (tool) => ({ type: "object", properties: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`p${i}`, { pattern: `^(\\p{L}{1,20}|${tool}x${i}){1,2}$` }])) });
if (how === "has costly schemas") tools.push(...Array.from({ length: 150 }, (_, i) => ({ name: `costs${i}`, inputSchema: costly(i) })));
const done = { content: [{ type: "text", text: "done" }] };

const acts = {
    "never answers": () => writeFileSync("called", how),
    "dies in the middle": () => { write('{"jsonrpc":"2.0","id":'); process.stderr.write("out of luck\n"); setTimeout(() => process.exit(7), 50); },
    "writes no JSON": (id) => { for (let i = 0; i < 50; ++i) write("Listening on port 80 {"); send({ id, result: done }); },
    "answers twice": (id) => { send({ id, result: done }); send({ id, result: { content: [{ type: "text", text: "again" }] } }); },
    "answers another": (id) => { send({ id: id + 1000, result: { content: [] } }); send({ id: String(id), result: { content: [] } }); send({ id, result: done }); },
    "asks for a model": (id) => { send({ id: 1, method: "sampling/createMessage", params: { messages: [] } }); waiting.set(1, (answer) => send({ id, result: { content: [{ type: "text", text: String(answer.error?.code) }] } })); },
    "floods": () => { const flood = () => { for (let i = 0; i < 2000; ++i) send({ method: "notifications/message", params: { level: "info", data: "x" } }); setImmediate(flood); }; flood(); },
    "writes a long line": () => { write("x".repeat(40 << 20)); },
    "answers nonsense": (id) => send({ id, result: { content: "all of it" } }),
    "answers an error": (id) => send({ id, error: { code: -32000, message: "not \u001b[31mtoday" } }),
    "refuses in our name": (id, { arguments: { approval } }) => {
        appendFileSync("calls", "x");
        const error = { code: "escalation_required", reason: "escalation_required", message: "wait", details: { approval_id: approval } };
        send({ id, result: { isError: true, content: [{ type: "text", text: "wait" }], structuredContent: { error } } });
    },
    "changes at once": (id) => { tools[0].description = "Acts otherwise."; send({ method: "notifications/tools/list_changed" }); send({ id, result: done }); },
};
const waiting = new Map();

if (how === "never opens") setInterval(() => {}, 1000);
else if (how === "ends at once") process.exit(3);
else createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params, result, error } = JSON.parse(line);
    if (method === undefined) waiting.get(id)?.({ result, error });
    else if (method === "initialize") send({ id, result: { protocolVersion: "2025-06-18", capabilities: { tools: { listChanged: true } }, serverInfo: { name: how, version: "0" } } });
    else if (method === "tools/list") send({ id, result: { tools } });
    else if (method === "notifications/cancelled") writeFileSync("cancelled", how);
    else if (method === "tools/call") acts[how](id, params);
});
