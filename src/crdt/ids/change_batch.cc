#include "crdt/ids/change_batch.h"

namespace quire::crdt {

void ChangeBatch::clear() {
    peers.clear();
    containers.clear();
    heads.clear();
    deps.clear();
    rows.clear();
    contents.clear();
}

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
    head.dep = deps.size();
    head.dep_count = change.deps.size();
    for (const OpId& dep : change.deps) deps.push_back({peers.add(dep.peer), dep.counter});
    head.row = rows.size();
    head.row_count = change.ops.size();
    for (const Op& op : change.ops) {
        rows.push_back(row_of(op));
        head.atoms += rows.back().atoms;
    }
    heads.push_back(head);
}

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

std::vector<Change> ChangeBatch::changes() const {
    std::vector<Change> all;
    all.reserve(heads.size());
    for (const Head& head : heads) all.push_back(change(head));
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
