// A text without styles takes positions as they are. One with styles has anchors among its
// characters: positions in code points are turned into positions among characters and anchors, and
// an erase leaves the anchors standing. Typing on where one typed before, which is most of all
// editing, goes a short way: DocBody::type_on().
#include "crdt/doc/text.h"

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/history.h"
#include "crdt/doc/limits.h"
#include "crdt/state/text_state.h"

namespace quire::crdt {

const seq::Rope& TextView::rope() const {
    return container().as<TextBody>().shown(site());
}

Result<std::string> TextView::at(const Frontiers& version) const {
    TRY(doc().history().load());
    Container& c = container();
    if (c.id.kind != ContainerKind::text) return body().refuse(handle(), ContainerKind::text);
    const Past past = body().journal().past_of(TRY(body().journal().heads_of(version)));
    return c.as<TextBody>().rope_at(site(), past).str();
}

Result<std::vector<IdSpan>> TextView::characters() const {
    TRY(doc().history().load());
    Container& c = container();
    if (c.id.kind != ContainerKind::text) return body().refuse(handle(), ContainerKind::text);
    const AtomTable& atoms = body().oplog().atoms();
    std::vector<IdSpan> out;
    // Numbers that count up belong to one peer only as far as a run of ids reaches. A peer's
    // letters that lie side by side and count up are told as one span, however they came.
    for (const LvSpan& span : c.as<TextBody>().shown_atoms(site())) {
        for (Lv at = span.begin; at < span.end;) {
            const Lv end = std::min(span.end, atoms.run_end(at));
            const OpId first = atoms.id_of(at);
            const Counter past = first.counter + static_cast<Counter>(end - at);
            const bool joins =
                !out.empty() && out.back().peer == first.peer && out.back().end == first.counter;
            if (joins) {
                out.back().end = past;
            } else {
                out.push_back({first.peer, first.counter, past});
            }
            at = end;
        }
    }
    return out;
}

namespace {

// Not inlined, so that typing on saves no registers.
[[gnu::noinline]] Result<void> insert_anywhere(DocBody& body, Handle text, text::CodePoint at,
                                               std::string_view utf8) {
    Container* c = body.editable(text, ContainerKind::text);
    if (c == nullptr) return body.refuse(text, ContainerKind::text);
    const Site site{body, *c};
    auto& letters = c->as<TextBody>();
    std::size_t position = at.n;
    if (letters.has_anchors) {
        const seq::Rope& rope = letters.rope(site);
        if (at > rope.code_points()) return beyond(at.n, rope.code_points().n);
        position = letters.state->insertion(static_cast<std::uint32_t>(at.n));
    } else if (position > letters.size) {
        return beyond(position, letters.size);
    }
    if (utf8.empty()) return {};
    // A single byte below 0x80 is the commonest edit, and is known to be valid.
    std::size_t len = 1;
    if (utf8.size() > 1 || static_cast<unsigned char>(utf8[0]) >= 0x80) {
        if (!utf8::is_valid(utf8))
            return invalid("invalid_utf8", "the text is not UTF-8; nothing was changed");
        len = utf8::count_code_points(utf8);
    }
    if (len > kMaxSize - letters.size) return too_large();
    letters.insert(site, static_cast<std::uint32_t>(position), utf8,
                   static_cast<std::uint32_t>(len));
    return {};
}

[[gnu::noinline]] Result<void> erase_anywhere(DocBody& body, Handle text, text::CodePoint at,
                                              text::CodePoint count) {
    Container* c = body.editable(text, ContainerKind::text);
    if (c == nullptr) return body.refuse(text, ContainerKind::text);
    const Site site{body, *c};
    auto& letters = c->as<TextBody>();
    const std::size_t size =
        letters.has_anchors ? letters.rope(site).code_points().n : letters.size;
    if (at.n > size || count.n > size - at.n) return beyond(at.n + count.n, size);
    if (count.n == 0) return {};
    if (letters.has_anchors) {
        letters.erase_characters(site, at.n, count.n);
    } else {
        letters.erase(site, static_cast<std::uint32_t>(at.n), static_cast<std::uint32_t>(count.n));
    }
    return {};
}

}  // namespace

// Typing on is kept apart from edits anywhere, so that it costs little more than its counters.
Result<void> TextView::insert_into(const Doc& doc, Handle text, text::CodePoint at,
                                   std::string_view utf8) {
    DocBody& body = body_of(doc);
    if (body.journal().type_on(text, at.n, utf8)) return {};
    return insert_anywhere(body, text, at, utf8);
}

Result<void> TextView::erase_from(const Doc& doc, Handle text, text::CodePoint at,
                                  text::CodePoint count) {
    DocBody& body = body_of(doc);
    if (body.journal().erase_on(text, at.n, count.n)) return {};
    return erase_anywhere(body, text, at, count);
}

TextDelta TextView::delta() const {
    return container().as<TextBody>().delta(site(), body().at());
}

Result<void> TextView::mark(text::CodePoint begin, text::CodePoint end, std::string_view key,
                            Value value) {
    Container* c = body().editable(handle(), ContainerKind::text);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::text);
    if (begin >= end)
        return invalid("empty_range", "a style needs at least one character to be on");
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    auto& letters = c->as<TextBody>();
    const std::size_t size = letters.rope(site()).code_points().n;
    if (end.n > size) return beyond(end.n, size);
    // A style adds two anchors, which count as entities.
    if (letters.size > kMaxSize - 2) return too_large();
    const std::optional<Expand> expand = body().settings.text_styles.of(key);
    if (!expand) {
        // Taking away what is not there needs no configuration.
        const Styles* styles = letters.state->styles();
        const auto from = static_cast<std::uint32_t>(begin.n);
        const auto to = static_cast<std::uint32_t>(end.n);
        if (value.is_null() && (styles == nullptr || styles->has(key, value, from, to))) return {};
        return unknown_style(key);
    }
    letters.mark(site(), {begin.n, end.n, key, std::move(value), *expand});
    return {};
}

Result<void> TextView::unmark(text::CodePoint begin, text::CodePoint end, std::string_view key) {
    return mark(begin, end, key, nullptr);
}

Result<void> TextView::apply(const TextDelta& delta) {
    Container* c = body().editable(handle(), ContainerKind::text);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::text);
    auto& letters = c->as<TextBody>();
    TRY(letters.check_delta(site(), delta));
    letters.apply_delta(site(), delta);
    return {};
}

}  // namespace quire::crdt
