// TreeBody: what a tree container keeps beside its log.
#pragma once

#include "crdt/merge/tree_moves.h"
#include "crdt/state/tree_state.h"

namespace quire::crdt {

// Both are at the version of `moves`.
struct TreeBody {
    TreeMoves moves;
    TreeState state;
};

}  // namespace quire::crdt
