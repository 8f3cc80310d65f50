// Workspaces and processes for the tests: each test has its own of both, and leaves neither behind.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const quire = resolve(process.env.QUIRE ?? join(root, "build/quire"));

// For the `skip` option of a test: false, or the reason.
export const skip = existsSync(quire) ? false : "the program is not built";

export const everythingAllowed = '[[files.rules]]\npattern = "**"\npermission = "read_write"\n';

// A new folder with `files` ({path: text}) and rules that let agents write anywhere. Removed, and with
// it the kernel that may still run there, when the test ends.
export function workspace(t, files = {}, settings = everythingAllowed) {
    const folder = mkdtempSync(join(tmpdir(), "quire-ws-"));
    for (const [path, text] of Object.entries({ "quire.toml": settings, ...files })) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
    }
    t?.after(() => removeWorkspace(folder));
    return folder;
}

// Ends the kernel that may still run in the folder, and removes the folder. A running kernel whose .quire
// is removed would save its documents into the folder.
export function removeWorkspace(folder) {
    const kernel = kernelOf(folder);
    try {
        if (kernel !== undefined) process.kill(kernel, "SIGKILL");
    } catch {
        // It ended between the look and the signal.
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

// The error of a command that was refused, as it prints it where nobody sits at a terminal.
export function refusal(stderr) {
    return JSON.parse(stderr).error;
}

// The kernel's process on this workspace: ours to kill, since nobody else has the folder.
export function kernelOf(folder) {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
            const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
            if (words[1] === "kernel" && words.includes(folder)) return Number(pid);
        } catch {
            // It ended between the listing and the look.
        }
    }
    return undefined;
}

// Waits until `holds()`, looking every 10 ms; false after a minute, which a slow machine under load does not take.
export async function comesTrue(holds) {
    const end = Date.now() + 60_000;
    while (!(await holds())) {
        if (Date.now() > end) return false;
        await new Promise((again) => setTimeout(again, 10));
    }
    return true;
}

// The shortest of up to five times that `take` returns, in ms; ends with the first below `limit`. For what is done at
// once: another program may take the processor now and then, but not each time.
export async function quickest(limit, take) {
    let best = Infinity;
    for (let i = 0; i < 5 && best >= limit; ++i) best = Math.min(best, await take());
    return best;
}

// How many bytes a process has read by now, from whatever source.
function bytesRead(pid) {
    return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))[1]);
}

// True if each thread of a process waits for something.
function isAsleep(pid) {
    const states = readdirSync(`/proc/${pid}/task`).map((task) => readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8"));
    return states.every((stat) => stat.slice(stat.lastIndexOf(")")).startsWith(") S"));
}

export function mcpArguments(folder, { profile = "full", actor = "agent:test" } = {}) {
    return ["mcp", "--workspace", folder, "--profile", profile, "--actor", actor];
}

// A client that speaks lines: for what the SDKs would never send.
export class RawClient {
    #child;
    #buffer = "";
    #lines = [];
    #waiting = [];
    #next = 1;
    #written = 0;

    constructor(command, args, options = {}) {
        this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], ...options });
        this.errors = "";
        this.#child.stderr.on("data", (data) => (this.errors += data));
        this.#child.stdin.on("error", () => {});  // It may be gone; what it answered says so.
        this.#child.stdout.setEncoding("utf8");
        this.#child.stdout.on("data", (data) => this.#take(data));
        this.exit = new Promise((done) => {
            this.#child.on("exit", (code, signal) => done({ code, signal }));
        }).then((end) => {
            for (const waiter of this.#waiting.splice(0)) waiter.fail(new Error(`ended: ${JSON.stringify(end)} ${this.errors}`));
            return end;
        });
    }

    get pid() {
        return this.#child.pid;
    }

    #take(data) {
        const pieces = (this.#buffer + data).split("\n");
        this.#buffer = pieces.pop();
        for (const piece of pieces) this.#arrived(JSON.parse(piece));
    }

    #arrived(message) {
        const at = this.#waiting.findIndex((w) => w.wants(message));
        if (at < 0) this.#lines.push(message);
        else this.#waiting.splice(at, 1)[0].take(message);
    }

    // The first message, already here or to come, for which `wants` holds.
    receive(wants = () => true, within = 60_000) {
        const at = this.#lines.findIndex(wants);
        if (at >= 0) return Promise.resolve(this.#lines.splice(at, 1)[0]);
        return new Promise((take, fail) => {
            const waiter = { wants };
            const timer = setTimeout(() => {
                this.#waiting = this.#waiting.filter((w) => w !== waiter);
                fail(new Error(`no answer in ${within} ms; stderr: ${this.errors}`));
            }, within);
            waiter.take = (message) => (clearTimeout(timer), take(message));
            waiter.fail = (error) => (clearTimeout(timer), fail(error));
            this.#waiting.push(waiter);
        });
    }

    write(bytes) {
        this.#written += Buffer.byteLength(bytes);
        return this.#child.stdin.write(bytes);
    }

    // What the program has read and was written so far, for handled().
    mark() {
        return { read: bytesRead(this.pid), written: this.#written };
    }

    // Waits until the program has read what was written since the mark and sleeps, so that it has sent that on.
    // Nobody else may write to it meanwhile: its kernel is stopped.
    async handled(mark) {
        const end = mark.read + this.#written - mark.written;
        for (let look = 0; look < 6000; look++) {
            if (bytesRead(this.pid) >= end && isAsleep(this.pid)) return;
            await new Promise((again) => setTimeout(again, 10));
        }
        throw new Error("the program has not read what was written");
    }

    send(message) {
        this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    }

    request(method, params, within) {
        const id = this.#next++;
        const answer = this.receive((m) => m.id === id, within);
        this.send({ id, method, params });
        return answer;
    }

    async initialize(version = "2025-11-25", capabilities = {}) {
        const answer = await this.request("initialize", {
            protocolVersion: version,
            capabilities,
            clientInfo: { name: "raw", version: "1" },
        });
        this.send({ method: "notifications/initialized" });
        return answer;
    }

    call(name, args, within) {
        return this.request("tools/call", { name, arguments: args }, within);
    }

    end() {
        this.#child.stdin.end();
        return this.exit;
    }

    signal(name) {
        this.#child.kill(name);
        return this.exit;
    }
}

// `quire mcp` in `folder`, spoken to line by line; ended with the test.
export function rawQuire(t, folder, options) {
    const client = new RawClient(quire, mcpArguments(folder, options));
    t?.after(async () => {
        client.end();
        const end = await Promise.race([client.exit, new Promise((r) => setTimeout(r, 5000))]);
        if (!end) await client.signal("SIGKILL");
    });
    return client;
}
