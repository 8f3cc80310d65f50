// The tools that rules may name, and the rules of the settings compiled against them.
//
// A rule that names an unknown tool is an error, so the tools of later versions are listed too:
// settings can then be shared with those. The tools of a mounted server are known only after it was
// reached; until then a tool that a rule names is assumed to exist.
#include "cli/settings/tool_rules.h"

#include <algorithm>
#include <utility>

#include "cli/settings/config.h"
#include "kernel/core/kernel.h"
#include "kernel/memory/fed_source.h"
#include "memory/remember.h"
#include "policy/rule_book.h"
#include "tools/tools.h"

namespace quire::cli {

namespace {

using Names = std::vector<std::string>;

const Names kEachProfile = {"model", "full", "compat"};
const Names kInModel = {"model"};
const Names kInFull = {"full"};
const Names kInModelAndFull = {"model", "full"};
const Names kInCompat = {"compat"};

// A tool whose calls may name a conversation, so that rules may count per conversation.
policy::KnownTool block_tool(const char* name, const Names& profiles, Names operations = {}) {
    return {.name = name, .operations = std::move(operations), .profiles = profiles};
}

// A tool whose calls belong to no conversation.
policy::KnownTool other_tool(const char* name, const Names& profiles, Names operations = {}) {
    return {.name = name,
            .operations = std::move(operations),
            .in_conversations = false,
            .profiles = profiles};
}

}  // namespace

// The tools of this version and of later ones, with the profiles that list them. The operations
// come from the tools themselves where these are built.
policy::ToolCatalog known_tools() {
    policy::KnownTool approvals =
        other_tool("approvals", kEachProfile, tools::approval_operations());
    approvals.for_people = true;
    policy::KnownTool block_create = block_tool("block_create", kInModelAndFull);
    block_create.conversation = kernel::BlockCreate{}.conversation;
    policy::KnownTool block_fork = block_tool("block_fork", kInFull);
    block_fork.conversation = kernel::ForkWhich{}.conversation;
    policy::KnownTool context = other_tool("context", kEachProfile, tools::context_operations());
    context.twins = tools::context_twins();
    policy::KnownTool file = other_tool("file", kEachProfile, tools::file_operations());
    file.twins = tools::file_twins();
    return policy::ToolCatalog({
        std::move(context),
        std::move(file),
        other_tool("file_history", kEachProfile, tools::file_history_operations()),
        other_tool("shell", kEachProfile, tools::shell_operations()),
        std::move(approvals),
        other_tool("kernel_search", kInFull),
        std::move(block_create),
        block_tool("block_status", kInFull),
        block_tool("block_append", kInModelAndFull),
        block_tool("block_edit", kInFull),
        block_tool("block_splice", kInFull),
        block_tool("block_apply_patch", kInModelAndFull),
        block_tool("block_read", kInFull),
        block_tool("block_search", kInModelAndFull),
        block_tool("block_list", kInModelAndFull),
        block_tool("block_delete", kInFull),
        block_tool("block_undo", kInModelAndFull),
        block_tool("block_redo", kInFull),
        block_tool("block_history", kInFull),
        block_tool("block_diff", kInFull),
        block_tool("block_rollback", kInFull),
        other_tool("block_subscribe", kInFull),
        other_tool("block_events", kInFull),
        other_tool("block_sync", kInFull),
        std::move(block_fork),
        block_tool("block_mark", kInFull),
        block_tool("block_cursor", kInFull, tools::block_cursor_operations()),
        block_tool("block_view", kInModel),
        block_tool("block_str_replace", kInModel),
        block_tool("block_insert", kInModel),
        block_tool("block_replace_lines", kInModel),
        other_tool("str_replace_based_edit_tool", kInCompat, tools::text_editor_operations()),
        other_tool("memory", kInCompat, tools::memory_operations()),
    });
}

// The catalog of a running kernel has what was registered, mounted tools included. It may have
// fewer operations than later versions; those are added and marked as `later`.
policy::ToolCatalog known_tools(const policy::ToolCatalog& there) {
    policy::ToolCatalog out = known_tools();
    for (policy::KnownTool tool : there.tools()) {
        if (const policy::KnownTool* known = out.find(tool.name)) {
            for (const std::string& word : known->operations) {
                const bool is_new = std::find(tool.operations.begin(), tool.operations.end(),
                                              word) == tool.operations.end();
                if (!is_new) continue;
                tool.operations.push_back(word);
                tool.later.push_back(word);
            }
        }
        out.add(std::move(tool));
    }
    return out;
}

// Only a name that begins with that of one of the mounts is assumed, so a misspelt name of a tool
// of our own stays an error.
void assume_mounted(const Settings& settings, const std::vector<std::string>& mounts,
                    policy::ToolCatalog& catalog) {
    const auto assume = [&](const std::string& tool, std::vector<std::string> operations) {
        const bool of_mount =
            std::any_of(mounts.begin(), mounts.end(),
                        [&](const std::string& name) { return tool.starts_with(name + "_"); });
        const policy::KnownTool* const known = catalog.find(tool);
        if (!of_mount || (known != nullptr && !known->mounted)) return;
        // It may have more operations than these, so a rule that allows them all has an effect.
        if (!operations.empty()) operations.emplace_back("…");
        if (known != nullptr)
            operations.insert(operations.end(), known->operations.begin(), known->operations.end());
        std::sort(operations.begin(), operations.end());
        operations.erase(std::unique(operations.begin(), operations.end()), operations.end());
        catalog.add({tool, std::move(operations), false, true});
    };
    const auto look_at = [&](const std::vector<policy::ToolRule>& rules) {
        for (const policy::ToolRule& rule : rules) {
            assume(rule.tool, rule.operations);
            for (const std::string& tool : rule.tools) assume(tool, {});
            for (const auto& group : rule.groups)
                for (const std::string& tool : group) assume(tool, {});
        }
    };
    look_at(settings.tool_rules);
    for (const auto& [name, agent] : settings.agents) look_at(agent.tool_rules);
}

policy::ToolCatalog tools_known_from(const Settings& settings) {
    policy::ToolCatalog out = known_tools();
    for (const std::string& label : settings.memory.tools.labels)
        out.add({.name = memory::remember_name(label), .in_conversations = false});
    std::vector<std::string> mounts;
    for (const auto& [name, mount] : settings.mounts) mounts.push_back(name);
    assume_mounted(settings, mounts, out);
    return out;
}

// A required tool is a rule of type `needed`, at the end of the common rules and with no line.
Result<policy::RuleBook> compile_rules(const Settings& settings, policy::ToolCatalog catalog) {
    policy::WrittenRules written{.file = settings.file, .common = settings.tool_rules, .own = {}};
    for (const auto& [name, agent] : settings.agents) {
        written.own.emplace(name, agent.tool_rules);
        if (agent.profile) written.profiles.emplace(name, *agent.profile);
    }
    // A source that is on is a reason to use its tools.
    if (settings.diagnostics) {
        for (kernel::RequiredTool& required : kernel::required_by_feeds()) {
            policy::ToolRule rule;
            rule.tool = std::move(required.tool);
            rule.priority = policy::default_priority(rule.type);
            written.common.push_back(std::move(rule));
        }
    }
    return policy::RuleBook::compile(std::move(catalog), written);
}

std::vector<RuleProblem> rule_problems(const Settings& settings) {
    const Result<policy::RuleBook> book = compile_rules(settings, tools_known_from(settings));
    if (!book) return {{true, book.error().message()}};
    std::vector<RuleProblem> out;
    for (const policy::BookFinding& each : book->findings())
        out.push_back({each.finding.is_error(), each.text});
    return out;
}

Result<policy::RuleBook> load_rules(const Settings& settings, policy::ToolCatalog catalog) {
    policy::RuleBook book = TRY(compile_rules(settings, std::move(catalog)));
    TRY(book.check());
    return book;
}

}  // namespace quire::cli
