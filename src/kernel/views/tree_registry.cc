// The registry keeps one small file per tree and replaces it as a whole after each land or refresh,
// so that a reader finds the state before or the one after. The bases that a state names are synced
// before the state is written. In the other order a crash could leave a state whose bases are gone,
// and every file that both sides changed would be a conflict.
#include "kernel/views/tree_registry.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/durable.h"
#include "base/file_text.h"
#include "kernel/commands/command_completion.h"
#include "kernel/commands/command_journal.h"

namespace quire::kernel {
namespace {

constexpr const char* kState = "/state";

Failure io_error(const std::string& path, const char* what) {
    return fail(Errc::unavailable, "io_error", cat(what, " ", path, ": ", std::strerror(errno)),
                {{"path", path}});
}

// Removes the directory of a tree that was never saved, because the kernel was killed before.
// Returns false for all others.
bool remove_unsaved(const std::string& place) {
    if (::access((place + kState).c_str(), F_OK) == 0) return false;
    ::unlink((place + kState + ".new").c_str());
    return ::rmdir(place.c_str()) == 0;
}

}  // namespace

Result<std::unique_ptr<OpenTree>> OpenTree::open(const std::string& directory,
                                                 std::uint64_t incarnation, std::size_t limit,
                                                 views::TreeFiles::Known known) {
    auto disk = TRY(fs::DiskFiles::open(directory, {incarnation, {}}));
    fs::DiskEntries entries = TRY(fs::DiskEntries::open(directory));
    return std::unique_ptr<OpenTree>(
        new OpenTree(std::move(disk), std::move(entries), limit, std::move(known)));
}

TreeRegistry::TreeRegistry(std::string workspace)
    : workspace_(std::move(workspace)), directory_(workspace_ + "/.quire/views") {}

std::string TreeRegistry::directory_of(const std::string& tree) const {
    return cat(directory_, "/", fs::Hash::of(tree).hex());
}

std::string TreeRegistry::refresh_of(const views::TreeState& tree) const {
    return directory_of(tree.directory) + "/refresh";
}

Result<std::vector<std::string>> TreeRegistry::open(std::uint64_t incarnation) {
    std::vector<std::string> said;
    if (is_open_) return said;
    if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST)
        return io_error(directory_, "cannot make");
    bases_.emplace(TRY(views::BaseTexts::open(directory_ + "/bases")));
    std::error_code gone;
    for (const auto& each : std::filesystem::directory_iterator(directory_, gone)) {
        const std::string place = each.path().string();
        if (!each.is_directory(gone) || remove_unsaved(place)) continue;
        const std::string bytes = file_text(place + kState);
        Result<views::TreeState> state = views::TreeState::decode({bytes.begin(), bytes.end()});
        if (!state) {
            said.push_back(cat(place, kState, " is damaged, so its tree is not adopted any more: ",
                               state.error().message()));
            continue;
        }
        // The refresh is completed before anything surveys the tree, or what it has written so far
        // would be taken for the actor's work. A tree whose directory is gone keeps its journal for
        // the next start.
        if (auto tree = OpenTree::open(state->directory, incarnation, kLargestFile)) {
            // A draft would keep its directory from being removed.
            if (read_journal(place + "/refresh")) {
                const auto shared = OpenTree::open(workspace_, incarnation, kLargestFile);
                if (shared) static_cast<void>((*tree)->sweep_into(**shared));
            }
            const auto done = complete_refresh(*state, **tree);
            if (!done) {
                said.push_back(cat(done.error().message(),
                                   ". The next land or refresh of the tree, and the next start, "
                                   "try it again"));
            } else if (*done) {
                said.push_back(cat("a kernel was killed while it refreshed ", state->directory,
                                   "; ", (*done)->changes - (*done)->left.size(), " of ",
                                   (*done)->changes, " files are refreshed now"));
            }
        }
        std::string directory = state->directory;
        trees_.emplace(std::move(directory), std::move(*state));
    }
    note_inner();
    is_open_ = true;
    return said;
}

Result<std::optional<CompletedCommit>> TreeRegistry::complete_refresh(const views::TreeState& tree,
                                                                      const OpenTree& open) {
    auto done = complete_commit(refresh_of(tree), tree.directory, open.files().files());
    if (done) return done;
    return Failure(std::move(done).error().within(
        cat("a refresh of ", tree.directory, " has begun and cannot be completed now")));
}

Result<views::TreeState*> TreeRegistry::find(const std::string& directory) {
    const auto found = trees_.find(directory);
    if (found != trees_.end()) return &found->second;
    // The names of all adopted trees go into the error, for whoever mistyped one.
    List adopted;
    std::string names;
    for (const auto& [name, tree] : trees_) {
        adopted.emplace_back(name);
        cat_to(names, cat(names.empty() ? "" : ", ", name));
    }
    return fail(
        Errc::not_found, "not_adopted",
        cat(directory, " is not adopted; ",
            names.empty() ? std::string("no tree is. quire view adopt DIR --actor A adopts one")
                          : cat("adopted are ", names)),
        {{"directory", directory}, {"adopted", std::move(adopted)}});
}

Result<void> TreeRegistry::save(const views::TreeState& tree) {
    const std::string place = directory_of(tree.directory);
    if (::mkdir(place.c_str(), 0700) == 0) {
        TRY(sync_name(place));
        // It is new itself where this is the first tree.
        TRY(sync_name(directory_));
    } else if (errno != EEXIST) {
        return io_error(place, "cannot make");
    }
    TRY(bases_->sync());
    const Bytes bytes = tree.encode();
    TRY(replace_durably(place + kState,
                        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    note_inner();
    return {};
}

Result<void> TreeRegistry::drop(const std::string& directory) {
    const std::string place = directory_of(directory);
    std::error_code failed;
    std::filesystem::remove_all(place, failed);
    if (failed) {
        errno = failed.value();
        return io_error(place, "cannot remove");
    }
    trees_.erase(directory);
    watches_.erase(directory);
    note_inner();
    // Another tree may share bases with the one that is dropped, so what is still wanted is
    // collected over all that remain. O(paths of all trees).
    views::Hashes wanted;
    for (const auto& [name, tree] : trees_)
        for (const auto& [path, head] : tree.heads) wanted.insert(head.base);
    return bases_->keep(wanted);
}

void TreeRegistry::note_inner() {
    inner_.clear();
    for (const auto& [directory, tree] : trees_) {
        if (directory.starts_with(workspace_ + "/"))
            inner_.push_back(directory.substr(workspace_.size() + 1) + "/");
    }
}

// Events wait in the system's queue until the next call; where it overflows the tree is looked at anew.
std::optional<std::vector<fs::Entry>> TreeRegistry::watched_files(const std::string& tree,
                                                                  const fs::IgnoreNames& ignore,
                                                                  const Clock& clock) {
    Watch& watch = watches_[tree];
    // A watch is made with its ignore files and cannot take others, so new ones cost a new watch. A
    // directory that was replaced by another of its name leaves a detached watch, which sees
    // nothing of the new one.
    if (watch.tree == nullptr || watch.ignore != ignore ||
        watch.tree->state() == fs::WatchState::detached) {
        watch.ignore = ignore;
        fs::TreeWatch::Options options;
        options.ignore = ignore;
        auto opened = fs::TreeWatch::open(tree, std::move(options), clock);
        watch.tree = opened ? std::move(*opened) : nullptr;
    }
    if (watch.tree == nullptr) return std::nullopt;
    // The first round after opening walks the tree, and so does one after the events overflowed.
    static_cast<void>(watch.tree->round());
    if (watch.tree->state() != fs::WatchState::watching) return std::nullopt;
    return watch.tree->list();
}

bool TreeRegistry::is_in_tree(const std::string& path) const {
    return std::ranges::any_of(inner_,
                               [&](const std::string& tree) { return path.starts_with(tree); });
}

}  // namespace quire::kernel
