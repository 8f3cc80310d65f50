#include "kernel/files/file_source.h"

#include <gtest/gtest.h>

#include "base/test_directory.h"
#include "kernel/core/sources.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_office_for_test.h"
#include "memory/schema_form.h"

namespace quire::kernel {
namespace {

// A source over the office's files, whose directory nobody watches.
class Sourced {
public:
    FileOffice office;
    TestDirectory directory;
    DiskWatch watch{*office.kernel, *office.gate, directory.path(), {.is_on = false}};
    FileSource source{{*office.kernel, *office.gate, *office.calls, watch, directory.path()}};

    std::vector<std::string> names(const std::string& agent) {
        std::vector<std::string> out;
        for (const SourceBlock& block : source.blocks(FileOffice::as(agent)))
            out.push_back(block.name);
        return out;
    }
};

TEST(FileSource, SaysWhoMayDoWhatToWhichFiles) {
    Sourced desk;
    const SourceSpec spec = desk.source.spec();
    EXPECT_EQ(spec.source_id, "file");
    EXPECT_EQ(spec.actor.str(), "source:disk");
    EXPECT_FALSE(spec.is_watching);
    ASSERT_FALSE(spec.permission_rules.empty());
    EXPECT_EQ(spec.permission_rules.back().pattern, "**");
    EXPECT_EQ(spec.permission_rules.back().permission, policy::Permission::read_only);
    for (std::size_t i = 0; i + 1 < spec.permission_rules.size(); ++i) {
        EXPECT_EQ(spec.permission_rules[i].pattern,
                  desk.office.gate->rules()->paths.rules()[i].pattern.pattern());
    }
    ASSERT_TRUE(memory::parse_schema(spec.schema));

    const policy::Actor ada{policy::ActorKind::agent, "ada"};
    EXPECT_TRUE(desk.source.matches("file:src/a.txt"));
    EXPECT_FALSE(desk.source.matches("file:"));
    EXPECT_FALSE(desk.source.matches("memory:plan"));
    EXPECT_EQ(desk.source.permission_for(ada, "file:locked/a.txt"), policy::Permission::read_only);
    EXPECT_EQ(desk.source.permission_for(ada, "file:.git/config"), policy::Permission::read_only);
}

TEST(FileSource, NamesTheFilesThatWereOpened) {
    Sourced desk;
    desk.office.files.put("src/a.txt", "one\n");
    desk.office.files.put("src/b.txt", "two\n");
    EXPECT_TRUE(desk.names("ada").empty());
    ASSERT_TRUE(desk.office.read("src/a.txt"));
    EXPECT_EQ(desk.names("ada"), std::vector<std::string>{"src/a.txt"});
}

TEST(FileSource, TakesInWhatChangedWhenItIsRun) {
    Sourced desk;
    desk.office.files.put("src/a.txt", "one\n");
    ASSERT_EQ(desk.office.text("src/a.txt"), "one\n");
    Sources all({&desk.source});
    desk.office.files.put("src/a.txt", "two\n");
    const auto run = [&](const std::string& name) {
        return desk.office.ask<std::string>(
            [&](auto reply) { all.run(FileOffice::as("ada"), name, std::move(reply)); });
    };
    EXPECT_EQ(run("file"), "file");
    EXPECT_EQ(desk.office.text("src/a.txt"), "two\n");
    EXPECT_EQ(run("file:src/a.txt"), "file");
    EXPECT_EQ(FileOffice::reason(run("memory:plan")), "unknown_source");
}

}  // namespace
}  // namespace quire::kernel
