// ViewCalls: the use cases of adopted trees: directories in which somebody else works on a copy of the
// workspace's files, such as git worktrees of coding agents.
//
// Any thread may call. Each reply is called exactly once, from the worker on which all calls run, one after
// the other: they wait for the disk.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "kernel/core/caller.h"
#include "kernel/views/view_parts.h"
#include "kernel/views/view_values.h"

namespace quire {
class Rng;
}
namespace quire::sched {
class Scheduler;
}

namespace quire::kernel {

// The trees that a call is about.
struct WhichTrees {
    std::optional<std::string> directory = {};  // The call is about this tree alone.
    // Without `directory`, the call is about the tree that contains this directory; if no tree does, it is
    // about every tree that has something to bring.
    std::string around = {};
    bool asks = false;  // A person has to allow each land.
};

// A new tree with the workspace's files as they are now.
struct MakeTree {
    std::string directory;  // Absolute; nothing is there.
    policy::Actor actor;
};

class ViewCalls {
public:
    // The parts, the random numbers and the worker outlive it and every call.
    ViewCalls(ViewParts parts, Rng& rng, sched::Scheduler& worker);
    ~ViewCalls();

    // Completes what a kernel that was killed had begun. Returns sentences for the operator. Blocks. Call
    // it before the first call.
    std::vector<std::string> sweep();
    // Refuses calls that have not begun.
    void stop();

    // Makes the directory a tree of the workspace, whose changes are the actor's work. Errors: those of
    // check_adoptable(); conflict "already_adopted" {directory, actor}, "has_workspace"; denied
    // "permission_denied" unless a person asks, or the actor itself.
    void adopt(Caller by, AdoptTree what, Reply<TreeReport> reply);
    // Makes a directory with the files that the actor may read, and adopts it. Errors: those of copy_tree()
    // and adopt().
    void make(Caller by, MakeTree what, Reply<TreeReport> reply);
    // Forgets a tree that make() made, and removes its directory, where all that it changed is landed.
    // Errors: not_found "not_adopted"; denied "not_made_here"; conflict "unlanded" {paths}.
    void remove(Caller by, std::string directory, Reply<TreeReport> reply);
    // Answers who else has changed these files, as seen from the adopted tree, or, without one, from the
    // workspace.
    // Errors: not_found "not_adopted".
    void claims(Caller by, std::string tree, std::vector<std::string> paths,
                Reply<std::vector<Claim>> reply);
    // Forgets the tree. Its directory stays as it is. Errors: not_found "not_adopted".
    void drop(Caller by, std::string directory, Reply<TreeReport> reply);
    // Reports every tree, by directory. Each is surveyed in both directions: O(files), and the
    // bytes of those that changed. Errors: those of listing a tree.
    void list(Caller by, Reply<std::vector<TreeReport>> reply);
    // Brings what the trees changed into the workspace, and the other way round. Each tree is one unit.
    // Errors: not_found "not_adopted"; what stops one tree is in its answer.
    void land(Caller by, WhichTrees which, Reply<std::vector<Synced>> reply);
    void refresh(Caller by, WhichTrees which, Reply<std::vector<Synced>> reply);

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
