// Styles: as ops, and as a part of the state.
//
// A style is a pair of anchors among the characters, as in Peritext (Litt et al., 2022). A delta is
// carried out in two passes, its text first and its styles afterwards: text that goes beside the
// anchors which are there is to find them as they were.
//
// Positions are of two kinds here: code points, which callers count, and entities, which also count
// the anchors, and which ops are written in. TextState converts between them.
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

// The peer of an end wrote its start in the atom before.
std::optional<Lv> style_start(const OpLog& log, Lv end) {
    const OpId id = log.atoms().id_of(end);
    return id.counter == 0 ? std::nullopt : log.atoms().lv_of({id.peer, id.counter - 1});
}

const StyleStart& style_at(const ContainerLog& log, Lv start) {
    return std::get<StyleStart>(log.op(log.runs()[log.find(start)]));
}

void TextBody::apply_anchor(Site site, const Run& run, std::uint32_t pos) {
    const OpLog& oplog = site.document.oplog();
    const ContainerLog& log = *site.container.log;
    const auto* start = std::get_if<StyleStart>(&log.op(run));
    if (start != nullptr) {
        state->start_style(pos, run.lv,
                           {start->key, start->value, oplog.graph().lamport(run.lv),
                            oplog.atoms().peer_of(run.lv)},
                           holds_back_start(*start));
        return;
    }
    const Lv began = *style_start(oplog, run.lv);  // Import has made sure that there is one.
    state->end_style(pos, began, holds_back_end(style_at(log, began)));
}

TextDelta TextBody::delta(Site site, const Past* at) {
    TextDelta delta;
    if (!has_anchors) {
        put(delta, at == nullptr ? rope(site).str() : rope_at(site, *at).str());
        return delta;
    }
    if (at != nullptr) return delta_at(site, at->heads());
    const seq::Rope& rope = this->rope(site);
    const std::string all = rope.str();
    std::string_view rest = all;
    state->styles()->for_each_span(0, static_cast<std::uint32_t>(rope.code_points().n),
                                   [&](std::uint32_t len, const Map& attributes) {
                                       const std::string_view part = utf8::prefix(rest, len);
                                       put(delta, part, attributes);
                                       rest.remove_prefix(part.size());
                                   });
    return delta;
}

// --- local ops ---

void TextBody::insert_style(Site site, StyleStart style) {
    OpLog& oplog = site.document.journal().begin();
    ContainerLog& log = *site.container.log;
    const std::uint32_t from = style.start;
    const std::uint32_t to = style.end + 1;  // Its start has come in by then.
    log.keep({.lv = oplog.end(), .pos = from}, RunKind::anchor, std::move(style));
    oplog.append(site.container.index, 1);
    log.keep({.lv = oplog.end(), .pos = to}, RunKind::anchor, StyleEnd{});
    oplog.append(site.container.index, 1);
    size += 2;
    has_anchors = true;
}

void TextBody::mark(Site site, Marking marking) {
    latest(site);
    const auto begin = static_cast<std::uint32_t>(marking.begin);
    const auto end = static_cast<std::uint32_t>(marking.end);
    const Value& value = marking.value;
    const Styles* styles = state->styles();
    if (styles != nullptr ? styles->has(marking.key, value, begin, end) : value.is_null()) return;
    // At each of its edges a cleared stretch takes in typed text exactly if the style on the other
    // side of the edge does not.
    const std::uint8_t info = info_of(value.is_null() ? reversed(marking.expand) : marking.expand);
    insert_style(site, {state->insertion(begin), state->insertion(end), std::string(marking.key),
                        std::move(marking.value), info});
}

// --- deltas as edits ---

// Plays the delta on the length alone, so that apply_delta() cannot fail halfway. Each attribute is
// taken to cost a pair of anchors; a style that the text has already will cost none.
Result<void> TextBody::check_delta(Site site, const TextDelta& delta) {
    std::size_t length = rope(site).code_points().n;
    std::size_t at = 0;
    std::size_t entities = size;
    for (const TextStep& step : delta) {
        const Map* attributes = nullptr;
        if (const auto* keep = std::get_if<Retain>(&step)) {
            attributes = &keep->attributes;
            if (keep->count > length - std::min(at, length))
                return beyond(at + keep->count, length);
            if (keep->count == 0 && !attributes->empty())
                return invalid("empty_range", "a style needs at least one character to be on");
            at += keep->count;
        } else if (const auto* erased = std::get_if<Erase>(&step)) {
            if (erased->count > length - at) return beyond(at + erased->count, length);
            length -= erased->count;
        } else {
            const PutText& inserted = std::get<PutText>(step);
            attributes = &inserted.attributes;
            if (!utf8::is_valid(inserted.text))
                return invalid("invalid_utf8", "the text is not UTF-8; nothing was changed");
            const std::size_t count = utf8::count_code_points(inserted.text);
            length += count;
            at += count;
            entities += count;
        }
        if (attributes == nullptr) continue;
        entities += 2 * attributes->size();
        for (const auto& [key, value] : *attributes) {
            if (!utf8::is_valid(key))
                return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
            if (!value.is_null() && !site.document.settings.text_styles.of(key))
                return unknown_style(key);
        }
    }
    if (entities > kMaxSize) return too_large();
    return {};
}

// Requires check_delta(). The state is brought up to date around every insert, because the place of
// the next op and the styles that the new text has inherited are read off it.
void TextBody::apply_delta(Site site, const TextDelta& delta) {
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
            erase_characters(site, at, erased->count);
        } else {
            const PutText& inserted = std::get<PutText>(step);
            if (inserted.text.empty()) continue;
            const auto count = static_cast<std::uint32_t>(utf8::count_code_points(inserted.text));
            const auto begin = static_cast<std::uint32_t>(at);
            latest(site);
            insert(site, state->insertion(begin), inserted.text, count);
            // Styles that its place gives it and the delta does not are taken away.
            Map attributes = inserted.attributes;
            latest(site);
            if (state->styles() != nullptr) {
                state->styles()->for_each_span(begin, begin + 1,
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
            // Only a delta that removes a style may name one that nobody configured.
            const Expand expand = site.document.settings.text_styles.of(key).value_or(Expand::none);
            mark(site, {part.begin, part.end, key, value, expand});
        }
    }
}

// The stretches between anchors are erased, the last one first, so that the positions of the others
// stay as they are.
void TextBody::erase_characters(Site site, std::size_t at, std::size_t count) {
    if (count == 0) return;
    latest(site);
    const auto stretches =
        state->stretches(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + count));
    for (auto stretch = stretches.rbegin(); stretch != stretches.rend(); ++stretch)
        erase(site, stretch->first, stretch->second);
}

}  // namespace quire::crdt
