// TextState: the visible text, and its styles, if it has any.
//
// It knows neither ops nor versions: the caller gives edits at the positions that hold after all
// edits before. Anchors take part in those positions as entities, so `at` and `len` of an edit may
// count some; the text itself holds characters only. Edits are O(log text + log anchors).
//
//     entities     a b [ c d ] e      [ and ] are the anchors of a style
//     code points  0 1   2 3   4
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "crdt/state/styles.h"
#include "seq/rope.h"

namespace quire::seq {
class GapText;
class Reel;
}  // namespace quire::seq

namespace quire::crdt {

// The state of one text. Positions of edits count entities: characters and style anchors.
class TextState {
public:
    TextState();
    explicit TextState(std::string_view utf8);  // Without styles.
    TextState(TextState&& other) noexcept;
    TextState& operator=(TextState&& other) noexcept;
    // Shares the text. CHECKs that no edits are announced. O(anchors).
    TextState(const TextState& other);
    TextState& operator=(const TextState&) = delete;
    ~TextState();

    // Valid until the next edit; a copy of it is a snapshot that costs O(1).
    const seq::Rope& rope() const { return rope_; }
    // Null until the first style anchor arrives; until then code points and entities are equal.
    const Styles* styles() const { return styles_.get(); }
    std::uint32_t anchor_count() const { return styles_ ? styles_->anchors().size() : 0; }

    // The entity position for text typed at a code point position.
    std::uint32_t insertion(std::uint32_t code_point) const {
        return styles_ ? styles_->anchors().insertion(code_point) : code_point;
    }
    // The entity of a character, and the number of characters before an entity.
    std::uint32_t character(std::uint32_t code_point) const {
        return styles_ ? styles_->anchors().character(code_point) : code_point;
    }
    std::uint32_t code_point(std::uint32_t entity) const {
        return styles_ ? styles_->anchors().code_point(entity) : entity;
    }
    // The entities of the characters [begin, end): stretches between anchors, as position and
    // length, in order.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stretches(std::uint32_t begin,
                                                                   std::uint32_t end) const;

    // Announces about `count` edits; nothing may be read until end_edits().
    void begin_edits(std::size_t count);
    void end_edits();
    // Positions count entities. `reel`: see Rope::insert().
    void insert(std::uint32_t at, std::string_view utf8, std::uint32_t len,
                seq::Reel* reel = nullptr);
    void erase(std::uint32_t at, std::uint32_t len);
    // Inserts a style's anchors; see Styles.
    void start_style(std::uint32_t at, std::uint32_t lv, StyleMark mark, bool holds_back);
    void end_style(std::uint32_t at, std::uint32_t lv, bool holds_back);

    // See Styles; may be called before any anchor exists.
    void note_changes(std::uint32_t since) { styled().note_changes(since); }
    void stop_noting() {
        if (styles_ != nullptr) styles_->stop_noting();
    }

private:
    Styles& styled();

    seq::Rope rope_;
    // Set while many edits follow: holds the text instead of the rope.
    std::unique_ptr<seq::GapText> draft_;
    std::unique_ptr<Styles> styles_;
};

}  // namespace quire::crdt
