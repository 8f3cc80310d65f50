// Splices: edits of a sequence, each at a position as those before it left it, summed up as one
// delta against the sequence as it was.
//
// Costs follow how far from each other the edits are: those at one place are O(1) each.
#pragma once

#include <cstdint>
#include <vector>

#include "crdt/history/atoms.h"

namespace quire::crdt {

class Splices {
public:
    // In order, none empty: what is kept, what goes, what comes. What follows the last is kept.
    enum class Kind : std::uint8_t { keep, erase, insert };
    struct Piece {
        Kind kind = Kind::keep;
        std::uint32_t len = 0;
        Lv lv = 0;  // insert: its first atom; the others count up.
    };

    void insert(std::uint32_t at, Lv lv, std::uint32_t len);
    void erase(std::uint32_t at, std::uint32_t len);
    std::vector<Piece> take();

private:
    // Puts the gap where the sequence as it is now has position `at`.
    void seek(std::uint32_t at);
    void push(Piece piece);
    static std::uint32_t width(const Piece& piece) {
        return piece.kind == Kind::erase ? 0 : piece.len;
    }

    // Pieces before the gap, and those behind it, the nearest last.
    std::vector<Piece> before_;
    std::vector<Piece> behind_;
    std::uint32_t position_ = 0;  // Of the gap, as the sequence is now.
};

}  // namespace quire::crdt
