// The naive order of atoms: every version a set, every search a scan. See model.h.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crdt/ids/change.h"
#include "tests/model/model.h"

namespace quire::model {

using Version = std::set<crdt::OpId>;

// An entity of a text, an element of a list or a slot of a movable list; deleted or not, it stays.
struct Element {
    crdt::OpId id;
    std::optional<crdt::OpId> left;
    std::optional<crdt::OpId> right;
    std::set<crdt::OpId> deleted_by;
    std::string text;           // In a text: one code point, or "" for a style anchor.
    crdt::Slot slot = Value();  // In a list.
};

bool visible(const Element& element, const Version& version);
// These insert an atom, or delete the one, at a position that counts what `version` sees.
void insert(std::vector<Element>& all, Element x, std::size_t pos, const Version& version,
            Fault fault);
void erase(std::vector<Element>& all, crdt::OpId by, std::size_t pos, const Version& version,
           Fault fault);

}  // namespace quire::model
