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

}  // namespace quire::crdt
