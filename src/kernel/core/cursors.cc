// A place is kept as the id of the character before it. The document knows where a character
// stands, and where a deleted one stood, so places follow the edits of others by themselves.
// follow() only moves an actor's own selections behind what it has inserted. Selections expire when
// somebody looks; there is no timer.
#include "kernel/core/cursors.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/must.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/text.h"
#include "seq/rope.h"

namespace quire::kernel {

namespace {

std::optional<crdt::OpId> anchor_at(const crdt::Doc& doc, crdt::Handle text, std::size_t place) {
    if (place == 0) return std::nullopt;
    return must(crdt::cursor_at(doc, text, place - 1)).anchor;
}

// The place after the anchor, or where the anchor stood.
std::size_t place_of(const crdt::Doc& doc, crdt::Handle text,
                     const std::optional<crdt::OpId>& anchor) {
    if (!anchor) return 0;
    // A `renewed` place is that of a deleted character: the gap where it stood. Else the cursor
    // stands behind the character.
    const auto place = crdt::resolve(doc, {.container = doc.id_of(text), .anchor = anchor});
    if (!place) return 0;
    return place->renewed ? place->pos : place->pos + 1;
}

// The stretches of the text, in code points, that splices have inserted.
std::vector<std::pair<std::size_t, std::size_t>> inserted(const seq::Rope& after,
                                                          std::span<const text::Splice> splices) {
    std::vector<std::pair<std::size_t, std::size_t>> out;
    // Splices count in the text before all of them, and go from its front to its end. A splice's
    // place in the text after is moved by what those before it have inserted and erased.
    std::size_t grown = 0;
    std::size_t shrunk = 0;
    for (const text::Splice& splice : splices) {
        const std::size_t at = splice.at.n + grown - shrunk;
        grown += splice.insert.size();
        shrunk += splice.erase.n;
        if (splice.insert.empty()) continue;
        out.emplace_back(after.to_code_point({at}).n,
                         after.to_code_point({at + splice.insert.size()}).n);
    }
    return out;
}

}  // namespace

Result<void> Cursors::set(const crdt::Doc& doc, crdt::Handle text, const std::string& actor,
                          const std::vector<Selection>& selections, std::int64_t now_ms) {
    if (selections.size() > kMostSelections) {
        return fail(Errc::out_of_range, "too_large",
                    cat("an actor has at most ", kMostSelections, " selections in a block"),
                    {{"limit", kMostSelections}});
    }
    const std::size_t end = doc.text(text).rope().code_points().n;
    Own own{{}, now_ms + kSelectionsLastMs};
    for (const Selection& each : selections) {
        if (std::max(each.anchor, each.head) > end) {
            return invalid("invalid_range",
                           cat("a selection goes to ", std::max(each.anchor, each.head),
                               ", and the text has ", end, " code points"),
                           {{"max", end}});
        }
        own.selections.push_back(
            {anchor_at(doc, text, each.anchor), anchor_at(doc, text, each.head)});
    }
    if (own.selections.empty()) {
        by_actor_.erase(actor);
    } else {
        by_actor_[actor] = std::move(own);
    }
    return {};
}

std::vector<ActorCursors> Cursors::all(const crdt::Doc& doc, crdt::Handle text,
                                       std::int64_t now_ms) {
    std::erase_if(by_actor_, [&](const auto& entry) { return entry.second.until_ms <= now_ms; });
    std::vector<ActorCursors> out;
    for (const auto& [actor, own] : by_actor_) {
        ActorCursors cursors{actor, {}};
        for (const Held& held : own.selections)
            cursors.selections.push_back(
                {place_of(doc, text, held.anchor), place_of(doc, text, held.head)});
        out.push_back(std::move(cursors));
    }
    return out;
}

bool Cursors::has_any(std::int64_t now_ms) const {
    return std::any_of(by_actor_.begin(), by_actor_.end(),
                       [&](const auto& each) { return each.second.until_ms > now_ms; });
}

void Cursors::follow(const crdt::Doc& doc, crdt::Handle text, const std::string& actor,
                     std::span<const text::Splice> splices) {
    if (by_actor_.empty()) return;
    const auto stretches = inserted(doc.text(text).rope(), splices);
    const auto settle = [&](Anchor& anchor, bool is_own) {
        std::size_t place = place_of(doc, text, anchor);
        for (const auto& [begin, end] : stretches) {
            if (is_own && place == begin) place = end;
        }
        // Everybody's anchors are set anew, on characters that are there now: one whose character
        // was erased holds on to the one before it from here on.
        anchor = anchor_at(doc, text, place);
    };
    for (auto& [name, own] : by_actor_) {
        for (Held& held : own.selections) {
            settle(held.anchor, name == actor);
            settle(held.head, name == actor);
        }
    }
}

}  // namespace quire::kernel
