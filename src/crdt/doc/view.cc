// Reading at a version: texts, lists, and what can be reached.
#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/state/text_state.h"

namespace quire::crdt {

namespace {

// Whether the version holds all ops of the container, so that its state as it is will do. False
// where that would take long to find out.
bool holds_all(const Past& past, const ContainerLog& log) {
    const auto& spans = past.spans();
    return log.empty() || (!spans.empty() && spans[0].begin == 0 && log.end() <= spans[0].end);
}

}  // namespace

Result<Heads> DocBody::heads_of(const Frontiers& version) const {
    Heads heads;
    for (const OpId& id : version) {
        const std::optional<Lv> lv = log_.atoms().lv_of(id);
        if (!lv || *lv >= committed_end()) {
            return fail(
                Errc::not_found, "unknown_version",
                cat("the version names ", id.counter, "@", id.peer, ", which is not known here"));
        }
        heads.push_back(*lv);
    }
    return log_.graph().minimal(std::move(heads));
}

Past DocBody::past_of(Heads heads) const {
    if (heads == log_.heads()) return {committed_end(), std::move(heads)};
    return {log_.graph(), std::move(heads)};
}

VersionVector DocBody::version_of(const Past& past) const {
    VersionVector version;
    for (const LvSpan& span : past.spans()) {
        for (Lv lv = span.begin; lv < span.end;) {
            const Lv stop = std::min(span.end, log_.atoms().run_end(lv));
            const OpId last = log_.atoms().id_of(stop - 1);
            version.extend(last.peer, last.counter + 1);
            lv = stop;
        }
    }
    return version;
}

const VersionVector& DocBody::shown_version() {
    if (view_ == nullptr) return version();
    if (!view_->version) view_->version = version_of(view_->past);
    return *view_->version;
}

void DocBody::show(std::optional<Past> version) {
    CHECK(!open_);
    view_ = version ? std::make_unique<View>(*std::move(version)) : nullptr;
}

// --- texts and lists ---

seq::Rope DocBody::rope_at(Container& c, const Past& at) {
    const ContainerLog& log = log_of(c);
    if (holds_all(at, log)) return text(c);
    if (std::optional<seq::Rope> early = rope_before(c, at)) return *std::move(early);
    std::string text;
    Sequence& order = sequence(c);
    order.move_to(history(c), at.heads());
    order.for_each_now([&](Lv lv, std::uint32_t len) {
        while (len > 0) {
            const Run& run = log.runs()[log.find(lv)];
            const std::uint32_t n = std::min(len, run.end() - lv);
            if (run.kind == RunKind::insert) text += log.text(run, lv, n);
            lv += n;
            len -= n;
        }
    });
    return seq::Rope(text);
}

Result<std::string> DocBody::text_at(Container& c, const Frontiers& version) {
    return rope_at(c, past_of(TRY(heads_of(version)))).str();
}

// Where a version holds just the first ops of a text, and those are linear, doing them again is
// much faster than working out the order of all that came since.
std::optional<seq::Rope> DocBody::rope_before(Container& c, const Past& at) {
    const ContainerLog& log = log_of(c);
    if (c.has_anchors || at.spans().size() > 1) return std::nullopt;
    if (!at.spans().empty() && at.spans()[0].begin > 0) return std::nullopt;
    const Lv until = at.spans().empty() ? 0 : at.spans()[0].end;
    TextState text;
    text.begin_edits(log.find(until));
    for (const Run& run : log.runs()) {
        if (run.lv >= until) break;
        const Lv len = std::min(run.end(), until) - run.lv;
        if (!run.in_sequence()) continue;
        if (!run.linear) return std::nullopt;
        if (run.is_insert()) {
            text.insert(run.pos, log.text(run, run.lv, len), len);
        } else if (run.kind == RunKind::erase_forward) {
            text.erase(run.pos, len);
        } else {
            text.erase(run.pos - (len - 1), len);
        }
    }
    text.end_edits();
    return text.rope();
}

const seq::Rope& DocBody::shown_text(Container& c) {
    CHECK(c.text != nullptr);
    if (view_ == nullptr) return text(c);
    const auto known = view_->texts.find(c.index);
    if (known != view_->texts.end()) return known->second;
    return view_->texts.emplace(c.index, rope_at(c, view_->past)).first->second;
}

std::vector<Lv> DocBody::list_atoms(Container& c, const Past* at) {
    std::vector<Lv> atoms;
    Sequence& order = sequence(c);
    const auto take = [&](Lv lv, std::uint32_t len, bool visible) {
        for (std::uint32_t i = 0; visible && i < len; ++i) atoms.push_back(lv + i);
    };
    if (at == nullptr || holds_all(*at, log_of(c))) {
        order.for_each_last(take);
    } else {
        order.move_to(history(c), at->heads());
        order.for_each(take);
    }
    return atoms;
}

const std::vector<Lv>& DocBody::shown_list(Container& c) {
    CHECK(view_ != nullptr);
    const auto known = view_->lists.find(c.index);
    if (known != view_->lists.end()) return known->second;
    return view_->lists.emplace(c.index, list_atoms(c, &view_->past)).first->second;
}

const std::vector<MovableItem>& DocBody::shown_movable(Container& c) {
    CHECK(view_ != nullptr);
    const auto known = view_->movable.find(c.index);
    if (known != view_->movable.end()) return known->second;
    return view_->movable.emplace(c.index, movable_items(c, &view_->past)).first->second;
}

const MapState::Write* DocBody::shown_write(const Container& c, std::string_view key) const {
    const MapState::Entry* entry = c.map == nullptr ? nullptr : c.map->find(key);
    if (entry == nullptr) return nullptr;
    const MapState::Write* write = map_write(*entry, at());
    return write == nullptr || write->erases ? nullptr : write;
}

}  // namespace quire::crdt
