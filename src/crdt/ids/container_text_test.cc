#include "crdt/ids/container_text.h"

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

TEST(ContainerText, PrintedIdsAreParsed) {
    const ContainerId ids[] = {
        ContainerId::root("text", ContainerKind::text),
        ContainerId::root("root-a:b@c", ContainerKind::movable_list),
        ContainerId::root("🤝:$m>t", ContainerKind::text),
        ContainerId::normal({34, 12}, ContainerKind::map),
        ContainerId::normal({~PeerId{0} - 1, INT32_MAX - 1}, ContainerKind::counter),
        ContainerId::normal({1, 0}, static_cast<ContainerKind>(9)),
        ContainerId::root("root/tags", ContainerKind::list),
        ContainerId::root(std::string("a\0b", 3), ContainerKind::map),
    };
    for (const ContainerId& id : ids) EXPECT_EQ(parse_container_id(to_text(id)), id) << to_text(id);
    EXPECT_EQ(to_text(ids[0]), "cid:root-text:Text");
    EXPECT_EQ(to_text(ids[3]), "cid:12@34:Map");
    EXPECT_EQ(to_text(ids[5]), "cid:0@1:Unknown(9)");
}

TEST(ContainerText, OtherTextIsNoId) {
    for (const char* text :
         {"", "cid", "cid:", "cid:root-:Text", "root-a:Text", "cid:root-a", "cid:root-a:Texts",
          "cid:1@:Map", "cid:@1:Map", "cid:-1@1:Map", "cid:01@1:Map", "cid:2147483647@1:Map",
          "cid:1@18446744073709551616:Map", "cid:1@1:Unknown(5)", "cid:1@1:Unknown(256)",
          "cid:1 @1:Map"}) {
        EXPECT_EQ(parse_container_id(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace quire::crdt
