#include <cstdlib>
#include <filesystem>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/completion.h"
#include "cli/commands/demo_cast.h"
#include "cli/commands/demo_workspace.h"
#include "cli/commands/operation_command.h"
#include "cli/commands/scratch.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"

namespace quire::cli {
namespace {

// A program with what completions have to tell apart.
class SmallProgram {
public:
    SmallProgram() : app_("", "small") {
        app_.fallthrough();
        app_.add_option("-a,--actor", text_)->type_name("ACTOR");
        app_.add_option("--profile", text_)->type_name("PROFILE:{model,full}");
        CLI::App& call = *app_.add_subcommand("call", "Call a tool");
        call.add_option("tool", text_)->type_name("TOOL");
        CLI::App& rules = *app_.add_subcommand("rules", "Explain rules");
        CLI::App& explain = *rules.add_subcommand("explain", "Explain one");
        explain.add_option("--tool", text_)->type_name("TOOL");
        explain.add_option("--operation", text_)->type_name("OPERATION");
        explain.add_flag("--all", flag_);
        app_.add_subcommand("cat", "Print")->add_option("what", text_)->type_name("BLOCK|PATH");
        app_.add_subcommand("secret", "Hidden")->group("");
    }

    Completions at(const std::vector<std::string>& words) const {
        return completions_of(app_, words, [](std::string_view type, const GivenOptions& given) {
            if (type == "ACTOR") return std::vector<CompletedWord>{{"agent:ada"}, {"human:tom"}};
            if (type == "TOOL") return std::vector<CompletedWord>{{"context"}, {"file"}};
            if (type != "OPERATION") return std::vector<CompletedWord>{{"b1_0_0", "a.txt"}};
            return std::vector<CompletedWord>{{"of_" + given.at("tool")}};
        });
    }
    std::vector<std::string> words_at(const std::vector<std::string>& words) const {
        std::vector<std::string> out;
        for (const CompletedWord& each : at(words).words) out.push_back(each.word);
        return out;
    }

private:
    CLI::App app_;
    std::string text_;
    bool flag_ = false;
};

using TypedWords = std::vector<std::string>;

TEST(Completion, OffersCommandsAndSubcommandsThatAreNotHidden) {
    const SmallProgram program;
    EXPECT_EQ(program.words_at({""}), (TypedWords{"call", "rules", "cat"}));
    EXPECT_EQ(program.words_at({"ca"}), (TypedWords{"call", "cat"}));
    EXPECT_EQ(program.words_at({"rules", ""}), (TypedWords{"explain"}));
    EXPECT_EQ(program.at({"rules", ""}).words[0].description, "Explain one");
}

TEST(Completion, DoesNotTakeAnOptionsValueForTheCommand) {
    const SmallProgram program;
    EXPECT_EQ(program.words_at({"--actor", "cat", "c"}), (TypedWords{"call", "cat"}));
    EXPECT_EQ(program.words_at({"--actor", "call", "rules", "explain", "--operation", "x", "--"}),
              (TypedWords{"--help", "--tool", "--operation", "--all", "--actor", "--profile"}));
    EXPECT_EQ(program.words_at({"rules", "--actor", "x", ""}), (TypedWords{"explain"}));
}

TEST(Completion, OffersTheValuesOfTheOptionBeforeTheCursor) {
    const SmallProgram program;
    EXPECT_EQ(program.words_at({"call", "-a", ""}), (TypedWords{"agent:ada", "human:tom"}));
    EXPECT_EQ(program.words_at({"--actor=hu"}), (TypedWords{"--actor=human:tom"}));
    EXPECT_EQ(program.words_at({"--profile", "f"}), (TypedWords{"full"}));
    EXPECT_EQ(program.words_at({"rules", "explain", "--tool", "file", "--operation", ""}),
              (TypedWords{"of_file"}));
    EXPECT_EQ(program.words_at({"rules", "explain", "--all", ""}), TypedWords{});
}

TEST(Completion, OffersTheArgumentThatIsNext) {
    const SmallProgram program;
    EXPECT_EQ(program.words_at({"call", ""}), (TypedWords{"context", "file"}));
    EXPECT_EQ(program.words_at({"call", "file", ""}), TypedWords{});
    const Completions what = program.at({"cat", "b"});
    EXPECT_EQ(what.words, (std::vector<CompletedWord>{{"b1_0_0", "a.txt"}}));
    EXPECT_TRUE(what.files);
}

TEST(Completion, ReadsALineAsAShellDoes) {
    EXPECT_EQ(words_of_line("quire cat 'a b' c\\ d \"e\\\"f"),
              (TypedWords{"quire", "cat", "a b", "c d", "e\"f"}));
    EXPECT_EQ(words_of_line("quire "), (TypedWords{"quire", ""}));
}

TEST(Completion, IsAScriptThatBashReads) {
    const std::string command = "printf %s \"$SCRIPT\" | bash -n";
    ::setenv("SCRIPT", std::string(completion_script("bash")).c_str(), 1);
    EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c)
    EXPECT_EQ(completion_script("csh"), "");
}

TEST(TypedArgument, IsReadAsItsSchemaTakesIt) {
    const Value range = Map{{"type", "object"},
                            {"properties", Map{{"start", Map{{"type", "integer"}}},
                                               {"end", Map{{"type", "integer"}}}}}};
    EXPECT_EQ(*typed_argument("range", range, "2:-1"), Value(Map{{"start", 2}, {"end", -1}}));
    EXPECT_EQ(*typed_argument("label", Map{{"type", "string"}}, "12"), Value("12"));
    EXPECT_EQ(*typed_argument("index", Map{{"type", "integer"}}, "12"), Value(12));
    EXPECT_EQ(*typed_argument("value", Map{}, "12"), Value(12));
    EXPECT_EQ(*typed_argument("value", Map{}, "twelve"), Value("twelve"));
    const Value words = Map{{"type", "array"}, {"items", Map{{"type", "string"}}}};
    EXPECT_EQ(*typed_argument("types", words, "core,working"), Value(List{"core", "working"}));
    EXPECT_EQ(typed_argument("index", Map{{"type", "integer"}}, "x").error().reason(),
              "invalid_arguments");
}

TEST(Terminal, SizesAreShortAndInTens) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(1023), "1023 B");
    EXPECT_EQ(size_text(1024), "1.0 KB");
    EXPECT_EQ(size_text(1536), "1.5 KB");
    EXPECT_EQ(size_text(std::uint64_t{5} << 30), "5.0 GB");
}

TEST(WholeFile, ReplacesOnlyTheFileThatALinkLeadsTo) {
    const auto scratch = ScratchDirectory::make("quire-test-");
    ASSERT_TRUE(scratch);
    const std::string file = scratch->path() + "/file";
    const std::string link = scratch->path() + "/link";
    ASSERT_TRUE(keep_file(file, "one"));
    ASSERT_TRUE(keep_file(file + ".swp", "somebody else's"));
    ASSERT_EQ(::symlink("file", link.c_str()), 0);
    ASSERT_EQ(::chmod(file.c_str(), 0640), 0);

    ASSERT_TRUE(keep_file(link, "two"));

    EXPECT_EQ(*read_file(file), "two");
    EXPECT_EQ(*read_file(file + ".swp"), "somebody else's");
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    struct stat now = {};
    ASSERT_EQ(::stat(file.c_str(), &now), 0);
    EXPECT_EQ(now.st_mode & 0777U, 0640U);
}

TEST(WholeFile, APathThatIsNoRegularFileIsWrittenToOrRefused) {
    const auto scratch = ScratchDirectory::make("quire-test-");
    ASSERT_TRUE(scratch);
    const std::string pipe = scratch->path() + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);

    EXPECT_TRUE(keep_file(pipe, "text"));

    char got[8] = {};
    EXPECT_EQ(::read(reader, got, sizeof got), 4);
    ::close(reader);
    struct stat now = {};
    ASSERT_EQ(::stat(pipe.c_str(), &now), 0);
    EXPECT_TRUE(S_ISFIFO(now.st_mode));
    EXPECT_FALSE(keep_file(scratch->path(), "text"));
    EXPECT_FALSE(keep_file(scratch->path() + "/none/file", "text"));
    const std::filesystem::directory_iterator entries(scratch->path());
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST(Scratch, IsRemovedWithItsContent) {
    std::string path;
    {
        auto scratch = ScratchDirectory::make("quire-test-");
        ASSERT_TRUE(scratch);
        path = scratch->path();
        ASSERT_TRUE(replace_file(path + "/a", "text"));
        ASSERT_EQ(*read_file(path + "/a"), "text");
    }
    EXPECT_FALSE(read_file(path + "/a"));
}

TEST(DemoMarks, AreCountedByAuthorAndNumber) {
    show::Found found =
        show::find_marks("ada#1 x\nbo#20 y ada#1\n# title\n#7\nyou#3, said\nX#4\nada#\n");
    EXPECT_EQ(found["ada"][1], 2);
    EXPECT_EQ(found["bo"][20], 1);
    EXPECT_EQ(found["you"][3], 1);
    EXPECT_EQ(found.size(), 3U);
}

TEST(DemoEditor, LeavesEachOfItsLinesInTheFileOnce) {
    auto setting = show::make_setting("");
    ASSERT_TRUE(setting);
    const std::string root = setting->directory.path();
    const std::vector<show::Place> places = {{setting->files[0], "", setting->files[0], 40},
                                             {setting->files[1], "", setting->files[1], 40}};
    show::Editor editor("you", root, places, 1);

    for (int ms = 0; ms < 2000; ms += 50) ASSERT_TRUE(editor.play(ms));

    EXPECT_GT(editor.edits(), 10U);
    for (std::size_t i = 0; i < places.size(); ++i) {
        show::Found found = show::find_marks(*read_file(root + "/" + places[i].path));
        EXPECT_EQ(found["you"].size(), editor.written()[i].size());
        for (const auto& [mark, times] : found["you"]) EXPECT_EQ(times, 1);
    }
}

TEST(DemoWorkspace, CopiesADirectoryAndPicksTwoTextFiles) {
    auto source = ScratchDirectory::make("quire-test-");
    ASSERT_TRUE(source);
    const std::string text(40, '\n');
    for (const char* name : {"/a.txt", "/b.txt"})
        ASSERT_TRUE(replace_file(source->path() + name, text));
    ASSERT_TRUE(replace_file(source->path() + "/0.bin", std::string("\xff\n") + text));
    ASSERT_TRUE(replace_file(source->path() + "/.hidden", text));

    const auto setting = show::make_setting(source->path());

    ASSERT_TRUE(setting);
    EXPECT_EQ(setting->files[0], "a.txt");
    EXPECT_EQ(setting->files[1], "b.txt");
    EXPECT_TRUE(read_file(setting->directory.path() + "/0.bin"));
    EXPECT_FALSE(read_file(setting->directory.path() + "/.hidden"));
}

TEST(DemoWorkspace, RefusesADirectoryWithoutTwoTextFiles) {
    auto source = ScratchDirectory::make("quire-test-");
    ASSERT_TRUE(source);
    EXPECT_FALSE(show::make_setting(source->path()));
}

}  // namespace
}  // namespace quire::cli
