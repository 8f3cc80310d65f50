// Adoption finds a base for every path that it can, because a path without one is a conflict as
// soon as both sides have it with different bytes. It looks for the base in this order:
//
//   the bytes of both trees, where they are equal
//   the merge base of the two HEADs, if both trees are checkouts of one history
//   the workspace's bytes, if the file has not changed since the directory was made
//
// The last is a guess: a directory that is made by copying has the file as it was then. A base that
// is too new would take the tree's old lines for its changes, so the guess is made only where the
// time of the file's last change, which no program can set, lies before the directory's birth. One
// path is in memory at a time; the files of the commit are read from git only where the trees
// differ.
#include "kernel/views/adoption.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/file_text.h"
#include "git/repository.h"
#include "kernel/views/tree_registry.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;
using views::Content;
using views::Head;

// When the directory was made, in nanoseconds; 0 where the file system does not say.
std::int64_t born_ns(const std::string& directory) {
    struct statx status {};
    if (::statx(AT_FDCWD, directory.c_str(), 0, STATX_BTIME, &status) != 0 ||
        (status.stx_mask & STATX_BTIME) == 0)
        return 0;
    return status.stx_btime.tv_sec * std::int64_t{1'000'000'000} + status.stx_btime.tv_nsec;
}

// The files of the commit from which both trees have come, as git knows it.
// Looks nothing up for a directory that is no checkout, or has no commit in common with the
// workspace: then at() knows no path, and the other ways to a base remain.
class Ancestry {
public:
    // Asks git a few times, and reads the whole list of the commit's files: O(files). A failure of
    // git is no failure of the adoption, which goes on without an ancestor.
    static Ancestry of(const std::string& tree, const std::string& shared, Clock& clock) {
        Ancestry out;
        const auto theirs = git::Repository::find(tree, clock);
        const auto ours = git::Repository::find(shared, clock);
        // Two directories of one work tree have no common past.
        if (!theirs || !ours || theirs->prefix() != ours->prefix()) return out;
        const auto a = theirs->commit_of("HEAD"), b = ours->commit_of("HEAD");
        if (!a || !*a || !b || !*b) return out;
        // A clone may know commits that the workspace has not fetched, and the other way round.
        for (const git::Repository& each : {*ours, *theirs}) {
            const auto base = each.merge_base(**a, **b);
            if (!base || !*base) continue;
            auto files = each.files(**base);
            if (!files) continue;
            out.repository_ = each;
            out.prefix_ = ours->prefix();
            out.files_ = std::move(*files);
            break;
        }
        return out;
    }

    std::optional<Content> at(const std::string& path) const {
        if (!repository_) return std::nullopt;
        const auto found = files_.find(prefix_ + path);
        // The modes are git's own: 160000 is a submodule, which is no file, 120000 a link and
        // 100755 a program.
        if (found == files_.end() || found->second.mode == "160000") return std::nullopt;
        Result<std::string> bytes = repository_->blob(found->second.id);
        if (!bytes) return std::nullopt;
        Content out;
        out.form = found->second.mode == "120000" ? views::Form::link : views::Form::file;
        out.runs = found->second.mode == "100755";
        out.bytes = std::move(*bytes);
        out.sight.hash = fs::Hash::of(out.bytes);
        return out;
    }

private:
    std::optional<git::Repository> repository_;
    std::string prefix_;
    std::map<std::string, git::TreeEntry> files_;
};

// Two files with the same bytes and different permissions are equal here, and the head takes the
// workspace's.
bool is_equal(const std::optional<Content>& a, const std::optional<Content>& b) {
    return a && b && a->form == b->form && a->bytes == b->bytes;
}

Failure not_a_tree(const std::string& directory, std::string_view why) {
    return invalid("not_a_tree", cat(directory, " ", why), {{"directory", directory}});
}

}  // namespace

Result<std::string> check_adoptable(const std::string& directory, const std::string& workspace,
                                    const OpenTree& shared, const fs::IgnoreNames& ignore) {
    std::error_code failed;
    // All checks go by the name without links: a link could lead back into the workspace or to
    // somebody else's directory.
    const std::string real = disk::canonical(directory, failed).string();
    struct stat status {};
    if (failed || ::stat(real.c_str(), &status) != 0) {
        return fail(Errc::not_found, "file_not_found", cat("there is no directory ", directory),
                    {{"directory", directory}});
    }
    if (!S_ISDIR(status.st_mode)) {
        return invalid("not_a_directory", cat(directory, " is no directory"),
                       {{"directory", directory}});
    }
    if (status.st_uid != ::geteuid()) {
        return fail(Errc::denied, "foreign_directory",
                    cat(real, " belongs to another user, who could put anything there"),
                    {{"directory", real}});
    }
    if (real == workspace) return not_a_tree(real, "is the workspace itself");
    if (workspace.starts_with(real == "/" ? real : real + "/"))
        return not_a_tree(real, "has the workspace in it");
    // A linked work tree's own data lies in .git/worktrees of the workspace; it is no checkout, and
    // neither is a stage in .quire.
    for (const char* const own : {"/.quire", "/.git"}) {
        if (real == workspace + own || real.starts_with(cat(workspace, own, "/")))
            return not_a_tree(real,
                              "is in a directory of the workspace that is no part of its files");
    }
    // From here on the directory lies in the workspace. Its files would be in two trees at once, so
    // it has to be one that the workspace's lists leave out: a work tree of git is, and so is one
    // of which no file is listed.
    if (!real.starts_with(workspace + "/")) return real;
    if (disk::exists(disk::symlink_status(real + "/.git", failed))) return real;
    const std::string inner = real.substr(workspace.size() + 1) + "/";
    const std::vector<fs::Entry> files = TRY(shared.files().list(ignore));
    const bool is_part = std::ranges::any_of(
        files, [&](const fs::Entry& each) { return each.path.starts_with(inner); });
    if (is_part) return not_a_tree(real, "is a part of the workspace's files, and no copy of them");
    return real;
}

Result<void> find_common(const TwoTrees& trees, const fs::IgnoreNames& ignore,
                         Function<bool(const std::string& path)> sees, Clock& clock,
                         TreeRegistry& registry, views::TreeState& state) {
    const views::TreeFiles& tree = trees.tree.files();
    const views::TreeFiles& shared = trees.shared.files();
    std::set<std::string> paths;
    for (fs::Entry& entry : TRY(tree.list(ignore))) paths.insert(std::move(entry.path));
    for (fs::Entry& entry : TRY(shared.list(ignore))) {
        if (sees(entry.path)) paths.insert(std::move(entry.path));
    }
    const Ancestry ancestry = Ancestry::of(state.directory, trees.workspace, clock);
    const std::int64_t made_ns = born_ns(state.directory);
    for (const std::string& path : paths) {
        Result<std::optional<Content>> theirs = tree.read(path);
        Result<std::optional<Content>> ours = shared.read(path);
        // They are looked at again with the next land.
        if (!theirs || !ours) continue;
        const std::optional<Content>& a = *theirs;
        const std::optional<Content>& b = *ours;
        std::optional<Content> common;
        if (is_equal(a, b)) {
            common = *b;
        } else {
            common = ancestry.at(path);
            const bool is_untouched =
                b && b->form == views::Form::file && b->sight.stamp.changed_ns < made_ns;
            if (!common && a && is_untouched) common = *b;
        }
        if (!common) continue;
        Head head;
        head.form = common->form;
        // A stamp of 0 has the first survey read the file. digest_of() gives it for a side that
        // differs from the base, which is what makes the path a change of that side.
        head.runs = common->runs;
        head.base = common->sight.hash;
        if (a) head.tree = views::digest_of(a->sight, head.base);
        if (b) head.shared = views::digest_of(b->sight, head.base);
        TRY(registry.bases().add(head.base, common->bytes));
        state.heads.emplace(path, std::move(head));
    }
    return {};
}

Result<void> mark_tree(const std::string& directory, const std::string& workspace,
                       const policy::Actor& actor, Clock& clock) {
    const std::string path = cat(directory, "/", kTreeFile);
    struct stat status {};
    // A workspace has a directory .quire. A link of that name is refused as well: a file behind it
    // would be written over.
    if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        return fail(Errc::conflict, "has_workspace",
                    cat(directory,
                        " is a workspace itself: it has a directory .quire. Remove that, "
                        "or adopt another directory"),
                    {{"directory", directory}});
    }
    const std::string text = cat("tree of ", workspace, "\nactor ", actor.str(), "\n");
    if (file_text(path) == text) return {};
    std::ofstream file(path, std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
        return fail(Errc::unavailable, "io_error", cat("cannot write ", path), {{"path", path}});
    }
    // Git would list it as a new file.
    const auto repository = git::Repository::find(directory, clock);
    if (!repository) return {};
    const auto excluded =
        repository->ignored(std::vector<std::string>{cat(repository->prefix(), kTreeFile)});
    // The file's name goes to .git/info/exclude and not to .gitignore, which is a file of the tree
    // and would be landed.
    if (!excluded || !excluded->empty()) return {};
    if (const auto exclude = repository->exclude_file()) {
        std::error_code failed;
        disk::create_directories(disk::path(*exclude).parent_path(), failed);
        const std::string before = file_text(*exclude);
        std::ofstream(*exclude, std::ios::app)
            << (before.empty() || before.ends_with('\n') ? "" : "\n") << kTreeFile << "\n";
    }
    return {};
}

// Removes a file alone: by now the directory may have become a workspace of its own, whose .quire
// is a directory.
void unmark_tree(const std::string& directory) {
    const std::string path = cat(directory, "/", kTreeFile);
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) ::unlink(path.c_str());
}

}  // namespace quire::kernel
