// TextState: the visible text, and where style anchors lie in it.
#pragma once

#include <cstdint>
#include <string_view>

#include "crdt/state/anchors.h"
#include "seq/rope.h"

namespace quire::crdt {

class TextState {
public:
    const seq::Rope& rope() const { return rope_; }
    const Anchors& anchors() const { return anchors_; }

    // Positions in entities.
    void insert(std::uint32_t at, std::string_view utf8, std::uint32_t len);
    void insert_anchor(std::uint32_t at) { anchors_.add(at); }
    void erase(std::uint32_t at, std::uint32_t len);

private:
    seq::Rope rope_;
    Anchors anchors_;
};

}  // namespace quire::crdt
