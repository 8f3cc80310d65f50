#include "conversation/conversation.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/must.h"
#include "crdt/doc/map.h"

namespace quire::conversation {
namespace {

// A document with the blocks "0" to "4", each the parent of the next, in which another program then
// writes other parents.
class ForeignParents : public ::testing::Test {
protected:
    ForeignParents() {
        Conversation made(doc);
        for (int i = 0; i < 5; ++i) {
            NewBlock block;
            block.role = "user";
            block.kind = "text";
            block.status = "done";
            if (i > 0) block.parent = ids.back();
            block.metadata = {{"name", cat(i)}};
            ids.push_back(made.create(block));
        }
        doc.commit();
    }
    void write_parent(std::size_t block, std::size_t parent) {
        const Conversation blocks(doc);
        must(doc.map(blocks.find(ids[block])->fields)
                 .set("parent", cat(ids[parent].counter, "@", ids[parent].peer)));
        doc.commit();
    }
    // Each visited block's name and its depth.
    std::string walked(std::optional<crdt::OpId> parent = {}) {
        const Conversation blocks(doc);
        std::string out;
        for (const Conversation::Visit& each : blocks.walk(parent, 0))
            cat_to(out, cat(each.block->metadata.find("name")->as_string(), ":", each.depth, " "));
        return out;
    }

    crdt::Doc doc{1};
    std::vector<crdt::OpId> ids;
};

TEST_F(ForeignParents, TheBlocksOfACycleAreRoots) {
    EXPECT_EQ(walked(), "0:0 1:1 2:2 3:3 4:4 ");
    write_parent(1, 3);
    EXPECT_EQ(walked(), "0:0 1:0 2:0 3:0 4:1 ");
    EXPECT_EQ(walked(ids[3]), "4:0 ");
    EXPECT_EQ(walked(ids[1]), "");
}

TEST_F(ForeignParents, ABlockThatIsItsOwnParentIsARoot) {
    write_parent(2, 2);
    EXPECT_EQ(walked(), "0:0 1:1 2:0 3:1 4:2 ");
    EXPECT_EQ(walked(ids[2]), "3:0 4:1 ");
}

TEST_F(ForeignParents, ABlockMayStandBeforeItsParent) {
    write_parent(3, 4);
    write_parent(4, 0);
    EXPECT_EQ(walked(), "0:0 1:1 2:2 4:1 3:2 ");
}

}  // namespace
}  // namespace quire::conversation
