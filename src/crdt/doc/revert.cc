// Taking back: new local ops that undo what some spans of history did, as far as it is still there.
#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

namespace {

// A stretch of atoms, and how often the spans being taken back deleted it.
struct Stretch {
    Lv begin;
    Lv end;
    std::uint32_t times;
};

// Stretches that may overlap, as disjoint ones with their counts.
std::vector<Stretch> counted(const std::vector<LvSpan>& spans) {
    std::map<Lv, std::int32_t> steps;
    for (const LvSpan& span : spans) {
        ++steps[span.begin];
        --steps[span.end];
    }
    std::vector<Stretch> out;
    std::int32_t depth = 0;
    Lv from = 0;
    for (const auto& [lv, step] : steps) {
        if (depth > 0 && from < lv) out.push_back({from, lv, static_cast<std::uint32_t>(depth)});
        depth += step;
        from = lv;
    }
    return out;
}

class Reversal {
public:
    Reversal(DocBody& body, std::vector<LvSpan> spans) : body_(body), spans_(std::move(spans)) {}

    void sequence(Container& c);
    void map(Container& c);
    const Doc::Undone& undone() const { return undone_; }

private:
    // Whether what is taken back holds the atom, and up to where that goes on.
    std::pair<bool, Lv> holds(Lv lv) const {
        const auto after =
            std::upper_bound(spans_.begin(), spans_.end(), lv,
                             [](Lv value, const LvSpan& span) { return value < span.begin; });
        if (after != spans_.begin() && lv < (after - 1)->end) return {true, (after - 1)->end};
        return {false, after == spans_.end() ? kNoLv : after->begin};
    }
    void remove(Container& c, const Stretch& stretch, const std::vector<Stretch>& deleted);
    void restore(Container& c, Lv lv, std::uint32_t len);
    void copy_children(const std::vector<std::pair<ContainerId, ContainerId>>& pairs);
    void copy(Container& from, Container& to, int depth);

    DocBody& body_;
    std::vector<LvSpan> spans_;
    Doc::Undone undone_;
};

void Reversal::sequence(Container& c) {
    std::vector<LvSpan> inserted;
    std::vector<LvSpan> deleted_spans;
    Sequence& sequence = body_.sequence(c);
    const ContainerLog& log = body_.log_of(c);
    for (const LvSpan& span : spans_) {
        for (std::size_t i = log.find(span.begin);
             i < log.runs().size() && log.runs()[i].lv < span.end; ++i) {
            const Run& run = log.runs()[i];
            const Lv from = std::max(run.lv, span.begin);
            const Lv to = std::min(run.end(), span.end);
            if (run.kind == RunKind::insert) inserted.push_back({from, to});
            if (!run.is_erase()) continue;
            for (const Sequence::Target& target : sequence.targets(from, to - from)) {
                deleted_spans.push_back({target.first, target.first + target.len});
            }
        }
    }
    const std::vector<Stretch> deleted = counted(deleted_spans);

    // What was deleted by nobody else, and not inserted by the same spans, comes back where it was,
    // in order.
    struct Piece {
        Lv lv;
        std::uint32_t len;
    };
    std::vector<Piece> back;
    for (const Stretch& stretch : deleted) {
        for (Lv lv = stretch.begin; lv < stretch.end;) {
            const Sequence::Place place = sequence.place_of(lv);
            const auto [own, until] = holds(lv);
            Lv stop = std::min({stretch.end, lv + place.len, until});
            const Run& run = log.runs()[log.find(lv)];
            stop = std::min(stop, run.end());
            if (run.kind == RunKind::insert && !own) {
                if (place.erased == stretch.times) {
                    back.push_back({lv, stop - lv});
                } else {
                    undone_.skipped += stop - lv;
                }
            }
            lv = stop;
        }
    }
    std::sort(back.begin(), back.end(),
              [&](const Piece& a, const Piece& b) { return sequence.before(a.lv, b.lv); });
    for (const Stretch& stretch : counted(inserted)) remove(c, stretch, deleted);
    for (const Piece& piece : back) restore(c, piece.lv, piece.len);
}

void Reversal::remove(Container& c, const Stretch& stretch, const std::vector<Stretch>& deleted) {
    for (Lv lv = stretch.begin; lv < stretch.end;) {
        const Sequence::Place place = body_.sequence(c).place_of(lv);
        const std::uint32_t len = std::min(place.len, stretch.end - lv);
        if (place.erased == 0) {
            body_.erase(c, place.pos, len);
            undone_.removed += len;
        } else {
            // Deleted already: by the same spans, which is nothing left to do, or by others.
            auto mine =
                std::upper_bound(deleted.begin(), deleted.end(), lv,
                                 [](Lv value, const Stretch& s) { return value < s.begin; });
            if (mine != deleted.begin()) --mine;
            std::uint32_t ours = 0;
            for (; mine != deleted.end() && mine->begin < lv + len; ++mine) {
                const Lv from = std::max(lv, mine->begin);
                const Lv to = std::min(lv + len, mine->end);
                if (from < to) ours += to - from;
            }
            undone_.skipped += len - ours;
        }
        lv += len;
    }
}

void Reversal::restore(Container& c, Lv lv, std::uint32_t len) {
    const std::uint32_t pos = body_.sequence(c).place_of(lv).pos;
    const ContainerLog& log = body_.log_of(c);
    const Run run = log.runs()[log.find(lv)];
    undone_.restored += len;
    if (c.id.kind == ContainerKind::text) {
        body_.insert_text(c, pos, std::string(log.text(run, lv, len)), len);
        return;
    }
    std::vector<Slot> values;
    for (Lv at = lv; at < lv + len; ++at) values.push_back(log.value(run, at));
    const Lv first = body_.oplog().end();
    body_.insert_values(c, pos, values);
    // A child that went with its slot returns as a copy: ids are never used again.
    std::vector<std::pair<ContainerId, ContainerId>> children;
    for (std::uint32_t i = 0; i < len; ++i) {
        const auto* kind = std::get_if<ContainerKind>(&values[i]);
        if (kind != nullptr)
            children.emplace_back(body_.child_id(lv + i, *kind), body_.child_id(first + i, *kind));
    }
    copy_children(children);
}

void Reversal::copy_children(const std::vector<std::pair<ContainerId, ContainerId>>& pairs) {
    for (const auto& [from, to] : pairs) {
        const ContainerIndex source = body_.open(from);
        const ContainerIndex target = body_.open(to);
        copy(body_.container(source), body_.container(target), 0);
    }
}

void Reversal::copy(Container& from, Container& to, int depth) {
    if (depth > 512) return;
    std::vector<std::pair<ContainerIndex, ContainerIndex>> below;
    const auto child = [&](const Slot& slot, Lv old_lv, Lv new_lv) {
        const auto* kind = std::get_if<ContainerKind>(&slot);
        if (kind == nullptr) return;
        below.emplace_back(body_.open(body_.child_id(old_lv, *kind)),
                           body_.open(body_.child_id(new_lv, *kind)));
    };
    if (from.id.kind == ContainerKind::text) {
        const std::string text = body_.text(from).str();
        if (!text.empty()) {
            body_.insert_text(to, 0, text,
                              static_cast<std::uint32_t>(utf8::count_code_points(text)));
        }
    } else if (from.id.kind == ContainerKind::list) {
        std::vector<std::pair<Lv, Slot>> slots;
        body_.sequence(from).for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
            for (Lv at = lv; visible && at < lv + len; ++at)
                slots.emplace_back(at, *body_.slot_of(at));
        });
        for (const auto& [lv, slot] : slots) {
            const Lv made = body_.oplog().end();
            body_.insert_values(to, to.size, {slot});
            child(slot, lv, made);
        }
    } else if (from.id.kind == ContainerKind::map) {
        for (const auto& [key, entry] : from.map->entries()) {
            if (entry.winner.erases) continue;
            const Slot slot = *body_.slot_of(entry.winner.lv);
            const Lv made = body_.oplog().end();
            body_.write_map(to, MapSet{key, slot});
            child(slot, entry.winner.lv, made);
        }
    }
    for (const auto& [source, target] : below)
        copy(body_.container(source), body_.container(target), depth + 1);
}

void Reversal::map(Container& c) {
    struct Step {
        std::string key;
        std::optional<Lv> back_to;  // None: the key goes.
    };
    std::vector<Step> steps;
    std::vector<std::string> keys;
    const ContainerLog& log = body_.log_of(c);
    for (const LvSpan& span : spans_) {
        for (std::size_t i = log.find(span.begin);
             i < log.runs().size() && log.runs()[i].lv < span.end; ++i) {
            if (log.runs()[i].kind != RunKind::map_entry) continue;
            const OpContent& op = log.op(log.runs()[i]);
            const auto* set = std::get_if<MapSet>(&op);
            keys.push_back(set != nullptr ? set->key : std::get<MapErase>(op).key);
        }
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const std::string& key : keys) {
        const MapState::Entry& entry = *c.map->find(key);
        if (!holds(entry.winner.lv).first) {
            ++undone_.skipped;
            continue;
        }
        const MapState::Write* before = nullptr;
        for (const MapState::Write& write : entry.writes) {
            if (!holds(write.lv).first && (before == nullptr || before->loses_to(write)))
                before = &write;
        }
        const bool was_there = before != nullptr && !before->erases;
        if (!was_there && entry.winner.erases) continue;
        if (was_there && !entry.winner.erases) {
            const Slot& now = *body_.slot_of(entry.winner.lv);
            if (std::holds_alternative<Value>(now) && now == *body_.slot_of(before->lv)) continue;
        }
        steps.push_back({key, was_there ? std::optional<Lv>(before->lv) : std::nullopt});
    }
    for (const Step& step : steps) {
        if (!step.back_to) {
            body_.write_map(c, MapErase{step.key});
            ++undone_.removed;
            continue;
        }
        const Slot slot = *body_.slot_of(*step.back_to);
        const Lv made = body_.oplog().end();
        body_.write_map(c, MapSet{step.key, slot});
        ++undone_.restored;
        const auto* kind = std::get_if<ContainerKind>(&slot);
        if (kind != nullptr)
            copy_children({{body_.child_id(*step.back_to, *kind), body_.child_id(made, *kind)}});
    }
}

}  // namespace

Doc::Undone DocBody::revert(std::span<const IdSpan> spans, std::span<const Handle> only) {
    std::vector<LvSpan> lvs;
    std::vector<ContainerIndex> touched;
    for (const IdSpan& span : spans) {
        const Counter end = std::min(span.end, log_.atoms().end_of(span.peer));
        if (span.begin >= end) continue;
        for (const LvSpan& part : log_.atoms().spans_of({span.peer, span.begin, end})) {
            lvs.push_back(part);
            log_.for_each_owner(part,
                                [&](ContainerIndex index, LvSpan) { touched.push_back(index); });
        }
    }
    std::sort(lvs.begin(), lvs.end(),
              [](const LvSpan& a, const LvSpan& b) { return a.begin < b.begin; });
    std::vector<LvSpan> apart;
    for (const LvSpan& span : lvs) {
        if (!apart.empty() && span.begin <= apart.back().end) {
            apart.back().end = std::max(apart.back().end, span.end);
        } else {
            apart.push_back(span);
        }
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    Reversal reversal(*this, std::move(apart));
    for (const ContainerIndex index : touched) {
        const bool wanted =
            only.empty() || std::any_of(only.begin(), only.end(), [&](Handle handle) {
                return static_cast<ContainerIndex>(handle) == index;
            });
        Container& c = containers_[index];
        if (!wanted || !is_alive(c)) continue;
        if (c.id.kind == ContainerKind::text || c.id.kind == ContainerKind::list)
            reversal.sequence(c);
        if (c.id.kind == ContainerKind::map) reversal.map(c);
    }
    return reversal.undone();
}

Result<std::string> DocBody::text_at(Container& c, const Frontiers& version) {
    return rope_at(c, past_of(TRY(heads_of(version)))).str();
}

}  // namespace quire::crdt
