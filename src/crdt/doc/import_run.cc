// Most rows type on where the row before ended. They only make the log's last run longer, and one call
// places the whole stretch: O(1) for a letter. A row whose version holds all of its container is
// checked against the container's size: O(1). Only a concurrent row costs a move of the container's
// order to the row's version and a search there: O(distance + log n). So rows are kept in the order
// in which they come, where neighbours have nearly the same version.
#include "crdt/doc/import_run.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/order.h"
#include "crdt/doc/tree_parts.h"

namespace quire::crdt {

namespace {

using Form = ChangeBatch::Form;

Failure too_many_atoms() {
    return fail(Errc::unsupported, "too_large",
                cat("a document holds at most ", kMostAtoms, " operations"));
}

Failure out_of_bound(std::uint32_t pos) {
    return corrupt(
        cat("an operation at position ", pos, " lies beyond the end of what it was written for"));
}

// Returns true if a sequence of this size has the position, and room, for so many atoms.
bool fits(RunKind kind, std::uint32_t pos, Lv count, std::uint32_t size) {
    if (kind == RunKind::erase_forward) return pos <= size && count <= size - pos;
    if (kind == RunKind::erase_backward) return pos < size && count <= pos + 1;
    return pos <= size && count <= kMaxSize - std::min(size, kMaxSize);
}

}  // namespace

PeerIndex ImportRun::meet(std::uint32_t number) {
    while (peers_.size() <= number)
        peers_.push_back(log_.atoms().intern(batch_.peers[peers_.size()]));
    return peers_[number];
}

Container& ImportRun::touch(std::uint32_t number) {
    if (number < containers_.size() && containers_[number] != nullptr) return *containers_[number];
    if (number >= containers_.size()) containers_.resize(batch_.containers.size(), nullptr);
    Container& c = body_.container(body_.open(batch_.containers[number]));
    containers_[number] = &c;
    c.touched = before_.size();
    Before& before = before_.emplace_back(
        Before{c.index, log_.logs()[c.index].mark(), 0, false, c.run, c.run_linear, 0});
    if (SequenceBody* sequence = c.sequence()) {
        before.size = sequence->size;
        before.has_anchors = c.has_anchors();
        // A list has no state that takes effects in, and tells those of the last import only.
        if (std::holds_alternative<ListBody>(c.body)) sequence->effects.clear();
        before.effects = sequence->effects.size();
    }
    return c;
}

Result<void> ImportRun::apply(std::span<const ChangeBatch::Head> heads) {
    const ChangeBatch::Head& first = heads.front();
    if (!has_room(first)) return too_many_atoms();
    deps_.clear();
    for (const ChangeBatch::Dep& dep : batch_.deps_of(first))
        deps_.push_back(*log_.version_atom(peer(dep.peer), dep.counter));
    log_.begin(peer(first.peer), deps_, first.timestamp, first.message);
    parents_ = log_.parents();
    // This holds for all of them: each change knows the one before it and all that that one knows.
    const bool linear = parents_ == log_.heads();
    TRY(apply_rows(first, linear));
    for (const ChangeBatch::Head& head : heads.subspan(1)) {
        if (!has_room(head)) return too_many_atoms();
        log_.go_on(head.timestamp, head.message);
        TRY(apply_rows(head, linear));
    }
    TRY(settle());
    log_.finish();
    return {};
}

bool ImportRun::has_room(const ChangeBatch::Head& head) const {
    return static_cast<Lv>(head.atoms) <= kMostAtoms - std::min(log_.end(), kMostAtoms);
}

Result<void> ImportRun::apply_rows(const ChangeBatch::Head& head, bool linear) {
    for (auto rows = batch_.rows_of(head); !rows.empty();) {
        const ChangeBatch::Row& row = rows.front();
        std::size_t done = 1;
        if (!goes_on_typing(row)) {
            TRY(settle());
            Container& c = touch(row.container);
            const auto is_plain = [&](const ChangeBatch::Row& other) {
                return other.form != Form::content && other.container == row.container;
            };
            if (is_plain(row) && (linear || is_linear(c))) {
                while (done < rows.size() && is_plain(rows[done])) ++done;
                TRY(apply_linear(c, rows.first(done)));
            } else {
                TRY(apply_row(c, row, linear));
            }
            parents_.assign(1, log_.end() - 1);
        }
        rows = rows.subspan(done);
    }
    return {};
}

Result<void> ImportRun::apply_linear(Container& c, std::span<const ChangeBatch::Row> rows) {
    ContainerLog& log = *c.log;
    SequenceBody& sequence = *c.sequence();
    const Lv begin = log_.end();
    Lv lv = begin;
    bool joins = log_.joins();
    for (const ChangeBatch::Row& row : rows) {
        const auto count = static_cast<Lv>(row.atoms);
        const RunKind kind = row.form == Form::text            ? RunKind::insert
                             : row.form == Form::erase_forward ? RunKind::erase_forward
                                                               : RunKind::erase_backward;
        if (!fits(kind, row.pos, count, sequence.size)) return out_of_bound(row.pos);
        if (kind == RunKind::insert) {
            log.insert_text({lv, row.pos, count, true, joins}, row.text());
            sequence.size += count;
        } else {
            log.erase_recorded({lv, row.pos, count, true}, kind == RunKind::erase_backward,
                               peer(row.peer), static_cast<Counter>(row.size));
            sequence.size -= count;
        }
        lv += count;
        joins = true;
    }
    log_.append(c.index, lv - begin);
    const ChangeBatch::Row& last = rows.back();
    if (last.form == Form::text) {
        typed_.into = &c;
        typed_.body = c.sequence();
        typed_.container = last.container;
        typed_.pos = last.pos + static_cast<Lv>(last.atoms);
        typed_.linear = true;
    }
    return {};
}

// Takes in a row that only continues the text typed before it. False, and nothing is done, for any
// other row.
bool ImportRun::goes_on_typing(const ChangeBatch::Row& row) {
    if (typed_.into == nullptr || row.container != typed_.container || row.form != Form::text ||
        row.pos != typed_.pos) {
        return false;
    }
    if (!typed_.into->log->may_lengthen_text(row.text().size())) return false;
    const auto count = static_cast<Lv>(row.atoms);
    if (typed_.linear) {
        std::uint32_t& size = typed_.body->size;
        if (!fits(RunKind::insert, row.pos, count, size)) return false;
        size += count;
    }
    typed_.into->log->lengthen_text(count, row.text());
    log_.append(typed_.into->index, count);
    typed_.pos += count;
    typed_.count += count;
    return true;
}

// Places the text that was typed.
Result<void> ImportRun::settle() {
    if (typed_.into == nullptr) return {};
    Container& c = *std::exchange(typed_.into, nullptr);
    parents_.assign(1, log_.end() - 1);
    if (typed_.linear) return {};
    return place(c, {typed_.lv, typed_.lv + typed_.count}, false, typed_.parents);
}

// True if the version of the next atom holds all that the container has. Then the op's position is
// a position of the container as it is.
bool ImportRun::holds_all(Container& c) const {
    const ContainerLog& log = *c.log;
    if (log.empty()) return true;
    const Graph& graph = log_.graph();
    if (log.runs().back().linear) return graph.contains(parents_, log.end() - 1);
    return graph.contains_all(parents_, c.heads);
}

// holds_all(), asked once for each run of the graph.
bool ImportRun::is_linear(Container& c) {
    const Lv run = log_.goes_on() ? log_.graph().last_run() : log_.end();
    if (c.run != run) {
        c.run = run;
        c.run_linear = holds_all(c);
    }
    return c.run_linear;
}

// From here on the container's heads are kept one by one.
void ImportRun::leave_linear(Container& c) {
    const ContainerLog& log = *c.log;
    if (log.empty() || !log.runs().back().linear) return;
    Heads& dropped = before(c).dropped_heads;
    for (const Lv head : c.heads) {
        if (head < mark_.end) dropped.push_back(head);
    }
    c.heads.assign(1, log.end() - 1);
}

// The last atom of all is a head now, and those that it follows are none any more. Where many peers
// were never merged there are as many heads, and an op mostly follows few of them.
void ImportRun::add_head(Container& c, const Heads& parents) {
    for (const Lv parent : parents) {
        const auto at = std::lower_bound(c.heads.begin(), c.heads.end(), parent);
        if (at == c.heads.end() || *at != parent) continue;
        if (parent < mark_.end) before(c).dropped_heads.push_back(parent);
        c.heads.erase(at);
    }
    c.heads.push_back(log_.end() - 1);
}

Result<void> ImportRun::apply_row(Container& c, const ChangeBatch::Row& row, bool linear) {
    const auto count = static_cast<Lv>(row.atoms);
    const bool carried =
        row.form == ChangeBatch::Form::content && std::holds_alternative<UnknownOp>(*row.content);
    if (c.is_sequence() && !carried) return apply_sequence_row(c, row, linear || is_linear(c));
    ContainerLog& log = *c.log;
    const OpContent& content = *row.content;
    if (const auto* add = std::get_if<CounterAdd>(&content)) {
        log.increment(log_.end(), add->delta);
        log_.append(c.index, count);
        return {};
    }
    const bool entry =
        std::holds_alternative<MapSet>(content) || std::holds_alternative<MapErase>(content);
    // An unknown op holds no position, and only ops that do are heads of a sequence.
    if (c.is_sequence()) leave_linear(c);
    log.keep({.lv = log_.end(), .len = count, .linear = !c.is_sequence()},
             entry ? RunKind::map_entry : RunKind::other, content);
    log_.append(c.index, count);
    return {};
}

// A style's end lies behind the stretch that its start names, and its start is the atom before it.
std::optional<std::uint32_t> ImportRun::anchor_position(Container& c,
                                                        const OpContent& content) const {
    if (const auto* start = std::get_if<StyleStart>(&content)) return start->start;
    const AtomTable& atoms = log_.atoms();
    const PeerIndex peer = log_.current_peer();
    const std::optional<Lv> lv = atoms.lv_of(peer, atoms.end_of(peer) - 1);
    if (!lv || log_.container_of(*lv) != c.index) return std::nullopt;
    const ContainerLog& log = *c.log;
    const Run& run = log.runs()[log.find(*lv)];
    if (run.kind != RunKind::anchor) return std::nullopt;
    const auto* start = std::get_if<StyleStart>(&log.op(run));
    if (start == nullptr) return std::nullopt;
    return start->end + 1;
}

// The atom that made an element, if it is one of this list that the version knows.
std::optional<Lv> ImportRun::element_of(const Container& c, ElementId id) const {
    const std::optional<Lv> made = log_.atom_of(id);
    if (!made || log_.container_of(*made) != c.index) return std::nullopt;
    const ContainerLog& log = *c.log;
    if (log.runs()[log.find(*made)].kind != RunKind::insert) return std::nullopt;
    if (!log_.graph().contains(parents_, *made)) return std::nullopt;
    return made;
}

Result<void> ImportRun::apply_sequence_row(Container& c, const ChangeBatch::Row& row, bool linear) {
    ContainerLog& log = *c.log;
    const Lv lv = log_.end();
    const auto count = static_cast<Lv>(row.atoms);
    const bool joins = log_.joins();
    const OpContent* content = row.form == Form::content ? row.content : nullptr;
    const auto* set = content == nullptr ? nullptr : std::get_if<ListSet>(content);
    const auto* move = content == nullptr ? nullptr : std::get_if<ListMove>(content);
    Lv element = kNoLv;
    if (set != nullptr || move != nullptr) {
        const ElementId id = set != nullptr ? set->element : move->element;
        const std::optional<Lv> made = element_of(c, id);
        if (!made) {
            return corrupt(cat("an operation on a movable list names the element ", id.lamport, "@",
                               id.peer, ", which its version of that list does not have"));
        }
        element = *made;
    }
    if (set != nullptr) {
        // A set holds no position, and only ops that do are heads of a sequence.
        if (!linear) leave_linear(c);
        log.set(lv, element, set->value, linear);
        log_.append(c.index, count);
        return {};
    }
    if (!linear) {
        order_of({body_, c});
        leave_linear(c);
    }

    if (row.form == Form::text) {
        log.insert_text({lv, row.pos, count, linear, joins}, row.text());
        log_.append(c.index, count);
        typed_.into = &c;
        typed_.body = c.sequence();
        typed_.container = row.container;
        typed_.pos = row.pos + count;
        typed_.lv = lv;
        typed_.count = count;
        typed_.linear = false;
        typed_.parents = parents_;
        return {};
    }
    if (row.is_erase()) {
        log.erase_recorded({lv, row.pos, count, linear}, row.form == Form::erase_backward,
                           peer(row.peer), static_cast<Counter>(row.size));
    } else if (move != nullptr) {
        log.move(lv, move->from, move->to, element, linear);
    } else if (const auto* elements = std::get_if<ListInsert>(content)) {
        log.insert_values(lv, elements->pos, elements->values, linear, joins);
    } else {
        const std::optional<std::uint32_t> pos = anchor_position(c, *content);
        if (!pos) {
            return corrupt(cat("a style ends at ", log_.atoms().end_of(log_.current_peer()),
                               "@0 that has no start before it"));
        }
        log.keep({.lv = lv, .pos = *pos, .linear = linear}, RunKind::anchor, *content);
        c.as<TextBody>().has_anchors = true;
    }
    log_.append(c.index, count);
    return place(c, {lv, lv + count}, linear, parents_);
}

// Puts the atoms, which are the log's last, at their place. Fails if there is no such place.
Result<void> ImportRun::place(Container& c, LvSpan atoms, bool linear, const Heads& parents) {
    const Run& run = c.log->runs().back();
    SequenceBody& sequence = *c.sequence();
    const Lv lv = atoms.begin;
    const Lv count = atoms.size();
    const bool moves = run.kind == RunKind::move;
    const std::uint32_t pos = run.is_insert() ? run.pos + (lv - run.lv) : run.pos;
    if (linear) {
        const bool there = moves ? run.pos < sequence.size && run.payload < sequence.size
                                 : fits(run.kind, pos, count, sequence.size);
        if (!there) return out_of_bound(pos);
        if (!moves) sequence.size = run.is_insert() ? sequence.size + count : sequence.size - count;
        return {};
    }
    if (run.is_insert() && count > kMaxSize - std::min(sequence.size, kMaxSize))
        return out_of_bound(pos);
    before(c).integrated = true;
    const std::size_t effects = sequence.effects.size();
    if (!sequence.integrate({body_, c}, run, atoms, parents)) return out_of_bound(pos);
    for (std::size_t i = effects; i < sequence.effects.size(); ++i) {
        sequence.size = sequence.effects[i].erase ? sequence.size - sequence.effects[i].len
                                                  : sequence.size + sequence.effects[i].len;
    }
    add_head(c, parents);
    return {};
}

void ImportRun::rewind() {
    for (const Before& before : before_) {
        Container& c = body_.container(before.container);
        log_.logs()[c.index].rewind(before.log);
        std::erase_if(c.heads, [&](Lv head) { return head >= mark_.end; });
        c.heads.insert(c.heads.end(), before.dropped_heads.begin(), before.dropped_heads.end());
        std::sort(c.heads.begin(), c.heads.end());
        c.run = before.run;
        c.run_linear = before.run_linear;
        if (SequenceBody* body = c.sequence()) {
            body->size = before.size;
            body->effects.resize(before.effects);
            if (body->kept != nullptr &&
                (before.integrated || body->kept->caught_up() > mark_.end)) {
                body->kept.reset();
            }
        }
        if (auto* text = std::get_if<TextBody>(&c.body)) text->has_anchors = before.has_anchors;
        // The tree reads positions in the log, which no longer holds the ops it took in.
        auto* tree = std::get_if<TreeBody>(&c.body);
        if (tree != nullptr && tree->parts != nullptr &&
            tree->parts->moves.taken() > before.log.runs) {
            tree->parts.reset();
        }
    }
    log_.rewind(mark_);
    body_.lift_pen();
    body_.outdate_reach();
}

void ImportRun::finish() {
    for (const Before& before : before_) {
        Container& c = body_.container(before.container);
        auto* map = std::get_if<MapBody>(&c.body);
        if (map == nullptr) continue;
        const auto& runs = log_.logs()[c.index].runs();
        for (std::size_t i = before.log.runs; i < runs.size(); ++i) {
            if (runs[i].kind == RunKind::map_entry) map->apply({body_, c}, runs[i]);
        }
    }
    body_.outdate_reach();
}

}  // namespace quire::crdt
