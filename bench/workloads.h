// The engine's benchmarks work on these blobs, which any Loro client can import: the same bytes are
// given to us and to loro-crdt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "crdt/ids/ids.h"
#include "tests/traces/traces.h"

namespace quire::bench {

const crdt::ContainerId& text_id();

// Each trace is read once; null where its file is absent.
const traces::Sequential* sequential(const std::string& name);

struct Merging {
    std::vector<Bytes> blobs;  // To be imported in this order, into an empty document.
    std::string end;           // The text after the imports; "" if it is not known beforehand.
};

// All of a concurrent trace, as one blob. None where its file is absent.
std::optional<Merging> concurrent(const std::string& name);
// A text of 1,000 characters, and two branches of it with `edits` random insertions each.
Merging two_branches(std::size_t edits);
// The first half of a sequential trace by one peer, and the second half, written by another at the
// same time on an empty text. None where its file is absent.
std::optional<Merging> two_halves(const std::string& name);
// A text of 1,000 characters, and an insertion by each of `peers` that have seen nothing else.
Merging many_peers(std::size_t peers);
// The history of a sequential trace: as updates, and as a snapshot. None where its file is absent.
std::optional<Bytes> history_of(const std::string& name);

}  // namespace quire::bench
