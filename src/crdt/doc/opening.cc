// StateWriter turns a state into ops in front of all others. Their atoms have the ids and lamports
// that they always had, so everything that reads, edits, merges or exports works on them as on any
// history. What only the real history tells (text that was deleted, earlier values) is not there:
// history.h says what reads it then. Opening costs O(state), loading O(history).
#include "crdt/doc/opening.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/doc/events.h"
#include "crdt/doc/export.h"
#include "crdt/doc/history.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/shallow.h"
#include "crdt/history/pending.h"

namespace quire::crdt {

namespace {

constexpr const char* kNeedsHistory = "needs_history";

Failure needs_history(std::string_view what) {
    return fail(Errc::unsupported, kNeedsHistory,
                cat(what, " cannot be told from a state; read the history"));
}

// The slot that an atom filled with the item. A child must be named after the atom.
Result<Slot> slot_of(Item item, OpId made_by) {
    const auto* child = std::get_if<ContainerId>(&item);
    if (child == nullptr) return Slot(std::get<Value>(std::move(item)));
    if (child->is_root()) return needs_history("a child with a name of its own");
    if (child->op() != made_by) return corrupt("a child is named after another atom than made it");
    return Slot(child->kind);
}

}  // namespace

// --- what a state holds ---

SequenceBody& StateWriter::sequence() const {
    SequenceBody* sequence = container().sequence();
    CHECK(sequence != nullptr);
    return *sequence;
}

Result<void> StateWriter::begin(const ContainerId& id) {
    end();
    container_ = &body_.container(body_.open(id));
    if (!container().log->empty()) return corrupt("a container is there twice");
    is_open_ = true;
    styles_.clear();
    return {};
}

void StateWriter::end() {
    if (!std::exchange(is_open_, false)) return;
    // Somebody may have written it empty, or nobody ever wrote to it.
    if (container().id.is_root() && container().log->empty()) body_.doubt_roots();
}

Result<void> StateWriter::grow(std::size_t entities) {
    std::uint32_t& size = sequence().size;
    if (entities > kMaxSize - size) return corrupt("a container holds more than one can");
    size += static_cast<std::uint32_t>(entities);
    return {};
}

Lv StateWriter::place(const StampedAtom& first, Counter count) {
    const Lv lv = body_.oplog().end();
    body_.oplog().place(container().index,
                        {first.id.peer, first.id.counter, first.lamport, static_cast<Lv>(count)});
    return lv;
}

Result<Lv> StateWriter::place(ElementId writer, const Item* made) {
    const Lv lv = body_.oplog().end();
    OpLog::Placed atom{.peer = writer.peer, .lamport = writer.lamport};
    const auto* child = made == nullptr ? nullptr : std::get_if<ContainerId>(made);
    if (child != nullptr) {
        if (child->is_root()) return needs_history("a child with a name of its own");
        if (child->op().peer != writer.peer)
            return corrupt("a child is named after another peer than made it");
        atom.first = child->op().counter;
    }
    body_.oplog().place(container().index, atom);
    return lv;
}

void StateWriter::expect_stretches(std::size_t count) {
    body_.oplog().expect_placed(count);
    container().log->expect(count);
}

Result<void> StateWriter::text(const StampedAtom& first, std::string_view utf8, Counter len) {
    Container& c = container();
    const std::uint32_t pos = sequence().size;
    TRY(grow(static_cast<std::size_t>(len)));
    const Lv lv = place(first, len);
    c.log->insert_text({.lv = lv, .pos = pos, .len = static_cast<std::uint32_t>(len)}, utf8);
    return {};
}

Result<void> StateWriter::style_start(StampedAtom at, std::string key, Value value,
                                      std::uint8_t info) {
    Container& c = container();
    const std::uint32_t pos = sequence().size;
    TRY(grow(1));
    c.log->keep({.lv = place(at, 1), .pos = pos}, RunKind::anchor,
                StyleStart{pos, pos, std::move(key), std::move(value), info});
    c.as<TextBody>().has_anchors = true;
    styles_.insert(at.id);
    return {};
}

Result<void> StateWriter::style_end(StampedAtom at) {
    Container& c = container();
    const std::uint32_t pos = sequence().size;
    if (at.id.counter == 0 || !styles_.contains({at.id.peer, at.id.counter - 1}))
        return needs_history("what style ends here");
    TRY(grow(1));
    c.log->keep({.lv = place(at, 1), .pos = pos}, RunKind::anchor, StyleEnd{});
    return {};
}

Result<void> StateWriter::values(StampedAtom first, std::span<Item> values) {
    Container& c = container();
    const std::uint32_t pos = sequence().size;
    TRY(grow(values.size()));
    std::vector<Slot> slots;
    slots.reserve(values.size());
    OpId made_by = first.id;
    for (Item& item : values) {
        slots.push_back(TRY(slot_of(std::move(item), made_by)));
        ++made_by.counter;
    }
    const Lv lv = place(first, static_cast<Counter>(values.size()));
    c.log->insert_values(lv, pos, std::move(slots), true, false);
    return {};
}

void StateWriter::expect_entries(std::size_t count) {
    container().log->reserve(count);
}

Result<void> StateWriter::entry(std::string key, std::optional<Item> item, ElementId writer) {
    Container& c = container();
    const Lv lv = TRY(place(writer, item ? &*item : nullptr));
    OpContent op = MapErase{key};
    if (item) {
        Slot slot = TRY(slot_of(std::move(*item), body_.oplog().atoms().id_of(lv)));
        op = MapSet{std::move(key), std::move(slot)};
    }
    c.log->keep({.lv = lv}, RunKind::map_entry, std::move(op));
    c.as<MapBody>().apply({body_, c}, c.log->runs().back());
    return {};
}

// Writes the element as if it had been inserted here, then moved to where it is, then set.
Result<void> StateWriter::element(StampedAtom slot, ElementId made, ElementId set, Item item) {
    Container& c = container();
    ContainerLog& log = *c.log;
    const std::uint32_t pos = sequence().size;
    TRY(grow(1));
    const ElementId put{slot.id.peer, slot.lamport};
    const auto is_later = [](ElementId a, ElementId b) {
        return a.lamport != b.lamport ? a.lamport > b.lamport : a.peer > b.peer;
    };
    if ((put != made && !is_later(put, made)) || (set != made && !is_later(set, made)))
        return corrupt("an element was moved or set before it was made");
    Lv creator = 0;
    if (put == made) {
        creator = place(slot, 1);
    } else {
        creator = TRY(place(made, set == made ? &item : nullptr));
    }
    const auto slot_by = [&](Lv writer) {
        return slot_of(std::move(item), body_.oplog().atoms().id_of(writer));
    };
    Slot first = Value();
    if (set == made) first = TRY(slot_by(creator));
    log.insert_values(creator, pos, std::vector<Slot>{std::move(first)}, true, false);
    if (put != made) log.move(place(slot, 1), pos, pos, creator, true);
    if (set == made) return {};
    const Lv setter = TRY(place(set, &item));
    log.set(setter, creator, TRY(slot_by(setter)), true);
    return {};
}

// Writes the slot as if an element had been inserted there, moved to the place behind it, for which
// only a slot is made, and deleted there.
Result<void> StateWriter::empty_slot(StampedAtom slot) {
    Container& c = container();
    ContainerLog& log = *c.log;
    const std::uint32_t pos = sequence().size;
    TRY(grow(1));
    const auto insert = [&](Lv lv, std::uint32_t at) {
        log.insert_values(lv, at, std::vector<Slot>{Value()}, true, false);
    };
    // Later than the slot, so that they decide about it whatever order they are looked at in.
    const ElementId nobody{kNoPeer, slot.lamport};
    const Lv made = place(slot, 1);
    insert(made, pos);
    insert(TRY(place(nobody, nullptr)), pos + 1);
    log.move(TRY(place(nobody, nullptr)), pos + 1, pos + 1, made, true);
    log.erase_forward(TRY(place(nobody, nullptr)), pos + 1, 1, false);
    return {};
}

// Writes the node as if it had been made where it is. A state does not tell the lamport of the op
// that made it; any will do that is below the last move's, and no atom's counter is above its
// lamport. A history may also move or erase a node that nobody made, under any name; that shows
// only there.
Result<void> StateWriter::node(OpId id, std::optional<OpId> parent, bool erased,
                               StampedAtom last_move, Bytes position) {
    ContainerLog& log = *container().log;
    const auto write = [&](StampedAtom atom, OpContent op) {
        log.keep({.lv = place(atom, 1)}, RunKind::other, std::move(op));
    };
    if (id == last_move.id) {
        if (erased) return needs_history("what made a node");
        write(last_move, TreeCreate{id, parent, std::move(position)});
        return {};
    }
    const auto lowest = static_cast<Lamport>(id.counter);
    if (lowest >= last_move.lamport) return needs_history("what made a node");
    write({id, lowest}, TreeCreate{id, parent, erased ? Bytes() : position});
    if (erased) {
        write(last_move, TreeErase{id});
    } else {
        write(last_move, TreeMove{id, parent, std::move(position)});
    }
    return {};
}

Result<void> StateWriter::total(double sum) {
    if (sum == 0) return {};  // It is empty, like a text without letters: see end().
    container().log->increment(TRY(place({kNoPeer, 0}, nullptr)), sum);
    return {};
}

// --- the document ---

std::unique_ptr<DocBody> DocBody::emptied() const {
    auto body = std::make_unique<DocBody>(journal_.peer_id());
    for (const Place& place : containers_) body->open(place.name);
    body->settings = settings;
    return body;
}

Result<std::unique_ptr<DocBody>> DocBody::with_history(std::shared_ptr<const ShallowStart> start,
                                                       ChangeBatch history,
                                                       const VersionVector& end,
                                                       const Frontiers& heads) {
    std::unique_ptr<DocBody> body = emptied();
    Journal& journal = body->journal();
    if (start != nullptr) TRY(body->begin_at(std::move(start)));
    const auto take = [&](ChangeBatch changes) -> Result<void> {
        const Imported imported = TRY(body->import(changes, {}));
        if (imported.pending.empty()) return {};
        return corrupt("the history depends on changes that it does not hold");
    };
    TRY(take(std::move(history)));
    if (journal.version() != end || journal.frontiers_of(journal.log().heads()) != heads)
        return corrupt("the history ends elsewhere than its version");
    const LvSpan committed{oplog().base(), journal_.committed_end()};
    if (committed.end > committed.begin) TRY(take(export_spans(*this, {committed})));
    if (journal_.in_transaction()) {
        const Lv begin = journal.log().end();
        TRY(take(export_spans(*this, {{journal_.began(), oplog().end()}})));
        journal.reopen();
        // The runs are as they were made, so that the transaction can lengthen them.
        for (ContainerIndex i = 0; i < body->container_count(); ++i)
            journal.log().logs()[i].forget_starts(begin);
    }
    body->announcements().share(announcements_);
    return body;
}

namespace {

// Ends the base: everything that the state holds is in the log. Errors: corrupt; unsupported.
Result<void> end_base(Journal& journal, const OpeningVersion& version) {
    std::vector<OpLog::Placed> heads;
    Lamport latest = 0;
    for (const StampedAtom& head : version.heads) {
        if (head.id.counter + 1 != version.end.end_of(head.id.peer))
            return corrupt("a version has a head that is not the last of its peer");
        heads.push_back({head.id.peer, head.id.counter, head.lamport, 1});
    }
    for (const OpLog::Placed& head : heads) latest = std::max(latest, head.lamport);
    if (journal.log().base_lamport() > latest) return needs_history("when an atom was made");
    if (heads.empty() || !journal.end_base(version.end, heads, version.timestamp))
        return needs_history("which of two atoms with one name is the one");
    return {};
}

}  // namespace

Result<void> DocBody::begin_at(std::shared_ptr<const ShallowStart> start) {
    StateWriter writer(*this);
    const auto write = [&]() -> Result<void> {
        TRY(start->write(writer));
        writer.end();
        return end_base(journal_, start->version());
    };
    Result<void> written = write();
    // There is no history to ask.
    if (!written && written.error().reason() == kNeedsHistory)
        return corrupt(cat("at the start of a shallow history ", written.error().message()));
    TRY(std::move(written));
    start_ = std::move(start);
    return {};
}

bool is_blank(const Doc& doc) {
    return doc.history().op_count() == 0 && doc.pending().empty() && !doc.is_detached() &&
           doc.body_->is_unfollowed();
}

Result<void> open_at(Doc& doc, const OpeningVersion& version, std::unique_ptr<HistorySource> source,
                     Function<Result<void>(StateWriter&)> write) {
    CHECK(is_blank(doc));
    std::unique_ptr<DocBody> body = doc.body_->emptied();
    StateWriter writer(*body);
    TRY(write(writer));
    writer.end();
    TRY(end_base(body->journal(), version));
    body->announcements().share(doc.body_->announcements());
    doc.body_ = std::move(body);
    doc.unread_ = std::make_unique<UnreadHistory>(
        UnreadHistory{std::move(source),
                      version.end,
                      doc.body_->journal().frontiers_of(doc.body_->oplog().heads()),
                      {}});
    return {};
}

// --- shallow documents (shallow.h) ---

// A shallow document is made as a history is read: the state at its start becomes the base of a new
// log, and the history goes in behind it by the ordinary import. The start of a history that is to
// be trimmed is found in the causal graph, in one walk down its runs.

Frontiers ShallowStart::frontiers() const {
    Frontiers heads;
    for (const StampedAtom& head : version_.heads) heads.push_back(head.id);
    std::sort(heads.begin(), heads.end());
    return heads;
}

VersionVector ShallowStart::trimmed() const {
    VersionVector before = version_.end;
    for (const Change& op : first_ops_) before.set(op.id.peer, op.id.counter);
    return before;
}

bool is_empty(const Doc& doc) {
    return doc.history().op_count() == 0 && doc.pending().empty() && !doc.is_detached();
}

namespace {

// Tells subscribers of everything that the document shows.
void tell_opened(DocBody& body) {
    if (!body.announcements().wants_events()) return;
    Journal& journal = body.journal();
    const Past nothing;
    const Past all = journal.past_of(journal.log().heads());
    body.announcements().tell(body, {Event::By::import,
                                     {},
                                     {},
                                     {},
                                     journal.frontiers_of(all.heads()),
                                     Comparison(body, nothing, all).diff()});
}

// The lowest atom that a change names as what it follows, its own peer's last one included; none if
// it follows nothing, or an atom of a base that was trimmed.
std::optional<Lv> lowest_parent(const OpLog& log, const ChangeInfo& change) {
    std::optional<Lv> lowest;
    for (const Lv dep : log.deps_of(change)) lowest = std::min(dep, lowest.value_or(dep));
    const OpId first = log.atoms().id_of(change.lv);
    if (first.counter == 0) return lowest;
    const std::optional<Lv> before =
        log.version_atom(*log.atoms().find(first.peer), first.counter - 1);
    if (!before) return std::nullopt;
    return std::min(*before, lowest.value_or(*before));
}

// The highest atom up to `limit`, and after the base, that follows all atoms before it, and before
// which no later change names anything as what it follows. Loro cuts there: an earlier writer who
// goes on after a version makes it none, even if nothing is concurrent with it.
std::optional<Lv> last_cut(const OpLog& log, Lv limit) {
    const std::vector<ChangeInfo>& changes = log.changes();
    for (std::size_t i = changes.size(); i-- > 0;) {
        if (changes[i].lv < log.base()) break;
        if (changes[i].lv <= limit) {
            const Lv cut = std::min(limit, log.change_end(i) - 1);
            if (log.graph().follows_all(cut)) return cut;
        }
        const std::optional<Lv> parent = lowest_parent(log, changes[i]);
        if (!parent) break;
        limit = std::min(limit, *parent);
    }
    return std::nullopt;
}

// Imports again what waited for others in an empty document. What does not follow the start is
// dropped, as an unsound change that waited is.
void import_parked(DocBody& body, const std::vector<std::shared_ptr<const Change>>& parked) {
    for (const auto& change : parked) {
        ChangeBatch batch;
        batch.append(*change);
        static_cast<void>(body.import(batch, {}));
    }
}

}  // namespace

Result<void> open_shallow(Doc& doc, std::shared_ptr<const ShallowStart> start, ChangeBatch history,
                          const HistoryEnd& end) {
    CHECK(is_empty(doc));
    DocBody& before = body_of(doc);
    std::unique_ptr<DocBody> body =
        TRY(before.with_history(std::move(start), std::move(history), end.version, end.heads));
    const auto parked = before.parked().changes();
    if (before.is_followed()) body->follow_numbers();
    // The body before may be telling its subscribers an event.
    doc.unread_ = std::make_unique<UnreadHistory>(
        UnreadHistory{{}, {}, {}, std::exchange(doc.body_, std::move(body))});
    if (!doc.body_->announcements().has_subscribers()) doc.unread_.reset();
    tell_opened(*doc.body_);
    import_parked(*doc.body_, parked);
    return {};
}

Result<void> check_retained(const Doc& doc, std::span<const IdSpan> spans) {
    const auto start = doc.history().start();
    if (start == nullptr) return {};
    const VersionVector trimmed = start->trimmed();
    for (const IdSpan& span : spans) {
        if (span.size() > 0 && span.begin < trimmed.end_of(span.peer))
            return before_start(cat("the operation ", span.begin, "@", span.peer));
    }
    return {};
}

namespace {

// Returns true if the atom begins a style whose end is the next atom.
bool begins_style(const OpLog& oplog, Lv lv) {
    const ContainerLog& log = oplog.logs()[oplog.container_of(lv)];
    const Run& run = log.runs()[log.find(lv)];
    return run.kind == RunKind::anchor && std::holds_alternative<StyleStart>(log.op(run));
}

// Returns true if a tree has by `last` moved or erased a node that no op of it had made by then, or put one below such a
// node. A state cannot tell such a node from one that was made, and its name may be that of any atom; what stands below
// it is not shown, but a later move can show it.
bool places_foreign_nodes(const DocBody& body, Lv last) {
    const Lv base = body.oplog().base();
    const auto has_foreign = [&](const ContainerLog& log) {
        std::unordered_set<OpId> made;
        const auto is_made = [&](const std::optional<OpId>& parent) {
            return !parent || made.contains(*parent);
        };
        for (const Run& run : log.runs()) {
            if (run.lv > last) break;
            if (run.kind != RunKind::other) continue;
            const OpContent& op = log.op(run);
            const auto* create = std::get_if<TreeCreate>(&op);
            if (create != nullptr) made.insert(create->target);
            if (run.lv < base) continue;  // Nodes of a base are all made, in any order.
            const auto* move = std::get_if<TreeMove>(&op);
            const auto* erase = std::get_if<TreeErase>(&op);
            if ((create != nullptr && !is_made(create->parent)) ||
                (move != nullptr && !(made.contains(move->target) && is_made(move->parent))) ||
                (erase != nullptr && !made.contains(erase->target))) {
                return true;
            }
        }
        return false;
    };
    for (ContainerIndex i = 0; i < body.container_count(); ++i) {
        if (body.name_of(i).kind == ContainerKind::tree && has_foreign(body.oplog().logs()[i]))
            return true;
    }
    return false;
}

}  // namespace

Result<Frontiers> start_for(const Doc& doc, const Frontiers& version) {
    TRY(doc.history().load());
    DocBody& body = whole_of(doc);
    const Journal& journal = body.journal();
    const OpLog& log = journal.log();
    const Heads at = TRY(journal.heads_of(version));
    std::optional<Lv> cut = at.empty() ? std::nullopt : last_cut(log, at.front());
    if (cut && places_foreign_nodes(body, *cut)) cut = std::nullopt;
    while (cut && begins_style(log, *cut)) {
        if (last_cut(log, *cut + 1) == *cut + 1) {
            ++*cut;
            break;
        }
        cut = *cut == 0 ? std::nullopt : last_cut(log, *cut - 1);
    }
    if (cut) return Frontiers{log.atoms().id_of(*cut)};
    return body.start() == nullptr ? Frontiers() : body.start()->frontiers();
}

}  // namespace quire::crdt
