// Text without styles is a rope and nothing more; a position among entities is one in code points.
// With the first anchor `styles_` comes, and every position passes through its anchors: O(log
// anchors + log text) for an edit.
//
// While many edits follow each other the text is held as a draft (seq/gap_text.h), in which an edit
// near the one before costs less than one in a rope. It pays for its two copies of the text only if
// the edits are many for the text's size.
#include "crdt/state/text_state.h"

#include "base/check.h"
#include "seq/gap_text.h"

namespace quire::crdt {

namespace {

// A draft pays off beyond this many edits, and this many bytes of text for each of them.
#ifdef QUIRE_SMALL_NODES
constexpr std::size_t kManyEdits = 4;
#else
constexpr std::size_t kManyEdits = 256;
#endif
constexpr std::size_t kBytesAnEdit = 64;

}  // namespace

TextState::TextState() = default;
TextState::TextState(std::string_view utf8) : rope_(utf8) {}
TextState::TextState(const TextState& other) : rope_(other.rope_) {
    CHECK(other.draft_ == nullptr);
    if (other.styles_ != nullptr) styles_ = std::make_unique<Styles>(*other.styles_);
}
TextState::TextState(TextState&& other) noexcept = default;
TextState& TextState::operator=(TextState&& other) noexcept = default;
TextState::~TextState() = default;

// Cuts the range at each anchor inside of it.
std::vector<std::pair<std::uint32_t, std::uint32_t>> TextState::stretches(std::uint32_t begin,
                                                                          std::uint32_t end) const {
    if (styles_ == nullptr) return {{begin, end - begin}};
    const Anchors& anchors = styles_->anchors();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    std::uint32_t entity = anchors.character(begin);
    Anchors::Node node = anchors.with_characters(begin + 1);
    std::uint32_t reached = node == Anchors::kNone ? end : anchors.characters_before(node);
    while (begin < end) {
        const std::uint32_t stop = reached < end ? reached : end;
        out.emplace_back(entity, stop - begin);
        entity += stop - begin;
        begin = stop;
        // Several anchors may stand at one place; each takes an entity of its own.
        for (; node != Anchors::kNone && reached == begin; ++entity) {
            node = anchors.next(node);
            reached = node == Anchors::kNone ? end : reached + anchors.gap(node);
        }
    }
    return out;
}

// A draft knows no anchors, so texts with styles never have one.
void TextState::begin_edits(std::size_t count) {
    if (styles_ != nullptr || count < kManyEdits || rope_.bytes().n / kBytesAnEdit > count) return;
    draft_ = std::make_unique<seq::GapText>(rope_);
}

void TextState::end_edits() {
    if (draft_ == nullptr) return;
    rope_ = draft_->rope();
    draft_.reset();
}

// Long runs of edits go to a draft, which becomes the rope at their end.
void TextState::insert(std::uint32_t at, std::string_view utf8, std::uint32_t len,
                       seq::Reel* reel) {
    if (draft_ != nullptr) {
        if (draft_->has_room(utf8.size())) return draft_->insert({at}, utf8, {len});
        end_edits();
    }
    if (styles_ == nullptr) {
        rope_.insert({at}, utf8, reel);
        return;
    }
    rope_.insert({styles_->anchors().code_point(at)}, utf8, reel);
    styles_->make_room(at, len);
}

void TextState::erase(std::uint32_t at, std::uint32_t len) {
    if (draft_ != nullptr) {
        if (draft_->has_room(0)) return draft_->erase({at}, {len});
        end_edits();
    }
    std::uint32_t where = at;
    std::uint32_t characters = len;
    if (styles_ != nullptr) {
        where = styles_->anchors().code_point(at);
        characters -= styles_->anchors().count_in(at, len);
        styles_->erase(at, len);
    }
    if (characters > 0) rope_.erase({where}, {characters});
}

Styles& TextState::styled() {
    end_edits();
    if (styles_ == nullptr) styles_ = std::make_unique<Styles>();
    return *styles_;
}

void TextState::start_style(std::uint32_t at, std::uint32_t lv, StyleMark mark, bool holds_back) {
    styled().start(at, lv, std::move(mark), holds_back);
}

void TextState::end_style(std::uint32_t at, std::uint32_t lv, bool holds_back) {
    styled().end(at, lv, holds_back);
}

}  // namespace quire::crdt
