// Workloads of the engine and its peers: blobs, which any Loro client can import, and edits. Each is
// made from a fixed seed, so every program works on the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "crdt/ids/ids.h"
#include "tests/traces/traces.h"

namespace quire::crdt {
class Doc;
}

namespace quire::bench {

const crdt::ContainerId& text_id();
const crdt::ContainerId& list_id();
const crdt::ContainerId& map_id();
const crdt::ContainerId& tree_id();

// Each trace is read once; null where its file is absent.
const traces::Sequential* sequential(const std::string& name);

// Applies a patch to the document's text; what reaches over its end is cut off.
void apply(crdt::Doc& doc, const traces::Patch& patch);

// The document's text.
std::string text_of(crdt::Doc& doc);

// --- blobs, to be imported in order into an empty document ---

// All of a concurrent trace: as one blob, or as one for each change. None where its file is absent.
std::optional<std::vector<Bytes>> concurrent(const std::string& name, bool one_by_one);
// The text after the import of a concurrent trace; "" if it is not known.
std::string end_of(const std::string& name);
// A text of 1,000 characters, and two branches of it with `edits` random insertions each.
std::vector<Bytes> two_branches(std::size_t edits);
// The first half of a sequential trace by one peer, and the second half, written by another at the
// same time on an empty text. None where its file is absent.
std::optional<std::vector<Bytes>> two_halves(const std::string& name);
// The history of a sequential trace, as updates. None where its file is absent.
std::optional<Bytes> history_of(const std::string& name);

// A text or list of 1,000 characters, and an insertion of one by each of many peers that have seen
// nothing else.
struct Crowd {
    enum class Place : std::uint8_t { spread, one_place, end };
    enum class Ids : std::uint8_t { ascending, descending, random };
    std::size_t peers = 0;
    Place place = Place::spread;
    Ids ids = Ids::ascending;
    bool in_list = false;
};
std::vector<Bytes> crowd(const Crowd& crowd);

// A map of this many keys, written in one commit, and a tree made by tree_steps(); as updates.
Bytes large_map(std::size_t keys);
Bytes large_tree(std::size_t nodes);

// --- edits ---

// Insertions of a letter and, one in four, deletions, anywhere in a text that begins empty.
std::vector<traces::Patch> random_edits(std::size_t count);

struct Mark {
    std::size_t begin;
    std::size_t end;
    std::string key;
    std::int64_t value;
};
// Marks of up to 50 of `count` characters.
std::vector<Mark> random_marks(std::size_t count);

// A step creates a node (the next number), or moves one, below another node or, at kRoot, at the top.
struct TreeStep {
    static constexpr std::size_t kRoot = SIZE_MAX;
    bool creates;
    std::size_t node;
    std::size_t parent;
};
// Creates `nodes` nodes and then moves each once, below a node with a smaller number, so that no
// move is cyclic.
std::vector<TreeStep> tree_steps(std::size_t nodes);

std::string map_key(std::size_t number);

}  // namespace quire::bench
