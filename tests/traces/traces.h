// Editing traces: published recordings of real writing, and a small generated one that ships with
// us.
//
// The published ones lie in the folder $QUIRE_TRACES names (by default ../shared/data/traces beside
// the repository); where it is absent those who need them skip. Positions are code points.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "crdt/ids/change.h"

namespace quire::traces {

struct Patch {
    std::size_t at = 0;
    std::size_t erase = 0;
    std::string insert;
};

// The patches of all transactions, one after the other, on an empty text.
struct Sequential {
    std::string end;
    std::vector<Patch> patches;
};

struct Transaction {
    std::vector<std::size_t> parents;  // Indices of transactions.
    std::size_t agent = 0;
    std::vector<Patch> patches;
};
struct Concurrent {
    std::string end;
    std::size_t agents = 0;
    std::vector<Transaction> transactions;
};

// One graph of the conformance set, already as changes: each transaction has its own peer.
struct Graph {
    std::string end;
    std::vector<crdt::Change> changes;
};

inline constexpr const char* kSequential[] = {
    "automerge-paper", "seph-blog1",          "rustcode",
    "sveltecomponent", "friendsforever_flat", "clownschool_flat",
    "json-crdt-patch", "json-crdt-blog-post", "egwalker"};

// Returns none where the file is absent. CHECKs that what is there has the documented form.
std::optional<Sequential> sequential(const std::string& name);
std::optional<Concurrent> concurrent(const std::string& name);
std::optional<std::vector<Graph>> conformance();
// The generated one, of the repository `root`.
Sequential shipped(const std::string& root);

// The history of `trace` as changes of one text. Each agent has a replica, which takes in what the
// parents of a transaction know, and no more, before it makes the transaction.
std::vector<crdt::Change> as_changes(const Concurrent& trace, const crdt::ContainerId& text);
// The history of `trace`, made without replicas: positions are as recorded, and the start ids of
// deletes have no meaning. For long histories of many agents.
std::vector<crdt::Change> as_positions(const Concurrent& trace, const crdt::ContainerId& text);

}  // namespace quire::traces
