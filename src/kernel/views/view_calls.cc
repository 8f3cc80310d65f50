// All calls run on one worker, one after the other, so the registry and the trees' states need no
// lock. Each opens the workspace and the trees that it needs, works by TreeSync, and lets go of
// them again; between calls only the states and the watches stay in memory. Waiting for a
// document's strand blocks this worker and none of those that serve other calls.
//
// Body is shared with each call that is posted, so it lives until the last of them is through; the
// destructor only makes those that have not begun refuse. What one tree meets in a land of several
// is in its own answer and stops no other.
#include "kernel/views/view_calls.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/concat.h"
#include "kernel/commands/command_journal.h"
#include "kernel/core/kernel.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/views/adoption.h"
#include "kernel/views/claims.h"
#include "kernel/views/tree_copy.h"
#include "kernel/views/tree_registry.h"
#include "kernel/views/tree_sync.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::kernel {

struct ViewCalls::Body : std::enable_shared_from_this<ViewCalls::Body> {
    Body(ViewParts given, Rng& random, sched::Scheduler& scheduler)
        : parts(std::move(given)), rng(random), worker(scheduler), registry(parts.workspace) {}

    // Runs work(*this) on the worker. After stop() it is refused.
    template <class T, class Work>
    void post(Reply<T> reply, Work work) {
        worker.post([self = shared_from_this(), reply = std::move(reply),
                     work = std::move(work)]() mutable {
            if (self->is_stopped.with([](bool stopped) { return stopped; }))
                return reply(Failure(kernel_ending()));
            reply(work(*self));
        });
    }
    // The files are listed when somebody asks for them, from the tree's watch where there is one
    // and else by a walk.
    Result<std::unique_ptr<OpenTree>> opened(const std::string& directory) {
        return OpenTree::open(directory, rng.next(), kLargestFile, [this, directory] {
            return registry.watched_files(directory, parts.gate.ignore_files(), parts.clock);
        });
    }
    Result<std::unique_ptr<OpenTree>> workspace() {
        return OpenTree::open(parts.workspace, rng.next(), kLargestFile,
                              [this] { return workspace_files(); });
    }
    std::optional<std::vector<fs::Entry>> workspace_files() const;
    // Returns a function that says whether the actor sees a path as part of the workspace.
    std::function<bool(const std::string&)> seen_by(policy::Actor actor) const {
        return [this, actor = std::move(actor)](const std::string& path) {
            return !registry.is_in_tree(path) && parts.gate.may_see(path, actor);
        };
    }
    Result<void> may(const Caller& by, const policy::Actor& actor) const;
    Result<TreeReport> adopt(const Caller& by, const AdoptTree& what);
    Result<TreeReport> make(const Caller& by, const MakeTree& what);
    Result<TreeReport> remove(const Caller& by, const std::string& directory);
    void name_author(const Caller& by, const std::string& self, Claim& claim);
    Result<std::vector<Claim>> claims(const Caller& by, const std::string& tree,
                                      const std::vector<std::string>& paths);
    Result<TreeReport> drop(const Caller& by, const std::string& directory);
    Result<std::vector<TreeReport>> list();
    Result<TreeReport> report(views::TreeState& state, const OpenTree& shared);
    Result<void> recover();
    Result<std::vector<std::string>> chosen(const WhichTrees& which);
    Result<std::vector<Synced>> sync(const Caller& by, const WhichTrees& which,
                                     Direction direction);
    Result<Synced> sync_one(const Caller& by, views::TreeState& state, const OpenTree& shared,
                            Direction direction, bool asks);

    const ViewParts parts;
    Rng& rng;
    sched::Scheduler& worker;
    TreeRegistry registry;
    sched::Guarded<bool> is_stopped{false};
};

namespace {

constexpr std::size_t kMostListed = 1'000'000;

// The name of a directory that may be gone. Trees are known by their names without links, and a
// user may give another name, or that of a directory that is deleted.
std::string real_name(const std::string& directory) {
    std::error_code failed;
    const auto real = std::filesystem::weakly_canonical(directory, failed);
    std::string name = failed ? directory : real.string();
    while (name.size() > 1 && name.ends_with('/')) name.pop_back();
    return name;
}

}  // namespace

ViewCalls::ViewCalls(ViewParts parts, Rng& rng, sched::Scheduler& worker)
    : body_(std::make_shared<Body>(std::move(parts), rng, worker)) {}

ViewCalls::~ViewCalls() {
    stop();
}

void ViewCalls::stop() {
    body_->is_stopped.with([](bool& stopped) { stopped = true; });
}

// A registry that cannot be read is told and stops nothing: the workspace works without its trees.
std::vector<std::string> ViewCalls::sweep() {
    Result<std::vector<std::string>> said = body_->registry.open(body_->rng.next());
    if (!said) return {cat("adopted trees cannot be read: ", said.error().message())};
    if (const Result<void> done = body_->recover(); !done)
        said->push_back(cat("an adopted tree is merged anew: ", done.error().message()));
    return std::move(*said);
}

// The commands' own commits are completed by now, those of lands among them.
Result<void> ViewCalls::Body::recover() {
    if (registry.trees().empty()) return {};
    const auto shared = TRY(workspace());
    for (auto& [directory, state] : registry.trees()) {
        const auto tree = opened(directory);
        if (tree) TRY(TreeSync(parts, registry, **tree, *shared, state).recover());
    }
    return {};
}

std::optional<std::vector<fs::Entry>> ViewCalls::Body::workspace_files() const {
    if (parts.watch == nullptr) return std::nullopt;
    std::promise<std::optional<std::vector<fs::Entry>>> told;
    parts.watch->files([&](Result<std::optional<std::vector<fs::Entry>>> files) {
        told.set_value(files ? std::move(*files) : std::nullopt);
    });
    return told.get_future().get();
}

Result<void> ViewCalls::Body::may(const Caller& by, const policy::Actor& actor) const {
    if (by.actor.kind == policy::ActorKind::human || by.actor == actor) return {};
    return fail(Errc::denied, "permission_denied",
                cat(by.actor.str(), " may not do this with the tree of ", actor.str(),
                    "; a person may, or ", actor.str(), " itself"),
                {{"actor", actor.str()}});
}

Result<TreeReport> ViewCalls::Body::adopt(const Caller& by, const AdoptTree& what) {
    TRY(may(by, what.actor));
    const auto shared = TRY(workspace());
    const std::string directory =
        TRY(check_adoptable(what.directory, parts.workspace, *shared, parts.gate.ignore_files()));
    if (const auto found = registry.trees().find(directory); found != registry.trees().end()) {
        return fail(Errc::conflict, "already_adopted",
                    cat(directory, " is adopted already, for ", found->second.actor.str()),
                    {{"directory", directory}, {"actor", found->second.actor.str()}});
    }
    // A tree within a tree would land each of its changes twice, as two actors.
    for (const auto& [other, tree] : registry.trees()) {
        if (directory.starts_with(other + "/") || other.starts_with(directory + "/")) {
            return invalid("not_a_tree",
                           cat(directory, " and ", other, ", which is adopted, overlap"),
                           {{"directory", directory}});
        }
    }
    const auto tree = TRY(opened(directory));
    // The mark is written before the bases are found, so that its failure, in a directory that is a
    // workspace itself, changes nothing. What fails after it takes it away again.
    TRY(mark_tree(directory, parts.workspace, what.actor, parts.clock));
    views::TreeState state;
    state.directory = directory;
    state.actor = what.actor;
    state.adopted_ms = parts.clock.wall_ms();
    views::TreeState& kept = registry.trees()[directory] = std::move(state);
    const auto made = [&]() -> Result<TreeReport> {
        registry.note_inner();
        TRY(find_common({*tree, *shared, parts.workspace}, parts.gate.ignore_files(),
                        seen_by(what.actor), parts.clock, registry, kept));
        TRY(registry.save(kept));
        return report(kept, *shared);
    }();
    if (!made) {
        unmark_tree(directory);
        static_cast<void>(registry.drop(directory));
    }
    return made;
}

// Only after adopting it is the tree marked as made here. A kernel that is killed before that
// leaves an adopted tree that remove() refuses to delete: to leave a directory is the safe mistake.
Result<TreeReport> ViewCalls::Body::make(const Caller& by, const MakeTree& what) {
    TRY(may(by, what.actor));
    const std::string directory = real_name(what.directory);
    const auto shared = TRY(workspace());
    TRY(copy_tree(parts.workspace, *shared, parts.gate.ignore_files(), seen_by(what.actor),
                  directory, parts.clock));
    Result<TreeReport> made = adopt(by, {directory, what.actor});
    if (!made) {
        static_cast<void>(remove_tree(parts.workspace, directory, parts.clock));
        return made;
    }
    views::TreeState& state = registry.trees()[made->directory];
    state.is_made = true;
    TRY(registry.save(state));
    return made;
}

Result<TreeReport> ViewCalls::Body::remove(const Caller& by, const std::string& directory) {
    views::TreeState& state = *TRY(registry.find(real_name(directory)));
    TRY(may(by, state.actor));
    if (!state.is_made) {
        return fail(Errc::denied, "not_made_here",
                    cat(state.directory,
                        " was there before it was adopted, so it stays. quire view "
                        "drop forgets it"),
                    {{"directory", state.directory}});
    }
    const auto shared = TRY(workspace());
    TreeReport out = TRY(report(state, *shared));
    if (!out.to_land.empty() || !out.left.empty()) {
        List paths(out.to_land.begin(), out.to_land.end());
        return fail(
            Errc::conflict, "unlanded",
            cat(state.directory, " has ", out.to_land.size(),
                " changed files that are not landed, so it stays: quire land brings them into "
                "the workspace"),
            {{"directory", state.directory}, {"paths", std::move(paths)}});
    }
    const std::string gone = state.directory;
    const auto tree = TRY(opened(gone));
    // The report does not have files whose names are no UTF-8. They would be deleted unseen.
    const fs::Listing listed =
        TRY(tree->files().files().list(kMostListed, parts.gate.ignore_files()));
    if (!listed.unnamed.empty()) {
        return fail(Errc::conflict, "unlanded",
                    cat(gone, " has ", listed.unnamed.size(),
                        " files whose names are no UTF-8, which cannot be landed, so it stays"),
                    {{"directory", gone}, {"paths", List()}});
    }
    // Forgotten first: a kernel that is killed in between leaves a plain directory, not a tree
    // whose files all look deleted and would be landed so.
    TRY(registry.drop(gone));
    TRY(remove_tree(parts.workspace, gone, parts.clock));
    return out;
}

// The workspace's change is the work of whoever changed the file last, but for the one who asks.
void ViewCalls::Body::name_author(const Caller& by, const std::string& self, Claim& claim) {
    // A few of the newest versions will do: the file's last change by anybody else is nearly always
    // among them, and where it is not the claim stays without a name.
    constexpr std::size_t kNewest = 5;
    std::promise<Result<FileHistory>> told;
    parts.files.history(by, claim.path, kNewest, "",
                        [&](Result<FileHistory> history) { told.set_value(std::move(history)); });
    const Result<FileHistory> history = told.get_future().get();
    if (!history) return;
    for (const HistoryEntry& entry : history->page.versions) {
        if (entry.actor == self) continue;
        claim.actor = entry.actor;
        claim.since_ms = entry.timestamp;
        return;
    }
}

Result<std::vector<Claim>> ViewCalls::Body::claims(const Caller& by, const std::string& tree,
                                                   const std::vector<std::string>& paths) {
    const views::TreeState* state = nullptr;
    if (!tree.empty()) state = TRY(registry.find(real_name(tree)));
    std::vector<Claim> out;
    if (registry.trees().empty()) return out;
    const auto shared = TRY(workspace());
    std::vector<std::unique_ptr<OpenTree>> open;
    TreeSide own{shared.get(), nullptr};
    std::vector<TreeSide> others;
    for (const auto& [directory, each] : registry.trees()) {
        // A tree whose directory is gone has no files to claim.
        auto opened_tree = opened(directory);
        if (!opened_tree) continue;
        const TreeSide side{opened_tree->get(), &each};
        if (&each == state) {
            own = side;
        } else {
            others.push_back(side);
        }
        open.push_back(std::move(*opened_tree));
    }
    if (state != nullptr) others.push_back({shared.get(), nullptr});
    for (const std::string& path : paths) {
        // A claim tells who works on which lines, so a file that the caller may not see has none
        // for it.
        if (!parts.gate.may_see(path, by.actor)) continue;
        const std::string self = state != nullptr ? state->actor.str() : by.actor.str();
        for (Claim& claim : claims_on(path, own, others, registry.bases())) {
            if (claim.tree.empty()) name_author(by, self, claim);
            // An actor's own work is no news to it, wherever it stands.
            claim.age_ms = parts.clock.wall_ms() - claim.since_ms;
            if (claim.actor != self) out.push_back(std::move(claim));
        }
    }
    return out;
}

Result<TreeReport> ViewCalls::Body::drop(const Caller& by, const std::string& directory) {
    const views::TreeState& state = *TRY(registry.find(real_name(directory)));
    TRY(may(by, state.actor));
    TreeReport out;
    out.directory = state.directory;
    out.actor = state.actor;
    out.adopted_ms = state.adopted_ms;
    out.synced_ms = state.synced_ms;
    out.conflicts = conflicts_of(state);
    unmark_tree(out.directory);
    TRY(registry.drop(out.directory));
    return out;
}

Result<TreeReport> ViewCalls::Body::report(views::TreeState& state, const OpenTree& shared) {
    TreeReport out;
    out.directory = state.directory;
    out.actor = state.actor;
    out.adopted_ms = state.adopted_ms;
    out.synced_ms = state.synced_ms;
    out.base_age_ms =
        parts.clock.wall_ms() - (state.synced_ms != 0 ? state.synced_ms : state.adopted_ms);
    out.conflicts = conflicts_of(state);
    const auto tree = opened(state.directory);
    out.is_missing = !tree;
    if (!tree) return out;
    TreeSync sync(parts, registry, **tree, shared, state);
    views::Survey theirs = TRY(sync.changed(Direction::land));
    views::Survey ours = TRY(sync.changed(Direction::refresh));
    out.to_land = std::move(theirs.changed);
    out.to_refresh = std::move(ours.changed);
    out.left = std::move(theirs.left);
    std::ranges::move(ours.left, std::back_inserter(out.left));
    return out;
}

Result<std::vector<TreeReport>> ViewCalls::Body::list() {
    std::vector<TreeReport> out;
    if (registry.trees().empty()) return out;
    const auto shared = TRY(workspace());
    for (auto& [directory, state] : registry.trees()) out.push_back(TRY(report(state, *shared)));
    return out;
}

// No tree lies in another, so the first one around the directory is the only one.
Result<std::vector<std::string>> ViewCalls::Body::chosen(const WhichTrees& which) {
    if (which.directory)
        return std::vector<std::string>{TRY(registry.find(real_name(*which.directory)))->directory};
    std::vector<std::string> all;
    const std::string around = real_name(which.around);
    for (const auto& [directory, state] : registry.trees()) {
        if (around == directory || around.starts_with(directory + "/"))
            return std::vector<std::string>{directory};
        all.push_back(directory);
    }
    return all;
}

Result<Synced> ViewCalls::Body::sync_one(const Caller& by, views::TreeState& state,
                                         const OpenTree& shared, Direction direction, bool asks) {
    TRY(may(by, state.actor));
    const auto tree = opened(state.directory);
    if (!tree && tree.error().code() == Errc::not_found) {
        return fail(Errc::not_found, "file_not_found",
                    cat(state.directory, " is gone; quire view drop forgets it"),
                    {{"directory", state.directory}});
    }
    if (!tree) return Failure(tree.error());
    // It may have been cleaned away, as git clean -x does.
    TRY(mark_tree(state.directory, parts.workspace, state.actor, parts.clock));
    TreeSync sync(parts, registry, **tree, shared, state);
    return direction == Direction::land ? sync.land(by, asks) : sync.refresh(by);
}

Result<std::vector<Synced>> ViewCalls::Body::sync(const Caller& by, const WhichTrees& which,
                                                  Direction direction) {
    std::vector<Synced> out;
    const std::vector<std::string> trees = TRY(chosen(which));
    const auto shared = TRY(workspace());
    for (const std::string& directory : trees) {
        views::TreeState& state = registry.trees()[directory];
        Result<Synced> one = sync_one(by, state, *shared, direction, which.asks);
        if (!one) {
            Synced refused;
            refused.directory = directory;
            refused.actor = state.actor;
            refused.outcome = SyncOutcome::refused;
            refused.conflicts = conflicts_of(state);
            refused.failure = std::move(one).error();
            one = std::move(refused);
        }
        // A call for all trees is silent about those with nothing to bring.
        const bool is_named = which.directory || trees.size() == 1;
        const bool is_idle = one->outcome == SyncOutcome::done && one->files.empty();
        if (is_named || !is_idle) out.push_back(std::move(*one));
    }
    return out;
}

void ViewCalls::adopt(Caller by, AdoptTree what, Reply<TreeReport> reply) {
    body_->post<TreeReport>(std::move(reply), [by = std::move(by), what = std::move(what)](
                                                  Body& all) { return all.adopt(by, what); });
}

void ViewCalls::make(Caller by, MakeTree what, Reply<TreeReport> reply) {
    body_->post<TreeReport>(std::move(reply), [by = std::move(by), what = std::move(what)](
                                                  Body& all) { return all.make(by, what); });
}

void ViewCalls::remove(Caller by, std::string directory, Reply<TreeReport> reply) {
    body_->post<TreeReport>(std::move(reply),
                            [by = std::move(by), directory = std::move(directory)](Body& all) {
                                return all.remove(by, directory);
                            });
}

void ViewCalls::claims(Caller by, std::string tree, std::vector<std::string> paths,
                       Reply<std::vector<Claim>> reply) {
    body_->post<std::vector<Claim>>(
        std::move(reply), [by = std::move(by), tree = std::move(tree), paths = std::move(paths)](
                              Body& all) { return all.claims(by, tree, paths); });
}

void ViewCalls::drop(Caller by, std::string directory, Reply<TreeReport> reply) {
    body_->post<TreeReport>(std::move(reply),
                            [by = std::move(by), directory = std::move(directory)](Body& all) {
                                return all.drop(by, directory);
                            });
}

void ViewCalls::list(Caller /*by*/, Reply<std::vector<TreeReport>> reply) {
    body_->post<std::vector<TreeReport>>(std::move(reply), [](Body& all) { return all.list(); });
}

void ViewCalls::land(Caller by, WhichTrees which, Reply<std::vector<Synced>> reply) {
    body_->post<std::vector<Synced>>(std::move(reply),
                                     [by = std::move(by), which = std::move(which)](Body& all) {
                                         return all.sync(by, which, Direction::land);
                                     });
}

void ViewCalls::refresh(Caller by, WhichTrees which, Reply<std::vector<Synced>> reply) {
    body_->post<std::vector<Synced>>(std::move(reply),
                                     [by = std::move(by), which = std::move(which)](Body& all) {
                                         return all.sync(by, which, Direction::refresh);
                                     });
}

}  // namespace quire::kernel
