// Appends: the text that one writer has handed over for the end of a block and that is not yet
// committed.
//
// Appends that arrive while a flush is under way share the next one. Text that was only accepted
// waits for a newline, 50 code points, 100 ms of silence, a status change, another writer, or a
// reader.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/function.h"
#include "blocks/append_buffer.h"
#include "kernel/kernel.h"

namespace quire::kernel {

struct Appends {
    struct Piece {
        std::string text;
        std::uint64_t version = 0;  // The block's once this piece is in.
        // Of a durable append, or of one whose version is not reserved yet; empty for one that was
        // accepted and answered.
        Reply<Appended> waiting;
        Ack ack = Ack::durable;
    };

    blocks::AppendBuffer buffer;  // Whose text it is, and when it is due.
    std::vector<Piece> pieces;    // The same text, call by call: each is a version.
    bool in_flight = false;       // A flush of this block is on its way to the disk.
    bool timer_set = false;       // Silence is being watched for.
    std::map<std::string, std::uint64_t>
        groups;  // Per actor: the version that began its run of appends.

    bool empty() const { return pieces.empty(); }
};

}  // namespace quire::kernel
