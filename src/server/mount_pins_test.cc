// Pins in the store that cannot be read: the kernel starts, and nothing is approved by accident.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "kernel/core/desk_test.h"
#include "kernel/oversight/mount_calls.h"
#include "mounts/mounts.h"

namespace quire::server {
namespace {

TEST(MountPins, AMountWhosePinIsNoneListsNothingAndTheOthersGoOn) {
    kernel::Desk desk;
    kernel::MountCalls calls(*desk.kernel);
    const auto pin = [&](const std::string& mount, const std::string& tools) {
        const std::string body =
            cat(R"({"server":{"name":"s","version":"1"},"at":1,"tools":)", tools, "}");
        return desk.ask<void>([&](auto reply) {
            calls.pin(kernel::Desk::as("ada"), {mount, *json::parse(body)}, Map{},
                      std::move(reply));
        });
    };
    ASSERT_TRUE(pin("bad", "7"));
    ASSERT_TRUE(pin("good", "[]"));
    std::vector<mounts::MountOptions> options;
    for (const char* const name : {"bad", "good"}) {
        options.emplace_back();
        options.back().server.name = name;
        options.back().server.command = {"/nowhere"};
    }
    std::string warned;
    const auto opened = mounts::Mounts::open(
        std::move(options), {calls, desk.scheduler, desk.scheduler, desk.clock,
                             [&](const std::string& what) { cat_to(warned, what); }});

    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_NE(warned.find("the mount bad is damaged"), std::string::npos) << warned;
    EXPECT_EQ(warned.find("good"), std::string::npos) << warned;
    // Both have a pin, so neither is contacted, and what its program lists is not pinned.
    EXPECT_TRUE((*opened)->has_pin("bad"));
    const auto late =
        desk.ask<std::vector<std::string>>([&](auto reply) { (*opened)->meet(std::move(reply)); });
    EXPECT_TRUE(late->empty());
    EXPECT_TRUE((*opened)->show("bad")->get("tools")->as_list().empty());
}

}  // namespace
}  // namespace quire::server
