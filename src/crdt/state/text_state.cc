#include "crdt/state/text_state.h"

namespace quire::crdt {

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
        for (; node != Anchors::kNone && reached == begin; ++entity) {
            node = anchors.next(node);
            reached = node == Anchors::kNone ? end : reached + anchors.gap(node);
        }
    }
    return out;
}

void TextState::insert(std::uint32_t at, std::string_view utf8, std::uint32_t len) {
    if (styles_ == nullptr) {
        rope_.insert({at}, utf8);
        return;
    }
    rope_.insert({styles_->anchors().code_point(at)}, utf8);
    styles_->make_room(at, len);
}

void TextState::erase(std::uint32_t at, std::uint32_t len) {
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
