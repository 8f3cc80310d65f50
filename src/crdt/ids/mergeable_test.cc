#include "crdt/ids/mergeable.h"

#include <string>

#include <gtest/gtest.h>

#include "crdt/ids/container_text.h"

namespace quire::crdt {
namespace {

TEST(Mergeable, ANameContainsItsMap) {
    const auto parent = [](std::string name) {
        const auto id = mergeable_parent(ContainerId::root(std::move(name), ContainerKind::text));
        return id ? to_text(*id) : "none";
    };
    EXPECT_EQ(parent("\U0001F91D:$m>k"), "cid:root-m:Map");
    EXPECT_EQ(parent("\U0001F91D:$m>k>l"), "cid:root-\U0001F91D:$m>k:Map");
    EXPECT_EQ(parent("\U0001F91D:$a\\>b\\\\>k\\>l"), "cid:root-a>b\\:Map");
    EXPECT_EQ(parent("\U0001F91D:@z:10>k"), "cid:36@35:Map");
    EXPECT_EQ(parent("\U0001F91D:$m"), "none");
    EXPECT_EQ(parent("\U0001F91D:>k"), "none");
    EXPECT_EQ(parent("\U0001F91D:@z>k"), "none");
    EXPECT_EQ(parent("m>k"), "none");
}

// The markers are Loro's.
TEST(Mergeable, AMarkerIsValidOnlyInItsOwnEntry) {
    const auto child = [](const char* map, std::string_view key, Bytes marker) {
        const auto id = mergeable_child(*parse_container_id(map), key, Value(std::move(marker)));
        return id ? to_text(*id) : "none";
    };
    const Bytes text{0x00, 0x4C, 0x4D, 0x01, 2, 0xAF, 0xF7, 0xB5};
    EXPECT_EQ(child("cid:root-m:Map", "mt", text), "cid:root-\U0001F91D:$m>mt:Text");
    EXPECT_EQ(child("cid:root-m:Map", "nt", text), "none");
    EXPECT_EQ(child("cid:root-n:Map", "mt", text), "none");
    EXPECT_EQ(child("cid:root-m:Map", "mt", {0x00, 0x4C, 0x4D, 0x01, 1, 0xAF, 0xF7, 0xB5}), "none");
    EXPECT_EQ(child("cid:root-m:Map", "mt", {0x00, 0x4C, 0x4D, 0x01, 9, 0xAF, 0xF7, 0xB5}), "none");
    EXPECT_EQ(child("cid:root-m:Map", "mt", {0x00, 0x4C, 0x4D, 0x01, 2, 0xAF, 0xF7}), "none");
    EXPECT_EQ(child("cid:7@1:Map", "c", {0x00, 0x4C, 0x4D, 0x01, 5, 0xDE, 0x3B, 0x77}),
              "cid:root-\U0001F91D:@1:7>c:Counter");
    EXPECT_EQ(child("cid:root-\U0001F91D:$m>mm:Map", "de/ep>",
                    {0x00, 0x4C, 0x4D, 0x01, 1, 0xCA, 0xEA, 0x2E}),
              "cid:root-\U0001F91D:$m>mm>de\\sep\\>:List");
}

}  // namespace
}  // namespace quire::crdt
