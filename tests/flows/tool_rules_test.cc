// Rules for tools, from what an agent is shown to what its calls may do.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "tests/flows/tool_rules_words.h"

namespace quire {
namespace {

TEST(ToolRules, AHiddenOperationIsRefused) {
    Workspace workspace(Profile::full, common({only("file", {"read", "list", "append"}),
                                               only("file", {"list", "read", "delete"})}));
    workspace.disk.put("f", "x\n");
    const tools::ToolInfo* const file = info_of(workspace, "file");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(json::write(*file->input_schema.get("properties")->get("operation")),
              R"({"enum":["list","read"]})");
    std::string members;
    for (const Map::Entry& each : file->input_schema.get("properties")->as_map())
        members += cat(each.key, " ");
    EXPECT_EQ(members, "operation path pattern all limit cursor range columns line_numbers ");
    EXPECT_EQ(file->description.find("append"), std::string::npos);
    EXPECT_TRUE(file->annotations.read_only);

    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"f"})"), "ok");
    for (const char* const tool : {"file", "file.delete"}) {
        const tools::EncodedResult refused = workspace.call_tool(
            tool, tool[4] == 0 ? R"({"operation":"delete","path":"f"})" : R"({"path":"f"})");
        EXPECT_EQ(refused.structured.get("error")->get("reason")->as_string(),
                  "operation_not_allowed");
        EXPECT_EQ(refused.structured.get("error")->get("code")->as_string(), "denied");
        EXPECT_EQ(refused.structured.get("error")->get("message")->as_string(),
                  "Operation 'delete' not allowed for tool 'file'. Allowed operations: list, read");
        EXPECT_TRUE(refused.text.starts_with("Nothing was changed: Operation 'delete'"));
    }
    EXPECT_TRUE(workspace.disk.has("f"));
    // The refusal comes first, whatever else is wrong with the call.
    EXPECT_EQ(workspace.outcome(R"({"operation":"append","nonsense":1})"), "operation_not_allowed");
    // A word that is none: the schema knows of the others alone.
    EXPECT_EQ(workspace.outcome(R"({"operation":"burn"})"), "invalid_arguments");
    EXPECT_EQ(workspace.last.get("error")->get("message")->as_string().find("delete"),
              std::string::npos);
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"f","content":"x"})"),
              "invalid_arguments");

    for (const char* const other : {"human:tom", "system:x", "source:x"}) {
        EXPECT_EQ(
            info_of(workspace, "file", policy::Actor::parse(other).value())->operations.all.size(),
            tools::file_operations().size());
        EXPECT_EQ(workspace.outcome(R"({"operation":"append","path":"f","content":"y"})", other),
                  "ok")
            << other;
    }
}

TEST(ToolRules, AHiddenOperationIsRefusedAsHiddenWhateverElseRefusesIt) {
    Workspace workspace(Profile::full, common({of(RuleType::start_constraint, "block_list"),
                                               at_most("file", 1), only("file", {"list"})}));
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "start_constraints_not_met");
    EXPECT_EQ(workspace.outcome(R"({"operation":"delete","path":"f"})"), "operation_not_allowed");
    EXPECT_FALSE(workspace.call_tool("block_list", "{}").is_error);
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "max_calls_exceeded");
    EXPECT_EQ(workspace.outcome(R"({"operation":"delete","path":"f"})"), "operation_not_allowed");
}

std::set<std::string> names_in(const Workspace& workspace, Profile profile) {
    std::set<std::string> out;
    for (const tools::ToolInfo& info : *workspace.registry().list(profile, kAda))
        out.insert(info.name);
    return out;
}

TEST(ToolRules, ATwinIsListedAndCalledAsItsOperationIs) {
    Workspace workspace(Profile::model, common({only("file", {"list", "append"})}));
    workspace.disk.put("f", "x\n");

    const std::set<std::string> names = names_in(workspace, Profile::model);
    EXPECT_TRUE(names.contains("file_list"));
    EXPECT_FALSE(names.contains("file_read"));
    EXPECT_FALSE(names_in(workspace, Profile::full).contains("file_list"));
    EXPECT_FALSE(workspace.call_tool("file_list", R"({"pattern":"f"})").is_error);
    const tools::EncodedResult refused = workspace.call_tool("file_read", R"({"path":"f"})");
    EXPECT_EQ(refused.structured.get("error")->get("message")->as_string(),
              "Operation 'read' not allowed for tool 'file'. Allowed operations: append, list");
}

TEST(ToolRules, ACallOfATwinCountsAndIsLoggedAsItsOperation) {
    Workspace workspace(Profile::model, common({at_most("file", 1)}));
    workspace.disk.put("f", "x\n");

    EXPECT_FALSE(workspace.call_tool("file_read", R"({"path":"f"})").is_error);
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"f"})"), "max_calls_exceeded");

    std::string log;
    for (const std::string& entry : workspace.audit_log()) log += entry + "\n";
    EXPECT_NE(log.find(R"("tool":"file")"), std::string::npos) << log;
    EXPECT_NE(log.find(R"("operation":"read")"), std::string::npos) << log;
    EXPECT_EQ(log.find("file_read"), std::string::npos) << log;
}

TEST(ToolRules, ATwinRefusesWhatItDoesNotTakeByName) {
    Workspace workspace(Profile::model, common({}));
    for (const auto& [tool, arguments] : {std::pair("file_list", R"({"cursor":"x"})"),
                                          {"file_read", R"({"operation":"read","path":"f"})"},
                                          {"file_read", R"({"path":"f","content":"b"})"}}) {
        const tools::EncodedResult refused = workspace.call_tool(tool, arguments);
        EXPECT_TRUE(refused.is_error) << tool;
        EXPECT_EQ(refused.structured.get("error")->get("code")->as_string(), "invalid_argument")
            << tool;
    }
}

TEST(ToolRules, ArgumentsInAStringAreHeldToTheSameRules) {
    Workspace workspace(Profile::full, common({only("file", {"list", "read"})}));
    workspace.disk.put("f", "x\n");
    const auto outcome = [&](const char* tool, std::string_view arguments) {
        const auto result = workspace.call_tool(tool, json::write(Value(arguments)));
        return result.is_error ? workspace.last.get("error")->get("reason")->as_string() : "ok";
    };
    EXPECT_EQ(outcome("file", R"({"operation":"read","path":"f"})"), "ok");
    EXPECT_EQ(outcome("file.read", R"({"path":"f"})"), "ok");
    EXPECT_EQ(outcome("file", R"({"operation":"delete","path":"f"})"), "operation_not_allowed");
    EXPECT_EQ(outcome("file.delete", R"({"path":"f"})"), "operation_not_allowed");
    // One layer of it, and no more.
    EXPECT_EQ(outcome("file", json::write(Value(R"({"operation":"read","path":"f"})"))),
              "invalid_arguments");
    EXPECT_EQ(outcome("file", "[]"), "invalid_arguments");
}

TEST(ToolRules, ADottedNameIsTheOperationThatRuns) {
    Workspace workspace;
    workspace.disk.put("f", "x\n");
    constexpr auto kDelete = R"({"operation":"delete","path":"f"})";
    for (const std::string& arguments : {std::string(kDelete), json::write(Value(kDelete))}) {
        EXPECT_TRUE(workspace.call_tool("file.read", arguments).is_error);
        EXPECT_EQ(workspace.last.get("error")->get("reason")->as_string(), "invalid_argument");
        EXPECT_TRUE(workspace.disk.has("f"));
    }
    // The log has the operation by which the tool was called.
    workspace.call_tool("file.read", json::write(Value(R"({"path":"f"})")));
    workspace.call_tool("file.delete", R"({"path":"f"})");
    std::vector<std::string> logged;
    for (const std::string& body : workspace.audit_log()) {
        const Value entry = json::parse(body).value();
        const Value* const operation = entry.get("operation");
        logged.push_back(cat(entry.get("event")->as_string(), " ",
                             operation == nullptr ? "-" : operation->as_string()));
    }
    EXPECT_EQ(logged,
              (std::vector<std::string>{"start -", "read delete", "read delete", "read read",
                                        "call delete", "approval -", "end delete"}));
}

TEST(ToolRules, AToolOfWhichNothingIsLeftIsNotListed) {
    policy::WrittenRules written = common({only("file", {"list", "read"})});
    written.own["bo"] = {only("file", {"append"})};
    Workspace workspace(Profile::full, written);
    workspace.disk.put("f", "x\n");
    const policy::Actor bo{policy::ActorKind::agent, "bo"};
    EXPECT_NE(listed(workspace).find("; file: list read;"), std::string::npos);
    EXPECT_EQ(listed(workspace, bo).find("; file:"), std::string::npos);
    for (const char* const call :
         {R"({"operation":"append","path":"f","content":"x"})",
          R"({"operation":"read","path":"f"})", R"({"operation":"x"})", "{}"}) {
        EXPECT_EQ(workspace.outcome(call, "agent:bo"), "operation_not_allowed") << call;
        EXPECT_NE(workspace.last.get("error")->get("message")->as_string().find(
                      "not allowed for tool 'file'. Allowed operations: "),
                  std::string::npos);
    }
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"f"})"), "ok");
}

TEST(ToolRules, ALoopEndsWhereTheRulesSay) {
    Workspace workspace(Profile::full, common({of(RuleType::start_constraint, "block_list"),
                                               of(RuleType::required_before_exit, "file"),
                                               of(RuleType::exit_loop, "block_create")}));
    constexpr auto kLast = R"({"role":"model","kind":"text","content":"done"})";
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "start_constraints_not_met");
    EXPECT_FALSE(workspace.call_tool("block_list", "{}").is_error);
    EXPECT_TRUE(workspace.call_tool("block_create", kLast).is_error);
    EXPECT_EQ(workspace.last.get("error")->get("reason")->as_string(), "ordering_violation");
    // Only what succeeded satisfies.
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"none"})"), "file_not_found");
    EXPECT_TRUE(workspace.call_tool("block_create", kLast).is_error);
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    EXPECT_TRUE(workspace.last_meta.empty());
    EXPECT_FALSE(workspace.call_tool("block_create", kLast).is_error);
    EXPECT_EQ(json::write(Value(workspace.last_meta)), R"({"quire/loop":"ended"})");
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "start_constraints_not_met");
}

// --- consent ---

constexpr auto kAppend = R"({"operation":"append","path":"f","content":"y"})";
constexpr auto kOther = R"({"operation":"append","path":"f","content":"z"})";

TEST(ToolRules, ConsentIsAskedForAndLetsTheVeryCallRunOnce) {
    Workspace workspace(Profile::full, common({consent("file")}));
    workspace.disk.put("f", "x\n");
    const std::string id = workspace.asked(kAppend);
    EXPECT_EQ(workspace.last.get("error")->get("code")->as_string(), "escalation_required");
    EXPECT_EQ(workspace.outcome(kAppend), "escalation_required");
    EXPECT_EQ(workspace.last.get("error")->get("details")->get("approval_id")->as_string(), id);
    workspace.call_tool("approvals", R"({"operation":"list"})", "human:tom");
    const Value& row = workspace.last.get("approvals")->as_list().front();
    EXPECT_EQ(row.get("tool")->as_string(), "file");
    EXPECT_EQ(row.get("operation")->as_string(), "execute");

    EXPECT_EQ(workspace.resolve(id), "ok");
    EXPECT_EQ(workspace.outcome(kOther), "escalation_required");
    EXPECT_EQ(workspace.outcome(kAppend), "ok");
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "escalation_required");
    EXPECT_EQ(workspace.outcome(kAppend), "escalation_required");
    EXPECT_EQ(workspace.outcome(kAppend, "human:tom"), "ok");
}

TEST(ToolRules, ConsentForATimeOrAScopeStandsUntilItIsTakenBack) {
    Workspace workspace(Profile::full,
                        common({consent("file", "disk"), consent("block_list", "disk"),
                                consent("kernel_search", "looking")}));
    workspace.disk.put("f", "x\n");
    const auto may = [&](const char* tool, const char* arguments) {
        return !workspace.call_tool(tool, arguments).is_error;
    };
    constexpr auto kSearch = R"({"query":"x"})";
    std::string id = workspace.asked(kAppend);
    EXPECT_EQ(workspace.resolve(id, "approve_for", R"(,"duration_s":60)"), "ok");
    EXPECT_TRUE(may("file", kAppend) && may("file", kOther) && may("block_list", "{}"));
    EXPECT_FALSE(may("kernel_search", kSearch));
    workspace.restart();
    EXPECT_TRUE(may("block_list", "{}"));
    EXPECT_EQ(workspace.outcome(kAppend, "agent:bo"), "escalation_required");
    workspace.clock.advance(61'000);
    id = workspace.asked(kAppend);
    EXPECT_EQ(workspace.resolve(id, "approve_scope", R"(,"scope":"{disk,looking}")"), "ok");
    EXPECT_TRUE(may("file", kOther) && may("kernel_search", kSearch));
    EXPECT_EQ(workspace.resolve(id, "revoke"), "ok");
    EXPECT_FALSE(may("file", kOther) || may("block_list", "{}"));
    id = workspace.asked(kAppend);
    EXPECT_EQ(workspace.resolve(id, "deny"), "ok");
    EXPECT_EQ(workspace.outcome(kAppend), "approval_denied");
}

TEST(ToolRules, ARefusalByAnotherRuleAsksNobodyAndSpendsNoConsent) {
    Workspace workspace(Profile::full, common({consent("file"), at_most("file", 1)}));
    workspace.disk.put("f", "x\n");
    std::string id = workspace.asked(kAppend);
    EXPECT_EQ(workspace.resolve(id), "ok");
    EXPECT_EQ(workspace.outcome(kAppend), "ok");
    EXPECT_EQ(workspace.outcome(kOther), "max_calls_exceeded");
    workspace.call_tool("approvals", R"({"operation":"list"})", "human:tom");
    EXPECT_TRUE(workspace.last.get("approvals")->as_list().empty()) << json::write(workspace.last);
}

// --- whatever the rules ---

TEST(ToolRules, NoListedOperationIsRefusedForGatingAndNoUnlistedOneRuns) {
    std::mt19937 random(20261122);
    const auto below = [&](std::size_t n) { return random() % n; };
    const policy::ToolCatalog catalog = Workspace().registry().catalog();
    std::size_t ran = 0, refused = 0;
    for (int round = 0; round < 60; ++round) {
        const auto some_rules = [&] {
            std::vector<ToolRule> rules;
            for (std::size_t i = below(4); i > 0; --i) {
                const auto& words = catalog.find("file")->operations;
                std::vector<std::string> chosen;
                for (const std::string& word : words) {
                    if (below(3) != 0) chosen.push_back(word);
                }
                if (!chosen.empty()) rules.push_back(only("file", chosen));
            }
            return rules;
        };
        policy::WrittenRules written = common(some_rules());
        if (below(2) == 0) written.own["ada"] = some_rules();
        Workspace workspace(Profile::full, written);
        workspace.disk.put("f", "x\n");
        const tools::ToolInfo* const info = info_of(workspace, "file");
        for (const std::string& word : catalog.find("file")->operations) {
            const bool is_listed = info != nullptr && info->operations.find(word) != nullptr;
            // The arguments that an operation needs to get past the schema.
            const std::map<std::string, std::string> more = {
                {"list", ""},
                {"status", ""},
                {"events", ""},
                {"reconcile", R"(,"paths":["f"])"},
                {"resolve", R"(,"path":"f","choice":"agent")"},
                {"append", R"(,"path":"f","content":"x")"},
                {"insert", R"(,"path":"f","line":0,"content":"x")"},
                {"replace", R"(,"path":"f","find":"x","replace":"y")"},
                {"edit", R"(,"path":"f","operations":[{"op":"insert","line":0,"content":"x"}])"}};
            const auto own = more.find(word);
            const std::string outcome = workspace.outcome(
                cat(R"({"operation":")", word, "\"",
                    own == more.end() ? std::string(R"(,"path":"f")") : own->second, "}"));
            EXPECT_EQ(outcome == "operation_not_allowed", !is_listed) << word;
            EXPECT_NE(outcome, "invalid_arguments") << word;
            ++(is_listed ? ran : refused);
        }
    }
    EXPECT_GT(ran, 100U);
    EXPECT_GT(refused, 100U);
}

// --- figures ---

class Idle final : public tools::Tool {
public:
    using Tool::Tool;
    void call(const tools::Session&, Value, Reply<tools::ToolResult>) const override {}
};

TEST(ToolRules, FiftyToolsAreFilteredInUnderAMillisecondEach) {
    kernel::Desk desk;
    tools::Registry registry({*desk.kernel});
    const tools::ToolInfo file = *info_of(Workspace(), "file");
    std::vector<ToolRule> rules;
    for (int n = 0; n < 50; ++n) {
        tools::ToolInfo each = file;
        each.name = cat("file_", n);
        rules.push_back(only(each.name, {"list", "read", "append"}));
        registry.add(Profile::full, std::make_unique<Idle>(each));
    }
    policy::RuleBook book = policy::RuleBook::compile(registry.catalog(), common(rules)).value();
    const auto calls = kernel::RuleCalls::open(*desk.kernel, std::move(book)).value();
    using Clock = std::chrono::steady_clock;
    using Micros = std::chrono::duration<double, std::micro>;
    registry.hold_to(*calls);
    const auto begin = Clock::now();
    const std::size_t count = registry.list(Profile::full, kAda)->size();
    const Micros filtered = Clock::now() - begin;
    const auto listing = Clock::now();
    EXPECT_EQ(registry.list(Profile::full, kAda)->size(), count);
    const Micros listed = Clock::now() - listing;
    std::printf("%zu tools: filtered when first listed, in %.0f us; then listed in %.2f us\n",
                count, filtered.count(), listed.count());
    EXPECT_EQ(count, 71U);
    EXPECT_LT(listed.count(), 1000.0);
}

}  // namespace
}  // namespace quire
