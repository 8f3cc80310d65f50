// The published list of the tools is small, true, and the same as their documentation.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "fs/memory_files_for_test.h"
#include "kernel/commands/command_calls.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/file_source.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/oversight/approval_calls.h"
#include "tests/flows/tool_desk.h"
#include "tests/flows/tool_page.h"
#include "tools/tools.h"

namespace quire {
namespace {

constexpr tools::Profile kProfiles[] = {tools::Profile::model, tools::Profile::full,
                                        tools::Profile::compat};

// All that a workspace publishes.
class Published {
public:
    Published() {
        for (const tools::Profile profile : kProfiles) {
            registry.add(profile,
                         tools::make_file({*desk_.kernel, source_, files_, watch_}, profile));
            registry.add(profile, tools::make_file_history(source_, profile));
            registry.add(profile, tools::make_context(memory_, profile));
            registry.add(profile, tools::make_shell(commands_, profile));
            registry.add(profile, tools::make_approvals(approvals_));
        }
        registry.add(tools::Profile::compat, tools::make_text_editor(*desk_.kernel, files_));
        registry.add(tools::Profile::compat, tools::make_memory(*desk_.kernel, memory_));
    }
    const std::vector<tools::ToolInfo>& list(tools::Profile profile,
                                             const policy::Actor& to = {policy::ActorKind::human,
                                                                        "ada"}) const {
        return *registry.list(profile, to);
    }

private:
    kernel::Desk desk_;
    fs::MemoryFiles disk_;
    kernel::FileGate gate_{disk_, {}, desk_.clock, 16U << 20};
    kernel::FileCalls files_{*desk_.kernel, gate_};
    kernel::DiskWatch watch_{*desk_.kernel, gate_, "/", {}};
    kernel::FileSource source_{{*desk_.kernel, gate_, files_, watch_, "/"}};
    kernel::MemoryCalls memory_{*desk_.kernel};
    kernel::ApprovalCalls approvals_{*desk_.kernel};
    kernel::CommandCalls commands_{
        {*desk_.kernel, gate_, files_, desk_.clock, "/"}, desk_.scheduler, {}};

public:
    tools::Registry registry{{*desk_.kernel, &files_, &memory_}};
};

TEST(ToolList, EachProfileHasItsTools) {
    const Published published;
    const auto names = [&](tools::Profile profile) {
        std::string out;
        for (const tools::ToolInfo& tool :
             published.list(profile, policy::Actor{policy::ActorKind::agent, "ada"}))
            out += tool.name + " ";
        return out;
    };
    EXPECT_EQ(names(tools::Profile::full),
              "block_create block_status block_append block_edit block_splice "
              "block_apply_patch block_read block_search block_list "
              "kernel_search block_delete block_undo block_redo block_history block_diff "
              "block_rollback block_subscribe block_events block_sync block_fork block_mark "
              "block_cursor file file_history context shell ");
    EXPECT_EQ(names(tools::Profile::model),
              "block_view block_str_replace block_insert block_replace_lines "
              "block_apply_patch block_append block_create block_list "
              "block_search block_undo file file_list file_read file_history context context_view "
              "shell ");
    EXPECT_EQ(names(tools::Profile::compat),
              "file file_history context shell str_replace_based_edit_tool memory ");
}

TEST(ToolList, PeopleHaveApprovalsBesideInEveryProfile) {
    const Published published;
    for (const tools::Profile profile : kProfiles) {
        std::set<std::string> names;
        for (const tools::ToolInfo& tool : published.list(profile)) names.insert(tool.name);
        for (const policy::ActorKind kind :
             {policy::ActorKind::agent, policy::ActorKind::source, policy::ActorKind::system}) {
            for (const tools::ToolInfo& tool : published.list(profile, {kind, "ada"})) {
                EXPECT_FALSE(tool.for_people) << tool.name;
                names.erase(tool.name);
            }
            EXPECT_TRUE(kind != policy::ActorKind::agent ||
                        names == std::set<std::string>{"approvals"});
        }
    }
}

TEST(ToolList, NamesAndSchemasAreValid) {
    const Published published;
    for (const tools::Profile profile : kProfiles) {
        for (const tools::ToolInfo& tool : published.list(profile)) {
            EXPECT_EQ(tool.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
                      std::string::npos);
            EXPECT_LE(tool.name.size(), 64U);
            EXPECT_FALSE(tool.title.empty());
            EXPECT_FALSE(tool.description.empty());
            EXPECT_EQ(*tool.input_schema.get("additionalProperties"), Value(false)) << tool.name;
            EXPECT_EQ(*tool.output_schema.get("type"), Value("object")) << tool.name;
            EXPECT_TRUE(json::Schema::compile(tool.output_schema, {.strict = true})) << tool.name;
        }
    }
}

// A model that has never seen the product learns from the list alone what it may say.
TEST(ToolList, EveryArgumentSaysWhatItIs) {
    const Published published;
    for (const tools::Profile profile : kProfiles) {
        for (const tools::ToolInfo& tool : published.list(profile)) {
            for (const Map::Entry& each : tool.input_schema.get("properties")->as_map()) {
                if (each.key == tool.operations.argument) continue;
                EXPECT_TRUE(each.value.get("description")) << tool.name << " " << each.key;
            }
        }
    }
}

TEST(ToolList, EveryOperationHasALineWithItsArguments) {
    const Published published;
    const tools::ToolInfo* const file = published.registry.find(tools::Profile::model, "file");
    ASSERT_NE(file, nullptr);
    EXPECT_NE(file->description.find("\nread(path, range?, columns?): "), std::string::npos);
    for (const tools::Profile profile : kProfiles) {
        for (const tools::ToolInfo& tool : published.list(profile)) {
            for (const tools::Operation& each : tool.operations.all) {
                if (each.is_unlisted) continue;
                const std::size_t at = tool.description.find("\n" + each.name + "(");
                ASSERT_NE(at, std::string::npos) << tool.name << " " << each.name;
                EXPECT_NE(tool.description.substr(at, tool.description.find('\n', at + 1) - at)
                              .find("): "),
                          std::string::npos)
                    << tool.name << " " << each.name;
            }
        }
    }
}

TEST(ToolList, AReadOnlyTwinTakesArgumentsOfItsOperation) {
    const Published published;
    std::map<std::string, std::string> twins;
    for (const tools::ToolInfo& tool : published.list(tools::Profile::model)) {
        if (!tool.name.starts_with("file_") && !tool.name.starts_with("context_")) continue;
        if (tool.name == "file_history") continue;
        EXPECT_TRUE(tool.annotations.read_only) << tool.name;
        EXPECT_FALSE(tool.title.empty()) << tool.name;
        std::string& members = twins[tool.name];
        for (const Map::Entry& each : tool.input_schema.get("properties")->as_map())
            members += each.key + " ";
    }
    const std::map<std::string, std::string> expected{{"file_list", "pattern all "},
                                                      {"file_read", "path range columns "},
                                                      {"context_view", "label section "}};
    EXPECT_EQ(twins, expected);
}

TEST(ToolList, TheDocumentationMatchesThePublishedTools) {
    const Published published;
    const std::string path = std::string(QUIRE_SOURCE_DIR) + "/docs/tools.md";
    const std::string page = tool_page(published.registry);
    if (std::getenv("REGEN") != nullptr) std::ofstream(path) << page;

    std::stringstream written;
    written << std::ifstream(path).rdbuf();
    EXPECT_EQ(written.str(), page) << "run this test with REGEN=1 and review the difference";
}

// The operations that a tool declares are those of its schema.
TEST(ToolList, OperationsAndSchemasSayTheSame) {
    const Published published;
    std::size_t declaring = 0;
    for (const tools::Profile profile : kProfiles) {
        for (const tools::ToolInfo& tool : published.list(profile)) {
            const tools::Operations& operations = tool.operations;
            const Map& members = tool.input_schema.get("properties")->as_map();
            EXPECT_EQ(operations.empty(),
                      !members.contains("operation") && !members.contains("command"))
                << tool.name;
            if (operations.empty()) continue;
            ++declaring;
            List words;
            for (const std::string& name : operations.listed(operations.names()))
                words.emplace_back(name);
            EXPECT_EQ(*members.find(operations.argument)->get("enum"), Value(words)) << tool.name;
            std::set<std::string> taken = {operations.argument};
            for (const tools::Operation& each : operations.all) {
                for (const Map::Entry& member : each.arguments.find("properties")->as_map())
                    taken.insert(member.key);
            }
            std::set<std::string> there;
            for (const Map::Entry& each : members) there.insert(each.key);
            EXPECT_EQ(there, taken) << tool.name;
        }
    }
    EXPECT_EQ(declaring, 18U);
}

// A tool that says it changes nothing changes nothing, whoever asks.
TEST(ToolList, AReadOnlyToolChangesNothing) {
    for (const tools::Profile profile : {tools::Profile::full, tools::Profile::model}) {
        ToolDesk desk(profile);
        const std::string id = desk.block("a\nb\n");
        const std::size_t commits = desk.desk.kernel->status().commits;
        Value subscription("none");
        for (const tools::ToolInfo& tool :
             *desk.registry().list(profile, policy::Actor{policy::ActorKind::agent, "ada"})) {
            if (!tool.annotations.read_only) continue;
            Map arguments;
            if (const Value* required = tool.input_schema.get("required")) {
                for (const Value& name : required->as_list()) {
                    arguments.set(name.as_string(), name == Value("block_id")   ? Value(id)
                                                    : name == Value("versions") ? Value(List{})
                                                    : name == Value("subscription_id")
                                                        ? subscription
                                                        : Value("a"));
                }
            }
            const Value answer = desk.ok(tool.name, arguments, "someone");
            if (const Value* const opened = answer.get("subscription_id")) subscription = *opened;
        }
        EXPECT_EQ(desk.desk.kernel->status().commits, commits);
        EXPECT_EQ(desk.version(id), 1);
    }
}

}  // namespace
}  // namespace quire
