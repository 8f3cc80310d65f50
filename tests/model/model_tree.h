// The tree of the naive document: all ops sorted, and done one after another whenever it is read.
#pragma once

#include <functional>
#include <vector>

#include "base/value.h"
#include "crdt/ids/change.h"

namespace quire::model {

struct TreeOp {
    crdt::Lamport lamport;
    crdt::PeerId peer;
    crdt::OpContent content;
};

Value tree_value(std::vector<TreeOp> ops, const std::function<Value(crdt::OpId)>& meta);

}  // namespace quire::model
