// The naive movable list: slots in the naive order, and every write to every element.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "tests/model/model_sequence.h"

namespace quire::model {

class MovableModel {
public:
    explicit MovableModel(Fault fault = Fault::none) : fault_(fault) {}
    // One atom, written in `version`.
    void apply(const crdt::Op& op, crdt::OpId id, crdt::Lamport lamport, const Version& version);
    // The visible items in order: the atom that gave the value, and the value.
    std::vector<std::pair<crdt::OpId, crdt::Slot>> items() const;

private:
    struct Rank {
        crdt::Lamport lamport;
        crdt::PeerId peer;
        friend auto operator<=>(const Rank&, const Rank&) = default;
    };
    struct Writes {
        std::map<Rank, crdt::OpId> places;  // The slots, by the rank of the op that chose each.
        std::map<Rank, std::pair<crdt::OpId, crdt::Slot>> values;
    };

    Fault fault_;
    std::vector<Element> slots_;
    std::map<crdt::OpId, crdt::ElementId> made_for_;  // A slot's element.
    std::map<crdt::ElementId, Writes> elements_;
};

}  // namespace quire::model
