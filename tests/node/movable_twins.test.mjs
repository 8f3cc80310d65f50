// The same edits of movable lists and counters, made once in npm `loro-crdt` and once in `quire engine`, by
// peers of the same names: not only what comes out must be alike but every op, down to the positions that
// count slots which show nothing. Loro itself compares them, when it is given our history of its own ops.
//
// Which scripts: support/seeds.mjs.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { LoroDoc, VersionVector } from "loro-crdt";
import { EngineDriver } from "./engine_driver.mjs";
import { objection, random } from "./engine_script.mjs";
import { seeds } from "./support/seeds.mjs";

const driver = new EngineDriver();
after(() => driver.close());

const { base, count } = seeds(77, { usual: 100, long: 2000 });
const LIST = "cid:root-list:MovableList";
const COUNTER = "cid:root-counter:Counter";

let documents = 0;
class Twin {
    constructor(id) {
        this.npm = new LoroDoc();
        this.npm.setPeerId(id);
        this.list = this.npm.getMovableList("list");
        this.name = `twin ${++documents}`;
        this.id = id;
    }

    ask(op, fields = {}) { return driver.ask(op, { doc: this.name, ...fields }); }
    async start() { await this.ask("new", { peer: this.id }); }

    // Both do it.
    async edit(rand, offset) {
        const below = (n) => Math.floor(rand() * n);
        const size = this.list.length;
        const what = below(12);
        if (size === 0 || what < 3) {
            const pos = below(size + 1);
            const value = below(1000);
            this.list.insert(pos, value);
            await this.ask("mlist.insert", { cid: LIST, pos, value });
        } else if (what < 7) {
            const from = below(size);
            const to = below(size);
            this.list.move(from, to);
            // One place off: what a fault looks like.
            await this.ask("mlist.move", { cid: LIST, from, to: (to + offset) % size });
        } else if (what < 8) {
            const pos = below(size);
            const value = `set ${below(3)}`;
            this.list.set(pos, value);
            await this.ask("mlist.set", { cid: LIST, pos, value });
        } else if (what < 10) {
            const pos = below(size);
            const len = 1 + below(Math.min(4, size - pos));
            this.list.delete(pos, len);
            await this.ask("mlist.delete", { cid: LIST, pos, len });
        } else {
            const delta = [0, 1, -7, 0.5, 2 ** 27, 2 ** 27 - 1, -(2 ** 40)][below(7)];
            this.npm.getCounter("counter").increment(delta);
            await this.ask("counter.add", { cid: COUNTER, delta });
        }
    }

    async commit() {
        this.npm.commit();
        await this.ask("commit");
    }

    async pull(from) {
        await from.commit();
        await this.commit();
        const version = this.npm.version().toJSON();
        this.npm.import(from.npm.export({ mode: "update", from: new VersionVector(version) }));
        const bytes = await from.ask("export", { mode: "updates", from: Object.fromEntries(version) });
        await this.ask("import", { bytes });
    }

    async drop() {
        this.npm.free();
        await this.ask("drop");
    }
}

async function run(seed, offset = 0) {
    const rand = random(seed);
    const twins = ["3", "1", "18446744073709551614"].map((id) => new Twin(id));
    try {
        for (const twin of twins) await twin.start();
        for (let step = 0; step < 60; ++step) {
            const twin = twins[Math.floor(rand() * 3)];
            const other = twins[Math.floor(rand() * 3)];
            if (rand() < 0.2 && twin !== other) await twin.pull(other);
            else await twin.edit(rand, offset);
        }
        for (const twin of twins) {
            for (const other of twins) if (twin !== other) await twin.pull(other);
        }
        const [twin] = twins;
        const theirs = { list: twin.list.toJSON(), counter: twin.npm.getCounter("counter").value };
        const ours = { list: await twin.ask("value", { cid: LIST }), counter: await twin.ask("value", { cid: COUNTER }) };
        if (JSON.stringify(theirs) !== JSON.stringify(ours)) return `${JSON.stringify(theirs)}\n${JSON.stringify(ours)}`;
        await twin.ask("map.set", { cid: "cid:root-map:Map", key: "one more", value: 1 });
        return objection(twin.npm, Buffer.from(await twin.ask("export", { mode: "updates" }), "base64"));
    } finally {
        for (const twin of twins) await twin.drop();
    }
}

test(`${count} scripts: the same edits are the same ops in both engines (first seed ${base})`, async () => {
    for (let seed = base; seed < base + count; ++seed) {
        const fault = await run(seed);
        assert.equal(fault, null, `SEED=${seed}: ${fault}`);
    }
});

test("a move one place off is seen", async () => {
    assert.notEqual(await run(5, 1), null);
});
