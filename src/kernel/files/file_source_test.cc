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
    EXPECT_FALSE(desk.source.matches("memory:plan"));
    EXPECT_EQ(desk.source.permission_for(ada, "locked/a.txt"), policy::Permission::read_only);
    EXPECT_EQ(desk.source.permission_for(ada, ".git/config"), policy::Permission::read_only);
}

TEST(FileSource, NamesTheFilesThatWereOpened) {
    Sourced desk;
    desk.office.files.put("src/a.txt", "one\n");
    desk.office.files.put("src/b.txt", "two\n");
    EXPECT_TRUE(desk.names("ada").empty());
    ASSERT_TRUE(desk.office.read("src/a.txt"));
    EXPECT_EQ(desk.names("ada"), std::vector<std::string>{"src/a.txt"});
}

// The calls of the source, on a file that others may have opened already.
class FileOfSource : public ::testing::Test {
protected:
    // The answer to a call of ada's on the source.
    template <class Answer, class Call, class... Given>
    Result<Answer> ask(Call call, Given... given) {
        Source& source = desk.source;
        return desk.office.ask<Answer>([&](auto reply) {
            (source.*call)(FileOffice::as("ada"), std::move(given)..., std::move(reply));
        });
    }
    Result<SourceVersion> load(const std::string& address) {
        return ask<SourceVersion>(&Source::load, address);
    }
    Result<SourceVersion> create(const std::string& address, const std::string& content) {
        return ask<SourceVersion>(&Source::create, SourceCreate{address, content});
    }
    Result<OfBlock<SourceSaved>> save(const std::string& address) {
        return ask<OfBlock<SourceSaved>>(&Source::save, address);
    }
    // The edits that were not saved yet, as a diff.
    std::string unsaved(const std::string& address) {
        const auto made = ask<OfBlock<BlockDiff>>(
            &Source::diff, address, std::optional<std::string>(), std::optional<std::string>());
        return made ? made->answer.diff : made.error().reason();
    }

    Sourced desk;
};

TEST_F(FileOfSource, IsLoadedCreatedSavedAndErasedByItsAddressOrItsId) {
    const auto made = create("file:src/a.txt", "one\n");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->name, "src/a.txt");
    EXPECT_TRUE(desk.source.matches(made->block_id));
    EXPECT_EQ(FileOffice::reason(create("file:src/a.txt", "two\n")), "file_exists");

    const auto loaded = load(made->block_id);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->name, "src/a.txt");
    EXPECT_EQ(loaded->block_id, made->block_id);

    ASSERT_EQ(desk.office.append("src/a.txt", "two\n"), "ok");
    const auto saved = save("file:src/a.txt");
    ASSERT_TRUE(saved);
    EXPECT_TRUE(saved->answer.written);
    EXPECT_EQ(saved->answer.bytes, 8U);
    EXPECT_EQ(desk.office.disk("src/a.txt"), "one\ntwo\n");
    EXPECT_FALSE(save(made->block_id)->answer.written);

    ASSERT_TRUE(ask<SourceVersion>(&Source::erase, made->block_id));
    const auto gone = load("file:src/a.txt");
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code(), Errc::not_found);
}

TEST_F(FileOfSource, HasAPastThatIsComparedAndGoneBackTo) {
    desk.office.files.put("src/a.txt", "one\n");
    const auto loaded = load("file:src/a.txt");
    ASSERT_TRUE(loaded);
    ASSERT_EQ(desk.office.append("src/a.txt", "two\n"), "ok");

    const auto history =
        ask<OfBlock<HistoryPage>>(&Source::history, loaded->block_id, std::size_t{10}, "");
    ASSERT_TRUE(history);
    ASSERT_EQ(history->answer.versions.size(), 2U);
    EXPECT_EQ(history->answer.versions.front().actor, "agent:ada");
    EXPECT_EQ(history->block.name, "src/a.txt");

    const std::string diff = unsaved("file:src/a.txt");
    EXPECT_NE(diff.find("+two"), std::string::npos) << diff;

    const auto back = ask<OfBlock<Edited>>(&Source::rollback, loaded->block_id,
                                           history->answer.versions.back().version_id);
    ASSERT_TRUE(back);
    EXPECT_EQ(desk.office.text("src/a.txt"), "one\n");
    EXPECT_EQ(unsaved(loaded->block_id), "");
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
