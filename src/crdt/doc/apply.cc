// Applying a diff: local edits that do what it says. All of it is checked first, on what the
// containers would hold by then, so that edits are only made once nothing can fail.
#include <algorithm>
#include <map>

#include "base/cat.h"
#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/ids/container_text.h"

namespace quire::crdt {

namespace {

Failure misfit(const ContainerId& id, std::string_view what) {
    return invalid("invalid_diff", cat("the diff of ", to_text(id), " does not fit: ", what));
}

bool fits(ContainerKind kind, const Delta& delta) {
    switch (kind) {
        case ContainerKind::text:
            return std::holds_alternative<TextDelta>(delta);
        case ContainerKind::list:
        case ContainerKind::movable_list:
            return std::holds_alternative<ListDelta>(delta);
        case ContainerKind::map:
            return std::holds_alternative<MapDelta>(delta);
        case ContainerKind::tree:
            return std::holds_alternative<TreeDelta>(delta);
        case ContainerKind::counter:
            return std::holds_alternative<CounterDelta>(delta);
    }
    return false;
}

// How much of a sequence the steps need, and whether what they put is sound.
template <class Steps>
std::size_t needed(const Steps& steps) {
    std::size_t count = 0;
    for (const auto& step : steps) {
        if (const auto* keep = std::get_if<Retain>(&step)) count += keep->count;
        if (const auto* erase = std::get_if<Erase>(&step)) count += erase->count;
    }
    return count;
}

// Whether a text that holds nothing yet can take the delta.
Result<void> fits_new_text(const Doc& doc, const TextDelta& delta) {
    Doc scratch(doc.peer());
    scratch.set_text_styles(doc.text_styles());
    return scratch.text_apply_delta(scratch.open(ContainerId::root("t", ContainerKind::text)),
                                    delta);
}

class DiffApplier {
public:
    DiffApplier(Doc& doc, DocBody& body) : doc_(doc), body_(body) {}

    Result<void> check(const Diff& diff);
    void apply(const Diff& diff);

private:
    // Which container of the document a part is for; none when it is for none.
    std::optional<Handle> target(const ContainerId& id);
    void made(const ContainerId& wanted, const ContainerId& actual) { actual_[wanted] = actual; }

    Result<void> check_part(const ContainerDiff& part, bool is_new);
    void apply_list(Handle list, const ListDelta& delta);
    void apply_map(Handle map, const MapDelta& delta);

    Doc& doc_;
    DocBody& body_;
    std::map<ContainerId, bool> will_be_made_;
    std::map<ContainerId, ContainerId> actual_;  // What the diff calls it to what it is now.
};

std::optional<Handle> DiffApplier::target(const ContainerId& id) {
    const auto known = actual_.find(id);
    const Handle handle = doc_.open(known != actual_.end() ? known->second : id);
    if (!doc_.is_alive(handle)) return std::nullopt;
    return handle;
}

// --- checking ---

Result<void> DiffApplier::check(const Diff& diff) {
    for (const ContainerDiff& part : diff) {
        if (!fits(part.container.kind, part.delta))
            return misfit(part.container, "it is one of another kind");
        const bool is_new = will_be_made_.contains(part.container);
        const Handle handle = doc_.open(part.container);
        if (!is_new && !doc_.is_alive(handle)) continue;
        if (!is_new && body_.editable(handle, part.container.kind) == nullptr)
            return body_.refuse(handle, part.container.kind);
        TRY(check_part(part, is_new));
    }
    return {};
}

Result<void> DiffApplier::check_part(const ContainerDiff& part, bool is_new) {
    const Handle handle = doc_.open(part.container);
    const auto check_item = [&](const Item& item) -> Result<void> {
        if (const auto* child = std::get_if<ContainerId>(&item)) will_be_made_[*child] = true;
        return {};
    };
    if (const auto* text = std::get_if<TextDelta>(&part.delta)) {
        Result<void> sound =
            is_new ? fits_new_text(doc_, *text) : body_.check_delta(body_.container(handle), *text);
        if (!sound) return misfit(part.container, sound.error().message());
    } else if (const auto* list = std::get_if<ListDelta>(&part.delta)) {
        if (needed(*list) > (is_new ? 0 : doc_.list_size(handle)))
            return misfit(part.container, "it goes beyond the end");
        for (const ListStep& step : *list) {
            const auto* put = std::get_if<PutItems>(&step);
            if (put == nullptr) continue;
            for (const Item& item : put->items) TRY(check_item(item));
        }
    } else if (const auto* map = std::get_if<MapDelta>(&part.delta)) {
        for (const MapChange& change : *map) {
            if (!utf8::is_valid(change.key))
                return misfit(part.container, "it names a key that is not UTF-8");
            if (change.item) TRY(check_item(*change.item));
        }
    }
    return {};
}

// --- applying ---

void DiffApplier::apply(const Diff& diff) {
    for (const ContainerDiff& part : diff) {
        const std::optional<Handle> handle = target(part.container);
        if (!handle) continue;
        if (const auto* text = std::get_if<TextDelta>(&part.delta))
            CHECK(doc_.text_apply_delta(*handle, *text));
        if (const auto* list = std::get_if<ListDelta>(&part.delta)) apply_list(*handle, *list);
        if (const auto* map = std::get_if<MapDelta>(&part.delta)) apply_map(*handle, *map);
    }
}

void DiffApplier::apply_list(Handle list, const ListDelta& delta) {
    std::size_t at = 0;
    for (const ListStep& step : delta) {
        if (const auto* keep = std::get_if<Retain>(&step)) {
            at += keep->count;
        } else if (const auto* erase = std::get_if<Erase>(&step)) {
            CHECK(doc_.list_erase(list, at, erase->count));
        } else {
            for (const Item& item : std::get<PutItems>(step).items) {
                if (const auto* child = std::get_if<ContainerId>(&item)) {
                    made(*child, *doc_.list_insert_container(list, at++, child->kind));
                } else {
                    CHECK(doc_.list_insert(list, at++, std::get<Value>(item)));
                }
            }
        }
    }
}

void DiffApplier::apply_map(Handle map, const MapDelta& delta) {
    for (const MapChange& change : delta) {
        if (!change.item) {
            if (doc_.map_get(map, change.key)) CHECK(doc_.map_erase(map, change.key));
        } else if (const auto* child = std::get_if<ContainerId>(&*change.item)) {
            made(*child, *doc_.map_insert_container(map, change.key, child->kind));
        } else {
            CHECK(doc_.map_set(map, change.key, std::get<Value>(*change.item)));
        }
    }
}

}  // namespace

Result<void> Doc::apply_diff(const Diff& diff) {
    if (is_detached()) return DocBody::refuse_detached();
    DiffApplier applier(*this, *body_);
    TRY(applier.check(diff));
    applier.apply(diff);
    return {};
}

Result<void> Doc::revert_to(const Frontiers& version) {
    CHECK(!body_->in_transaction());
    if (is_detached()) return DocBody::refuse_detached();
    return apply_diff(TRY(diff(frontiers(), version)));
}

}  // namespace quire::crdt
