// TreeSync: lands an adopted tree in the workspace, and refreshes it from there.
//
// A land is a change set like that of a staged command, and takes the same way into the workspace
// (kernel/commands/command_gate.h): the rules decide each path for the tree's actor, texts go through
// their documents, and all of it is committed or nothing, with a journal. What it would commit is merged
// before with what the workspace has now (tree_plan.h). A refresh writes merged files into the tree, also
// with a journal; a file that the agent changes in that moment is left alone.
//
// Blocks; one thread at a time.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "kernel/core/caller.h"
#include "kernel/views/tree_plan.h"
#include "kernel/views/view_parts.h"
#include "kernel/views/view_values.h"

namespace quire::kernel {

class OpenTree;
class TreeRegistry;

class TreeSync {
public:
    // All outlive it. `shared` are the workspace's files.
    TreeSync(const ViewParts& parts, TreeRegistry& registry, const OpenTree& tree,
             const OpenTree& shared, views::TreeState& state)
        : parts_(parts), registry_(registry), tree_(tree), shared_(shared), state_(state) {}

    // Changes as the tree's actor, by a call of `by`. With `asks` a person has to allow the land as
    // it is now. What stops the whole, such as a rule, a busy file or a missing approval, is the
    // answer's `outcome` and `failure`, and then nothing was changed. Errors: those of reading the
    // trees, of the store of bases and of the state's file.
    Result<Synced> land(const Caller& by, bool asks = false);
    // Like land(), in the other direction. A file that the agent changes in this moment is in
    // `left`, and the rest is brought.
    Result<Synced> refresh(const Caller& by);
    // Makes common what an earlier land or refresh has brought, where the kernel was killed before it
    // could keep the new state. Both calls above begin with it. Does nothing as long as a refresh has a
    // journal. Errors: those of the state's file.
    Result<void> recover();
    // The files that each direction would bring.
    Result<views::Survey> changed(Direction direction);

private:
    Caller acting_for(const Caller& by) const;
    TreePlan plan(Direction direction) const;
    Result<void> commit(const Caller& by, TreePlan& plan, bool asks, Synced& out,
                        bool& is_outdated);
    static void note_refusal(Error why, Synced& out);
    Result<void> write(TreePlan& plan, Synced& out);
    // Keeps the record by which recover() goes. Call it before the first write.
    Result<void> begin(const TreePlan& plan);
    void withdraw_record() const;
    // Makes common what the plan brought, but for the files that could not be written.
    Result<void> settle(TreePlan& plan, const std::set<std::string>& undone,
                        const std::string& why);
    Synced begun() const;
    static void conclude(const TreePlan& plan, Synced& out);

    const ViewParts& parts_;
    TreeRegistry& registry_;
    const OpenTree& tree_;
    const OpenTree& shared_;
    views::TreeState& state_;
};

}  // namespace quire::kernel
