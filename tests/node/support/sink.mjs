// A program of its own that takes in what clients send and does nothing with it: sink.mjs SOCKET. It answers each line.
import net from "node:net";

const server = net.createServer((client) => {
    client.on("error", () => {});
    client.on("data", (data) => {
        if (data.at(-1) === 10) client.write('{"error":{"code":-32600}}\n');
    });
});
server.listen(process.argv[2], () => console.log("ready"));
