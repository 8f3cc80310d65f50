// Presence of our engine beside Loro's EphemeralStore: what one encodes, the other shows, in random exchanges.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { EphemeralStore } from "loro-crdt";
import { EngineDriver } from "./engine_driver.mjs";
import { random } from "./engine_script.mjs";
import { seeds } from "./support/seeds.mjs";

const driver = new EngineDriver();
after(() => driver.close());

const { base, count } = seeds(20261126, { usual: 60, long: 1000 });
const KEYS = ["a", "b", "é😀", "", "d/e"];
const VALUES = [null, true, 7, -3, 2.5, "text", [1, [2], {}], { x: { y: null } }, 2 ** 40];

const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const sorted = (states) => JSON.stringify(Object.entries(states).sort(([a], [b]) => (a < b ? -1 : 1)));

let stores = 0;

async function run(seed) {
    const rand = random(seed);
    const pick = (list) => list[Math.floor(rand() * list.length)];
    const npm = new EphemeralStore(60_000);
    const store = `store ${++stores}`;
    await driver.ask("ephemeral.new", { store, timeout_ms: 60_000 });
    const toNpm = async (key) => npm.apply(new Uint8Array(Buffer.from(await driver.ask("ephemeral.encode", key === undefined ? { store } : { store, key }), "base64")));
    const toOurs = async (bytes) => driver.ask("ephemeral.apply", { store, bytes: base64(bytes) });
    try {
        for (let step = 0; step < 30; ++step) {
            const key = pick(KEYS);
            // Both clocks are this machine's; a write of Loro's in the millisecond of another loses to it, so only
            // one side writes a key between two exchanges.
            if (rand() < 0.5) {
                const before = Date.now();
                while (Date.now() === before);
                if (rand() < 0.2) npm.delete(key);
                else npm.set(key, pick(VALUES));
                await toOurs(rand() < 0.5 ? npm.encodeAll() : npm.encode(key));
            } else {
                const before = Date.now();
                while (Date.now() === before);
                if (rand() < 0.2) await driver.ask("ephemeral.delete", { store, key });
                else await driver.ask("ephemeral.set", { store, key, value: pick(VALUES) });
                await toNpm(rand() < 0.5 ? undefined : key);
            }
            const theirs = sorted(npm.getAllStates());
            const ours = sorted(await driver.ask("ephemeral.states", { store }));
            assert.equal(ours, theirs, `SEED=${seed}, step ${step}`);
        }
    } finally {
        await driver.ask("ephemeral.drop", { store });
        npm.destroy();
    }
}

test(`both show the same after any exchange (first seed ${base})`, async () => {
    for (let seed = base; seed < base + count; ++seed) await run(seed);
});

test("bytes survive, and an entry that is too old is shown by neither", async () => {
    await driver.ask("ephemeral.new", { store: "bytes", timeout_ms: 3000 });
    const npm = new EphemeralStore(3000);
    npm.set("k", new Uint8Array([0, 255]));
    const bytes = base64(npm.encodeAll());
    await driver.ask("ephemeral.apply", { store: "bytes", bytes });
    assert.deepEqual(await driver.ask("ephemeral.states", { store: "bytes" }), { k: { $bytes: "AP8=" } });
    await new Promise((resolve) => setTimeout(resolve, 3100));
    assert.deepEqual(await driver.ask("ephemeral.states", { store: "bytes" }), {});
    await driver.ask("ephemeral.apply", { store: "bytes", bytes });
    assert.deepEqual(await driver.ask("ephemeral.states", { store: "bytes" }), {});
    npm.destroy();
});
