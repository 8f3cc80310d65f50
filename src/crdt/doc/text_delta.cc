// Differences of a text: what its last ops did, and what lies between any two versions.
//
// The last ops' positions tell what they did to the characters. Where there are anchors, the state
// also notes how styles change while it takes the ops in, and both are read off together; if it did
// not note it, the two versions are compared, which costs a walk over the whole order.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/merge/sequence.h"
#include "crdt/merge/splices.h"
#include "crdt/state/text_state.h"

namespace quire::crdt {

namespace {

// The change between two sets of attributes, both sorted by key.
Map changed(const Map& before, const Map& after) {
    Map map;
    auto old = before.begin();
    auto now = after.begin();
    while (old != before.end() || now != after.end()) {
        if (now == after.end() || (old != before.end() && old->key < now->key)) {
            map.append(old->key, nullptr);
            ++old;
        } else if (old == before.end() || now->key < old->key) {
            map.append(now->key, now->value);
            ++now;
        } else {
            if (!(old->value == now->value)) map.append(now->key, now->value);
            ++old;
            ++now;
        }
    }
    return map;
}

}  // namespace

TextDelta TextBody::delta_at(Site site, const Heads& heads) {
    Sequence& sequence = order_at(site, heads);
    std::vector<Compared> parts;
    sequence.for_each_now([&](Lv lv, std::uint32_t len) {
        parts.push_back({lv, len, false, true});
    });
    return delta_of_parts(site, parts);
}

TextDelta TextBody::delta_between(Site site, const Past& a, const Past& b) {
    return delta_of_parts(site, compare(site, a, b));
}

// A style is in force in a version if both its anchors are visible in it.
// The first pass finds which styles have both anchors in which version, because a start does not
// tell whether its end is there. The second goes over the characters with one sweep for each
// version, which holds the styles that are open at the place. Characters in both versions are kept
// with what their attributes changed to.
TextDelta TextBody::delta_of_parts(Site site, const std::vector<Compared>& parts) {
    const OpLog& oplog = site.document.oplog();
    const ContainerLog& log = *site.container.log;
    const auto for_each_run = [&](auto take) {
        for (const Compared& part : parts) {
            for (Lv lv = part.lv; lv < part.lv + part.len;) {
                const Run& run = log.runs()[log.find(lv)];
                const Lv end = std::min(run.end(), part.lv + part.len);
                take(part, run, lv, end);
                lv = end;
            }
        }
    };
    struct Ends {
        bool started_a, started_b;
        bool ended_a = false;
        bool ended_b = false;
    };
    std::unordered_map<Lv, Ends> styles;  // Keyed by start.
    if (has_anchors) {
        for_each_run([&](const Compared& part, const Run& run, Lv lv, Lv) {
            if (run.kind != RunKind::anchor) return;
            if (std::holds_alternative<StyleStart>(log.op(run))) {
                styles.emplace(lv, Ends{part.in_a, part.in_b});
                return;
            }
            const auto style = styles.find(*style_start(oplog, lv));
            if (style == styles.end()) return;
            style->second.ended_a = part.in_a;
            style->second.ended_b = part.in_b;
        });
    }
    StyleSweep a;
    StyleSweep b;
    TextDelta delta;
    for_each_run([&](const Compared& part, const Run& run, Lv lv, Lv end) {
        if (run.kind == RunKind::insert) {
            if (part.in_a && part.in_b) {
                crdt::retain(delta, end - lv,
                             styles.empty() ? Map() : changed(a.attributes(), b.attributes()));
            } else if (part.in_a) {
                crdt::erase(delta, end - lv);
            } else {
                put(delta, log.text(run, lv, end - lv), b.attributes());
            }
            return;
        }
        const bool starts = std::holds_alternative<StyleStart>(log.op(run));
        const Lv start = starts ? lv : *style_start(oplog, lv);
        // The start may lie outside the parts, if neither version shows it; its end then means
        // nothing.
        const auto ends = styles.find(start);
        if (ends == styles.end()) return;
        const StyleStart& style = style_at(log, start);
        const StyleSweep::Rank rank{oplog.graph().lamport(start), oplog.atoms().peer_of(start)};
        const auto pass = [&](StyleSweep& sweep, bool whole) {
            if (!whole) return;
            if (starts) {
                sweep.open(style, rank);
            } else {
                sweep.close(style, rank);
            }
        };
        pass(a, ends->second.started_a && ends->second.ended_a);
        pass(b, ends->second.started_b && ends->second.ended_b);
    });
    finish(delta);
    return delta;
}

// --- what the last ops did ---

namespace {

// Goes once over a text from its beginning, with the styles that changed where it stands.
class StyleChanges {
public:
    StyleChanges(const Styles& styles, const std::vector<Styles::Change>& changes)
        : styles_(styles), changes_(changes) {
        for (std::size_t i = 0; i < changes.size(); ++i) {
            steps_.push_back({changes[i].begin, true, i});
            steps_.push_back({changes[i].end, false, i});
        }
        // Those of one key are apart, so one ends before the next begins.
        std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
            return a.at != b.at ? a.at < b.at : a.begins < b.begins;
        });
    }

    // Keeps the characters [begin, end), with what is new about them.
    void keep(TextDelta& delta, std::uint32_t begin, std::uint32_t end) {
        while (begin < end) {
            go(begin);
            const std::uint32_t stop =
                next_ == steps_.size() ? end : std::min(end, steps_[next_].at);
            if (now_.empty()) {
                crdt::retain(delta, stop - begin);
            } else {
                styles_.for_each_span(begin, stop, [&](std::uint32_t len, const Map& after) {
                    crdt::retain(delta, len, changed(after));
                });
            }
            begin = stop;
        }
    }

private:
    struct Step {
        std::uint32_t at;
        bool begins;
        std::size_t change;
    };

    void go(std::uint32_t at) {
        for (; next_ < steps_.size() && steps_[next_].at <= at; ++next_) {
            const Styles::Change& change = changes_[steps_[next_].change];
            if (steps_[next_].begins) {
                now_.insert_or_assign(change.key, &change);
            } else {
                now_.erase(change.key);
            }
        }
    }
    Map changed(const Map& after) const {
        Map map;
        for (const auto& [key, change] : now_) {
            // A style that went away is told as null, and a style that came and went in between is
            // not told.
            const Value* value = after.find(key);
            const Value here = value == nullptr ? Value() : *value;
            if (!(here == *change->before)) map.append(std::string(key), here);
        }
        return map;
    }

    const Styles& styles_;
    const std::vector<Styles::Change>& changes_;
    std::vector<Step> steps_;
    std::size_t next_ = 0;
    std::map<std::string_view, const Styles::Change*> now_;
};

}  // namespace

// Ops from before the transaction go into the state first, unnoted, so that the notes hold just
// what the transaction did. Outside a transaction there is no commit to report to, and noting would
// only cost.
void TextBody::note_changes(Site site) {
    if (!site.document.journal().in_transaction()) {
        state->stop_noting();
        return;
    }
    const Lv began = site.document.journal().began();
    if (followed.end < began) flush(site, began);
    state->note_changes(began);
}

TextDelta TextBody::delta_of(Site site, LvSpan span, const Past& a, const Past& b) {
    return has_anchors ? styled_delta_of(site, span, a, b) : plain_delta_of(site, span);
}

TextDelta TextBody::plain_delta_of(Site site, LvSpan span) {
    const ContainerLog& log = *site.container.log;
    TextDelta delta;
    for (const Splices::Piece& piece : splices_in(site, span).take()) {
        switch (piece.kind) {
            case Splices::Kind::keep:
                crdt::retain(delta, piece.len);
                break;
            case Splices::Kind::erase:
                crdt::erase(delta, piece.len);
                break;
            case Splices::Kind::insert:
                for (Lv lv = piece.lv; lv < piece.lv + piece.len;) {
                    const Run& run = log.runs()[log.find(lv)];
                    const Lv end = std::min(run.end(), piece.lv + piece.len);
                    if (run.kind == RunKind::insert) put(delta, log.text(run, lv, end - lv));
                    lv = end;
                }
                break;
        }
    }
    finish(delta);
    return delta;
}

// The notes are there if the state followed the log during the transaction. If it has not yet come
// to the span, it is led there now and notes what the span does. If it has passed the span without
// notes, only a comparison of the two versions is left.
TextDelta TextBody::styled_delta_of(Site site, LvSpan span, const Past& a, const Past& b) {
    const std::vector<Splices::Piece> pieces = splices_in(site, span).take();
    if (followed.end <= span.begin || state->styles() == nullptr) {
        flush(site, span.begin);
        state->note_changes(span.begin);
    }
    flush(site, span.end);
    const Styles* styles = state->styles();
    const auto noted = styles == nullptr ? std::nullopt : styles->changes(span.begin);
    if (!noted) return delta_between(site, a, b);
    const ContainerLog& log = *site.container.log;
    StyleChanges changes(*styles, *noted);
    TextDelta delta;
    std::uint32_t entity = 0;
    std::uint32_t at = 0;  // The position in code points.
    const auto keep_until = [&](std::uint32_t end) {
        changes.keep(delta, at, end);
        at = end;
    };
    for (const Splices::Piece& piece : pieces) {
        switch (piece.kind) {
            case Splices::Kind::keep:
                entity += piece.len;
                keep_until(state->code_point(entity));
                break;
            case Splices::Kind::erase:
                // No anchor has gone, so these are characters.
                crdt::erase(delta, piece.len);
                break;
            case Splices::Kind::insert:
                entity += piece.len;
                for (Lv lv = piece.lv; lv < piece.lv + piece.len;) {
                    const Run& run = log.runs()[log.find(lv)];
                    const Lv end = std::min(run.end(), piece.lv + piece.len);
                    if (run.kind == RunKind::insert) {
                        std::string_view rest = log.text(run, lv, end - lv);
                        styles->for_each_span(
                            at, at + (end - lv), [&](std::uint32_t len, const Map& attributes) {
                                const std::string_view part = utf8::prefix(rest, len);
                                put(delta, part, attributes);
                                rest.remove_prefix(part.size());
                            });
                        at += end - lv;
                    }
                    lv = end;
                }
                break;
        }
    }
    keep_until(static_cast<std::uint32_t>(state->rope().code_points().n));
    state->stop_noting();
    finish(delta);
    return delta;
}

}  // namespace quire::crdt
