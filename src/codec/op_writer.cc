// Each op becomes a cell of every column and, unless it is a delete, a payload. Peers, keys and
// containers get their numbers when the first op names them, so the block's tables are written after
// its ops were.
#include "codec/op_writer.h"

#include <bit>
#include <initializer_list>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/varint.h"
#include "codec/values.h"

namespace quire::codec {
namespace {

using crdt::ChangeBatch;
using crdt::Counter;
using crdt::OpContent;
using crdt::OpId;

// A section of one field with these columns, which are empty then.
void write_columns(ByteWriter& out, std::initializer_list<ByteWriter*> columns) {
    Section section(out);
    write_uleb(out, 1);
    write_uleb(out, columns.size());
    for (ByteWriter* column : columns) {
        write_sized(out, column->bytes());
        column->clear();
    }
}

}  // namespace

void OpWriter::append(const ChangeBatch& batch, const ChangeBatch::Row& row) {
    containers_.append(registers_.containers.add({&batch.containers[row.container]}));
    const Row written = this->row(batch, row);
    props_.append(written.prop);
    kinds_.append(static_cast<std::uint8_t>(written.kind));
    atoms_.append(static_cast<std::uint64_t>(row.atoms));
}

OpWriter::Row OpWriter::row(const ChangeBatch& batch, const ChangeBatch::Row& row) {
    switch (row.form) {
        case ChangeBatch::Form::text:
            write_sized(values_, row.text());
            return {row.pos, PayloadKind::string};
        case ChangeBatch::Form::erase_forward:
        case ChangeBatch::Form::erase_backward:
            delete_peers_.append(registers_.peers.add(batch.peers[row.peer]));
            delete_counters_.append(row.size);
            delete_lengths_.append(row.form == ChangeBatch::Form::erase_forward ? row.atoms
                                                                                : -row.atoms);
            return {row.pos, PayloadKind::delete_sequence};
        case ChangeBatch::Form::content:
            break;
    }
    return this->row(*row.content);
}

struct OpWriter::ContentWriter {
    ByteWriter& out;
    Registers& registers;

    static Row row(std::int64_t prop, PayloadKind kind) { return {prop, kind}; }
    static Row none() {
        CHECK(false);
        return row(0, PayloadKind::null);
    }
    void peer(crdt::PeerId peer) const { write_uleb(out, registers.peers.add(peer)); }
    void node(OpId id) const {
        peer(id.peer);
        write_uleb(out, static_cast<std::uint64_t>(id.counter));
    }
    Row tree(OpId target, const std::optional<OpId>& parent, std::uint32_t position) const {
        // Peers are numbered target first, and the parent's stands after the position.
        node(target);
        write_uleb(out, position);
        out.byte(parent ? 0 : 1);
        if (parent) node(*parent);
        return row(0, PayloadKind::tree_move);
    }

    // These have a form of their own.
    Row operator()(const crdt::TextInsert&) const { return none(); }
    Row operator()(const crdt::SequenceDelete&) const { return none(); }
    Row operator()(const crdt::ListInsert& insert) const {
        write_slots(out, insert.values, registers);
        return row(insert.pos, PayloadKind::value);
    }
    Row operator()(const crdt::StyleStart& style) const {
        out.byte(style.info);
        write_uleb(out, style.end - style.start);
        write_uleb(out, registers.keys.add(style.key));
        write_value(out, style.value, registers);
        return row(style.start, PayloadKind::style_start);
    }
    Row operator()(const crdt::StyleEnd&) const { return row(0, PayloadKind::null); }
    Row operator()(const crdt::ListMove& move) const {
        write_uleb(out, move.from);
        peer(move.element.peer);
        write_uleb(out, move.element.lamport);
        return row(move.to, PayloadKind::list_move);
    }
    Row operator()(const crdt::ListSet& set) const {
        peer(set.element.peer);
        write_uleb(out, set.element.lamport);
        write_slot(out, set.value, registers);
        return row(0, PayloadKind::list_set);
    }
    Row operator()(const crdt::MapSet& set) const {
        const std::uint32_t key = registers.keys.add(set.key);
        write_slot(out, set.value, registers);
        return row(key, PayloadKind::value);
    }
    Row operator()(const crdt::MapErase& erase) const {
        return row(registers.keys.add(erase.key), PayloadKind::delete_once);
    }
    Row operator()(const crdt::TreeCreate& create) const {
        return tree(create.target, create.parent, registers.position(create.position));
    }
    Row operator()(const crdt::TreeMove& move) const {
        return tree(move.target, move.parent, registers.position(move.position));
    }
    Row operator()(const crdt::TreeErase& erase) const {
        return tree(erase.target, kDeletedRoot, 0);
    }
    Row operator()(const crdt::CounterAdd& add) const {
        if (add.delta.is_int()) {
            write_sleb(out, add.delta.as_int());
            return row(0, PayloadKind::i64);
        }
        out.u64_be(std::bit_cast<std::uint64_t>(add.delta.as_float()));
        return row(0, PayloadKind::f64);
    }
    Row operator()(const crdt::UnknownOp& op) const {
        write_unknown(out, op, registers);
        return row(op.prop, static_cast<PayloadKind>(op.value_kind));
    }
};

OpWriter::Row OpWriter::row(const OpContent& content) {
    return std::visit(ContentWriter{values_, registers_}, content);
}

void OpWriter::write_sections(ByteWriter& out) {
    containers_.finish();
    props_.finish();
    kinds_.finish();
    atoms_.finish();
    delete_peers_.finish();
    delete_counters_.finish();
    delete_lengths_.finish();
    write_columns(out, {&container_out_, &prop_out_, &kind_out_, &atoms_out_});
    if (delete_peer_out_.empty()) {
        write_uleb(out, 0);
    } else {
        write_columns(out, {&delete_peer_out_, &delete_counter_out_, &delete_length_out_});
    }
    write_sized(out, values_.bytes());
    values_.clear();
}

}  // namespace quire::codec
