// Taking back styles: what a style decided gets the value that it had before, or that another style
// gives it. The anchors stay, as they do when text is deleted; a style over them says otherwise.
#include <algorithm>

#include "crdt/doc/revert.h"

namespace quire::crdt {

std::vector<Reversal::TextPart> Reversal::text_parts(Container& c) {
    const ContainerLog& log = body_.log_of(c);
    std::vector<TextPart> parts;
    std::vector<Lv> starts;
    std::vector<Lv> ends;  // Of styles, by their starts.
    body_.sequence(c).for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
        for (const Lv end = lv + len; visible && lv < end;) {
            const Run& run = log.runs()[log.find(lv)];
            const std::uint32_t n = std::min(run.end(), end) - lv;
            if (run.kind == RunKind::insert) {
                parts.push_back({TextPart::Kind::text, lv, n});
            } else if (std::holds_alternative<StyleStart>(log.op(run))) {
                parts.push_back({TextPart::Kind::start, lv, 0});
                starts.push_back(lv);
            } else if (const std::optional<Lv> start = body_.style_start(lv)) {
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

std::vector<Reversal::Styled> Reversal::decided(
    Container& c, const std::vector<TextPart>& parts, const std::string& key,
    const std::function<std::optional<Lv>(const std::vector<Lv>& open)>& decide) {
    std::vector<Styled> out;
    std::vector<Lv> open;  // By rank.
    std::size_t at = 0;
    for (const TextPart& part : parts) {
        if (part.kind == TextPart::Kind::text) {
            const std::optional<Lv> style = open.empty() ? std::nullopt : decide(open);
            if (style && !out.empty() && out.back().end == at && out.back().style == *style) {
                out.back().end += part.len;
            } else if (style) {
                out.push_back({at, at + part.len, *style});
            }
            at += part.len;
        } else if (body_.style_at(c, part.lv).key == key) {
            const auto place = std::lower_bound(open.begin(), open.end(), part.lv,
                                                [&](Lv a, Lv b) { return ranks_below(a, b); });
            if (part.kind == TextPart::Kind::start) {
                open.insert(place, part.lv);
            } else if (place != open.end() && *place == part.lv) {
                open.erase(place);
            }
        }
    }
    return out;
}

void Reversal::put_style(Container& to, const Styled& part, const std::string& key, Value value) {
    const Expand expand = body_.text_styles().of(key).value_or(Expand::none);
    const std::uint8_t info = info_of(value.is_null() ? reversed(expand) : expand);
    body_.text(to);
    const std::uint32_t begin = to.text->insertion(static_cast<std::uint32_t>(part.begin));
    const std::uint32_t end = to.text->insertion(static_cast<std::uint32_t>(part.end));
    const Lv made = body_.oplog().end();
    body_.insert_style(to, {begin, end, key, std::move(value), info});
    if (part.style != kNoLv) stand_ins_.atoms.add(part.style, made, 1);
}

void Reversal::styles(Container& c) {
    Container* to = c.has_anchors ? living(c) : nullptr;
    if (to == nullptr) return;
    std::map<std::string, Register> keys;
    const ContainerLog& log = body_.log_of(c);
    for (const LvSpan& span : spans_) {
        for (std::size_t i = log.find(span.begin);
             i < log.runs().size() && log.runs()[i].lv < span.end; ++i) {
            if (log.runs()[i].kind != RunKind::anchor) continue;
            const auto* start = std::get_if<StyleStart>(&log.op(log.runs()[i]));
            if (start != nullptr) note(keys[start->key], log.runs()[i].lv);
        }
    }
    if (keys.empty()) return;
    const std::vector<TextPart> parts = text_parts(*to);
    for (const auto& styled : keys) {
        const std::string& key = styled.first;
        const Register& taken = styled.second;
        const auto back = decided(*to, parts, key, [&](const std::vector<Lv>& open) {
            // What the spans styled, and where what decides is theirs or stands for it.
            const bool in_range = to != &c || std::any_of(open.begin(), open.end(), [&](Lv style) {
                                      return holds(style).first;
                                  });
            if (!in_range || !is_ours(taken, open.back())) return std::optional<Lv>();
            for (auto style = open.rbegin(); style != open.rend(); ++style) {
                if (stood_before(taken, *style)) return std::optional(*style);
            }
            return std::optional(kNoLv);
        });
        for (const Styled& part : back) {
            // Written even where the value is the same: what decides is to be what was there.
            Value value;
            if (part.style != kNoLv) value = body_.style_at(*to, part.style).value;
            put_style(*to, part, key, std::move(value));
            ++undone_.restored;
        }
        if (back.empty()) ++undone_.skipped;
    }
}

void Reversal::copy_styles(Container& from, Container& to) {
    if (!from.has_anchors) return;
    const std::vector<TextPart> parts = text_parts(from);
    std::vector<std::string> keys;
    for (const TextPart& part : parts) {
        if (part.kind == TextPart::Kind::start) keys.push_back(body_.style_at(from, part.lv).key);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const std::string& key : keys) {
        const auto all = decided(from, parts, key, [](const std::vector<Lv>& open) {
            return std::optional(open.back());
        });
        for (const Styled& part : all)
            put_style(to, part, key, body_.style_at(from, part.style).value);
    }
}

}  // namespace quire::crdt
