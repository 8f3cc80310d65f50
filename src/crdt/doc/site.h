// Site: a container in its document, which is all that the body of a container needs beside itself.
//
// A site is two words and is passed by value. It refers to both and holds as long as the document.
#pragma once

#include <cstddef>

#include "crdt/history/atoms.h"
#include "crdt/ids/diff.h"

namespace quire::crdt {

class DocBody;
struct Container;
struct Reach;

struct Site {
    DocBody& document;
    Container& container;
};

// The part of a body whose kind holds no other containers.
struct Childless {
    static bool holds_child(Site, Lv) { return false; }
    static bool holds_child(Site, Lv, Reach&) { return false; }
    static PathStep step_to(Site, Lv) { return std::size_t{0}; }
};

// The part of a body that its log does not give again, so that it is never packed.
struct Underived {
    static bool is_derived(Site) { return false; }
    static void derive(Site) {}
};

}  // namespace quire::crdt
