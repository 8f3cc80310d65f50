// Anchors: where a text's style anchors lie among its characters.
//
// Ops count entities, characters and anchors alike; readers count code points. Most texts have no
// anchor, and then the two are one. Anchors are kept as sorted entity positions: an edit moves
// those behind it, O(anchors).
#pragma once

#include <cstdint>
#include <vector>

namespace quire::crdt {

class Anchors {
public:
    bool empty() const { return positions_.empty(); }
    std::uint32_t size() const { return static_cast<std::uint32_t>(positions_.size()); }

    // The entity position at which text is inserted at a code point position: before anchors that
    // lie there, so that what is typed at the end of a styled stretch belongs to it.
    std::uint32_t insertion(std::uint32_t code_point) const;
    // The entity position of a character.
    std::uint32_t character(std::uint32_t code_point) const;
    // How many characters lie before an entity position.
    std::uint32_t code_point(std::uint32_t entity) const;
    // Anchors in [entity, entity + len).
    std::uint32_t count_in(std::uint32_t entity, std::uint32_t len) const;

    void make_room(std::uint32_t entity,
                   std::uint32_t len);  // `len` characters come in at an entity position.
    void add(std::uint32_t entity);     // An anchor comes in.
    void erase(std::uint32_t entity, std::uint32_t len);  // Entities go, anchors among them.

private:
    std::vector<std::uint32_t> positions_;
};

}  // namespace quire::crdt
