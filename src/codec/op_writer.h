// OpWriter: the ops of a block, from rows of a batch into columns and payloads (ops.h).
#pragma once

#include <cstdint>

#include "codec/column_writers.h"
#include "codec/ops.h"
#include "codec/payload.h"
#include "codec/tables.h"
#include "crdt/ids/change_batch.h"

namespace quire::codec {

class OpWriter {
public:
    explicit OpWriter(Registers& registers) : registers_(registers) {}
    OpWriter(const OpWriter&) = delete;
    OpWriter& operator=(const OpWriter&) = delete;
    ~OpWriter() = default;

    void append(const crdt::ChangeBatch& batch, const crdt::ChangeBatch::Row& row);
    // Ends the columns and writes the sections: ops, deletes, values, each sized. Then it is as it
    // was at first.
    void write_sections(ByteWriter& out);

private:
    struct Row {
        std::int64_t prop;
        PayloadKind kind;
    };
    Row row(const crdt::ChangeBatch& batch, const crdt::ChangeBatch::Row& row);
    struct ContentWriter;
    Row row(const crdt::OpContent& content);

    Registers& registers_;
    ByteWriter container_out_, prop_out_, kind_out_, atoms_out_;
    ByteWriter delete_peer_out_, delete_counter_out_, delete_length_out_;
    ByteWriter values_;
    DeltaRleWriter containers_{container_out_};
    DeltaRleWriter props_{prop_out_};
    RleWriter<ByteCell> kinds_{kind_out_};
    RleWriter<UnsignedCell> atoms_{atoms_out_};
    DeltaRleWriter delete_peers_{delete_peer_out_};
    DeltaRleWriter delete_counters_{delete_counter_out_};
    DeltaRleWriter delete_lengths_{delete_length_out_};
};

}  // namespace quire::codec
