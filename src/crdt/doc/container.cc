#include "crdt/doc/container.h"

namespace quire::crdt {

Container::Container(const ContainerId& name, ContainerIndex number, ContainerLog& ops)
    : id(name), index(number), log(&ops) {
    switch (id.kind) {
        case ContainerKind::text:
            body.emplace<TextBody>();
            break;
        case ContainerKind::list:
            body.emplace<ListBody>();
            break;
        case ContainerKind::movable_list:
            body.emplace<MovableBody>();
            break;
        case ContainerKind::map:
            body.emplace<MapBody>();
            break;
        case ContainerKind::tree:
            body.emplace<TreeBody>();
            break;
        case ContainerKind::counter:
            body.emplace<CounterBody>();
            break;
    }
}

// A map was derived from the copied log before, and a tree builds its parts when it is asked, so
// both have nothing to copy. What an import noted about the original is not needed again.
void Container::copy_from(const Container& other) {
    heads = other.heads;
    if (auto* text = std::get_if<TextBody>(&body)) {
        text->copy_from(other.as<TextBody>());
    } else if (auto* list = std::get_if<ListBody>(&body)) {
        list->copy_from(other.as<ListBody>());
    } else if (auto* movable = std::get_if<MovableBody>(&body)) {
        movable->copy_from(other.as<MovableBody>());
    } else if (auto* counter = std::get_if<CounterBody>(&body)) {
        *counter = other.as<CounterBody>();
    }
}

}  // namespace quire::crdt
