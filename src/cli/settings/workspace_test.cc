#include "cli/settings/workspace.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "fs/hash.h"

namespace quire::cli {
namespace {

// A tree of directories; nobody else may write in its top.
class Tree {
public:
    Tree() { ::chmod(root_.path().c_str(), 0755); }
    std::string path(const std::string& below = "") const { return root_.path() + below; }
    std::string directory(const std::string& below, mode_t mode = 0755) const {
        std::filesystem::create_directories(path(below));
        ::chmod(path(below).c_str(), mode);
        return path(below);
    }
    void file(const std::string& below) const { root_.put(below, "\n"); }
    // Makes `below` a tree that the workspace `shared` has adopted.
    void adopt(const std::string& below, const std::string& shared) const {
        file(cat(shared, "/.quire/views/", fs::Hash::of(path(below)).hex(), "/state"));
        ::chmod(path(shared + "/.quire").c_str(), 0700);
        std::ofstream(path(below + "/.quire"))
            << "tree of " << path(shared) << "\nactor agent:ada\n";
    }

private:
    const TestDirectory root_;
};

TEST(FindWorkspace, TakesTheNearestDirectoryWithSettingsOrState) {
    const Tree tree;
    tree.directory("/outer/inner/deep");
    tree.file("/outer/quire.toml");
    EXPECT_EQ(find_workspace(tree.path("/outer/inner/deep"))->directory, tree.path("/outer"));

    tree.directory("/outer/inner/.quire", 0700);
    const auto found = find_workspace(tree.path("/outer/inner/deep"));
    EXPECT_EQ(found->directory, tree.path("/outer/inner"));
    EXPECT_TRUE(found->is_there);
}

TEST(FindWorkspace, PutsANewOneAtTheTopOfTheGitWorkTreeOrWhereItBegan) {
    const Tree tree;
    tree.directory("/repo/.git");
    tree.directory("/repo/src");
    tree.directory("/plain/src");
    const auto in_git = find_workspace(tree.path("/repo/src"));
    EXPECT_EQ(in_git->directory, tree.path("/repo"));
    EXPECT_FALSE(in_git->is_there);
    EXPECT_EQ(find_workspace(tree.path("/plain/src"))->directory, tree.path("/plain/src"));
}

TEST(FindWorkspace, GoesFromAnAdoptedTreeToItsWorkspace) {
    const Tree tree;
    tree.directory("/shared/.quire", 0700);
    tree.directory("/ada/src");
    tree.file("/ada/quire.toml");
    tree.adopt("/ada", "/shared");
    const auto found = find_workspace(tree.path("/ada/src"));
    EXPECT_EQ(found->tree_actor, "agent:ada");
    EXPECT_EQ(found->directory, tree.path("/shared"));
    EXPECT_TRUE(found->is_there);
    EXPECT_EQ(found->tree, tree.path("/ada"));
    EXPECT_EQ(check_workspace(tree.path("/ada")).error().reason(), "adopted_tree");
    EXPECT_TRUE(check_workspace(tree.path("/shared")));
}

TEST(FindWorkspace, AnAdoptedTreeWhoseWorkspaceIsGoneIsAnOrdinaryDirectory) {
    const Tree tree;
    tree.directory("/ada");
    tree.file("/ada/quire.toml");
    tree.directory("/shared/.quire", 0700);
    // The last is a workspace that knows nothing of this directory.
    for (const std::string& text :
         {std::string("tree of /nowhere/at/all\n"), std::string("tree of relative\n"),
          std::string("other\n"), std::string(), cat("tree of ", tree.path("/shared"), "\n")}) {
        std::ofstream(tree.path("/ada/.quire")) << text;
        const auto found = find_workspace(tree.path("/ada"));
        EXPECT_EQ(found->directory, tree.path("/ada")) << text;
        EXPECT_EQ(found->tree, "");
    }
}

TEST(FindWorkspace, AWorkspaceThatOthersMayWriteIsNotReachedFromATree) {
    const Tree tree;
    tree.directory("/shared/.quire", 0700);
    tree.directory("/shared", 01777);
    tree.directory("/ada");
    tree.adopt("/ada", "/shared");
    const auto found = find_workspace(tree.path("/ada"));
    EXPECT_FALSE(found->is_there);
    EXPECT_EQ(found->passed_over.size(), 1U);
}

TEST(FindWorkspace, PassesOverADirectoryThatOthersMayWrite) {
    const Tree tree;
    tree.directory("/shared/mine", 0755);
    tree.directory("/shared", 01777);
    tree.file("/shared/quire.toml");
    const auto found = find_workspace(tree.path("/shared/mine"));
    EXPECT_EQ(found->directory, tree.path("/shared/mine"));
    ASSERT_EQ(found->passed_over.size(), 1U);
    EXPECT_EQ(passed_over_text(found->passed_over[0]),
              "passed over " + tree.path("/shared/quire.toml") + ": others may write in " +
                  tree.path("/shared"));
}

TEST(FindWorkspace, PassesOverWhatBelongsToAnotherUser) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    const Tree tree;
    tree.directory("/a/b");
    tree.file("/a/quire.toml");
    tree.directory("/a/b/.git");
    ASSERT_EQ(::chown(tree.path("/a/quire.toml").c_str(), 12345, 12345), 0);
    ASSERT_EQ(::lchown(tree.path("/a/b/.git").c_str(), 12345, 12345), 0);
    const auto found = find_workspace(tree.directory("/a/b/c"));
    EXPECT_EQ(found->directory, tree.path("/a/b/c"));
    ASSERT_EQ(found->passed_over.size(), 1U);
    EXPECT_EQ(found->passed_over[0].why, "it belongs to user 12345");
}

TEST(FindWorkspace, TakesNoFileForAStateDirectoryAndNoDirectoryForSettings) {
    const Tree tree;
    tree.directory("/a/quire.toml");
    tree.file("/a/.quire");
    EXPECT_FALSE(find_workspace(tree.path("/a"))->is_there);
}

TEST(CheckWorkspace, RefusesWhatIsNoDirectory) {
    const Tree tree;
    tree.file("/file");
    EXPECT_TRUE(check_workspace(tree.path()));
    EXPECT_EQ(check_workspace(tree.path("/file")).error().reason(), "not_a_directory");
    EXPECT_EQ(check_workspace(tree.path("/none")).error().reason(), "no_such_workspace");
}

}  // namespace
}  // namespace quire::cli
