#include "codec/ops.h"

#include <bit>
#include <cstdlib>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "codec/values.h"

namespace quire::codec {
namespace {

using crdt::ContainerKind;
using crdt::Counter;
using crdt::OpContent;
using crdt::OpId;

constexpr std::uint64_t kOpColumns = 4;
constexpr std::uint64_t kDeleteColumns = 3;
constexpr std::int64_t kMaxIndex = std::numeric_limits<std::uint32_t>::max();
// The node below which deleted nodes are moved.
constexpr OpId kDeletedRoot{std::numeric_limits<std::uint64_t>::max(),
                            std::numeric_limits<Counter>::max()};

void read_shape(ByteReader& in, std::uint64_t columns, const char* what) {
    if (read_uleb(in, what) != 1 || read_uleb(in, what) != columns) in.fail(what);
}

ByteReader read_column(ByteReader& in, const char* what) {
    return in.part(static_cast<std::size_t>(read_uleb(in, what)), what);
}

void write_shape(ByteWriter& out, std::uint64_t columns) {
    write_uleb(out, 1);
    write_uleb(out, columns);
}

}  // namespace

// --- reading ---

OpReader::OpReader(ByteReader ops, ByteReader deletes, ByteReader values, const Tables& tables,
                   Budget& budget)
    : ops_(ops),
      deletes_(deletes),
      values_(values),
      tables_(tables),
      budget_(budget),
      in_(columns(ops_)),
      delete_in_(delete_columns(deletes_)),
      counting_in_(in_.atoms),
      containers_(in_.container, 0, kMaxIndex, "container of an op"),
      props_(in_.prop, std::numeric_limits<std::int32_t>::min(),
             std::numeric_limits<std::int32_t>::max(), "prop of an op"),
      kinds_(in_.kind, "payload kind of an op"),
      atoms_(in_.atoms, "length of an op"),
      counting_(counting_in_, "length of an op"),
      delete_peers_(delete_in_.peer, 0, kMaxIndex, "peer of a delete"),
      delete_counters_(delete_in_.counter, 0, kMaxCounter, "counter of a delete"),
      delete_lengths_(delete_in_.length, -kMaxPosition, kMaxPosition, "length of a delete") {}

OpReader::Columns OpReader::columns(ByteReader& ops) {
    read_shape(ops, kOpColumns, "shape of the ops");
    // Braces evaluate in order.
    const Columns columns{read_column(ops, "containers of ops"), read_column(ops, "props of ops"),
                          read_column(ops, "payload kinds of ops"),
                          read_column(ops, "lengths of ops")};
    if (!ops.at_end()) ops.fail("end of the ops");
    return columns;
}

OpReader::DeleteColumns OpReader::delete_columns(ByteReader& deletes) {
    if (deletes.at_end()) return {deletes, deletes, deletes};
    read_shape(deletes, kDeleteColumns, "shape of the deletes");
    const DeleteColumns columns{read_column(deletes, "peers of deletes"),
                                read_column(deletes, "counters of deletes"),
                                read_column(deletes, "lengths of deletes")};
    if (!deletes.at_end()) deletes.fail("end of the deletes");
    return columns;
}

std::optional<std::size_t> OpReader::rows_of(Counter atoms) {
    std::size_t rows = 0;
    for (auto left = static_cast<std::uint64_t>(atoms); left > 0; ++rows) {
        const std::uint64_t length = counting_.next();
        if (length == 0 || length > left)
            counting_in_.fail("length of an op (ops do not fill their change)");
        if (!budget_.take(sizeof(crdt::Op)))
            counting_in_.fail("number of ops (too many for their size)");
        if (!counting_in_.ok()) return std::nullopt;
        left -= length;
    }
    return rows;
}

crdt::Op OpReader::next(OpId id) {
    const auto container = static_cast<std::size_t>(containers_.next());
    prop_ = props_.next();
    raw_kind_ = kinds_.next();
    const std::uint64_t atoms = atoms_.next();
    if (container >= tables_.containers.size()) in_.container.fail("container of an op");
    if (!ok()) return {};
    const crdt::ContainerId& target = tables_.containers[container];
    if (target.is_root() && !budget_.take_string(target.root_name().size())) {
        in_.container.fail("ops (too large for their input)");
        return {};
    }
    crdt::Op op{target, id.counter,
                content(target.kind, static_cast<PayloadKind>(canonical_kind(raw_kind_)), id)};
    if (static_cast<std::uint64_t>(crdt::atom_count(op.content)) != atoms) {
        in_.atoms.fail("length of an op (it is not that of its content)");
    }
    return op;
}

OpContent OpReader::content(ContainerKind container, PayloadKind kind, OpId id) {
    switch (container) {
        case ContainerKind::map:
            return map(kind);
        case ContainerKind::list:
            return list(kind);
        case ContainerKind::text:
            return text(kind);
        case ContainerKind::tree:
            return tree(kind, id);
        case ContainerKind::movable_list:
            return movable_list(kind);
        case ContainerKind::counter:
            return counter(kind);
    }
    return unknown();
}

OpContent OpReader::text(PayloadKind kind) {
    if (kind == PayloadKind::delete_sequence) return sequence_delete();
    if (kind == PayloadKind::null) return crdt::StyleEnd{};
    const std::uint32_t at = position();
    if (kind == PayloadKind::string) {
        const std::string_view text = as_text(read_sized(values_, "inserted text"));
        if (!utf8::is_valid(text)) values_.fail("UTF-8 of inserted text");
        if (!budget_.take_string(text.size())) values_.fail("inserted text");
        return crdt::TextInsert{at, std::string(text)};
    }
    if (kind != PayloadKind::style_start) return wrong_kind();
    crdt::StyleStart style{};
    style.info = values_.byte("style");
    const std::uint64_t length = read_uleb(values_, kMaxPosition, "length of a style");
    const std::string_view key =
        tables_.key(values_, read_uleb(values_, "key of a style"), "key of a style");
    style.start = at;
    style.end = at + static_cast<std::uint32_t>(length);
    style.value = read_value(values_, tables_, budget_);
    if (!budget_.take_string(key.size())) values_.fail("style (too large for its input)");
    if (values_.ok()) style.key = key;
    return style;
}

OpContent OpReader::list(PayloadKind kind) {
    if (kind == PayloadKind::delete_sequence) return sequence_delete();
    if (kind != PayloadKind::value) return wrong_kind();
    const std::uint32_t at = position();
    return crdt::ListInsert{at, read_slots(values_, tables_, budget_)};
}

OpContent OpReader::movable_list(PayloadKind kind) {
    if (kind == PayloadKind::list_move) {
        const std::uint32_t to = position();
        const auto from =
            static_cast<std::uint32_t>(read_uleb(values_, kMaxPosition, "position of a move"));
        return crdt::ListMove{from, to, element()};
    }
    if (kind == PayloadKind::list_set) {
        const crdt::ElementId target = element();
        return crdt::ListSet{target, read_slot(values_, tables_, budget_)};
    }
    return list(kind);
}

OpContent OpReader::map(PayloadKind kind) {
    if (kind != PayloadKind::value && kind != PayloadKind::delete_once) return wrong_kind();
    const std::string_view key =
        tables_.key(in_.prop, static_cast<std::uint64_t>(prop_), "key of a map op");
    if (!budget_.take_string(key.size())) in_.prop.fail("ops (too large for their input)");
    if (!in_.prop.ok()) return crdt::MapErase{};
    if (kind == PayloadKind::delete_once) return crdt::MapErase{std::string(key)};
    return crdt::MapSet{std::string(key), read_slot(values_, tables_, budget_)};
}

OpContent OpReader::tree(PayloadKind kind, OpId id) {
    if (kind != PayloadKind::tree_move) return wrong_kind();
    const OpId target = node();
    const std::uint64_t position = read_uleb(values_, "position of a node");
    std::optional<OpId> parent;
    if (values_.byte("parent of a node") == 0) {
        parent = node();
        if (*parent == kDeletedRoot) return crdt::TreeErase{target};
    }
    if (position >= tables_.positions.size()) {
        values_.fail("position of a node");
        return crdt::TreeErase{target};
    }
    const Bytes& bytes = tables_.positions[position];
    if (!budget_.take_heap(bytes.size())) {
        values_.fail("tree ops (too large for their input)");
        return crdt::TreeErase{target};
    }
    if (target == id) return crdt::TreeCreate{target, parent, bytes};
    return crdt::TreeMove{target, parent, bytes};
}

OpContent OpReader::counter(PayloadKind kind) {
    if (kind == PayloadKind::i64) return crdt::CounterAdd{Value(read_sleb(values_, "counter"))};
    if (kind == PayloadKind::f64)
        return crdt::CounterAdd{Value(std::bit_cast<double>(values_.u64_be("counter")))};
    return wrong_kind();
}

OpContent OpReader::unknown() {
    return read_unknown(values_, static_cast<std::int32_t>(prop_), raw_kind_, tables_, budget_);
}

crdt::SequenceDelete OpReader::sequence_delete() {
    const std::uint32_t at = position();
    const crdt::PeerId peer = tables_.peer(
        delete_in_.peer, static_cast<std::uint64_t>(delete_peers_.next()), "peer of a delete");
    const std::int64_t counter = delete_counters_.next();
    const std::int64_t length = delete_lengths_.next();
    // A run of backspaces ends at the start of the text at the latest.
    if (length < 0 && -length > std::int64_t{at} + 1) delete_in_.length.fail("length of a delete");
    return {static_cast<std::int32_t>(at),
            static_cast<std::int32_t>(length),
            {peer, static_cast<Counter>(counter)}};
}

std::uint32_t OpReader::position() {
    if (prop_ < 0 || prop_ > kMaxPosition) in_.prop.fail("position of an op");
    return in_.prop.ok() ? static_cast<std::uint32_t>(prop_) : 0;
}

crdt::ElementId OpReader::element() {
    const crdt::PeerId peer =
        tables_.peer(values_, read_uleb(values_, "peer of an element"), "peer of an element");
    const auto lamport =
        read_uleb(values_, std::numeric_limits<crdt::Lamport>::max(), "lamport of an element");
    return {peer, static_cast<crdt::Lamport>(lamport)};
}

OpId OpReader::node() {
    const crdt::PeerId peer =
        tables_.peer(values_, read_uleb(values_, "peer of a node"), "peer of a node");
    const auto counter =
        read_uleb(values_, std::numeric_limits<Counter>::max(), "counter of a node");
    return {peer, static_cast<Counter>(counter)};
}

OpContent OpReader::wrong_kind() {
    in_.kind.fail("payload kind of an op (its container has none such)");
    return crdt::StyleEnd{};
}

void OpReader::finish() {
    if (!ok()) return;
    if (!containers_.at_end() || !props_.at_end() || !kinds_.at_end() || !atoms_.at_end()) {
        in_.container.fail("number of ops (columns differ, or changes end before them)");
    }
    if (!delete_peers_.at_end() || !delete_counters_.at_end() || !delete_lengths_.at_end()) {
        delete_in_.peer.fail("number of deletes (more than there are ops for)");
    }
    if (!values_.at_end()) values_.fail("end of the payloads");
}

bool OpReader::ok() const {
    return values_.ok() && in_.container.ok() && in_.prop.ok() && in_.kind.ok() && in_.atoms.ok() &&
           delete_in_.peer.ok() && delete_in_.counter.ok() && delete_in_.length.ok() &&
           counting_in_.ok() && ops_.ok() && deletes_.ok();
}

Failure OpReader::error() const {
    for (const ByteReader* in :
         {&ops_, &deletes_, &counting_in_, &in_.container, &in_.prop, &in_.kind, &values_,
          &delete_in_.peer, &delete_in_.counter, &delete_in_.length}) {
        if (!in->ok()) return in->error();
    }
    return in_.atoms.error();
}

// --- writing ---

void OpWriter::append(const crdt::Op& op, Counter atoms) {
    containers_.append(registers_.containers.add({&op.container}));
    const Row written = row(op);
    props_.append(written.prop);
    kinds_.append(written.kind);
    atoms_.append(static_cast<std::uint64_t>(atoms));
}

OpWriter::Row OpWriter::row(const crdt::Op& op) {
    struct Writer {
        OpWriter& self;
        ByteWriter& out;
        Registers& registers;

        static Row row(std::int64_t prop, PayloadKind kind) {
            return {prop, static_cast<std::uint8_t>(kind)};
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

        Row operator()(const crdt::TextInsert& insert) const {
            write_sized(out, insert.text);
            return row(insert.pos, PayloadKind::string);
        }
        Row operator()(const crdt::ListInsert& insert) const {
            write_slots(out, insert.values, registers);
            return row(insert.pos, PayloadKind::value);
        }
        Row operator()(const crdt::SequenceDelete& erase) const {
            self.delete_peers_.append(registers.peers.add(erase.start.peer));
            self.delete_counters_.append(erase.start.counter);
            self.delete_lengths_.append(erase.len);
            return row(erase.pos, PayloadKind::delete_sequence);
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
            return {op.prop, op.value_kind};
        }
    };
    return std::visit(Writer{*this, values_, registers_}, op.content);
}

void OpWriter::write_sections(ByteWriter& out) {
    containers_.finish();
    props_.finish();
    kinds_.finish();
    atoms_.finish();
    delete_peers_.finish();
    delete_counters_.finish();
    delete_lengths_.finish();
    ByteWriter ops;
    write_shape(ops, kOpColumns);
    for (const ByteWriter* column : {&container_out_, &prop_out_, &kind_out_, &atoms_out_}) {
        write_sized(ops, column->bytes());
    }
    write_sized(out, ops.bytes());
    ByteWriter deletes;
    if (!delete_peer_out_.empty()) {
        write_shape(deletes, kDeleteColumns);
        for (const ByteWriter* column :
             {&delete_peer_out_, &delete_counter_out_, &delete_length_out_}) {
            write_sized(deletes, column->bytes());
        }
    }
    write_sized(out, deletes.bytes());
    write_sized(out, values_.bytes());
}

}  // namespace quire::codec
