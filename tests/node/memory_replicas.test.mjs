// One structured memory with two replicas: ours, and Loro's own (npm loro-crdt) in a program that knows the
// containers and no gate. Edited apart they end alike; what Loro may not write is refused before it is merged.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { LoroDoc, LoroMap } from "loro-crdt";
import { EngineDriver } from "./engine_driver.mjs";
import { randomness } from "./support/documents.mjs";
import { share } from "./support/share.mjs";

const program = process.env.MEMORY_REPLICA;
const seed = Number(process.env.SEED ?? 20261121);
const scripts = process.env.QUIRE_LONG ? 500 : share(40);

const schema = {
    Composite: {
        sections: [
            { name: "profile", schema: { Map: { fields: [
                { name: "name", field_type: "Text", required: true },
                { name: "age", field_type: "Number" },
                { name: "notes", field_type: "Text" },
                { name: "tags", field_type: "List" },
                { name: "energy", field_type: "Counter", default: 5 },
                { name: "verdict", field_type: "Text", read_only: true },
            ] } } },
            { name: "tasks", schema: { List: { item_schema: { Map: { fields: [
                { name: "title", field_type: "Text", required: true },
                { name: "done", field_type: "Boolean" },
                { name: "priority", field_type: "Text" },
            ] } } } } },
            { name: "journal", schema: { Log: { display_limit: 5, entry_schema: { timestamp: false, agent_id: true } } } },
            { name: "text", schema: "Text" },
            { name: "diagnostics", schema: "Text", read_only: true },
        ],
    },
};

test("there is a replica of ours", () => assert.ok(program, "MEMORY_REPLICA names the program"));
const ours = new EngineDriver(program);
after(() => ours.close());

async function ask(op, fields = {}) {
    const reply = await ours.askLine(JSON.stringify({ op, ...fields }));
    if (reply.error) throw Object.assign(new Error(reply.error.message), reply.error);
    return reply.ok;
}

// The containers, as docs/memory.md names them.
const profile = (doc) => doc.getMap("section:profile:root");
const tags = (doc) => doc.getList("cid:root-section/profile/root/tags:List");
const longText = (doc, field) => doc.getText(`cid:root-section/profile/root/${field}:Text`);
const energy = (doc) => doc.getCounter("cid:root-section/profile/root/energy:Counter");
const tasks = (doc) => doc.getList("cid:root-section/tasks/items:List");
const journal = (doc) => doc.getList("cid:root-section/journal/entries:List");
const text = (doc) => doc.getText("cid:root-section/text/content:Text");

async function begin() {
    await ask("open", { schema, peer: 1 });
    const doc = new LoroDoc();
    doc.setPeerId("2");
    return doc;
}

const send = (doc, actor = "agent:loro") =>
    ask("import", { actor, update: Buffer.from(doc.export({ mode: "update" })).toString("base64") });

async function meet(doc) {
    doc.commit();
    await send(doc);
    doc.import(Buffer.from(await ask("export"), "base64"));
    assert.deepEqual(filled(await ask("stored")), filled(doc.toJSON()));
}

// Without the roots that hold nothing: an engine may show those that were only looked at.
const filled = (value) => Object.fromEntries(Object.entries(value)
    .filter(([, each]) => (typeof each === "number" ? each !== 0 : Object.keys(Object(each)).length > 0)));

// What Loro's replica shows, put together from its containers.
function shown(doc) {
    const root = profile(doc).toJSON();
    const out = {};
    if (root.age !== undefined) out.age = root.age;
    for (const field of ["name", "notes"]) {
        const apart = longText(doc, field).toString();
        const written = root[field] ?? (root[field] === null || apart !== "" ? apart : undefined);
        if (written !== undefined) out[field] = written;
    }
    if (root.tags === null || tags(doc).length > 0) out.tags = tags(doc).toJSON();
    out.energy = 5 + energy(doc).value;
    return { profile: out, tasks: tasks(doc).toJSON(), journal: journal(doc).toJSON(), text: text(doc).toString(), diagnostics: "" };
}

function editLoro(doc, random) {
    const word = () => ["ada", "blue", "naïve", "🤝 x", ""][random(5)];
    const list = tasks(doc);
    switch (random(9)) {
        case 0: profile(doc).set("name", word()); break;
        case 1: profile(doc).set("age", random(100)); break;
        case 2: tags(doc).insert(random(tags(doc).length + 1), word()); break;
        case 3: if (tags(doc).length > 0) tags(doc).delete(random(tags(doc).length), 1); break;
        case 4: energy(doc).increment(random(5) - 2); break;
        case 5: text(doc).insert(random(text(doc).length + 1), "loro "); break;
        case 6: {
            const item = list.insertContainer(random(list.length + 1), new LoroMap());
            item.set("title", word());
            break;
        }
        case 7: if (list.length > 0) list.get(random(list.length)).set("priority", word()); break;
        default: journal(doc).push({ agent_id: "loro", message: word() });
    }
}

async function editOurs(random) {
    const word = () => ["Zed", "green", "ÿ", "long ".repeat(60), ""][random(5)];
    const index = random(4);
    const writes = [
        { method: "set_field", section: "profile", field: "name", value: word() },
        { method: "set_field", section: "profile", field: "tags", value: [word(), "kept", word()] },
        { method: "append_to_list", section: "profile", field: "tags", value: word() },
        { method: "remove_from_list", section: "profile", field: "tags", index },
        { method: "set_field", section: "profile", field: "energy", value: random(20) },
        { method: "increment_counter", section: "profile", field: "energy", value: 1 },
        { method: "set_text_field", section: "profile", field: "notes", value: word() },
        { method: "append", section: "tasks", value: { title: word(), done: false } },
        { method: "set_item_field", section: "tasks", index, field: "done", value: true },
        { method: "append", section: "journal", value: word() },
        { method: "set_text", section: "text", value: word() },
    ];
    try {
        await ask("write", { actor: "agent:ada", ...writes[random(writes.length)] });
    } catch (error) {
        assert.equal(error.reason, "index_out_of_bounds");
    }
}

test(`${scripts} memories from seed ${seed}, edited apart, end alike`, async () => {
    for (let script = 0; script < scripts; ++script) {
        const below = randomness(seed + script);
        const doc = await begin();
        for (let round = 0; round < 5; ++round) {
            for (let i = below(5); i > 0; --i) editLoro(doc, below);
            for (let i = below(5); i > 0; --i) await editOurs(below);
            await meet(doc);
            assert.deepEqual(await ask("value"), shown(doc), `seed ${seed + script}`);
        }
    }
});

test("two fields of one item, set at once, are both there", async () => {
    const doc = await begin();
    await ask("write", { actor: "agent:ada", method: "append", section: "tasks", value: { title: "a" } });
    await meet(doc);
    tasks(doc).get(0).set("priority", "high");
    await ask("write", { actor: "agent:ada", method: "set_item_field", section: "tasks", index: 0, field: "done", value: true });
    await meet(doc);
    assert.deepEqual((await ask("value")).tasks, [{ title: "a", done: true, priority: "high" }]);
});

for (const [what, write, reason, message] of [
    ["a read-only field", (doc) => profile(doc).set("verdict", "fine"), "read_only_field",
        "Field 'verdict' is read-only and cannot be modified by agent"],
    ["a read-only section", (doc) => doc.getText("cid:root-section/diagnostics/content:Text").insert(0, "x"), "read_only_section",
        "Section 'diagnostics' is read-only and cannot be modified by agent"],
    ["a value of the wrong type", (doc) => profile(doc).set("age", "old"), "schema_mismatch", "Schema mismatch: expected Number, got string"],
    ["an unknown field", (doc) => profile(doc).set("colour", "blue"), "field_not_found"],
]) {
    test(`a batch that writes ${what} is refused whole`, async () => {
        const doc = await begin();
        profile(doc).set("name", "Ada");
        doc.commit();
        write(doc);
        doc.commit();
        await assert.rejects(send(doc), (error) => error.reason === reason && (message === undefined || error.message === message));
        assert.deepEqual(await ask("stored"), {});
    });
}

test("what a source writes there is merged", async () => {
    const doc = await begin();
    profile(doc).set("verdict", "fine");
    doc.commit();
    await send(doc, "source:lint");
    assert.equal((await ask("value")).profile.verdict, "fine");
    assert.match(await ask("render"), /verdict \[read-only\]: fine/);
});
