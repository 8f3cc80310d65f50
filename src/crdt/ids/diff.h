// What a commit, an import or a checkout did to each container.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "crdt/ids/change.h"

namespace quire::crdt {

// Sequential splices: each is at a position of the text as those before it left it. In code points.
struct TextSplice {
    std::size_t at;
    std::size_t erase;
    std::string insert;
};
struct ListSplice {
    std::size_t at;
    std::size_t erase;
    std::vector<Slot> insert;
    OpId first;
};
using TextDiff = std::vector<TextSplice>;
using ListDiff = std::vector<ListSplice>;
// Key to its new value; none means that the key is gone.
struct MapChange {
    std::string key;
    std::optional<Slot> value;
    OpId id;
};
using MapDiff = std::vector<MapChange>;

struct ContainerDiff {
    ContainerId container;
    std::variant<TextDiff, ListDiff, MapDiff> diff;
};
using Diff = std::vector<ContainerDiff>;

}  // namespace quire::crdt
