// TextState: the visible text, and its styles, if it has any.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "crdt/state/styles.h"
#include "seq/rope.h"

namespace quire::seq {
class Draft;
class Reel;
}  // namespace quire::seq

namespace quire::crdt {

class TextState {
public:
    TextState();
    TextState(TextState&& other) noexcept;
    TextState& operator=(TextState&& other) noexcept;
    TextState(const TextState&) = delete;
    TextState& operator=(const TextState&) = delete;
    ~TextState();

    const seq::Rope& rope() const { return rope_; }
    // Null while no style anchor has ever come in; code points and entities are then one.
    const Styles* styles() const { return styles_.get(); }
    std::uint32_t anchor_count() const { return styles_ ? styles_->anchors().size() : 0; }

    // Where text typed at a code point position goes, in entities.
    std::uint32_t insertion(std::uint32_t code_point) const {
        return styles_ ? styles_->anchors().insertion(code_point) : code_point;
    }
    // The entity of a character, and how many characters lie before an entity.
    std::uint32_t character(std::uint32_t code_point) const {
        return styles_ ? styles_->anchors().character(code_point) : code_point;
    }
    std::uint32_t code_point(std::uint32_t entity) const {
        return styles_ ? styles_->anchors().code_point(entity) : entity;
    }
    // The entities of the characters [begin, end): stretches with anchors between them, as position
    // and length, in order.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stretches(std::uint32_t begin,
                                                                   std::uint32_t end) const;

    // About so many edits follow, and nothing is read until end_edits().
    void begin_edits(std::size_t count);
    void end_edits();
    // Positions in entities. `reel`: as Rope::insert() has it.
    void insert(std::uint32_t at, std::string_view utf8, std::uint32_t len,
                seq::Reel* reel = nullptr);
    void erase(std::uint32_t at, std::uint32_t len);
    // A style's anchors, as Styles has them.
    void start_style(std::uint32_t at, std::uint32_t lv, StyleMark mark, bool holds_back);
    void end_style(std::uint32_t at, std::uint32_t lv, bool holds_back);

    // As Styles has them; before any anchor too.
    void note_changes(std::uint32_t since) { styled().note_changes(since); }
    void stop_noting() {
        if (styles_ != nullptr) styles_->stop_noting();
    }

private:
    Styles& styled();

    seq::Rope rope_;
    std::unique_ptr<seq::Draft> draft_;  // While many edits follow: the text instead of the rope.
    std::unique_ptr<Styles> styles_;
};

}  // namespace quire::crdt
