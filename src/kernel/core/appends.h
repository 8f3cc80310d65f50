// Appends: the text that one writer has handed over for the end of a block and that is not yet
// committed.
//
// Appends that arrive while a flush is under way share the next one. Text that was only accepted
// waits for a newline, 50 code points, 100 ms of silence, a status change, another writer, or a
// reader. A flush is one commit and one unit of history, however many calls it holds; each of the
// calls is a version of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/function.h"
#include "conversation/append_buffer.h"
#include "kernel/core/block_edits.h"
#include "seq/rope.h"

namespace quire::kernel {

// The text of one append call, and the call if it still waits.
struct AppendPiece {
    std::string text;
    std::uint64_t version = 0;  // The block's once this piece is in.
    // The block as it will read with accepted text, answered before the text is in.
    std::size_t line_count = 0;
    std::optional<edits::Change> change = {};
    // The call that waits: a durable append, or one whose version is not reserved yet. Empty
    // once it is answered.
    Reply<Appended> waiting;
    Ack ack = Ack::durable;

    // The answer of a call whose text is not stored yet. Call it once: it moves the change
    // out.
    Appended accepted() { return {version, false, line_count, std::exchange(change, {})}; }
};

// The text of one writer, call by call.
struct AppendTurn {
    policy::Actor writer;
    std::vector<AppendPiece> pieces;
};

// The pending appends of one block. Only its document's strand touches them. `buffer` and `pieces`
// hold the same text: the buffer knows when it is due, the pieces know which call each part came
// with.
struct Appends {
    // The block's text with all pieces, at a size of the document's history. Kept between the
    // answers of accepted appends, so that each inserts its own text alone.
    struct Shown {
        seq::Rope text;
        std::size_t op_count = 0;
    };

    conversation::AppendBuffer buffer;  // The text of one writer, and when it is due.
    std::vector<AppendPiece> pieces;    // The buffered text call by call; each call is a version.
    std::optional<Shown> shown;         // None where it is to be made anew.
    // Accepted text that the store refused; it is written first.
    std::vector<AppendTurn> refused;
    bool in_flight = false;       // A flush of this block is on its way to the disk.
    bool timer_set = false;       // Silence is being watched for.
    std::int64_t flushed_ms = 0;  // When text was last flushed because it was due.
    // BlockState::end_append_run() removes an actor from it.
    std::map<std::string, std::uint64_t>
        groups;  // Per actor: the version that began its run of appends.

    bool empty() const { return pieces.empty() && refused.empty(); }
    // The version that began the actor's run of appends: `next`, if it begins now.
    std::uint64_t group_of(const std::string& actor, std::uint64_t next) {
        return groups.try_emplace(actor, next).first->second;
    }
    // The number of waiting calls, each of which is a version, and the size of their text. O(text
    // that the store refused).
    std::size_t calls() const {
        std::size_t calls = pieces.size();
        for (const AppendTurn& turn : refused) calls += turn.pieces.size();
        return calls;
    }
    std::size_t bytes() const {
        std::size_t bytes = buffer.bytes();
        for (const AppendTurn& turn : refused) {
            for (const AppendPiece& piece : turn.pieces) bytes += piece.text.size();
        }
        return bytes;
    }
};

}  // namespace quire::kernel
