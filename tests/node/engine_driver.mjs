// `quire engine` from node: one child process, requests answered in order.
import { spawn } from "node:child_process";
import { once } from "node:events";

export class EngineError extends Error {
    constructor(op, { code, message }) {
        super(`${op}: ${code}: ${message}`);
        this.code = code;
    }
}

export class EngineDriver {
    constructor(program = process.env.QUIRE ?? "quire") {
        this.child = spawn(program, ["engine"], { stdio: ["pipe", "pipe", "inherit"] });
        this.waiting = [];
        this.buffer = "";
        this.child.stdout.setEncoding("utf8");
        this.child.stdout.on("data", (text) => this.#receive(text));
        this.child.on("exit", () => this.waiting.splice(0).forEach(({ reject }) => reject(new Error("the engine ended"))));
        this.child.stdin.on("error", () => {});
    }

    // Resolves to what stands under "ok".
    ask(op, fields = {}) {
        return this.askLine(JSON.stringify({ op, ...fields })).then((reply) => {
            if (reply.error) throw new EngineError(op, reply.error);
            return reply.ok;
        });
    }

    // Any line; resolves to the whole reply.
    askLine(line) {
        return new Promise((resolve, reject) => {
            this.waiting.push({ resolve, reject });
            this.child.stdin.write(`${line}\n`);
        });
    }

    // The exit status.
    async close() {
        if (this.child.exitCode !== null) return this.child.exitCode;
        this.child.stdin.end();
        const [status] = await once(this.child, "exit");
        return status;
    }

    #receive(text) {
        this.buffer += text;
        const lines = this.buffer.split("\n");
        this.buffer = lines.pop();
        for (const line of lines) this.waiting.shift().resolve(JSON.parse(line));
    }
}
