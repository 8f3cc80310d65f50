#include "server/resource_watch.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "server/memory_resources.h"
#include "server/workspace_service.h"

namespace quire::server {
namespace {

bool is_told(std::string_view uri, const kernel::BlockEvent& event) {
    const std::vector<std::string> keys = resource_keys(event);
    return std::ranges::find(keys, resource_key(uri)) != keys.end();
}

TEST(ResourceWatch, AUriIsKnownInWhateverSpelling) {
    const kernel::BlockEvent file{.block_id = "b7", .path = "a b.txt"};

    EXPECT_TRUE(is_told("file:///a%20b.txt", file));
    EXPECT_TRUE(is_told("file:///%61%20b.txt", file));
    EXPECT_TRUE(is_told("block://b7", file));
    EXPECT_FALSE(is_told("file:///b.txt", file));
    EXPECT_FALSE(is_told("block://b70", file));
}

TEST(ResourceWatch, MemoryIsToldByItsOwnerAndLabelAndAsPartOfContexts) {
    const kernel::BlockEvent memory{.block_id = "b3", .label = "plans/near", .owner = "agent:ada"};

    EXPECT_TRUE(is_told("memory://agent:ada/plans/near", memory));
    EXPECT_TRUE(is_told("context://ada", memory));
    EXPECT_FALSE(is_told("memory://agent:bob/plans/near", memory));
    EXPECT_FALSE(is_told("memory://agent:ada/plans", memory));
}

TEST(ResourceWatch, ARenamedBlockIsToldUnderBothLabels) {
    const kernel::BlockEvent memory{.block_id = "b3",
                                    .label = "plans/done",
                                    .owner = "agent:ada",
                                    .label_before = "plans/near"};

    EXPECT_TRUE(is_told("memory://agent:ada/plans/near", memory));
    EXPECT_TRUE(is_told("memory://agent:ada/plans/done", memory));
}

TEST(ResourceWatch, WhatIsNoMemoryChangesNoContext) {
    EXPECT_FALSE(is_told("context://ada", kernel::BlockEvent{.block_id = "b1_0_2"}));
    EXPECT_EQ(resource_key("http://example.org/"), "");
}

}  // namespace
}  // namespace quire::server
