#include <cstdlib>
#include <filesystem>
#include <iterator>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/completion.h"
#include "cli/commands/demo_cast.h"
#include "cli/commands/demo_workspace.h"
#include "cli/commands/scratch.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"

namespace quire::cli {
namespace {

const std::vector<CompletedCommand> kWords = {
    {"call", "Call one tool, it's said", {{{"--help"}}, {{"-w", "--workspace"}, {false, true}}}},
    {"approvals", "Answer", {{{"--help"}}}, {"list", "approve"}},
    {"cat", "Print", {{{"--help"}}}, {}, {true}},
    {"completion", "Print completions", {{{"--help"}}}, {}, {false, false, {"bash", "zsh"}}}};

TEST(Completion, NamesCommandsAndTheirOptionsForEachShell) {
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const std::string script = completion_script(shell, kWords);
        EXPECT_NE(script.find("call"), std::string::npos) << shell;
        EXPECT_NE(script.find("workspace"), std::string::npos) << shell;
        EXPECT_NE(script.find("list approve"), std::string::npos) << shell;
    }
    EXPECT_EQ(completion_script("csh", kWords), "");
}

TEST(Completion, IsAScriptThatBashReads) {
    const std::string command = "printf %s \"$SCRIPT\" | bash -n";
    ::setenv("SCRIPT", completion_script("bash", kWords).c_str(), 1);
    EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c)
}

TEST(Completion, OffersThePossibleValuesOfAnOption) {
    const std::string script = completion_script("bash", kWords);
    EXPECT_NE(script.find("-w|--workspace) mapfile -t COMPREPLY < <(compgen -d "),
              std::string::npos);
    EXPECT_NE(
        script.find("cat) if [[ $current != -* ]]; then mapfile -t COMPREPLY < <(compgen -f "),
        std::string::npos);
    EXPECT_NE(script.find("compgen -W \"bash zsh\" "), std::string::npos);
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
