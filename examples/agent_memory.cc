// An agent's memory, in documents that others edit too: a person's profile, a list of tasks, a log,
// each with a schema. Rights bind the writers, every change says who made it, and a tool's schema shows
// an agent the operations that its rules leave.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "json/json.h"
#include "json/schema/operation_filter.h"
#include "memory/memory_document.h"
#include "memory/remember.h"
#include "memory/render.h"
#include "memory/templates.h"
#include "policy/attribution.h"
#include "policy/rule_book.h"

using namespace quire;
using memory::BlockSchema;
using memory::MemoryBlock;
using memory::MemoryDocument;
using policy::Permission;

namespace {

const memory::Writer kAda{{policy::ActorKind::agent, "ada"},
                          {.permission = Permission::read_write}};

// A block made from one of the built-in templates.
MemoryBlock made_from(std::string_view name, std::string label) {
    memory::Template made = *memory::find_template(name);
    return {std::move(label), std::move(made.description), std::move(made.schema)};
}

std::string shown(const MemoryDocument& block) {
    return memory::render(block.reader(), block.block(), {.style = memory::RenderStyle::plain});
}

// The message of the last change, which says who did what.
std::string last_change(const crdt::Doc& doc) {
    std::string message;
    const auto take = [&](const crdt::ChangeHeader& change) {
        message = change.message;
        return false;
    };
    return doc.history().travel_ancestors(doc.frontiers(), take) ? message : "";
}

Result<void> expect(bool is_so, std::string_view what) {
    if (is_so) return {};
    return invalid("unexpected", std::string(what));
}

Result<void> profile(const Clock& clock) {
    crdt::Doc doc(/*peer=*/1);
    MemoryDocument human(doc, made_from("partner_profile", "human"), kAda, clock);
    TRY(human.edit().set_field({"", "name"}, "Alice"));
    TRY(human.edit().append_to_list({"", "preferences"}, "Prefers morning check-ins"));
    TRY(human.edit().set_field({"", "energy_level"}, 7));
    TRY(human.edit().increment_counter({"", "energy_level"}, -2));
    std::puts(shown(human).c_str());
    TRY(expect(last_change(doc) == "agent:ada:increment_counter:energy_level", "attribution"));
    TRY(expect(*human.reader().field({"", "energy_level"}) == Value(5), "5 is left of 7"));

    // Another agent may read it only.
    const memory::Writer bo{{policy::ActorKind::agent, "bo"},
                            {.permission = Permission::read_only}};
    const auto refused = human.edit(bo).set_field({"", "name"}, "Bob");
    TRY(expect(!refused && refused.error().reason() == "permission_denied", "a refusal"));

    TRY(human.undo());
    return expect(*human.reader().field({"", "energy_level"}) == Value(7), "undone");
}

Result<void> tasks(const Clock& clock) {
    crdt::Doc doc(/*peer=*/1);
    MemoryDocument list(doc, made_from("task_list", "tasks"), kAda, clock);
    {
        // One change for all of them.
        const auto batch = list.batch("plan");
        TRY(list.edit().append_to_list({}, Map{{"title", "Design block schemas"}}));
        TRY(list.edit().append_to_list({}, Map{{"title", "Write tests"}, {"priority", "high"}}));
    }
    TRY(list.edit().set_member_in_list({}, 0, "done", true));
    std::puts(shown(list).c_str());
    const auto refused = list.edit().append_to_list({}, Map{{"done", true}});
    return expect(!refused && refused.error().reason() == "schema_mismatch",
                  "a task needs a title");
}

Result<void> log(const Clock& clock) {
    crdt::Doc doc(/*peer=*/1);
    MemoryDocument log(doc, made_from("activity_log", "activity_log"), kAda, clock);
    TRY(log.edit().append("", Map{{"event_type", "memory"}, {"description", "human was updated"}}));
    std::puts(shown(log).c_str());

    // The arguments of a tool that only writes to this log: the time and the agent are filled in.
    const Map arguments = memory::remember_schema(log.block().schema, kAda.rights);
    const Value& entry = *arguments.find("properties")->get("entry")->get("properties");
    return expect(entry.get("event_type") != nullptr && entry.get("agent_id") == nullptr,
                  "arguments");
}

// An agent that may set fields, and nothing else of the tool `context`.
Result<void> rules() {
    policy::ToolRule rule{.tool = "context", .type = policy::RuleType::allowed_operations};
    rule.operations = {"view", "set_field"};
    policy::ToolCatalog tools;
    tools.add({.name = "context", .operations = {"view", "append", "set_field", "delete"}});
    const auto book = TRY(policy::RuleBook::compile(std::move(tools), {.common = {rule}}));
    TRY(book.check());
    const std::vector<std::string> left = *book.rules_for("ada")->allowed_operations("context");

    Value schema = TRY(json::parse(R"({"type": "object", "properties": {
        "operation": {"enum": ["view", "append", "set_field", "delete"]}, "label": {"type": "string"}},
        "required": ["operation", "label"]})"));
    schema = json::filter_schema_enum(std::move(schema), "operation", left);
    std::puts(policy::in_words(rule).c_str());
    const Value& words = *schema.get("properties")->get("operation")->get("enum");
    return expect(words == Value(List{"view", "set_field"}), "two operations are left");
}

Result<void> run() {
    const SystemClock clock;
    TRY(profile(clock));
    TRY(tasks(clock));
    TRY(log(clock));
    return rules();
}

}  // namespace

int main() {
    const Result<void> done = run();
    if (!done) std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
