#include "crdt/doc/doc.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/opening.h"

namespace quire::crdt {

Doc::Doc(PeerId peer) : body_(std::make_unique<DocBody>(peer)) {
    CHECK(peer != kNoPeer);
}
Doc::Doc(Doc&&) noexcept = default;
Doc& Doc::operator=(Doc&&) noexcept = default;
Doc::~Doc() = default;

PeerId Doc::peer() const {
    return body_->peer_id();
}

void Doc::set_peer(PeerId peer) {
    CHECK(peer != kNoPeer && !body_->in_transaction());
    body_->set_peer(peer);
}

Handle Doc::open(const ContainerId& id) {
    return Handle{body_->open(id)};
}
const ContainerId& Doc::id_of(Handle container) const {
    return body_->container(container).id;
}
bool Doc::is_alive(Handle container) const {
    Container& c = body_->container(container);
    View* view = body_->view();
    return view == nullptr ? body_->is_alive(c) : body_->is_alive(c, view->reach);
}

// --- reading ---

const seq::Rope& Doc::text(Handle text) const {
    return body_->shown_text(body_->container(text));
}

std::size_t Doc::list_size(Handle list) const {
    Container& c = body_->container(list);
    return body_->at() == nullptr ? c.size : body_->shown_list(c).size();
}

Slot Doc::list_get(Handle list, std::size_t index) const {
    CHECK(index < list_size(list));
    return *body_->slot_of(body_->list_atom(body_->container(list), index));
}

ContainerId Doc::list_child(Handle list, std::size_t index) const {
    CHECK(index < list_size(list));
    const Lv lv = body_->list_atom(body_->container(list), index);
    const Slot& slot = *body_->slot_of(lv);
    CHECK(std::holds_alternative<ContainerKind>(slot));
    return body_->child_id(lv, std::get<ContainerKind>(slot));
}

OpId Doc::list_id(Handle list, std::size_t index) const {
    CHECK(index < list_size(list));
    return body_->oplog().atoms().id_of(body_->list_atom(body_->container(list), index));
}

std::optional<std::size_t> Doc::list_index_of(Handle list, OpId id) const {
    Container& c = body_->container(list);
    const std::optional<Lv> lv = body_->oplog().atoms().lv_of(id);
    if (!lv || body_->oplog().container_of(*lv) != c.index || body_->slot_of(*lv) == nullptr)
        return std::nullopt;
    if (body_->at() != nullptr) {
        const std::vector<Lv>& atoms = body_->shown_list(c);
        const auto at = std::find(atoms.begin(), atoms.end(), *lv);
        if (at == atoms.end()) return std::nullopt;
        return static_cast<std::size_t>(at - atoms.begin());
    }
    const Sequence::Place place = body_->sequence(c).place_of(*lv);
    if (place.erased > 0) return std::nullopt;
    return place.pos;
}

std::optional<Slot> Doc::map_get(Handle map, std::string_view key) const {
    const MapState::Write* write = body_->shown_write(body_->container(map), key);
    if (write == nullptr) return std::nullopt;
    return *body_->slot_of(write->lv);
}

std::optional<ContainerId> Doc::map_child(Handle map, std::string_view key) const {
    const MapState::Write* write = body_->shown_write(body_->container(map), key);
    if (write == nullptr) return std::nullopt;
    return body_->entry_child(body_->container(map), key, write->lv);
}

std::vector<std::string> Doc::map_keys(Handle map) const {
    std::vector<std::string> keys;
    const Container& c = body_->container(map);
    if (c.map == nullptr) return keys;
    for (const auto& [key, entry] : c.map->entries()) {
        const MapState::Write* write = DocBody::map_write(entry, body_->at());
        if (write != nullptr && !write->erases) keys.push_back(key);
    }
    return keys;
}

Value Doc::value(Handle container) const {
    return body_->value(body_->container(container), 0, body_->at());
}
Value Doc::value() const {
    // Those that cannot be told apart are left out where the history cannot be read.
    if (body_->doubts_roots()) static_cast<void>(load_history());
    return body_->root_value(body_->at());
}

// --- local edits ---

void DocBody::open_transaction() {
    open_ = true;
    began_ = log_.end();
    log_.begin_local(peer_);
    typing_.until = kMaxSize;  // Nor can a container hold more than there are atoms.
}

namespace {

Result<void> insert_anywhere(DocBody& body, Handle text, text::CodePoint at,
                             std::string_view utf8) {
    Container* c = body.editable(text, ContainerKind::text);
    if (c == nullptr) return body.refuse(text, ContainerKind::text);
    std::size_t position = at.n;
    if (c->has_anchors) {
        const seq::Rope& rope = body.text(*c);
        if (at > rope.code_points()) return beyond(at.n, rope.code_points().n);
        position = c->text->insertion(static_cast<std::uint32_t>(at.n));
    } else if (position > c->size) {
        return beyond(position, c->size);
    }
    if (utf8.empty()) return {};
    std::size_t len = 1;
    if (utf8.size() > 1 || static_cast<unsigned char>(utf8[0]) >= 0x80) {
        if (!utf8::is_valid(utf8))
            return invalid("invalid_utf8", "the text is not UTF-8; nothing was changed");
        len = utf8::count_code_points(utf8);
    }
    if (len > kMaxSize - c->size) return too_large();
    body.insert_text(*c, static_cast<std::uint32_t>(position), utf8,
                     static_cast<std::uint32_t>(len));
    return {};
}

Result<void> erase_anywhere(DocBody& body, Handle text, text::CodePoint at, text::CodePoint count) {
    Container* c = body.editable(text, ContainerKind::text);
    if (c == nullptr) return body.refuse(text, ContainerKind::text);
    if (!c->has_anchors) {
        if (at.n > c->size || count.n > c->size - at.n) return beyond(at.n + count.n, c->size);
        if (count.n > 0) {
            body.erase(*c, static_cast<std::uint32_t>(at.n), static_cast<std::uint32_t>(count.n));
        }
        return {};
    }
    const std::size_t size = body.text(*c).code_points().n;
    if (at.n > size || count.n > size - at.n) return beyond(at.n + count.n, size);
    body.erase_text(*c, at.n, count.n);
    return {};
}

}  // namespace

// Apart from what an edit anywhere needs, so that typing on costs little more than its counters.
Result<void> Doc::text_insert(Handle text, text::CodePoint at, std::string_view utf8) {
    if (body_->type_on(text, at.n, utf8)) return {};
    return insert_anywhere(*body_, text, at, utf8);
}

Result<void> Doc::text_erase(Handle text, text::CodePoint at, text::CodePoint count) {
    if (body_->erase_on(text, at.n, count.n)) return {};
    return erase_anywhere(*body_, text, at, count);
}

Result<void> Doc::list_insert(Handle list, std::size_t at, Value value) {
    Container* c = body_->editable(list, ContainerKind::list);
    if (c == nullptr) return body_->refuse(list, ContainerKind::list);
    if (at > c->size) return beyond(at, c->size);
    if (c->size >= kMaxSize) return too_large();
    body_->insert_values(*c, static_cast<std::uint32_t>(at), {Slot(std::move(value))});
    return {};
}

Result<ContainerId> Doc::list_insert_container(Handle list, std::size_t at, ContainerKind kind) {
    Container* c = body_->editable(list, ContainerKind::list);
    if (c == nullptr) return body_->refuse(list, ContainerKind::list);
    if (at > c->size) return beyond(at, c->size);
    if (c->size >= kMaxSize) return too_large();
    const Lv lv = body_->oplog().end();
    body_->insert_values(*c, static_cast<std::uint32_t>(at), {Slot(kind)});
    return body_->child_id(lv, kind);
}

Result<void> Doc::list_erase(Handle list, std::size_t at, std::size_t count) {
    Container* c = body_->editable(list, ContainerKind::list);
    if (c == nullptr) return body_->refuse(list, ContainerKind::list);
    if (at > c->size || count > c->size - at) return beyond(at + count, c->size);
    if (count > 0)
        body_->erase(*c, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(count));
    return {};
}

Result<void> Doc::map_set(Handle map, std::string_view key, Value value) {
    Container* c = body_->editable(map, ContainerKind::map);
    if (c == nullptr) return body_->refuse(map, ContainerKind::map);
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    const MapState::Entry* entry = c->map->find(key);
    if (entry != nullptr && !entry->winner.erases) {
        const auto* now = std::get_if<Value>(body_->slot_of(entry->winner.lv));
        if (now != nullptr && *now == value) return {};
    }
    body_->write_map(*c, MapSet{std::string(key), std::move(value)});
    return {};
}

Result<ContainerId> Doc::map_insert_container(Handle map, std::string_view key,
                                              ContainerKind kind) {
    Container* c = body_->editable(map, ContainerKind::map);
    if (c == nullptr) return body_->refuse(map, ContainerKind::map);
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    const Lv lv = body_->oplog().end();
    body_->write_map(*c, MapSet{std::string(key), kind});
    return body_->child_id(lv, kind);
}

Result<void> Doc::map_erase(Handle map, std::string_view key) {
    Container* c = body_->editable(map, ContainerKind::map);
    if (c == nullptr) return body_->refuse(map, ContainerKind::map);
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    body_->write_map(*c, MapErase{std::string(key)});
    return {};
}

bool Doc::has_pending() const {
    return body_->in_transaction();
}
IdSpan Doc::pending() const {
    return body_->pending_span();
}
Commit Doc::commit(CommitOptions options) {
    return body_->commit(std::move(options));
}

// --- history ---

const VersionVector& Doc::version() const {
    return body_->shown_version();
}
Frontiers Doc::frontiers() const {
    return body_->frontiers_of(body_->shown_heads());
}

Result<Imported> Doc::import(ChangeBatch& batch, ImportOptions options) {
    TRY(load_history());
    return body_->import(batch, std::move(options));
}

Result<Imported> Doc::import(const std::vector<Change>& changes, ImportOptions options) {
    TRY(load_history());
    return body_->import(changes, std::move(options));
}

std::vector<Change> Doc::changes_since(const VersionVector& from) const {
    ChangeBatch batch;
    changes_since(from, batch);
    return batch.changes();
}

void Doc::changes_since(const VersionVector& from, ChangeBatch& out) const {
    CHECK(load_history(from));
    std::vector<LvSpan> spans = body_->spans_since(from);
    body_->export_spans(spans, out);
}

std::vector<Change> Doc::changes_in(std::span<const IdSpan> spans) const {
    ChangeBatch batch;
    changes_in(spans, batch);
    return batch.changes();
}

void Doc::changes_in(std::span<const IdSpan> spans, ChangeBatch& out) const {
    CHECK(!body_->in_transaction());
    const bool since_opening = std::all_of(spans.begin(), spans.end(), [&](const IdSpan& span) {
        return has_history() || span.begin >= unread_->end.end_of(span.peer);
    });
    CHECK(since_opening || load_history());
    body_->export_changes(spans, out);
}

std::size_t Doc::op_count() const {
    return body_->op_count();
}

std::vector<IdSpan> Doc::waiting() const {
    return body_->waiting();
}

// --- taking back ---

Result<Doc::Undone> Doc::revert(std::span<const IdSpan> spans, std::span<const Handle> only,
                                RevertOptions options) {
    if (body_->at() != nullptr) return DocBody::refuse_detached();
    TRY(load_history());
    return body_->revert(spans, only, options);
}

Result<std::string> Doc::text_at(Handle text, const Frontiers& version) const {
    TRY(load_history());
    Container& c = body_->container(text);
    if (c.id.kind != ContainerKind::text) return body_->refuse(text, ContainerKind::text);
    return body_->text_at(c, version);
}

void Doc::check_invariants() const {
    CHECK(load_history());
    body_->check_invariants();
}

}  // namespace quire::crdt
