// Rich text: styles as ops, as state, at versions, and between them.
#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/limits.h"
#include "crdt/merge/style.h"
#include "crdt/state/text_state.h"

namespace quire::crdt {

// --- state ---

// The atom that starts the style whose end this is: its peer's one before.
std::optional<Lv> DocBody::style_start(Lv end) const {
    const OpId id = log_.atoms().id_of(end);
    return id.counter == 0 ? std::nullopt : log_.atoms().lv_of({id.peer, id.counter - 1});
}

const StyleStart& DocBody::style_at(const Container& c, Lv start) const {
    const ContainerLog& log = log_of(c);
    return std::get<StyleStart>(log.op(log.runs()[log.find(start)]));
}

void DocBody::apply_anchor(Container& c, const Run& run, std::uint32_t pos) {
    const auto* start = std::get_if<StyleStart>(&log_of(c).op(run));
    if (start != nullptr) {
        c.text->start_style(
            pos, run.lv,
            {start->key, start->value, log_.graph().lamport(run.lv), log_.atoms().peer_of(run.lv)},
            holds_back_start(*start));
        return;
    }
    const Lv began = *style_start(run.lv);  // Import has seen to it that there is one.
    c.text->end_style(pos, began, holds_back_end(style_at(c, began)));
}

TextDelta DocBody::text_delta(Container& c, const Past* at) {
    TextDelta delta;
    if (!c.has_anchors) {
        put(delta, at == nullptr ? text(c).str() : rope_at(c, *at).str());
        return delta;
    }
    if (at != nullptr) return text_delta_at(c, at->heads());
    const seq::Rope& rope = text(c);
    const std::string all = rope.str();
    std::string_view rest = all;
    c.text->styles()->for_each_span(0, static_cast<std::uint32_t>(rope.code_points().n),
                                    [&](std::uint32_t len, const Map& attributes) {
                                        const std::string_view part = utf8::prefix(rest, len);
                                        put(delta, part, attributes);
                                        rest.remove_prefix(part.size());
                                    });
    return delta;
}

// --- local ops ---

void DocBody::insert_style(Container& c, StyleStart style) {
    begin();
    const std::uint32_t from = style.start;
    const std::uint32_t to = style.end + 1;  // Its start has come in by then.
    log_of(c).keep({.lv = log_.end(), .pos = from}, RunKind::anchor, std::move(style));
    log_.append(c.index, 1);
    log_of(c).keep({.lv = log_.end(), .pos = to}, RunKind::anchor, StyleEnd{});
    log_.append(c.index, 1);
    c.size += 2;
    c.has_anchors = true;
}

void DocBody::mark(Container& c, Marking marking) {
    text(c);
    const auto begin = static_cast<std::uint32_t>(marking.begin);
    const auto end = static_cast<std::uint32_t>(marking.end);
    const Value& value = marking.value;
    const Styles* styles = c.text->styles();
    if (styles != nullptr ? styles->has(marking.key, value, begin, end) : value.is_null()) return;
    const std::uint8_t info = info_of(value.is_null() ? reversed(marking.expand) : marking.expand);
    insert_style(c, {c.text->insertion(begin), c.text->insertion(end), std::string(marking.key),
                     std::move(marking.value), info});
}

// --- Doc ---

// All that could fail, so that applying does not.
Result<void> DocBody::check_delta(Container& c, const TextDelta& delta) {
    std::size_t size = text(c).code_points().n;
    std::size_t at = 0;
    std::size_t entities = c.size;
    for (const TextStep& step : delta) {
        const Map* attributes = nullptr;
        if (const auto* keep = std::get_if<Retain>(&step)) {
            attributes = &keep->attributes;
            if (keep->count > size - std::min(at, size)) return beyond(at + keep->count, size);
            if (keep->count == 0 && !attributes->empty())
                return invalid("empty_range", "a style needs at least one character to be on");
            at += keep->count;
        } else if (const auto* erased = std::get_if<Erase>(&step)) {
            if (erased->count > size - at) return beyond(at + erased->count, size);
            size -= erased->count;
        } else {
            const PutText& inserted = std::get<PutText>(step);
            attributes = &inserted.attributes;
            if (!utf8::is_valid(inserted.text))
                return invalid("invalid_utf8", "the text is not UTF-8; nothing was changed");
            const std::size_t count = utf8::count_code_points(inserted.text);
            size += count;
            at += count;
            entities += count;
        }
        if (attributes == nullptr) continue;
        entities += 2 * attributes->size();
        for (const auto& [key, value] : *attributes) {
            if (!utf8::is_valid(key))
                return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
            if (!value.is_null() && !settings.text_styles.of(key)) return unknown_style(key);
        }
    }
    if (entities > kMaxSize) return beyond(kMaxSize, kMaxSize);
    return {};
}

// Text first, styles afterwards: where text goes beside the anchors that are there, it is to find
// them as they were.
void DocBody::apply_delta(Container& c, const TextDelta& delta) {
    struct Wanted {
        std::size_t begin;
        std::size_t end;
        Map attributes;
    };
    std::vector<Wanted> wanted;
    std::size_t at = 0;
    for (const TextStep& step : delta) {
        if (const auto* keep = std::get_if<Retain>(&step)) {
            if (!keep->attributes.empty())
                wanted.push_back({at, at + keep->count, keep->attributes});
            at += keep->count;
        } else if (const auto* erased = std::get_if<Erase>(&step)) {
            erase_text(c, at, erased->count);
        } else {
            const PutText& inserted = std::get<PutText>(step);
            if (inserted.text.empty()) continue;
            const auto count = static_cast<std::uint32_t>(utf8::count_code_points(inserted.text));
            const auto begin = static_cast<std::uint32_t>(at);
            text(c);
            insert_text(c, c.text->insertion(begin), inserted.text, count);
            // What its place gives it and the delta does not goes again.
            Map attributes = inserted.attributes;
            text(c);
            if (c.text->styles() != nullptr) {
                c.text->styles()->for_each_span(begin, begin + 1,
                                                [&](std::uint32_t, const Map& given) {
                                                    for (const auto& [key, value] : given) {
                                                        if (!attributes.contains(key))
                                                            attributes.append(key, nullptr);
                                                    }
                                                });
            }
            if (!attributes.empty()) wanted.push_back({at, at + count, std::move(attributes)});
            at += count;
        }
    }
    for (const Wanted& part : wanted) {
        for (const auto& [key, value] : part.attributes) {
            // A style that nobody configured can only be on its way out.
            const Expand expand = settings.text_styles.of(key).value_or(Expand::none);
            mark(c, {part.begin, part.end, key, value, expand});
        }
    }
}

// Style anchors stay: the stretches between them go, the last one first, so that the others hold
// still.
void DocBody::erase_text(Container& c, std::size_t at, std::size_t count) {
    if (count == 0) return;
    text(c);
    const auto stretches =
        c.text->stretches(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + count));
    for (auto stretch = stretches.rbegin(); stretch != stretches.rend(); ++stretch)
        erase(c, stretch->first, stretch->second);
}

}  // namespace quire::crdt
