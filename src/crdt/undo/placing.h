// Placing: where what comes back goes, among what is there.
//
// A tombstone says where its atom was, but to those atoms only that were placed around it. An
// insert lands before the tombstones at its place, so what came back earlier may stand left of the
// tombstones that it had stood right of. Which of two comes first is what their atoms said when
// they were in one container first, whatever copies stand for them now, and in whatever copy of it.
#pragma once

#include <vector>

#include "crdt/doc/body.h"

namespace quire::crdt {

// Consecutive atoms that are to come back, by what stood for them last.
struct Piece {
    ContainerIndex container;
    Lv lv;
    std::uint32_t len;
};

class Placing {
public:
    // For pieces of `from`, in document order. `to` is `from`, or the copy that it goes on in.
    Placing(DocBody& body, Container& from, Container& to, const std::vector<Piece>& pieces);

    // In entities of `to`. To be asked for one after another: each piece is placed() before the
    // next is asked for. O(log n), and for each of the neighbours that came back O(what came back).
    std::uint32_t position(std::size_t piece);
    // It came back as atoms from `first` on.
    void placed(std::size_t piece, Lv first);

private:
    // By what an atom is known in all its copies.
    const Identities& names() const;
    std::uint32_t among_copies(std::uint32_t pos, Lv lv);
    // Where an atom of `to` is to stand as seen from one that comes back.
    enum class Side { before, behind, none };  // None: they never were in one container.
    Side side_of(Lv atom, Lv lv);
    void find_neighbours();
    Lv last_visible(Lv lv, std::uint32_t len);

    DocBody& body_;
    Container& from_;
    Container& to_;
    const std::vector<Piece>& pieces_;
    // Where `to` is a copy, by piece: the visible atom of it that the piece goes behind, or kNoLv;
    // where that is a piece, its index from kPieces on.
    std::vector<Lv> left_;
    std::vector<Lv> ends_;  // The last atoms of what the pieces came back as.
};

}  // namespace quire::crdt
