#include "codec/draft.h"

#include <algorithm>
#include <utility>

#include "base/cat.h"
#include "base/utf8.h"
#include "codec/ops.h"

namespace quire::codec {
namespace {

using crdt::Change;
using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Counter;
using crdt::OpId;

Failure needs_history(std::string_view what) {
    return fail(Errc::unsupported, "needs_history",
                cat(what, " cannot be edited before the history is there; load the document"));
}

Failure beyond(std::size_t position, std::size_t size) {
    return fail(Errc::out_of_range, "out_of_bound",
                cat("position ", position, " lies beyond the end, which is ", size,
                    "; nothing was changed"));
}

Result<void> check_text(std::string_view utf8, const char* what) {
    if (!utf8::is_valid(utf8))
        return invalid("invalid_utf8", cat("the ", what, " is not UTF-8; nothing was changed"));
    return {};
}

// A root of the kind, as it stands in the snapshot; empty where it does not.
template <class S>
Result<S> state_of(const OpenedDocument& document, const ContainerId& id, ContainerKind kind) {
    if (id.kind != kind) {
        return invalid(
            "wrong_kind",
            "the container is of another kind than this operation is for; nothing was changed");
    }
    if (!id.is_root()) return needs_history("a container without a name");
    std::optional<ContainerState> found = TRY(document.state(id));
    if (found) return std::get<S>(std::move(found->state));
    if (id.root_name().empty()) {
        return invalid("invalid_name",
                       "a root container's name has at least one character; nothing was changed");
    }
    return S();
}

}  // namespace

Draft::Draft(const OpenedDocument& document, crdt::PeerId peer)
    : document_(document), peer_(peer), next_(document.version().end_of(peer)) {}

Result<Draft::Text*> Draft::open_text(const ContainerId& id) {
    if (const auto known = texts_.find(id); known != texts_.end()) return &known->second;
    const auto state = TRY(state_of<TextState>(document_, id, ContainerKind::text));
    if (!state.styles.empty()) return needs_history("a text with styles");
    Text text{seq::Rope(state.text), {}};
    text.spans.reserve(state.spans.size() + 16);
    for (const TextSpan& span : state.spans) text.spans.push_back({span.first.id, span.length});
    return &texts_.emplace(id, std::move(text)).first->second;
}

Result<Draft::List*> Draft::open_list(const ContainerId& id) {
    if (const auto known = lists_.find(id); known != lists_.end()) return &known->second;
    const auto state = TRY(state_of<ListState>(document_, id, ContainerKind::list));
    List list;
    for (const IdRun& run : state.ids) {
        for (Counter i = 0; i < run.size; ++i)
            list.ids.push_back({run.first.id.peer, run.first.id.counter + i});
    }
    return &lists_.emplace(id, std::move(list)).first->second;
}

Result<Draft::Map*> Draft::open_map(const ContainerId& id) {
    if (const auto known = maps_.find(id); known != maps_.end()) return &known->second;
    auto state = TRY(state_of<MapState>(document_, id, ContainerKind::map));
    Map map;
    for (MapRegister& entry : state.registers) {
        auto* value = entry.value ? std::get_if<Value>(&*entry.value) : nullptr;
        if (value != nullptr) map.values.emplace(std::move(entry.key), std::move(*value));
    }
    return &maps_.emplace(id, std::move(map)).first->second;
}

Result<void> Draft::expect_room(std::size_t atoms) const {
    const auto left =
        static_cast<std::size_t>(std::max<std::int64_t>(0, kMaxCounter - next_));
    if (atoms <= left) return {};
    return fail(Errc::out_of_range, "too_large",
                "the peer has no ids left for so much; edit as another peer");
}

void Draft::write(const ContainerId& id, crdt::OpContent content) {
    ops_.push_back({id, next_, std::move(content)});
    next_ += crdt::atom_count(ops_.back().content);
}

void Draft::write_erase(const ContainerId& id, std::size_t at, Span erased) {
    if (!ops_.empty() && ops_.back().container == id) {
        auto* last = std::get_if<crdt::SequenceDelete>(&ops_.back().content);
        if (last != nullptr && last->pos == static_cast<std::int32_t>(at) &&
            last->start.peer == erased.first.peer &&
            last->start.counter + last->len == erased.first.counter) {
            last->len += erased.size;
            next_ += erased.size;
            return;
        }
    }
    write(id, crdt::SequenceDelete{static_cast<std::int32_t>(at), erased.size, erased.first});
}

Result<void> Draft::text_insert(const ContainerId& id, text::CodePoint at, std::string_view utf8) {
    Text* text = TRY(open_text(id));
    const std::size_t size = text->rope.code_points().n;
    if (at.n > size) return beyond(at.n, size);
    TRY(check_text(utf8, "text"));
    if (utf8.empty()) return {};
    const std::size_t len = utf8::count_code_points(utf8);
    if (len > static_cast<std::size_t>(kMaxPosition) - size)
        return fail(Errc::out_of_range, "too_large",
                    "a container holds at most 1073741822 entities; nothing was changed");
    TRY(expect_room(len));
    auto span = text->spans.begin();
    std::size_t left = at.n;
    while (left > 0 && left >= static_cast<std::size_t>(span->size)) {
        left -= static_cast<std::size_t>(span->size);
        ++span;
    }
    const Span inserted{{peer_, next_}, static_cast<Counter>(len)};
    if (left > 0) {
        const auto cut = static_cast<Counter>(left);
        const Span rest{{span->first.peer, span->first.counter + cut}, span->size - cut};
        span->size = cut;
        span = text->spans.insert(span + 1, {inserted, rest});
    } else {
        text->spans.insert(span, inserted);
    }
    text->rope.insert(at, utf8);
    write(id, crdt::TextInsert{static_cast<std::uint32_t>(at.n), std::string(utf8)});
    return {};
}

Result<void> Draft::text_erase(const ContainerId& id, text::CodePoint at, text::CodePoint count) {
    Text* text = TRY(open_text(id));
    const std::size_t size = text->rope.code_points().n;
    if (at.n > size || count.n > size - at.n) return beyond(at.n + count.n, size);
    TRY(expect_room(count.n));
    auto span = text->spans.begin();
    std::size_t skip = at.n;
    while (skip > 0 && skip >= static_cast<std::size_t>(span->size)) {
        skip -= static_cast<std::size_t>(span->size);
        ++span;
    }
    for (auto left = static_cast<Counter>(count.n); left > 0;) {
        const auto from = static_cast<Counter>(skip);
        const Counter gone = std::min(left, span->size - from);
        const OpId first{span->first.peer, span->first.counter + from};
        write_erase(id, at.n, {first, gone});
        left -= gone;
        const Span rest{{first.peer, first.counter + gone}, span->size - from - gone};
        if (from > 0) {
            span->size = from;
            ++span;
            if (rest.size > 0) span = text->spans.insert(span, rest);
        } else if (rest.size > 0) {
            *span = rest;
        } else {
            span = text->spans.erase(span);
        }
        skip = 0;
    }
    text->rope.erase(at, count);
    return {};
}

Result<void> Draft::list_insert(const ContainerId& id, std::size_t at, Value value) {
    List* list = TRY(open_list(id));
    if (at > list->ids.size()) return beyond(at, list->ids.size());
    TRY(expect_room(1));
    list->ids.insert(list->ids.begin() + static_cast<std::ptrdiff_t>(at), {peer_, next_});
    write(id, crdt::ListInsert{static_cast<std::uint32_t>(at), {crdt::Slot(std::move(value))}});
    return {};
}

Result<void> Draft::list_erase(const ContainerId& id, std::size_t at, std::size_t count) {
    List* list = TRY(open_list(id));
    if (at > list->ids.size() || count > list->ids.size() - at)
        return beyond(at + count, list->ids.size());
    TRY(expect_room(count));
    const auto begin = list->ids.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    for (auto gone = begin; gone != end; ++gone) write_erase(id, at, {*gone, 1});
    list->ids.erase(begin, end);
    return {};
}

Result<void> Draft::map_set(const ContainerId& id, std::string_view key, Value value) {
    Map* map = TRY(open_map(id));
    TRY(check_text(key, "key"));
    const auto known = map->values.find(key);
    if (known != map->values.end() && known->second == value) return {};
    TRY(expect_room(1));
    map->values.insert_or_assign(std::string(key), value);
    write(id, crdt::MapSet{std::string(key), std::move(value)});
    return {};
}

Result<void> Draft::map_erase(const ContainerId& id, std::string_view key) {
    Map* map = TRY(open_map(id));
    TRY(check_text(key, "key"));
    TRY(expect_room(1));
    if (const auto known = map->values.find(key); known != map->values.end())
        map->values.erase(known);
    write(id, crdt::MapErase{std::string(key)});
    return {};
}

Result<std::optional<Change>> Draft::commit(crdt::CommitOptions options) {
    if (ops_.empty()) return std::nullopt;
    Change change;
    change.id = {peer_, ops_.front().counter};
    change.message = std::move(options.message);
    change.timestamp = options.timestamp;
    const std::vector<Change> before =
        changes_.empty() ? TRY(document_.last_changes()) : std::vector<Change>{changes_.back()};
    change.deps = document_.frontiers();
    if (!changes_.empty()) change.deps.assign(1, {peer_, change.id.counter - 1});
    for (const Change& last : before) {
        change.timestamp = std::max(change.timestamp, last.timestamp);
        for (const OpId dep : change.deps) {
            if (dep.peer != last.id.peer) continue;
            const auto after = static_cast<crdt::Lamport>(dep.counter - last.id.counter + 1);
            change.lamport = std::max(change.lamport, last.lamport + after);
        }
    }
    change.ops = std::move(ops_);
    ops_.clear();
    changes_.push_back(change);
    return change;
}

Result<const seq::Rope*> Draft::text(const ContainerId& id) {
    const Text* text = TRY(open_text(id));
    return &text->rope;
}

}  // namespace quire::codec
