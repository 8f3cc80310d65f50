// The walk goes up from the canonical path of the directory, one directory a step, and looks in
// each for quire.toml, .quire and .git:
//
//     both fine                        this is the workspace
//     a file .quire that leads away    go on in the workspace that has adopted this tree, once
//     owned or writable by others      remember it, and go on upwards
//     another file system              end
//
// Nothing is opened for writing. A check and the use that follows are apart in time, which is safe
// because only directories count in which nobody else can put a file.
#include "cli/settings/workspace.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/file_text.h"
#include "fs/hash.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

namespace stdfs = std::filesystem;

bool is_ours(const struct stat& status) {
    return status.st_uid == ::geteuid() || status.st_uid == 0;
}

// A group that has its owner's number is that user's private one, as distributions make them.
bool others_write(const struct stat& status) {
    const bool group_is_private = status.st_gid == status.st_uid || status.st_gid == 0;
    return (status.st_mode & S_IWOTH) != 0 ||
           ((status.st_mode & S_IWGRP) != 0 && !group_is_private);
}

// Why `name` in `directory` is not to be trusted; none if it is.
std::optional<PassedOver> distrust(const stdfs::path& directory,
                                   const struct stat& directory_status, const char* name,
                                   const struct stat& status) {
    const std::string path = (directory / name).string();
    if (!is_ours(status)) return PassedOver{path, cat("it belongs to user ", status.st_uid)};
    if (!is_ours(directory_status)) {
        return PassedOver{path,
                          cat(directory.string(), " belongs to user ", directory_status.st_uid)};
    }
    if (others_write(directory_status))
        return PassedOver{path, cat("others may write in ", directory.string())};
    return std::nullopt;
}

// One step of the walk: what the directory holds of a workspace, and of a git work tree.
struct Step {
    bool is_workspace = false;
    bool is_git_top = false;
    std::string leads_to = {};  // The workspace of an adopted tree.
    std::optional<PassedOver> passed_over = {};
};

// The rest of the line that begins so; "" if there is none.
std::string line_after(std::string_view start, const std::string& text) {
    const std::size_t at = cat("\n", text).find(cat("\n", start));
    if (at == std::string::npos) return {};
    const std::size_t begin = at + start.size();
    return text.substr(begin, text.find('\n', begin) - begin);
}

// The workspace that the file .quire of the directory names; "" if that has not adopted the directory. Anybody
// can put such a file into what others fetch. So the named workspace must have kept the tree's
// state under the hash of this very path, which only quire view adopt does there.
std::string workspace_of_tree(const stdfs::path& directory) {
    const std::string named = line_after("tree of ", file_text((directory / ".quire").string()));
    if (!named.starts_with('/')) return {};
    struct stat status = {};
    const std::string state =
        cat(named, "/.quire/views/", fs::Hash::of(directory.string()).hex(), "/state");
    return ::lstat(state.c_str(), &status) == 0 ? named : std::string();
}

Step look_at(const stdfs::path& directory, const struct stat& directory_status) {
    Step step;
    for (const char* name : {"quire.toml", ".quire"}) {
        struct stat status = {};
        if (::lstat((directory / name).c_str(), &status) != 0) continue;
        const bool is_directory = S_ISDIR(status.st_mode);
        const bool is_state = std::strcmp(name, ".quire") == 0;
        if (is_state && S_ISREG(status.st_mode)) step.leads_to = workspace_of_tree(directory);
        // A quire.toml that is a directory, and a .quire that is a file and leads nowhere, are
        // something else.
        if (is_directory != is_state && step.leads_to.empty()) continue;
        step.is_workspace = true;
        if (!step.passed_over)
            step.passed_over = distrust(directory, directory_status, name, status);
    }
    struct stat git = {};
    // A .git may be a file, in a work tree or a submodule. One that others could have put there
    // does not say where a new workspace belongs.
    step.is_git_top = ::lstat((directory / ".git").c_str(), &git) == 0 &&
                      !distrust(directory, directory_status, ".git", git);
    return step;
}

}  // namespace

Result<FoundWorkspace> find_workspace(const std::string& from) {
    std::error_code failed;
    const stdfs::path begin = stdfs::canonical(from, failed);
    struct stat first = {};
    if (failed || ::stat(begin.c_str(), &first) != 0) {
        return fail(Errc::not_found, "no_such_workspace",
                    cat("the directory ", from, " cannot be found (",
                        failed ? failed.message() : std::strerror(errno), ")"));
    }
    FoundWorkspace found{begin.string()};
    std::optional<std::string> git_top;
    stdfs::path directory = begin;
    bool is_adopted = false;
    for (;;) {
        struct stat status = {};
        // The walk ends at a mount point: above it other people may decide.
        if (::stat(directory.c_str(), &status) != 0 || status.st_dev != first.st_dev) break;
        Step step = look_at(directory, status);
        if (step.passed_over) {
            found.passed_over.push_back(std::move(*step.passed_over));
        } else if (!step.leads_to.empty() && !is_adopted) {
            // The workspace itself must be one that the walk would take.
            is_adopted = true;
            found.tree = directory.string();
            found.tree_actor = line_after("actor ", file_text((directory / ".quire").string()));
            directory = std::move(step.leads_to);
            // The shared workspace may lie in another file system than the tree.
            if (::stat(directory.c_str(), &first) != 0) break;
            continue;
        } else if (step.is_workspace && step.leads_to.empty()) {
            found.directory = directory.string();
            found.is_there = true;
            return found;
        }
        // The workspace that the tree leads to is not one that may be taken, and no other may stand
        // in for it.
        if (is_adopted) break;
        if (step.is_git_top && !git_top) git_top = directory.string();
        if (directory == directory.root_path()) break;
        directory = directory.parent_path();
    }
    found.tree.clear();
    found.tree_actor.clear();
    if (git_top) found.directory = std::move(*git_top);
    return found;
}

std::string passed_over_text(const PassedOver& passed) {
    return cat("passed over ", text::escape_hidden(passed.path), ": ",
               text::escape_hidden(passed.why));
}

Result<void> check_workspace(const std::string& directory) {
    struct stat status = {};
    if (::stat(directory.c_str(), &status) != 0) {
        return fail(Errc::not_found, "no_such_workspace",
                    cat("there is no directory ", directory, " (", std::strerror(errno), ")"),
                    {{"path", directory}});
    }
    if (S_ISDIR(status.st_mode)) {
        std::error_code failed;
        const std::string shared = workspace_of_tree(stdfs::canonical(directory, failed));
        if (shared.empty()) return {};
        return invalid("adopted_tree",
                       cat(directory, " is a tree of the workspace ", shared,
                           "; name that one, or work in the tree without --workspace"),
                       {{"path", directory}, {"workspace", shared}});
    }
    return invalid(
        "not_a_directory",
        cat(directory, " is not a directory; --workspace takes the directory to work in"),
        {{"path", directory}});
}

}  // namespace quire::cli
