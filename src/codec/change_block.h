// A block: contiguous changes of one peer, as a record of five numbers and eight sized sections.
//
//   uleb  first counter        u32
//   uleb  atoms in all
//   uleb  first lamport        u32
//   uleb  lamports in all      last change's lamport and length, less the first lamport
//   uleb  changes              N, at least 1
//   sized header               uleb peers, u64le each, the block's own first
//                              N-1 uleb      atoms of each change but the last
//                              BoolRle N     does it list its predecessor (own peer) as a dep
//                              Rle N         how many other deps
//                              Rle D         peer index of each of those
//                              DeltaOfDelta D    their counters
//                              DeltaOfDelta N-1  lamport of each change but the last
//   sized meta                 DeltaOfDelta N    timestamps
//                              Rle N         bytes of each message
//                              the messages, UTF-8, one after the other
//   sized containers           tables.h
//   sized keys                 tables.h
//   sized positions            tables.h
//   sized ops                  ops.h
//   sized deletes              ops.h
//   sized values               ops.h
//
// Every section is used up exactly, and the ops of a change fill its atoms exactly: a block in
// which they do not is refused, where Loro's own reader looks away.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/budget.h"
#include "codec/op_writer.h"
#include "crdt/ids/change_batch.h"

namespace quire::codec {

// How many changes a block says that it holds: at most its size. 0 for one that makes no sense.
std::size_t change_count(ByteReader block);

// Appends the block's changes to `out`; their own size is not charged. What a batch holds then
// views the block. Errors: corrupt, after which `out` is good for nothing.
Result<void> read_block(ByteReader in, Budget& budget, crdt::ChangeBatch& out);

// Like read_block(), without the ops, which are not looked at. Returns the number of atoms of
// each change.
Result<std::vector<crdt::Counter>> read_block_headers(ByteReader in, Budget& budget,
                                                      std::vector<crdt::Change>& out);

// Returns true if a block can hold the one change behind the other: a change of the same peer that
// follows without a gap and is not earlier.
bool continues(const crdt::ChangeBatch::Head& next, const crdt::ChangeBatch::Head& before);

// Writes one block after another with the same memory.
class BlockWriter {
public:
    BlockWriter() : ops_(registers_) {}
    BlockWriter(const BlockWriter&) = delete;
    BlockWriter& operator=(const BlockWriter&) = delete;
    ~BlockWriter() = default;

    // CHECKs that each head continues the one before, and that all have ops.
    void write(ByteWriter& out, const crdt::ChangeBatch& batch,
               std::span<const crdt::ChangeBatch::Head> heads);

private:
    Registers registers_;
    OpWriter ops_;
    ByteWriter containers_;
};

}  // namespace quire::codec
