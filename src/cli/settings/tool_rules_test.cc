#include "cli/settings/tool_rules.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "cli/settings/config.h"
#include "fs/disk_files.h"
#include "kernel/commands/command_calls.h"
#include "kernel/core/desk_test.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/file_source.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/oversight/approval_calls.h"
#include "policy/rule_book.h"
#include "policy/tool_catalog.h"
#include "tools/tools.h"

namespace quire::cli {
namespace {

using tools::Profile;

std::string joined(std::vector<std::string> words, bool sort = false) {
    if (sort) std::sort(words.begin(), words.end());
    std::string out;
    for (const std::string& word : words) cat_to(out, cat(out.empty() ? "" : " ", word));
    return out;
}

// A known tool as rules see it, without the operations of later versions.
std::string described(const policy::KnownTool& tool) {
    std::vector<std::string> words;
    for (const std::string& word : tool.operations) {
        if (std::find(tool.later.begin(), tool.later.end(), word) == tool.later.end())
            words.push_back(word);
    }
    return cat(tool.name, ": ", joined(words, true), "; ", tool.for_people ? "people" : "all", "; ",
               tool.in_conversations ? "in conversations " : "in none ", tool.conversation, "; ",
               joined(tool.profiles));
}

// Without a kernel, rules are checked against a list of the tools instead of the tools.
TEST(ToolRules, TheToolsKnownWithoutAKernelAreThoseThatAKernelHas) {
    kernel::Desk desk;
    const TestDirectory disk;
    const auto files = std::move(*fs::DiskFiles::open(disk.path(), {5, {}}));
    kernel::FileGate gate(*files, {}, desk.clock, 1'000'000);
    kernel::FileCalls file_calls(*desk.kernel, gate);
    kernel::DiskWatch watch(*desk.kernel, gate, disk.path(), {});
    kernel::FileSource source({*desk.kernel, gate, file_calls, watch, disk.path()});
    kernel::MemoryCalls memory_calls(*desk.kernel);
    kernel::ApprovalCalls approval_calls(*desk.kernel);
    kernel::CommandCalls commands({*desk.kernel, gate, file_calls, desk.clock, disk.path()},
                                  desk.scheduler, {});
    tools::Registry registry({*desk.kernel, &file_calls, &memory_calls});
    for (const Profile profile : {Profile::model, Profile::full, Profile::compat}) {
        registry.add(profile, tools::make_file({*desk.kernel, source, file_calls, watch}, profile));
        registry.add(profile, tools::make_file_history(source, profile));
        registry.add(profile, tools::make_context(memory_calls, profile));
        registry.add(profile, tools::make_shell(commands, profile));
        registry.add(profile, tools::make_approvals(approval_calls));
    }
    registry.add(Profile::compat, tools::make_text_editor(*desk.kernel, file_calls));
    registry.add(Profile::compat, tools::make_memory(*desk.kernel, memory_calls));

    std::vector<std::string> there, known;
    const policy::ToolCatalog catalog = registry.catalog();
    for (const policy::KnownTool& tool : catalog.tools()) there.push_back(described(tool));
    const policy::ToolCatalog without = known_tools();
    for (const policy::KnownTool& tool : without.tools()) {
        if (tool.built) known.push_back(described(tool));
    }
    std::sort(there.begin(), there.end());
    std::sort(known.begin(), known.end());
    EXPECT_EQ(there, known);
}

std::string wrong_with(std::string_view toml) {
    std::string out;
    for (const RuleProblem& each : rule_problems(parse_config(toml).value()))
        cat_to(out, cat(each.is_error ? "error " : "warning ", each.text, "\n"));
    return out;
}

TEST(ToolRules, AnAgentsProfileIsThatOfItsSettings) {
    constexpr std::string_view kRule =
        "[[agents.ada.tools.rules]]\ntool = \"block_edit\"\ntype = \"start_constraint\"\n";
    EXPECT_TRUE(wrong_with(kRule).starts_with(
        "warning quire.toml:1: for agent:ada, in profile model, compat, the work must begin"))
        << wrong_with(kRule);
    EXPECT_TRUE(wrong_with(cat("[agents.ada]\nprofile = \"model\"\n", kRule))
                    .starts_with("error quire.toml:3: for agent:ada, in its profile model, "));
    EXPECT_EQ(wrong_with(cat("[agents.ada]\nprofile = \"full\"\n", kRule)), "");
}

TEST(ToolRules, EachMistakeOfASetIsALineOfBoundedLength) {
    const std::string told = wrong_with(
        "[[tools.rules]]\ntool = \"context\"\ntype = \"start_constraint\"\n"
        "[[tools.rules]]\ntool = \"context\"\ntype = \"exit_loop\"\n");
    EXPECT_TRUE(told.starts_with("error "));
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
    EXPECT_LT(told.size(), 500U);
}

}  // namespace
}  // namespace quire::cli
