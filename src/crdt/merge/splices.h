// Splices: edits of a sequence, each at a position as the edits before left it, combined into one
// delta against the original sequence.
//
// Costs follow the distance between edits: edits at one place are O(1) each.
#pragma once

#include <cstdint>
#include <vector>

#include "crdt/history/atoms.h"

namespace quire::crdt {

class Splices {
public:
    // The pieces in order, none empty: kept, removed, inserted. Everything after the last is kept.
    enum class Kind : std::uint8_t { keep, erase, insert };
    struct Piece {
        Kind kind = Kind::keep;
        std::uint32_t len = 0;
        Lv lv = 0;  // insert: its first atom; the others count up.
    };

    // Positions count what the edits before have left. Beyond all edits lies kept text.
    void insert(std::uint32_t at, Lv lv, std::uint32_t len);
    void erase(std::uint32_t at, std::uint32_t len);
    // Empties the splices.
    std::vector<Piece> take();

private:
    // Moves the gap to position `at` of the present sequence.
    void seek(std::uint32_t at);
    void push(Piece piece);
    static std::uint32_t width(const Piece& piece) {
        return piece.kind == Kind::erase ? 0 : piece.len;
    }

    // The pieces before the gap, and those behind it, nearest last.
    std::vector<Piece> before_;
    std::vector<Piece> behind_;
    std::uint32_t position_ = 0;  // The gap's position in the present sequence.
};

}  // namespace quire::crdt
