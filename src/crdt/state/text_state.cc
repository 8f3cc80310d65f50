#include "crdt/state/text_state.h"

namespace quire::crdt {

void TextState::insert(std::uint32_t at, std::string_view utf8, std::uint32_t len) {
    const std::size_t where = anchors_.empty() ? at : anchors_.code_point(at);
    rope_.insert({where}, utf8);
    if (!anchors_.empty()) anchors_.make_room(at, len);
}

void TextState::erase(std::uint32_t at, std::uint32_t len) {
    std::size_t where = at;
    std::size_t characters = len;
    if (!anchors_.empty()) {
        where = anchors_.code_point(at);
        characters -= anchors_.count_in(at, len);
        anchors_.erase(at, len);
    }
    if (characters == 0) return;
    rope_.erase({where}, {characters});
}

}  // namespace quire::crdt
