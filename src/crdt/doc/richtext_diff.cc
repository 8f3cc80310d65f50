// Rich text in versions: a text with its styles at one, and what lies between two.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/merge/splices.h"
#include "crdt/state/text_state.h"

namespace quire::crdt {

namespace {

// What changes between two sets of attributes, both sorted by key.
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

TextDelta DocBody::text_delta_at(Container& c, const Heads& heads) {
    Sequence& order = sequence(c);
    order.move_to(history(c), heads);
    std::vector<Compared> parts;
    order.for_each_now([&](Lv lv, std::uint32_t len) { parts.push_back({lv, len, false, true}); });
    return text_delta_of(c, parts);
}

TextDelta DocBody::text_diff(Container& c, const Past& a, const Past& b) {
    return text_delta_of(c, compare(c, a, b));
}

// A style is in force in a version where both its anchors are visible in it.
TextDelta DocBody::text_delta_of(const Container& c, const std::vector<Compared>& parts) {
    const ContainerLog& log = log_of(c);
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
    std::unordered_map<Lv, Ends> styles;  // By start.
    if (c.has_anchors) {
        for_each_run([&](const Compared& part, const Run& run, Lv lv, Lv) {
            if (run.kind != RunKind::anchor) return;
            if (std::holds_alternative<StyleStart>(log.op(run))) {
                styles.emplace(lv, Ends{part.in_a, part.in_b});
                return;
            }
            const auto style = styles.find(*style_start(lv));
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
        const Lv start = starts ? lv : *style_start(lv);
        const auto ends = styles.find(start);
        if (ends == styles.end()) return;
        const StyleStart& style = style_at(c, start);
        const StyleSweep::Rank rank{log_.graph().lamport(start), log_.atoms().peer_of(start)};
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

void DocBody::note_changes(Container& c) {
    if (!open_) {
        c.text->stop_noting();
        return;
    }
    if (c.flushed < began_) flush(c, began_);
    c.text->note_changes(began_);
}

// From the ops' positions, and from what the state noted while it took them in; where that does not
// tell, from the two versions.
TextDelta DocBody::rich_delta_of(Container& c, LvSpan span, const Past& a, const Past& b) {
    const std::vector<Splices::Piece> pieces = splices_in(c, span).take();
    if (c.flushed <= span.begin || c.text->styles() == nullptr) {
        flush(c, span.begin);
        c.text->note_changes(span.begin);
    }
    flush(c, span.end);
    const Styles* styles = c.text->styles();
    const auto noted = styles == nullptr ? std::nullopt : styles->changes(span.begin);
    if (!noted) return text_diff(c, a, b);
    const ContainerLog& log = log_of(c);
    StyleChanges changes(*styles, *noted);
    TextDelta delta;
    std::uint32_t entity = 0;
    std::uint32_t at = 0;  // The same in code points.
    const auto keep_until = [&](std::uint32_t end) {
        changes.keep(delta, at, end);
        at = end;
    };
    for (const Splices::Piece& piece : pieces) {
        switch (piece.kind) {
            case Splices::Kind::keep:
                entity += piece.len;
                keep_until(c.text->code_point(entity));
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
    keep_until(static_cast<std::uint32_t>(c.text->rope().code_points().n));
    c.text->stop_noting();
    finish(delta);
    return delta;
}

}  // namespace quire::crdt
