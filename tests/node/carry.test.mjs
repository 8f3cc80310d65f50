// quire export and quire import: an agent's memory in one file, with its history, and those of other programs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { kernelOf, quire, refusal, skip, workspace } from "./support/workspace.mjs";

const tom = ["--actor", "human:tom"];

function setUp(t) {
    const folder = workspace(t);
    const run = (args) => spawnSync(quire, [...args, "--workspace", folder], { encoding: "utf8", timeout: 120_000 });
    const context = (operation, args = {}, actor = "agent:ada") => {
        const { status, stdout, stderr } = run(["call", "context", JSON.stringify({ operation, ...args }), "--actor", actor]);
        assert.equal(status, 0, stderr);
        return JSON.parse(stdout);
    };
    const labels = (actor) => context("list", {}, actor).blocks.map((block) => block.label);
    const file = (name, text) => {
        const path = join(folder, name);
        if (text !== undefined) writeFileSync(path, text);
        return path;
    };
    return { folder, run, context, labels, file };
}

const status = { Composite: { sections: [
    { name: "diagnostics", read_only: true, schema: { Map: { fields: [{ name: "errors", field_type: "Counter" }] } } },
    { name: "config", schema: { Map: { fields: [{ name: "level", field_type: "Number" }, { name: "bio", field_type: "Text" }] } } },
    { name: "todo", schema: { List: {} } },
    { name: "log", schema: { Log: {} } },
] } };

// Something of everything, by several actors, with undo.
function fill({ context }) {
    context("create", { label: "build", schema: status, type: "core", description: "How it is", char_limit: 5000 });
    context("set_field", { label: "build", section: "config", field: "level", value: 1.5 });
    context("set_field", { label: "build", section: "config", field: "bio", value: "long ".repeat(100) });
    context("set_field", { label: "build", section: "config", field: "level", value: 9 });
    context("undo", { label: "build" });
    context("append", { label: "build", section: "todo", content: { title: "tea", done: false } });
    context("append", { label: "build", section: "log", content: "built" });
    context("increment_counter", { label: "build", section: "diagnostics", field: "errors", delta: 0.1 }, "source:gcc");
    context("share", { label: "build", with: "bo", permission: "append" });
    context("create", { label: "old", schema: "Text", type: "archival" });
    context("append", { label: "old", content: "naïve 🤝\n" });
    context("create", { label: "empty", template: "task_list", pinned: true });
    context("create", { label: "his", schema: "Text" }, "agent:bo");
}

test("an agent's memory goes to another workspace, with who did what, and can be undone there", { skip }, (t) => {
    const here = setUp(t);
    const there = setUp(t);
    fill(here);
    const path = here.file("ada.memory");
    const out = here.run(["export", "--agent", "ada", path, ...tom]);
    assert.equal(out.status, 0, out.stderr);
    assert.match(out.stdout, /^Wrote 3 blocks of agent:ada with their history/);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(here.run(["export", "--agent", "ada", path, ...tom]).status, 1);
    assert.equal(here.run(["export", "--agent", "ada", path, "--force", ...tom]).status, 0);

    // Any program can check and read it.
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    assert.equal(JSON.parse(lines.at(-1)).sha256, createHash("sha256").update(lines.slice(0, -1).join("\n") + "\n").digest("hex"));
    assert.deepEqual(JSON.parse(lines[0]).owner, "agent:ada");
    assert.deepEqual(lines.slice(1, -1).map((line) => JSON.parse(line).label), ["build", "empty", "old"]);

    const dry = there.run(["import", path, "--dry-run", ...tom]);
    assert.equal(dry.status, 0, dry.stderr);
    assert.match(dry.stdout, /^Would import 3 blocks:\n {2}build\n {2}empty\n {2}old\n$/);
    assert.deepEqual(there.labels(), []);
    const made = there.run(["import", path, ...tom]);
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stdout, /^Imported 3 blocks:\n.*by SHA-256\.\n$/s);

    for (const label of ["build", "empty", "old"]) {
        const before = here.context("view", { label });
        const after = there.context("view", { label });
        for (const member of ["value", "rendered", "schema", "type", "permission"]) assert.deepEqual(after[member], before[member], member);
        const past = (world) => world.context("history", { label }).versions.map(({ version_id, timestamp, actor, description }) => ({ version_id, timestamp, actor, description }));
        const [entry, ...rest] = past(there);
        assert.deepEqual([entry.actor, entry.description], ["human:tom", "import"]);
        assert.deepEqual(rest, past(here));
    }
    const row = there.context("list").blocks.find((block) => block.label === "empty");
    assert.equal(row.pinned, true);
    assert.equal(there.context("view", { label: "build" }, "agent:bo").permission, "append");

    // History is alive there: versions, undo, and going on, also after the kernel was lost.
    assert.match(there.context("diff", { label: "build", from: "1", to: "2" }).diff, /\+level: 1\.5/);
    assert.deepEqual(there.context("search", { query: "naïve" }).blocks.map((block) => block.label), ["old"]);
    there.context("undo", { label: "old" });
    assert.equal(there.context("view", { label: "old" }).value, "");
    there.context("append", { label: "old", content: "new" });
    process.kill(kernelOf(there.folder), "SIGKILL");
    assert.equal(there.context("view", { label: "old" }).value, "new");
    assert.equal(there.context("view", { label: "build" }).value.diagnostics.errors, 0.1);
});

test("labels that are taken are refused together, or renamed", { skip }, (t) => {
    const world = setUp(t);
    fill(world);
    const path = world.file("ada.memory");
    assert.equal(world.run(["export", "--agent", "ada", path, ...tom]).status, 0);
    world.context("delete", { label: "old" }, "human:tom");

    const refused = world.run(["import", path, ...tom]);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /there are blocks of these labels already: 'build', 'empty'/);
    assert.match(refused.stderr, /--rename SUFFIX/);
    assert.deepEqual(refused.stderr.match(/nothing was imported/gi), ["nothing was imported"]);
    assert.deepEqual(world.labels("human:tom"), ["build", "empty", "his"]);

    const renamed = world.run(["import", path, "--rename", "_2", "--json", ...tom]);
    assert.equal(renamed.status, 0, renamed.stderr);
    const { blocks } = JSON.parse(renamed.stdout);
    assert.deepEqual(blocks.map((block) => [block.from, block.label]), [["build", "build_2"], ["empty", "empty_2"], ["old", "old"]]);
    // Another agent's labels are its own, so that nothing is renamed for it.
    assert.equal(world.run(["import", path, "--rename", "_2", "--agent", "eve", ...tom]).status, 0);
    assert.deepEqual(world.labels("agent:eve"), ["build", "empty", "old"]);
    assert.deepEqual(world.context("view", { label: "build" }, "agent:eve").value, world.context("view", { label: "build_2" }).value);
    assert.equal(world.run(["import", path, "--rename", "_2", ...tom]).status, 1);
});

test("a file that is damaged, cut off or newer changes nothing", { skip }, (t) => {
    const here = setUp(t);
    const there = setUp(t);
    fill(here);
    const path = here.file("ada.memory");
    assert.equal(here.run(["export", "--agent", "ada", path, ...tom]).status, 0);
    const text = readFileSync(path, "utf8");
    const sealed = (body) => body + JSON.stringify({ sha256: createHash("sha256").update(body).digest("hex") }) + "\n";
    const body = text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1);
    const lines = body.trimEnd().split("\n");
    const withBlock = (change) => {
        const block = JSON.parse(lines[1]);
        change(block);
        return sealed([lines[0], JSON.stringify(block), ...lines.slice(2)].join("\n") + "\n");
    };
    assert.equal(sealed(body), text);

    for (const [name, damaged, why] of [
        ["a letter", text.replace("tea", "tee"), /SHA-256 does not match/],
        ["cut off", text.slice(0, -1), /cut off/],
        ["half", text.slice(0, text.length / 2), /cut off/],
        ["a block less", sealed(lines.slice(0, -1).join("\n") + "\n"), /it has 2 blocks of 3/],
        ["newer", sealed(body.replace('"quire_memory":1', '"quire_memory":2')), /format 2, of a later quire/],
        ["another value", withBlock((block) => { block.value.config.level = 7; }), /'build' is damaged: its value is not the one/],
        ["no history", withBlock((block) => { block.updates = ""; }), /'build' is damaged/],
        ["torn history", withBlock((block) => { block.updates = block.updates.slice(0, 400); }), /'build' is damaged/],
        ["no schema", withBlock((block) => { delete block.header.schema; }), /'build' is damaged/],
        ["shuffled", withBlock((block) => { block.history.reverse(); }), /history is not in order/],
        ["a state that is none", withBlock((block) => { block.history[0].state = "never"; }), /line 2: the block 'build' is damaged: version 1 of its history has a state that is none/],
        ["an undo that was none", withBlock((block) => { block.history[0].state = "undone"; }), /line 2: .*version 1 of its history cannot be undone/],
        ["a description of two lines", withBlock((block) => { block.history[0].description = "create\nagent:eve did it"; }), /line 2: .*the description of version 1/],
        ["a body that is none", withBlock((block) => { block.history[1].body = "AAAA"; }), /line 2: .*version 2 of its history: a history entry/],
        ["another's change", withBlock((block) => { block.history[1].actor = "agent:eve"; }), /line 2: .*version 2 of its history is of changes that agent:eve did not make/],
        ["no JSON", sealed([lines[0], "{", ...lines.slice(2)].join("\n") + "\n"), /line 2 is not JSON/],
        ["nothing", "", /the file is in no known format/],
        ["something else", "hello\n", /the file is in no known format/],
    ]) {
        const { status, stderr } = there.run(["import", there.file("damaged", damaged), ...tom]);
        assert.equal(status, 1, name);
        assert.match(stderr, why, name);
        assert.deepEqual(stderr.match(/nothing was imported/gi), ["nothing was imported"], name);
        assert.deepEqual(there.labels("human:tom"), [], name);
    }
    // One that leads elsewhere is found by replaying it, whatever its digests say.
    const forged = withBlock((block) => {
        const other = JSON.parse(lines[3]);
        block.updates = other.updates;
        block.history = other.history;
        block.version = other.version;
    });
    assert.match(there.run(["import", there.file("forged", forged), ...tom]).stderr, /does not lead to what it says/);
});

test("people import, and agents export what is theirs at most", { skip }, (t) => {
    const world = setUp(t);
    fill(world);
    const path = world.file("ada.memory");
    for (const args of [["export", "--agent", "ada", path], ["import", path]]) {
        const { status, stderr } = world.run([...args, "--actor", "agent:ada"]);
        assert.equal(status, 2);
        assert.match(stderr, /--actor human:NAME/);
    }
    assert.ok(!existsSync(path));
    assert.match(world.run(["export", "--agent", "nobody", path, ...tom]).stderr, /agent:nobody owns no memory here/);
    assert.match(world.run(["import", path, "--actor", "agent:ada"]).stderr, /nothing was imported/);
    const none = world.run(["import", join(world.folder, "none"), ...tom]);
    assert.equal(none.status, 1);
    assert.match(none.stderr, /nothing was imported/);
});

test("the memory server's graph becomes a block for each entity", { skip }, (t) => {
    const world = setUp(t);
    const graph = [
        { type: "entity", name: "Alice", entityType: "person", observations: ["likes tea", "speaks \"Welsh\"\nand Irish"] },
        { type: "entity", name: "Acme/Ltd", entityType: "company", observations: [] },
        { type: "relation", from: "Alice", to: "Acme/Ltd", relationType: "works_at" },
        { type: "relation", from: "Acme/Ltd", to: "Cardiff", relationType: "is_in" },
    ];
    const path = world.file("memory.jsonl", graph.map((line) => JSON.stringify(line)).join("\n"));
    assert.match(world.run(["import", path, ...tom]).stderr, /--agent NAME/);
    const made = world.run(["import", path, "--agent", "ada", ...tom]);
    assert.equal(made.status, 0, made.stderr);

    assert.deepEqual(world.labels(), ["Acme/Ltd", "Alice", "Cardiff"]);
    const alice = world.context("view", { label: "Alice" });
    assert.equal(alice.type, "archival");
    assert.deepEqual(alice.value, {
        name: "Alice", entity_type: "person", observations: ["likes tea", "speaks \"Welsh\"\nand Irish"],
        relations: [{ relation_type: "works_at", to: "Acme/Ltd" }],
    });
    assert.equal(world.context("history", { label: "Alice" }).versions[0].actor, "human:tom");
    assert.deepEqual(world.context("search", { query: "welsh" }).blocks.map((block) => block.label), ["Alice"]);
    // It is the agent's own: it goes on with it.
    world.context("append_to_list", { label: "Alice", field: "observations", item: "has a cat" });
    assert.equal(world.context("view", { label: "Alice" }).value.observations.length, 3);

    const torn = world.file("torn.jsonl", `${JSON.stringify(graph[0])}\n\n{"type":"relation","from":"a"}\n`);
    assert.match(world.run(["import", torn, "--agent", "eve", ...tom]).stderr, /line 3: a relation has from, to and relationType/);
    assert.deepEqual(world.labels("agent:eve"), []);
});

test("a graph as other systems write it is read, and nothing of it is lost", { skip }, (t) => {
    const world = setUp(t);
    const graph = [
        { type: "entity", name: "Ann", entityType: "person", observations: ["likes tea"] },
        { type: "entity", name: "Ann", entityType: "author", observations: ["writes"] },
    ];
    const path = world.file("memory.jsonl", "\ufeff" + graph.map((line) => JSON.stringify(line) + "\r\n").join(""));
    const made = world.run(["import", path, "--agent", "ada", ...tom]);
    assert.equal(made.status, 0, made.stderr);
    assert.deepEqual(world.context("view", { label: "Ann" }).value, { name: "Ann", entity_type: "person, author", observations: ["likes tea", "writes"] });
});

test("a memory that is too long to import or to edit whole is refused, with another way to do it", { skip }, (t) => {
    const world = setUp(t);
    writeFileSync(join(world.folder, "quire.toml"), "[limits]\nmessage_bytes = 1048576\n");
    const entity = (name, observation) => JSON.stringify({ type: "entity", name, entityType: "thing", observations: Array(63).fill(observation) });
    const longer = world.run(["import", world.file("longer.jsonl", entity("Longer", "a".repeat(17_188))), "--agent", "ada", ...tom]);
    assert.equal(longer.status, 1);
    assert.match(refusal(longer.stderr).message, /^the block 'Longer' is too long to be imported: .*message_bytes.*\nnothing was imported$/);
    // Each is 16 KiB in JSON, and much less to the engine.
    const made = world.run(["import", world.file("long.jsonl", entity("Long", "\u0001".repeat(2_731))), "--agent", "ada", ...tom]);
    assert.equal(made.status, 0, made.stderr);

    const edited = world.run(["edit", "Long", ...tom]);
    assert.equal(edited.status, 1);
    assert.match(refusal(edited.stderr).message, /^'Long' is too long to be edited as a whole: .*message_bytes.*quire call context --workspace \S+ --actor human:tom '\{"operation":"append","label":"Long"/);
    // It does not hold back the others.
    world.context("create", { label: "short", schema: "Text" });
    const path = join(world.folder, "ada.memory");
    const without = world.run(["export", "--agent", "ada", path, ...tom]);
    assert.equal(without.status, 1);
    assert.match(refusal(without.stderr).message, /^the file leaves out 'Long', which is too long to be exported: .*message_bytes.*quire call context --workspace \S+ --actor human:tom '\{"operation":"view","label":"Long"\}'.*copy of the folder \.quire/);
    assert.match(without.stdout, /^Wrote 1 block of agent:ada/);
    assert.deepEqual(readFileSync(path, "utf8").split("\n").slice(1, 2).map((line) => JSON.parse(line).label), ["short"]);
});

test("an agent file's blocks become texts with their limits and permissions", { skip }, (t) => {
    const world = setUp(t);
    const block = (id, label, more = {}) => ({ id, label, value: `I am ${label}.\n`, limit: 2000, description: `About ${label}`, read_only: false, metadata: {}, ...more });
    const file = {
        agents: [{ name: "Sam the 1st", block_ids: ["block-0", "block-1"], messages: [] }, { name: "bo", block_ids: ["block-1", "block-2"] }],
        blocks: [block("block-0", "persona"), block("block-1", "rules", { read_only: true, limit: 3 }), block("block-2", "persona")],
        tools: [], groups: [],
    };
    const made = world.run(["import", world.file("two.af", JSON.stringify(file, null, 2)), ...tom]);
    assert.equal(made.status, 0, made.stderr);
    assert.deepEqual(world.labels("human:tom"), ["persona", "persona", "rules"]);
    const persona = world.context("view", { label: "persona" }, "agent:Sam_the_1st");
    assert.deepEqual([persona.type, persona.permission, persona.value], ["core", "read_write", "I am persona.\n"]);
    const rules = world.context("view", { label: "rules" }, "agent:bo");
    assert.deepEqual([rules.permission, rules.value], ["read_only", "I am rules.\n"]);
    const over = world.run(["call", "context", JSON.stringify({ operation: "append", label: "persona", content: "x".repeat(2000) }), "--actor", "agent:Sam_the_1st"]);
    assert.equal(JSON.parse(over.stderr).error.reason, "char_limit");

    // Some are a text that is JSON; older ones are one agent.
    const older = { name: "ada", agent_type: "memgpt_agent", core_memory: [block("x", "human")], messages: [] };
    assert.equal(world.run(["import", world.file("old.af", JSON.stringify(JSON.stringify(older))), ...tom]).status, 0);
    assert.equal(world.context("view", { label: "human" }).value, "I am human.\n");
    delete file.blocks[1].value;
    const torn = world.run(["import", world.file("torn.af", JSON.stringify(file)), "--agent", "eve", "--rename", "_x", ...tom]);
    assert.match(torn.stderr, /block 2: a block has a label and a value/);
});
