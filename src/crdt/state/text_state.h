// TextState: the visible text, and where style anchors lie in it.
#pragma once

#include <cstdint>
#include <string_view>

#include "crdt/ids/diff.h"
#include "crdt/state/anchors.h"
#include "seq/rope.h"

namespace quire::crdt {

class TextState {
public:
    const seq::Rope& rope() const { return rope_; }
    const Anchors& anchors() const { return anchors_; }

    // Positions in entities. Each adds to `diff`, when there is one, what it did in code points.
    void insert(std::uint32_t at, std::string_view utf8, std::uint32_t len, TextDiff* diff);
    void insert_anchor(std::uint32_t at) { anchors_.add(at); }
    void erase(std::uint32_t at, std::uint32_t len, TextDiff* diff);

private:
    seq::Rope rope_;
    Anchors anchors_;
};

}  // namespace quire::crdt
