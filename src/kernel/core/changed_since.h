// Changes of a block that others made since a caller last saw it, as places in its text now. A
// caller that writes learns by it what happened meanwhile, without reading the block again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/function.h"
#include "kernel/core/caller.h"

namespace quire::kernel {

class Core;

// A change, and the lines where it is: half-open, from 0. A deletion has start = end, where the
// lines were.
struct ChangedLines {
    std::string actor;
    std::uint64_t version = 0;
    std::size_t start = 0;
    std::size_t end = 0;
};
// The oldest changes, and how many more there are.
struct ChangedSince {
    std::vector<ChangedLines> changes;
    std::size_t more = 0;
};

// The question: what happened to the block after version `seen`, up to version `until`, except in
// the versions of `own`.
struct ChangedSinceQuery {
    std::string block_id;
    // The block's versions between which it is asked, (seen, until].
    std::uint64_t seen = 0;
    std::uint64_t until = 0;
    // The versions that the caller made itself, which are no news to it.
    std::set<std::uint64_t> own = {};
    // The most changes that are told one by one; the rest is only counted.
    std::size_t most = 10;
};

// Answers from the block's history: changes of its text, and no others. Costs two differences of
// versions for each change that is told. Errors: not_found "invalid_reference".
void changed_since(const std::shared_ptr<Core>& kernel, Caller by, ChangedSinceQuery query,
                   Reply<ChangedSince> reply);

}  // namespace quire::kernel
