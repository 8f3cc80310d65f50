#include "mcp/resource_news.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/function.h"
#include "mcp/fakes_for_test.h"

namespace quire::mcp {
namespace {

const std::string kUri = "block://b1";

class ResourceNewsTest : public ::testing::Test {
protected:
    void follow(const Value& id) {
        news->follow(id, kUri, {}, [](Result<void> done) { EXPECT_TRUE(done); });
    }
    // So many messages about the resource reach the client when it changes.
    std::size_t heard() {
        const auto told = pending->followed.find(kUri);
        if (told != pending->followed.end()) told->second(kUri);
        return connection->take().size();
    }

    std::shared_ptr<Pending> pending = std::make_shared<Pending>();
    std::shared_ptr<RecordingConnection> connection = std::make_shared<RecordingConnection>();
    std::shared_ptr<ResourceNews> news =
        std::make_shared<ResourceNews>(std::make_shared<FakeService>(pending), connection);
};

TEST_F(ResourceNewsTest, WhoFollowsWhileTheLastOneLeavesIsTold) {
    follow("first");
    pending->before_unfollow = [this] { follow("second"); };
    news->unfollow("first", kUri);
    EXPECT_EQ(heard(), 1U);
}

TEST_F(ResourceNewsTest, AFollowerThatLeavesBeforeItIsFollowedLeavesNothing) {
    std::optional<Function<void()>> follows;
    pending->before_follow = [&](Function<void()> go_on) { follows = std::move(go_on); };
    follow("first");
    news->unfollow("first", kUri);
    ASSERT_TRUE(follows);
    (*follows)();
    EXPECT_TRUE(pending->followed.empty());
}

}  // namespace
}  // namespace quire::mcp
