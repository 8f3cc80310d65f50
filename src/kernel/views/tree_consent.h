// TreeConsent: what a person has to allow before a tree is landed or refreshed.
//
// Each approval is for exactly these changes, by their digest, and names the tree. Blocks.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/result.h"
#include "kernel/core/caller.h"
#include "kernel/views/tree_plan.h"
#include "kernel/views/view_values.h"

namespace quire::kernel {

class Kernel;

class TreeConsent {
public:
    // A person is asked before more than this of others' work is taken away.
    static constexpr std::size_t kMostDeletedFiles = 20;
    static constexpr std::size_t kMostDeletedLines = 500;

    // `by` acts as the tree's actor. Kernel and tree outlive it.
    TreeConsent(Kernel& kernel, const views::TreeState& tree, Caller by)
        : kernel_(kernel), tree_(tree), by_(std::move(by)) {}

    // Asks where too much of others' work would go, and counts it in `out`. `effects` is the digest
    // of all changes of the plan. Cheap where even all deleted lines together stay within the
    // bounds; else it reads the blame of each file. Errors: those of require_approval(), with
    // "escalation_required" {tree, files, lines} when a person is asked.
    Result<void> to_deletions(const TreePlan& plan, const std::string& effects, Synced& out) const;
    // Asks about a land of so many changes, with `effects` as above. Errors: those of
    // require_approval(), with "escalation_required" {tree, files}.
    Result<void> to_land(std::size_t files, const std::string& effects) const;

private:
    std::size_t deleted_lines(const PlannedFile& file, bool of_others) const;

    Kernel& kernel_;
    const views::TreeState& tree_;
    const Caller by_;
};

}  // namespace quire::kernel
