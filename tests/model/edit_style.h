// A random edit of a text's styles, for tests that compare engines.
#pragma once

#include <string>

#include "base/check.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/text.h"

namespace quire {

// Marks, unmarks or applies a delta; `below(n)` is a random number below n.
template <class Below>
void edit_styles(crdt::Doc& doc, crdt::Handle text, Below below) {
    static constexpr const char* kKeys[] = {"bold", "link", "comment:1", "comment:2"};
    const std::size_t size = doc.text(text).rope().code_points().n;
    const std::string key = kKeys[below(4)];
    const Value value = below(4) == 0   ? Value(false)
                        : below(4) == 0 ? Value()
                                        : Value(static_cast<std::int64_t>(below(3)));
    const std::size_t begin = below(size + 1);
    const std::size_t count = below(size - begin + 1);
    if (below(3) == 0) {
        crdt::TextDelta delta;
        crdt::retain(delta, begin, below(2) == 0 ? Map{{key, value}} : Map());
        crdt::put(delta, "d\xC3\xA9", below(2) == 0 ? Map{{key, value}} : Map());
        if (below(2) == 0) {
            crdt::erase(delta, count);
        } else {
            crdt::retain(delta, count, Map{{kKeys[below(4)], value}});
        }
        CHECK(doc.text(text).apply(delta).has_value());
    } else if (count > 0 && below(4) > 0) {
        CHECK(doc.text(text).mark({begin}, {begin + count}, key, value).has_value());
    } else if (count > 0) {
        CHECK(doc.text(text).unmark({begin}, {begin + count}, key).has_value());
    }
}

}  // namespace quire
