// A program of its own that sends long requests to a kernel's socket: long_sender.mjs SOCKET BYTES. It says "ready" once
// its hello is answered, sends one request for each line of its input, and writes each answer as a line.
import net from "node:net";
import { createInterface } from "node:readline";

const [path, bytes] = [process.argv[2], Number(process.argv[3])];
const socket = net.connect(path);
const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
const part = Buffer.alloc(1 << 20, "x");
socket.write('{"quire":1,"actor":"agent:sender","profile":"full","kind":"mcp"}\n');
await lines.next();
console.log("ready");

let id = 0;
for await (const _ of createInterface({ input: process.stdin })) {
    socket.write('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"file","arguments":{"text":"');
    for (let sent = 0; sent < bytes; sent += part.length) {
        if (!socket.write(part)) await new Promise((go) => socket.once("drain", go));
    }
    socket.write(`"}},"id":${++id}}\n`);
    console.log((await lines.next()).value);
}
socket.destroy();
