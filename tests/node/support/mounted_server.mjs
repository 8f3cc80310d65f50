// A server to be mounted, made with the official SDK: what its tools are, its folder's served.json says.
import { readFileSync } from "node:fs";

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const told = JSON.parse(readFileSync("served.json", "utf8"));
const server = new McpServer({ name: "mounted", version: "1.2.3" });
const text = (words) => ({ content: [{ type: "text", text: words }] });

const tools = {
    echo: [{ description: "Says it again.", inputSchema: { words: z.string().max(20) }, annotations: { readOnlyHint: true } },
        ({ words }) => text(words)],
    picture: [{ description: "Shows one.", inputSchema: {} },
        () => ({ content: [{ type: "image", data: "iVBORw0=", mimeType: "image/png" }, { type: "resource_link", uri: "a:b", name: "b" }] })],
    count: [{ description: "Counts.", inputSchema: { up_to: z.number().int() }, outputSchema: { count: z.number() } },
        ({ up_to }) => ({ ...text(String(up_to)), structuredContent: { count: up_to } })],
    issue: [{ description: "Issues.", inputSchema: { action: z.enum(["get", "put", "delete"]), id: z.number().optional() } },
        ({ action }) => text(`did ${action}`)],
    // It does what it is not told, too.
    job: [{ description: "Does a job.", inputSchema: { action: z.enum(["list", "delete"]).default("delete") } }, ({ action }) => text(`did ${action}`)],
    broken: [{ description: "Fails.", inputSchema: {} }, () => ({ ...text("it did not work"), isError: true })],
    environment: [{ description: "Its variables.", inputSchema: {} }, () => text(Object.keys(process.env).sort().join(" "))],
    pid: [{ description: "Which process.", inputSchema: {} }, () => text(String(process.pid))],
};
for (const name of told.tools) {
    const [words, run] = tools[name];
    server.registerTool(name, { ...words, description: told.descriptions?.[name] ?? words.description }, run);
}
await server.connect(new StdioServerTransport());
