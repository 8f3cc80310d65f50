// A gap buffer of pieces. Two stacks hold what lies before and behind the gap; an edit moves the
// gap to its position and works at their tops. Positions count what is there now, so erased pieces
// have no width, while kept and inserted ones have their length.
//
//     before_  [ keep 3 | insert 2 ]  gap  [ erase 4 | keep 1 ]  behind_, its top at the gap
//
// Atoms that one edit inserts and a later one erases leave no piece.
#include "crdt/merge/splices.h"

#include <algorithm>
#include <utility>

namespace quire::crdt {

// Joins the piece with the one before if they are of the same kind and adjacent.
void Splices::push(Piece piece) {
    if (piece.len == 0) return;
    if (!before_.empty()) {
        Piece& last = before_.back();
        const bool joins = last.kind == piece.kind &&
                           (piece.kind != Kind::insert || last.lv + last.len == piece.lv);
        if (joins) {
            last.len += piece.len;
            return;
        }
    }
    before_.push_back(piece);
}

// Erased pieces at the gap stay before it, so that an insert there comes behind them.
void Splices::seek(std::uint32_t at) {
    while (position_ > at) {
        Piece last = before_.back();
        const std::uint32_t back = std::min(width(last), position_ - at);
        if (back < last.len && last.kind != Kind::erase) {
            before_.back().len -= back;
            last.lv += last.len - back;
            last.len = back;
        } else {
            before_.pop_back();
        }
        behind_.push_back(last);
        position_ -= back;
    }
    while (position_ < at || (!behind_.empty() && behind_.back().kind == Kind::erase)) {
        if (behind_.empty()) {
            push({Kind::keep, at - position_, 0});
            position_ = at;
            return;
        }
        Piece next = behind_.back();
        behind_.pop_back();
        if (next.kind != Kind::erase && next.len > at - position_) {
            Piece rest = next;
            next.len = at - position_;
            rest.lv += next.len;
            rest.len -= next.len;
            behind_.push_back(rest);
        }
        push(next);
        position_ += width(next);
    }
}

void Splices::insert(std::uint32_t at, Lv lv, std::uint32_t len) {
    seek(at);
    push({Kind::insert, len, lv});
    position_ += len;
}

// Inserted pieces in the range disappear; kept ones become erased.
void Splices::erase(std::uint32_t at, std::uint32_t len) {
    seek(at);
    while (len > 0) {
        if (behind_.empty()) {
            push({Kind::erase, len, 0});
            return;
        }
        Piece& next = behind_.back();
        if (next.kind == Kind::erase) {
            push(next);
            behind_.pop_back();
            continue;
        }
        const std::uint32_t n = std::min(len, next.len);
        if (next.kind == Kind::keep) push({Kind::erase, n, 0});
        next.lv += n;
        next.len -= n;
        len -= n;
        if (next.len == 0) behind_.pop_back();
    }
}

// Pieces behind the gap are pushed one by one, so that neighbours join there as well.
std::vector<Splices::Piece> Splices::take() {
    while (!behind_.empty()) {
        push(behind_.back());
        behind_.pop_back();
    }
    while (!before_.empty() && before_.back().kind == Kind::keep) before_.pop_back();
    position_ = 0;
    return std::move(before_);
}

}  // namespace quire::crdt
