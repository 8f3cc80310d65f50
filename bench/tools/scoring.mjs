// Gives tasks to hands, one after the other, in a workspace of its own, and compares the file on the disk byte for byte
// with what was wanted. Verdicts:
//
// right     at the first try
// again     refused, or told that the text had changed: right after the agent read it anew
// never     refused, and refused again
// wrong     the text is another than was wanted, and no answer said so
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { mcpArguments, quire, RawClient, removeWorkspace } from "../../tests/node/support/workspace.mjs";
import { hands as known, hunksOf, look, takeBack } from "./hands.mjs";

const settings = '[files]\nsave = "on_commit"\n\n[[files.rules]]\npattern = "**"\npermission = "read_write"\n';

// One agent at one task: its calls, and what the answers told it.
class Agent {
    #told = false;
    #done = 0;

    constructor(hand, connection, path) {
        Object.assign(this, { hand, connection, path, version: undefined, log: [] });
    }

    async #call([tool, args]) {
        const answer = await this.connection.call(tool, args);
        if (!answer.result) throw new Error(`${tool} ${JSON.stringify(args)}: ${JSON.stringify(answer)}`);
        this.log.push({ tool, args, answer: answer.result.content?.[0]?.text });
        return answer.result;
    }

    async look() {
        this.version = (await this.#call(look[this.hand.profile](this.path))).structuredContent?.version;
    }

    // Makes the change, call by call, up to the first refusal: "done", "refused", or "told" if an answer
    // said that somebody else had changed the text.
    async change(seen, goal) {
        this.#told = false;
        this.#done = 0;
        for (const step of this.hand.calls(this.path, seen, hunksOf(seen, goal), this.version)) {
            const { isError, structuredContent } = await this.#call(step);
            if (structuredContent?.changed_since_read?.length > 0) this.#told = true;
            if (isError) return "refused";
            this.#done++;
        }
        return this.#told ? "told" : "done";
    }

    async takeBack() {
        for (; this.#done > 0; this.#done--) await this.#call(takeBack[this.hand.profile](this.path));
    }
}

async function attempt(task, hand, path, disk, clientOf) {
    const text = () => readFileSync(disk, "utf8");
    writeFileSync(disk, task.before);
    const agent = new Agent(hand, await clientOf(hand.profile, "agent:one"), path);
    await agent.look();
    if (task.meanwhile !== undefined) {
        const other = new Agent(known[0], await clientOf("full", "agent:other"), path);
        await other.look();
        if (await other.change(task.before, task.meanwhile) !== "done") throw new Error(`${task.name}: the other agent was refused`);
    }
    const actual = task.meanwhile ?? task.before;
    const result = task.result ?? task.goal;
    const is = (verdict) => ({ task: task.name, verdict, calls: agent.log.length, text: text(), result, log: agent.log });

    const first = await agent.change(task.seen ?? task.before, task.goal);
    if (first !== "refused" && text() === result) return is("right");
    if (first === "done") return is("wrong");
    await agent.takeBack();
    if (text() !== actual) return is("wrong");
    await agent.look();
    if (actual === result) return is("again");  // The other agent did it already.
    const second = await agent.change(actual, result);
    if (second === "refused") return is(text() === actual ? "never" : "wrong");
    return is(text() === result ? "again" : "wrong");
}

// A row for each hand: {profile, hand, tasks, right, again, never, wrong, calls, faults}.
export async function score(hands, tasks) {
    const folder = mkdtempSync(join(tmpdir(), "quire-score-"));
    writeFileSync(join(folder, "quire.toml"), settings);
    mkdirSync(join(folder, "t"));
    const clients = {};
    const clientOf = async (profile, actor) => {
        const key = `${profile} ${actor}`;
        if (!clients[key]) {
            clients[key] = new RawClient(quire, mcpArguments(folder, { profile, actor }));
            await clients[key].initialize();
        }
        return clients[key];
    };

    const table = [];
    let number = 0;
    try {
        for (const hand of hands) {
            const row = { profile: hand.profile, hand: hand.by, tasks: 0, right: 0, again: 0, never: 0, wrong: 0, calls: 0, faults: [] };
            for (const task of tasks) {
                if (task.by && !task.by.includes(hand.by)) continue;
                const path = `t/${number++}.txt`;
                const { verdict, calls, ...rest } = await attempt(task, hand, path, join(folder, path), clientOf);
                row.tasks++;
                row[verdict]++;
                row.calls += calls;
                if (verdict === "never" || verdict === "wrong") row.faults.push({ verdict, ...rest });
            }
            table.push(row);
        }
    } finally {
        const all = Object.values(clients);
        await Promise.race([Promise.all(all.map((c) => c.end())), new Promise((done) => setTimeout(done, 5000))]);
        removeWorkspace(folder);
    }
    return table;
}
