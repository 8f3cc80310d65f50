// Taking back styles: what a style decided gets the value that it had before, or that another style
// gives it. The anchors stay, as they do when text is deleted; a style over them says otherwise.
#include <algorithm>

#include "crdt/doc/order.h"
#include "crdt/state/text_state.h"
#include "crdt/undo/reversal.h"

namespace quire::crdt {

std::vector<Reversal::TextPart> Reversal::text_parts(Container& c, Gone gone) {
    const ContainerLog& log = *c.log;
    std::vector<TextPart> parts;
    std::vector<Lv> starts;
    std::vector<Lv> ends;  // The ends of styles, by their starts.
    order_of({body_, c}).for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
        for (const Lv end = lv + len; (visible || gone == Gone::kept) && lv < end;) {
            const Run& run = log.runs()[log.find(lv)];
            // Text that this revert brought back is told apart from the text around it.
            const std::uint32_t n = std::min({run.end(), end, lv < began_ ? began_ : end}) - lv;
            if (run.kind == RunKind::insert) {
                parts.push_back({TextPart::Kind::text, lv, n, visible});
            } else if (!visible) {
                // An anchor that was deleted.
            } else if (std::holds_alternative<StyleStart>(log.op(run))) {
                parts.push_back({TextPart::Kind::start, lv, 0});
                starts.push_back(lv);
            } else if (const std::optional<Lv> start = style_start(body_.oplog(), lv)) {
                parts.push_back({TextPart::Kind::end, *start, 0});
                ends.push_back(*start);
            }
            lv += n;
        }
    });
    // A style that has lost an anchor styles nothing.
    std::sort(starts.begin(), starts.end());
    std::sort(ends.begin(), ends.end());
    std::erase_if(parts, [&](const TextPart& part) {
        return part.kind != TextPart::Kind::text &&
               !(std::binary_search(starts.begin(), starts.end(), part.lv) &&
                 std::binary_search(ends.begin(), ends.end(), part.lv));
    });
    return parts;
}

std::vector<Reversal::TextPart> Reversal::single(const std::vector<TextPart>& parts) {
    std::vector<TextPart> out;
    for (const TextPart& part : parts) {
        if (part.kind != TextPart::Kind::text) out.push_back(part);
        for (std::uint32_t i = 0; i < part.len; ++i)
            out.push_back({part.kind, part.lv + i, 1, part.visible});
    }
    return out;
}

void Reversal::for_each_styled(
    Container& c, const std::vector<TextPart>& parts,
    const std::function<void(const TextPart&, const OpenStyles&)>& take) {
    OpenStyles all;
    for (const TextPart& part : parts) {
        if (part.kind == TextPart::Kind::text) {
            take(part, all);
            continue;
        }
        std::vector<Lv>& open = all[style_at(*c.log, part.lv).key];
        const auto place = std::lower_bound(open.begin(), open.end(), part.lv,
                                            [&](Lv a, Lv b) { return ranks_below(a, b); });
        if (part.kind == TextPart::Kind::start) {
            open.insert(place, part.lv);
        } else if (place != open.end() && *place == part.lv) {
            open.erase(place);
        }
    }
}

// Neighbours that get the same style become one stretch, and so one op.
std::vector<Reversal::Styled> Reversal::decided(Container& c, const std::vector<TextPart>& parts,
                                                const std::string& key, const Decide& decide) {
    std::vector<Styled> out;
    std::size_t at = 0;
    for_each_styled(c, parts, [&](const TextPart& part, const OpenStyles& all) {
        const auto open = all.find(key);
        const std::optional<Lv> style = open == all.end() || open->second.empty()
                                            ? std::nullopt
                                            : decide({part.lv, part.lv + part.len}, open->second);
        if (style && !out.empty() && out.back().end == at && out.back().style == *style) {
            out.back().end += part.len;
        } else if (style) {
            out.push_back({at, at + part.len, *style});
        }
        at += part.len;
    });
    return out;
}

Lv Reversal::style_before(const Register& taken, const std::vector<Lv>& open) const {
    const auto style = std::find_if(open.rbegin(), open.rend(),
                                    [&](Lv each) { return stood_before(taken, each); });
    return style == open.rend() ? kNoLv : *style;
}

std::optional<Lv> Reversal::style_back(const Register& taken, const std::vector<Lv>& open) const {
    const bool is_styled = std::any_of(open.begin(), open.end(), [&](Lv style) {
        return holds(style).first || holds(stand_ins_.style_in_force(style)).first;
    });
    return is_styled ? std::optional(style_before(taken, open)) : std::nullopt;
}

// A letter may lie in the text several times, as original and as copies: the newest one tells.
Reversal::StylesBack Reversal::styles_back(Container& c, const std::string& key,
                                           const Register& taken) {
    std::map<Lv, Lv> newest;  // The atom of each original in `c`.
    StylesBack back;
    for_each_styled(c, text_parts(c, Gone::kept), [&](const TextPart& part, const OpenStyles& all) {
        const auto open = all.find(key);
        const auto style = open == all.end() ? std::nullopt : style_back(taken, open->second);
        for (Lv lv = part.lv; lv < part.lv + part.len; ++lv) {
            const Lv origin = stand_ins_.atoms.origin(lv).lv;
            const auto [at, is_new] = newest.emplace(origin, lv);
            if (!is_new && at->second > lv) continue;
            at->second = lv;
            back[origin] = style;
        }
    });
    return back;
}

Value Reversal::style_value(Lv style) const {
    return style_at(body_.oplog().logs()[body_.oplog().container_of(style)], style).value;
}

// Anchors go where typing at the ends would put them, so the new style expands as the old one did.
Lv Reversal::put_style(Container& to, const Styled& part, const std::string& key, Value value) {
    const Expand expand = body_.settings.text_styles.of(key).value_or(Expand::none);
    const std::uint8_t info = info_of(value.is_null() ? reversed(expand) : expand);
    auto& text = to.as<TextBody>();
    const TextState& state = text.latest({body_, to});
    const std::uint32_t begin = state.insertion(static_cast<std::uint32_t>(part.begin));
    const std::uint32_t end = state.insertion(static_cast<std::uint32_t>(part.end));
    const Lv made = body_.oplog().end();
    text.insert_style({body_, to}, {begin, end, key, std::move(value), info});
    if (part.style != kNoLv) stand_ins_.atoms.add(part.style, made, 1);
    return made;
}

void Reversal::put_same(Container& to, const Styled& part, const std::string& key) {
    const Lv made = put_style(to, part, key, style_value(part.style));
    stand_ins_.styles[made] = stand_ins_.style_in_force(part.style);
}

void Reversal::styles(Container& c) {
    Container* to = c.has_anchors() ? living(c) : nullptr;
    if (to == nullptr) return;
    std::map<std::string, Register> keys;
    const ContainerLog& log = *c.log;
    for (const LvSpan& span : spans_) {
        for (const Run& run : log.runs_in(span)) {
            if (run.kind != RunKind::anchor) continue;
            const auto* start = std::get_if<StyleStart>(&log.op(run));
            // A style that a revert put on restored text goes with that text.
            if (start != nullptr && !stand_ins_.styles.contains(run.lv))
                note(keys[start->key], run.lv);
        }
    }
    if (keys.empty()) return;
    // Text that came back into it has been seen to by restyle(); a copy made just now has the old
    // styles.
    const auto source = stand_ins_.sources.find(to->index);
    const bool restyled =
        source == stand_ins_.sources.end() || *body_.oplog().atoms().lv_of(to->id.op()) < began_;
    std::vector<TextPart> parts = text_parts(*to);
    if (to != &c) parts = single(parts);
    for (auto& styled : keys) {
        const std::string& key = styled.first;
        Register& taken = styled.second;
        // A copy has those styles only that decided when it was made.
        StylesBack original;
        if (to != &c) original = styles_back(c, key, taken);
        const auto back = decided(*to, parts, key, [&](LvSpan part, const std::vector<Lv>& open) {
            if (restyled && part.begin >= began_) return std::optional<Lv>();
            // Only stretches whose deciding style is the spans' own, or stands for one of theirs.
            if (!is_ours(taken, open.back())) return std::optional<Lv>();
            taken.shown = open.back();
            const auto known = original.find(stand_ins_.atoms.origin(part.begin).lv);
            return known != original.end() ? known->second : style_back(taken, open);
        });
        for (const Styled& part : back) {
            // Written even where the value is the same: what decides is to be what was there.
            put_style(*to, part, key, part.style == kNoLv ? Value() : style_value(part.style));
            ++undone_.restored;
        }
        if (back.empty()) ++undone_.skipped;
    }
}

// A copy gets one style for each stretch that a style decides, whatever lies below it.
void Reversal::copy_styles(Container& from, Container& to) {
    if (!from.has_anchors()) return;
    const std::vector<TextPart> parts = text_parts(from);
    std::vector<std::string> keys;
    for (const TextPart& part : parts) {
        if (part.kind == TextPart::Kind::start) keys.push_back(style_at(*from.log, part.lv).key);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const std::string& key : keys) {
        const auto all = decided(from, parts, key, [](LvSpan, const std::vector<Lv>& open) {
            return std::optional(open.back());
        });
        for (const Styled& part : all) put_same(to, part, key);
    }
}

}  // namespace quire::crdt
