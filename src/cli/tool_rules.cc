#include "cli/tool_rules.h"

#include <algorithm>
#include <utility>

#include "cli/config.h"
#include "policy/rule_book.h"
#include "tools/context_operation.h"

namespace quire::cli {

policy::ToolCatalog known_tools() {
    const auto not_yet = [](const char* name, std::vector<std::string> operations = {}) {
        return policy::KnownTool{name, std::move(operations), false};
    };
    return policy::ToolCatalog({
        {"context", {tools::kContextOperations.begin(), tools::kContextOperations.end()}},
        {"file",
         {"list", "read", "load", "create", "append", "insert", "replace", "edit", "patch", "save",
          "delete", "status", "reconcile", "resolve", "stage", "unstage"}},
        not_yet("file_history", {"view", "diff", "rollback"}),
        not_yet("shell", {"execute", "check", "spawn", "output", "kill", "status"}),
        {"approvals", {"list", "resolve"}},
        {"kernel_search"},
        {"block_create"},
        {"block_status"},
        {"block_append"},
        {"block_edit"},
        {"block_splice"},
        not_yet("block_apply_patch"),
        {"block_read"},
        {"block_search"},
        {"block_list"},
        {"block_delete"},
        {"block_undo"},
        {"block_redo"},
        {"block_history"},
        not_yet("block_diff"),
        not_yet("block_rollback"),
        not_yet("block_subscribe"),
        not_yet("block_events"),
        not_yet("block_sync"),
        not_yet("block_cursor", {"set", "get", "clear"}),
        {"block_view"},
        {"block_str_replace"},
        {"block_insert"},
        {"block_replace_lines"},
        {"str_replace_based_edit_tool", {"view", "create", "str_replace", "insert"}},
        {"memory", {"view", "create", "str_replace", "insert", "delete", "rename"}},
    });
}

policy::ToolCatalog known_tools(const policy::ToolCatalog& there) {
    policy::ToolCatalog out = known_tools();
    for (policy::KnownTool tool : there.tools()) {
        if (const policy::KnownTool* known = out.find(tool.name)) {
            for (const std::string& word : known->operations) {
                const bool is_new = std::find(tool.operations.begin(), tool.operations.end(),
                                              word) == tool.operations.end();
                if (is_new) tool.operations.push_back(word);
            }
        }
        out.add(std::move(tool));
    }
    return out;
}

void assume_mounted(const Settings& settings, const std::vector<std::string>& mounts,
                    policy::ToolCatalog& catalog) {
    const auto assume = [&](const std::string& tool, std::vector<std::string> operations) {
        const bool of_mount =
            std::any_of(mounts.begin(), mounts.end(),
                        [&](const std::string& name) { return tool.starts_with(name + "_"); });
        const policy::KnownTool* const known = catalog.find(tool);
        if (!of_mount || (known != nullptr && !known->mounted)) return;
        // What else it can do nobody knows, and a rule that allows these is no idle one.
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
    std::vector<std::string> mounts;
    for (const auto& [name, mount] : settings.mounts) mounts.push_back(name);
    assume_mounted(settings, mounts, out);
    return out;
}

Result<policy::RuleBook> compile_rules(const Settings& settings, policy::ToolCatalog catalog) {
    policy::WrittenRules written{.file = settings.file, .common = settings.tool_rules, .own = {}};
    for (const auto& [name, agent] : settings.agents) written.own.emplace(name, agent.tool_rules);
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
