// What the design notes draw, done through the tool `context` and shown with `render = "plain"`: a profile, a
// list of tasks, a log, and a block whose diagnostics are a source's to write and whose configuration is an agent's.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { connectQuire, kinds, ok } from "./support/sdk.mjs";
import { everythingAllowed, quire, skip, workspace } from "./support/workspace.mjs";

async function notes(t) {
    const folder = workspace(t, {}, `${everythingAllowed}[memory]\nrender = "plain"\n`);
    const ada = await connectQuire(t, Object.keys(kinds)[1], folder, { actor: "agent:ada", profile: "model" });
    const context = (operation, args) => ok(ada, "context", { operation, ...args });
    const rendered = async (label) => (await context("view", { label })).rendered;
    const refusal = async (operation, args) => {
        const result = await ada.callTool({ name: "context", arguments: { operation, ...args } });
        assert.ok(result.isError, operation);
        return result.structuredContent.error;
    };
    return { folder, context, rendered, refusal };
}

const lines = (...all) => all.join("\n");

test("the partner profile", { skip }, async (t) => {
    const { folder, context, rendered, refusal } = await notes(t);
    const about = "Information about the person you're talking to";
    await context("create", { label: "human", template: "partner_profile", description: about, pinned: true });
    await context("set_field", { label: "human", field: "name", value: "Alice" });
    for (const item of ["Prefers concise responses", "Likes code examples", "Morning person"]) await context("append_to_list", { label: "human", field: "preferences", item });
    await context("set_field", { label: "human", field: "energy_level", value: 9 });
    const counted = await context("increment_counter", { label: "human", field: "energy_level", delta: -2 });
    assert.equal(counted.value, 7);
    await context("set_field", { label: "human", field: "current_focus", value: "Refactoring the memory system" });
    const shown = lines(
        "<human>",
        `<!-- ${about} -->`,
        "name: Alice",
        "energy_level: 7",
        "current_focus: Refactoring the memory system",
        "preferences:",
        "  - Prefers concise responses",
        "  - Likes code examples",
        "  - Morning person",
        "(unset: last_interaction)",
        "</human>",
    );
    assert.equal(await rendered("human"), shown);
    const context_now = execFileSync(quire, ["context", "render", "--agent", "ada", "--workspace", folder], { encoding: "utf8" });
    assert.ok(context_now.includes(shown), context_now);

    await context("append_to_list", { label: "human", field: "preferences", item: "Prefers morning check-ins" });
    const removed = await context("remove_from_list", { label: "human", field: "preferences", index: 0 });
    assert.equal(removed.removed, "Prefers concise responses");
    assert.match(await rendered("human"), /preferences:\n {2}- Likes code examples\n {2}- Morning person\n {2}- Prefers morning check-ins\n/);
    const wrong = await refusal("set_field", { label: "human", field: "energy_level", value: "high" });
    assert.deepEqual([wrong.reason, wrong.details.expected], ["schema_mismatch", "Number"]);
    assert.equal((await refusal("set_field", { label: "human", field: "shoe_size", value: 42 })).reason, "field_not_found");
});

test("the task list", { skip }, async (t) => {
    const { context, rendered, refusal } = await notes(t);
    await context("create", { label: "tasks", template: "task_list", description: "Current task list" });
    for (const title of ["Design block schemas", "Implement Loro wrappers", "Write tests"]) await context("append_to_list", { label: "tasks", item: { title } });
    await context("append", { label: "tasks", content: { title: "Update context tool", done: false } });
    await context("set_item", { label: "tasks", index: 0, item_field: "done", value: true });
    await context("set_item", { label: "tasks", index: 1, item_field: "priority", value: "high" });
    assert.equal(
        await rendered("tasks"),
        lines(
            "<tasks>",
            "<!-- Current task list -->",
            "1. [x] Design block schemas",
            "2. [ ] Implement Loro wrappers (priority: high)",
            "3. [ ] Write tests",
            "4. [ ] Update context tool",
            "</tasks>",
        ),
    );
    assert.equal((await refusal("append_to_list", { label: "tasks", item: { done: true } })).reason, "schema_mismatch");
});

test("the activity log", { skip }, async (t) => {
    const { context, rendered, refusal } = await notes(t);
    await context("create", { label: "activity_log", schema: { Log: { display_limit: 10 } }, description: "Recent activity" });
    const said = ["Memory updated: human.preferences (added item)", "Tool executed: context.append (scratchpad)", "Agent processed message about memory design"];
    for (const content of said) await context("append", { label: "activity_log", content });
    const time = String.raw`\[\d{4}-\d\d-\d\d \d\d:\d\d\]`;
    const drawn = [
        "<activity_log>",
        "<!-- Recent activity (last 10 shown) -->",
        ...said.toReversed().map((text) => `${time} ${text.replace(/[.()]/g, "\\$&")}`),
        "</activity_log>",
    ];
    drawn[1] = drawn[1].replace(/[()]/g, "\\$&");
    assert.match(await rendered("activity_log"), new RegExp(`^${drawn.join("\n")}$`));

    // The template's entries say what kind of thing happened, who did it and when.
    await context("create", { label: "events", template: "activity_log" });
    await context("append", { label: "events", content: { event_type: "memory", description: "human was updated" } });
    const [entry] = (await context("view", { label: "events" })).value;
    assert.deepEqual([entry.agent_id, entry.event_type], ["ada", "memory"]);
    assert.ok(Math.abs(Date.parse(entry.timestamp) - Date.now()) < 120_000, entry.timestamp);
    assert.equal((await refusal("append", { label: "events", content: { description: "of no kind" } })).reason, "schema_mismatch");
});

test("diagnostics that a source writes beside configuration that an agent writes", { skip }, async (t) => {
    const { context, rendered, refusal } = await notes(t);
    const schema = {
        Composite: {
            sections: [
                {
                    name: "diagnostics",
                    read_only: true,
                    schema: { Map: { fields: [{ name: "errors", field_type: "List", default: [] }] } },
                },
                {
                    name: "config",
                    schema: {
                        Map: {
                            fields: [
                                { name: "filter", field_type: "Text", default: "warning" },
                                { name: "last_run", field_type: "Timestamp", read_only: true },
                            ],
                        },
                    },
                },
            ],
        },
    };
    await context("create", { label: "lsp", schema, description: "What the server says" });
    await context("set_field", { label: "lsp", section: "config", field: "filter", value: "error" });
    const field = await refusal("set_field", { label: "lsp", section: "config", field: "last_run", value: "2025-01-23" });
    assert.deepEqual([field.reason, field.message.split(". ")[0]], ["read_only_field", "Field 'last_run' is read-only and cannot be modified by agent"]);
    const section = await refusal("append_to_list", { label: "lsp", section: "diagnostics", field: "errors", item: "forged" });
    assert.deepEqual([section.reason, section.message.split(". ")[0]], ["read_only_section", "Section 'diagnostics' is read-only and cannot be modified by agent"]);
    assert.equal((await refusal("set_field", { label: "lsp", field: "filter", value: "x" })).reason, "section_required");
    const shown = await rendered("lsp");
    assert.match(shown, /^<lsp>\n<!-- What the server says -->\n=== diagnostics \[read-only\] ===\n/);
    assert.match(shown, /=== config ===\nfilter: error\n/);
    assert.match(shown, /last_run \[read-only\]/);
});
