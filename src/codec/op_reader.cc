// The columns of a block's ops run side by side with the sections that they point into: payloads,
// delete starts, and the block's tables. A reader decodes a hundred cells of each column in one go,
// because a decoder that works on many keeps its state in registers. Then it fills one row of the
// batch from one cell of each; text stays where it is. Cells that are all typing and deleting in one
// text, as most are, have a loop of their own (read_typing): it costs a third of the general way
// (next), in which the kinds of container and payload say what an op is.
#include "codec/op_reader.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "base/utf8.h"
#include "base/varint.h"
#include "codec/values.h"

namespace quire::codec {
namespace {

using crdt::ChangeBatch;
using crdt::ContainerKind;
using crdt::Counter;
using crdt::OpContent;
using crdt::OpId;

constexpr std::int64_t kMaxIndex = std::numeric_limits<std::uint32_t>::max();
constexpr auto kString = static_cast<std::uint8_t>(PayloadKind::string);
constexpr auto kDelete = static_cast<std::uint8_t>(PayloadKind::delete_sequence);

void read_shape(ByteReader& in, std::uint64_t columns, const char* what) {
    if (read_uleb(in, what) != 1 || read_uleb(in, what) != columns) in.fail(what);
}

// In code points; none when it is not UTF-8. Most text is ASCII.
std::optional<std::size_t> length_of(std::string_view text) {
    if (utf8::is_ascii(text)) return text.size();
    if (!utf8::is_valid(text)) return std::nullopt;
    return utf8::count_code_points(text);
}

// Like utf8::is_ascii(), for text behind whose start `readable` bytes may be read. Most text is a few
// letters long, and the processor could not predict the end of a loop over so few.
bool is_ascii(const std::uint8_t* text, std::size_t size, std::size_t readable) {
    constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
    std::uint64_t word = 0;
    if (size - 1 >= sizeof word || readable < sizeof word)
        return utf8::is_ascii(as_text({text, size}));
    std::memcpy(&word, text, sizeof word);
    return (word << (8 * (sizeof word - size)) & kHighBits) == 0;
}

}  // namespace

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
    if (count > std::numeric_limits<std::uint32_t>::max() ||
        !budget_.take(count * sizeof(crdt::Op))) {
        in_.kind.fail("number of ops (too many for their size)");
        return;
    }
    const std::size_t all = batch.rows.size() + count;
    if (all > std::numeric_limits<std::uint32_t>::max())
        return in_.kind.fail("number of ops (more than a batch holds)");
    if (all > batch.rows.capacity()) batch.rows.reserve(std::max(all, 2 * batch.rows.capacity()));
}

// Decodes the next cells of all four columns. Their ops have up to `left` atoms in all.
bool OpReader::read_cells(std::uint64_t left) {
    OpCells& cells = cells_;
    cells.at = 0;
    cells.size = atoms_.read(cells.atoms);
    const bool same_size = containers_.read(cells.container) == cells.size &&
                           props_.read(cells.prop) == cells.size &&
                           kinds_.read(cells.kind) == cells.size;
    if (!same_size) in_.container.fail("number of ops (columns differ)");
    bool fits = cells.size > 0;
    cells.sum = 0;
    for (const std::uint64_t atoms : std::span(cells.atoms).first(cells.size)) {
        fits &= atoms - 1 < left;
        cells.sum += atoms;
    }
    if (!fits || cells.sum > left)
        in_.atoms.fail("length of an op, or number of ops (they do not fill their changes)");
    return columns_ok();
}

bool OpReader::read_delete_cells() {
    DeleteCells& cells = delete_cells_;
    cells.at = 0;
    cells.size = delete_peers_.read(cells.peer);
    const bool same_size = delete_counters_.read(cells.counter) == cells.size &&
                           delete_lengths_.read(cells.length) == cells.size;
    if (!same_size || cells.size == 0)
        delete_in_.peer.fail("number of deletes (columns differ, or there are more ops)");
    for (const ByteReader* in : {&delete_in_.peer, &delete_in_.counter, &delete_in_.length})
        in_.container.adopt(*in);
    return columns_ok();
}

bool OpReader::read(OpId first, Counter atoms, ChangeBatch& batch) {
    if (!columns_ok()) return false;
    OpId id = first;
    const std::int64_t end = std::int64_t{first.counter} + atoms;
    while (id.counter < end) {
        if (!read_cells(static_cast<std::uint64_t>(end - id.counter))) return false;
        if (is_typing()) {
            read_typing(batch);
            if (!columns_ok()) return false;
            id.counter += static_cast<Counter>(cells_.sum);
            continue;
        }
        for (; cells_.at < cells_.size; ++cells_.at) {
            next(id, cells_.atoms[cells_.at], batch);
            if (!columns_ok()) return false;
            id.counter += static_cast<Counter>(cells_.atoms[cells_.at]);
        }
    }
    return true;
}

// Returns true if all cells are of ops that type or delete in one text.
bool OpReader::is_typing() {
    const auto kinds = std::span(cells_.kind).first(cells_.size);
    const auto containers = std::span(cells_.container).first(cells_.size);
    // Bits instead of branches, so that the compiler makes vectors of both loops.
    std::uint8_t others = 0;
    for (const std::uint8_t kind : kinds)
        others |= static_cast<std::uint8_t>((kind ^ kString) != 0) &
                  static_cast<std::uint8_t>((kind ^ kDelete) != 0);
    std::uint32_t changes = 0;
    for (const std::uint32_t each : containers) changes |= each ^ containers.front();
    if (others != 0 || changes != 0) return false;
    const auto container = static_cast<std::size_t>(containers.front());
    return (container == target_ || aim_at(container)) && target_kind_ == ContainerKind::text;
}

// Fills rows from cells for which is_typing() holds.
void OpReader::read_typing(ChangeBatch& batch) {
    const std::size_t size = cells_.size;
    batch.rows.resize(batch.rows.size() + size);
    ChangeBatch::Row* row = &batch.rows.back() - (size - 1);
    std::span<const std::uint8_t> ahead = values_.ahead();
    std::size_t used = 0;
    std::uint32_t farthest = 0;  // A position below 0 is large without its sign.
    bool fits = true;
    for (std::size_t i = 0; i < size; ++i, ++row) {
        fits &= budget_.take_string(target_name_);
        row->container = target_number_;
        row->atoms = static_cast<Counter>(cells_.atoms[i]);
        row->pos = static_cast<std::uint32_t>(cells_.prop[i]);
        farthest = std::max(farthest, row->pos);
        if (cells_.kind[i] == kDelete) {
            read_delete(*row);
            continue;
        }
        const std::size_t left = ahead.size() - used;
        const std::size_t bytes = left > 0 ? ahead[used] : left;
        const std::uint8_t* text = ahead.data() + used + 1;
        if (bytes < left && bytes < 0x80 && is_ascii(text, bytes, left - 1)) {
            used += 1 + bytes;
            put_text(*row, as_text({text, bytes}), bytes);
        } else {
            values_.take(used, "inserted text");
            read_text(*row);
            ahead = values_.ahead();
            used = 0;
        }
    }
    values_.take(used, "inserted text");
    if (farthest > kMaxPosition) in_.prop.fail("position of an op");
    if (!fits) in_.container.fail("ops (too large for their input)");
}

void OpReader::next(OpId id, std::uint64_t atoms, ChangeBatch& batch) {
    const auto container = static_cast<std::size_t>(cells_.container[cells_.at]);
    prop_ = cells_.prop[cells_.at];
    raw_kind_ = cells_.kind[cells_.at];
    if (container != target_ && !aim_at(container)) return;
    if (!budget_.take_string(target_name_)) in_.container.fail("ops (too large for their input)");
    ChangeBatch::Row& row = batch.rows.emplace_back();
    row.container = target_number_;
    row.atoms = static_cast<Counter>(atoms);
    const auto kind = static_cast<PayloadKind>(canonical_kind(raw_kind_));
    const bool is_text = target_kind_ == ContainerKind::text;
    if (is_text && kind == PayloadKind::string) {
        row.pos = position();
        return read_text(row);
    }
    if (kind == PayloadKind::delete_sequence && (is_text || target_kind_ == ContainerKind::list ||
                                                 target_kind_ == ContainerKind::movable_list)) {
        row.pos = position();
        return read_delete(row);
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

// Fills in the text of a row that has its position and atoms.
void OpReader::read_text(ChangeBatch::Row& row) {
    const std::string_view text = as_text(read_sized(values_, "inserted text"));
    const std::optional<std::size_t> length = length_of(text);
    if (!length) values_.fail("UTF-8 of inserted text");
    put_text(row, text, length.value_or(0));
}

void OpReader::put_text(ChangeBatch::Row& row, std::string_view text, std::size_t length) {
    if (!budget_.take_string(text.size())) values_.fail("inserted text");
    row.form = ChangeBatch::Form::text;
    row.size = static_cast<std::uint32_t>(text.size());
    row.bytes = text.data();
    check_atoms(row, static_cast<std::int64_t>(length));
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

// Fills in the start of a delete whose row has its position and atoms.
void OpReader::read_delete(ChangeBatch::Row& row) {
    DeleteCells& cells = delete_cells_;
    if (cells.at == cells.size && !read_delete_cells()) return;
    const std::uint32_t peer = cells.peer[cells.at];
    const std::int32_t length = cells.length[cells.at];
    row.size = static_cast<std::uint32_t>(cells.counter[cells.at]);
    ++cells.at;
    if (peer >= tables_.peers.size()) return in_.container.fail("peer of a delete");
    // A run of backspaces ends at the start of the text at the latest.
    if (length < 0 && -std::int64_t{length} > std::int64_t{row.pos} + 1)
        return in_.container.fail("length of a delete");
    row.peer = numbers_.peers[peer];
    row.form = length > 0 ? ChangeBatch::Form::erase_forward : ChangeBatch::Form::erase_backward;
    check_atoms(row, std::abs(std::int64_t{length}));
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

// Gives each change the rows that make up its atoms exactly.
void OpReader::share_out(std::span<ChangeBatch::Head> heads, std::size_t first_row,
                         const ChangeBatch& batch) {
    const std::span rows = std::span(batch.rows).subspan(first_row);
    std::size_t next = 0;
    for (ChangeBatch::Head& head : heads) {
        const std::size_t begin = next;
        Counter left = head.atoms;
        while (left > 0 && next < rows.size()) left -= rows[next++].atoms;
        if (left != 0) return in_.atoms.fail("length of an op (ops do not fill their change)");
        head.row = static_cast<std::uint32_t>(first_row + begin);
        head.row_count = static_cast<std::uint32_t>(next - begin);
    }
}

void OpReader::finish() {
    if (!ok()) return;
    if (!containers_.at_end() || !props_.at_end() || !kinds_.at_end() || !atoms_.at_end()) {
        in_.container.fail("number of ops (columns differ, or changes end before them)");
    }
    if (delete_cells_.at < delete_cells_.size || !delete_peers_.at_end() ||
        !delete_counters_.at_end() || !delete_lengths_.at_end()) {
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

}  // namespace quire::codec
