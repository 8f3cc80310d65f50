// A batch is filled row by row, from a blob or from changes, and read back the same way. The three
// frequent forms (text typed, text deleted forwards or backwards) are rows of plain numbers; any
// other op is kept by pointer, in the batch's own list if nothing else owns it. Nothing here
// allocates per op once the vectors have grown.

#include "crdt/ids/change_batch.h"

#include <limits>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace quire::crdt {

namespace {

// The fault of a change that its rows could not show; null for a sound change.
const char* fault_in(const Change& change) {
    std::int64_t next = change.id.counter;
    for (const Op& op : change.ops) {
        if (op.counter != next) return "has a gap between its operations";
        const auto* insert = std::get_if<TextInsert>(&op.content);
        if (insert != nullptr && !utf8::is_valid(insert->text))
            return "inserts text that is not UTF-8";
        const auto* erase = std::get_if<SequenceDelete>(&op.content);
        if (erase != nullptr && erase->len == std::numeric_limits<std::int32_t>::min())
            return "deletes at an impossible position";
        next += atom_count(op.content);
        if (next >= std::numeric_limits<Counter>::max()) return "counts beyond the last id";
    }
    return nullptr;
}

// Returns true if a row and a head can hold the number of atoms of an unsound change.
// Counters of rows and heads are 32 bits wide and signed. A change whose atoms do not fit is left
// out, along with all that follow; the batch is refused by its fault anyway.
bool is_countable(const Change& change) {
    std::int64_t atoms = 0;
    for (const Op& op : change.ops) {
        const auto* erase = std::get_if<SequenceDelete>(&op.content);
        if (erase != nullptr && erase->len == std::numeric_limits<std::int32_t>::min())
            return false;
        atoms += atom_count(op.content);
    }
    return atoms <= std::numeric_limits<Counter>::max();
}

}  // namespace

ChangeBatch::ChangeBatch(const std::vector<Change>& changes) {
    take(changes);
}
// The changes stay in the batch, so that its rows may point into them.
ChangeBatch::ChangeBatch(std::vector<Change>&& changes) : kept(std::move(changes)) {
    take(kept);
}
ChangeBatch::ChangeBatch(std::initializer_list<Change> changes)
    : ChangeBatch(std::vector<Change>(changes)) {}

void ChangeBatch::take(std::span<const Change> changes) {
    std::size_t ops = 0;
    for (const Change& change : changes) ops += change.ops.size();
    heads.reserve(changes.size());
    rows.reserve(ops);
    for (const Change& change : changes) {
        // Only the first fault is reported, since an import of the batch fails at it.
        if (!fault) {
            if (const char* what = fault_in(change)) fault = Fault{change.id, what};
        }
        if (fault && !is_countable(change)) return;
        append(change);
    }
}

void ChangeBatch::clear() {
    peers.clear();
    containers.clear();
    heads.clear();
    deps.clear();
    rows.clear();
    contents.clear();
    kept.clear();
    fault.reset();
}

// Frequent ops become plain rows; any other is kept by pointer.
ChangeBatch::Row ChangeBatch::row_of(const Op& op) {
    const std::uint32_t container = containers.add(op.container);
    const Counter atoms = atom_count(op.content);
    if (const auto* insert = std::get_if<TextInsert>(&op.content)) {
        return Row::of_text(container, insert->pos, insert->text, atoms);
    }
    Row row;
    row.container = container;
    row.atoms = atoms;
    if (const auto* erase = std::get_if<SequenceDelete>(&op.content)) {
        row.pos = static_cast<std::uint32_t>(erase->pos);
        row.size = static_cast<std::uint32_t>(erase->start.counter);
        row.peer = peers.add(erase->start.peer);
        row.form = erase->len > 0 ? Form::erase_forward : Form::erase_backward;
    } else {
        row.content = &op.content;
    }
    return row;
}

void ChangeBatch::append(const Change& change) {
    Head head{peers.add(change.id.peer), change.id.counter, 0, change.lamport,
              change.timestamp,          change.message};
    open(head);
    for (const OpId& dep : change.deps) deps.push_back({peers.add(dep.peer), dep.counter});
    for (const Op& op : change.ops) {
        rows.push_back(row_of(op));
        head.atoms += rows.back().atoms;
    }
    close(head);
}

void ChangeBatch::open(Head& head) const {
    head.dep = static_cast<std::uint32_t>(deps.size());
    head.row = static_cast<std::uint32_t>(rows.size());
}

void ChangeBatch::close(Head head) {
    CHECK(deps.size() <= UINT32_MAX && rows.size() <= UINT32_MAX);
    head.dep_count = static_cast<std::uint32_t>(deps.size()) - head.dep;
    head.row_count = static_cast<std::uint32_t>(rows.size()) - head.row;
    heads.push_back(head);
}

// The inverse of row_of().
OpContent ChangeBatch::content_of(const Row& row) const {
    switch (row.form) {
        case Form::text:
            return TextInsert{row.pos, std::string(row.text())};
        case Form::erase_forward:
        case Form::erase_backward:
            return SequenceDelete{static_cast<std::int32_t>(row.pos),
                                  row.form == Form::erase_forward ? row.atoms : -row.atoms,
                                  {peers[row.peer], static_cast<Counter>(row.size)}};
        case Form::content:
            break;
    }
    return *row.content;
}

Change ChangeBatch::change(const Head& head) const {
    Change change{id_of(head), {}, head.lamport, head.timestamp, std::string(head.message), {}};
    change.deps.reserve(head.dep_count);
    for (const Dep& dep : deps_of(head)) change.deps.push_back(id_of(dep));
    append_ops(rows_of(head), head.counter, change.ops);
    return change;
}

std::vector<Change> ChangeBatch::changes() const& {
    std::vector<Change> all;
    all.reserve(heads.size());
    for (const Head& head : heads) all.push_back(change(head));
    return all;
}

// Contents stand in the order of the rows that they belong to.
std::vector<Change> ChangeBatch::changes() && {
    std::vector<Change> all;
    all.reserve(heads.size());
    // The batch's own contents are moved; those of `kept` or of a history are copied.
    auto own = contents.begin();
    for (const Head& head : heads) {
        Change& change = all.emplace_back(
            Change{id_of(head), {}, head.lamport, head.timestamp, std::string(head.message), {}});
        change.deps.reserve(head.dep_count);
        for (const Dep dep : deps_of(head)) change.deps.push_back(id_of(dep));
        change.ops.reserve(head.row_count);
        Counter counter = head.counter;
        for (const Row& row : rows_of(head)) {
            const bool is_own =
                row.form == Form::content && own != contents.end() && row.content == &*own;
            change.ops.push_back(
                {containers[row.container], counter, is_own ? std::move(*own++) : content_of(row)});
            counter += row.atoms;
        }
    }
    return all;
}

void ChangeBatch::append_ops(std::span<const Row> of, Counter counter, std::vector<Op>& out) const {
    out.reserve(out.size() + of.size());
    for (const Row& row : of) {
        out.push_back({containers[row.container], counter, content_of(row)});
        counter += row.atoms;
    }
}

}  // namespace quire::crdt
