// The columns of a block's ops run side by side with the sections that they point into: payloads,
// delete starts, and the block's tables. A reader takes one cell of each column at a time and fills
// one row of the batch; text stays where it is. What an op is depends on the kinds of its container
// and of its payload. A writer does the same the other way round.
#include "codec/ops.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "codec/columnar.h"
#include "codec/values.h"

namespace quire::codec {
namespace {

using crdt::ChangeBatch;
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

// In code points; none when it is not UTF-8. Most text is ASCII.
std::optional<std::size_t> length_of(std::string_view text) {
    unsigned char all = 0;
    for (const char byte : text)
        all = static_cast<unsigned char>(all | static_cast<unsigned char>(byte));
    if (all < 0x80) return text.size();
    if (!utf8::is_valid(text)) return std::nullopt;
    return utf8::count_code_points(text);
}

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

// --- reading ---

OpReader::OpReader(ByteReader ops, ByteReader deletes, ByteReader values, const Tables& tables,
                   const BatchNumbers& numbers, Budget& budget)
    : ops_(ops),
      deletes_(deletes),
      values_(values),
      tables_(tables),
      numbers_(numbers),
      budget_(budget),
      in_(columns(ops_)),
      delete_in_(delete_columns(deletes_)),
      containers_(in_.container, 0, kMaxIndex, "container of an op"),
      props_(in_.prop, std::numeric_limits<std::int32_t>::min(),
             std::numeric_limits<std::int32_t>::max(), "prop of an op"),
      kinds_(in_.kind, "payload kind of an op"),
      atoms_(in_.atoms, "length of an op"),
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

// Counts the ops by the column of kinds, which takes a byte for each run, and charges them all
// before a row is made: a few bytes can spell a billion ops.
void OpReader::make_room(ChangeBatch& batch) {
    std::size_t count = 0;
    for (ByteReader in = in_.kind; !in.at_end();) {
        const std::int64_t length = read_zigzag(in, "payload kinds of ops");
        const std::size_t values =
            length < 0 ? 0 - static_cast<std::size_t>(length) : static_cast<std::size_t>(length);
        // The reader of the column reports the fault.
        if (values == 0 || values > kMaxRun) break;
        count += values;
        in.take(length < 0 ? values : 1, "payload kinds of ops");
    }
    if (count > budget_.may_hold() / sizeof(crdt::Op) || !budget_.take(count * sizeof(crdt::Op))) {
        in_.kind.fail("number of ops (too many for their size)");
        return;
    }
    const std::size_t all = batch.rows.size() + count;
    if (all > batch.rows.capacity()) batch.rows.reserve(std::max(all, 2 * batch.rows.capacity()));
}

// Reads the ops of one change. They have to fill its atoms exactly; no op is cut by a change's end.
bool OpReader::read(OpId id, Counter atoms, ChangeBatch& batch) {
    for (Counter left = atoms; left > 0;) {
        const std::uint64_t length = atoms_.next();
        if (length == 0 || length > static_cast<std::uint64_t>(left))
            in_.atoms.fail("length of an op (ops do not fill their change)");
        if (!in_.atoms.ok()) return false;
        next(id, length, batch);
        if (!columns_ok()) return false;
        id.counter += static_cast<Counter>(length);
        left -= static_cast<Counter>(length);
    }
    return true;
}

void OpReader::next(OpId id, std::uint64_t atoms, ChangeBatch& batch) {
    const auto container = static_cast<std::size_t>(containers_.next());
    prop_ = props_.next();
    raw_kind_ = kinds_.next();
    if (container != target_ && !aim_at(container)) return;
    if (!budget_.take_string(target_name_)) in_.container.fail("ops (too large for their input)");
    ChangeBatch::Row& row = batch.rows.emplace_back();
    row.container = target_number_;
    row.atoms = static_cast<Counter>(atoms);
    const auto kind = static_cast<PayloadKind>(canonical_kind(raw_kind_));
    const bool is_text = target_kind_ == ContainerKind::text;
    if (is_text && kind == PayloadKind::string) return text(row);
    if (kind == PayloadKind::delete_sequence && (is_text || target_kind_ == ContainerKind::list ||
                                                 target_kind_ == ContainerKind::movable_list)) {
        return sequence_delete(row);
    }
    if (!budget_.take_heap(sizeof(OpContent) + 2 * sizeof(void*)))
        in_.container.fail("ops (too large for their input)");
    row.content = &batch.contents.emplace_back(content(target_kind_, kind, id));
    check_atoms(row, crdt::atom_count(*row.content));
}

// Notes what the ops of a container have in common. Most follow one of the same container.
bool OpReader::aim_at(std::size_t container) {
    if (container >= tables_.containers.size()) {
        in_.container.fail("container of an op");
        return false;
    }
    const crdt::ContainerId& id = tables_.containers[container];
    target_ = container;
    target_number_ = numbers_.containers[container];
    target_kind_ = id.kind;
    target_name_ = id.is_root() ? id.root_name().size() : 0;
    return true;
}

// The content of an op must be as long as its column says.
void OpReader::check_atoms(const ChangeBatch::Row& row, std::int64_t atoms) {
    if (row.atoms != atoms) in_.atoms.fail("length of an op (it is not that of its content)");
}

OpContent OpReader::content(ContainerKind container, PayloadKind kind, OpId id) {
    switch (container) {
        case ContainerKind::map:
            return map(kind);
        case ContainerKind::list:
            return list(kind);
        case ContainerKind::text:
            return style(kind);
        case ContainerKind::tree:
            return tree(kind, id);
        case ContainerKind::movable_list:
            return movable_list(kind);
        case ContainerKind::counter:
            return counter(kind);
    }
    return unknown();
}

// The row views the text in the block. It is charged all the same, because whoever keeps it copies
// it.
void OpReader::text(ChangeBatch::Row& row) {
    const std::string_view text = as_text(read_sized(values_, "inserted text"));
    const std::optional<std::size_t> length = length_of(text);
    if (!length) values_.fail("UTF-8 of inserted text");
    if (!budget_.take_string(text.size())) values_.fail("inserted text");
    row.form = ChangeBatch::Form::text;
    row.pos = position();
    row.size = static_cast<std::uint32_t>(text.size());
    row.bytes = text.data();
    check_atoms(row, static_cast<std::int64_t>(length.value_or(0)));
}

OpContent OpReader::style(PayloadKind kind) {
    if (kind == PayloadKind::null) return crdt::StyleEnd{};
    if (kind != PayloadKind::style_start) return wrong_kind();
    const std::uint32_t at = position();
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

// One payload for three ops: below the reserved root it erases, onto its own id it creates.
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

void OpReader::sequence_delete(ChangeBatch::Row& row) {
    const std::uint32_t at = position();
    const auto peer = static_cast<std::size_t>(delete_peers_.next());
    const std::int64_t counter = delete_counters_.next();
    const std::int64_t length = delete_lengths_.next();
    if (peer >= tables_.peers.size()) delete_in_.peer.fail("peer of a delete");
    // A run of backspaces ends at the start of the text at the latest.
    if (length < 0 && -length > std::int64_t{at} + 1) delete_in_.length.fail("length of a delete");
    for (const ByteReader* in : {&delete_in_.peer, &delete_in_.counter, &delete_in_.length})
        in_.container.adopt(*in);
    if (!columns_ok()) return;
    row.pos = at;
    row.size = static_cast<std::uint32_t>(counter);
    row.peer = numbers_.peers[peer];
    row.form = length > 0 ? ChangeBatch::Form::erase_forward : ChangeBatch::Form::erase_backward;
    check_atoms(row, std::abs(length));
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

// The first that failed, in the order in which the block has the sections. Requires !ok().
Failure OpReader::error() const {
    for (const ByteReader* in : {&ops_, &deletes_, &in_.container, &in_.prop, &in_.kind, &values_,
                                 &delete_in_.peer, &delete_in_.counter, &delete_in_.length}) {
        if (!in->ok()) return in->error();
    }
    return in_.atoms.error();
}

// --- writing ---

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
