// An answer about a file says what others have changed in it since its caller last saw it.
#include <gtest/gtest.h>

#include "tests/flows/workspace.h"

namespace quire {
namespace {

// The changes in the last answer: "ada v3 1-2; …", and the number of others.
std::string told(const Workspace& desk) {
    const Value* const rows = desk.last.get("changed_since_read");
    std::string out;
    for (const Value& row : rows == nullptr ? List{} : rows->as_list()) {
        cat_to(out, cat(out.empty() ? "" : "; ", row.get("actor")->as_string(), " v",
                        row.get("version")->as_int(), " ", row.get("start")->as_int(), "-",
                        row.get("end")->as_int()));
    }
    if (const Value* more = desk.last.get("changed_more"))
        cat_to(out, cat("; ", more->as_int(), " more"));
    return out;
}

constexpr const char* kRead = R"({"operation":"read","path":"a.txt"})";

std::string append(int n) {
    return cat(R"({"operation":"append","path":"a.txt","content":"line )", n, "\\n\"}");
}

TEST(ChangedSinceRead, OthersChangesAreToldOnceInLinesOfToday) {
    Workspace desk;
    desk.disk.put("a.txt", "one\ntwo\nthree\n");
    desk.call(kRead);
    EXPECT_EQ(told(desk), "");
    desk.call(R"({"operation":"replace","path":"a.txt","find":"three","replace":"THREE"})",
              "agent:bob");
    desk.call(R"({"operation":"insert","path":"a.txt","line":0,"content":"zero"})", "agent:bob");

    const auto answer = desk.call(kRead);

    EXPECT_EQ(told(desk), "agent:bob v2 3-4; agent:bob v3 0-1");
    EXPECT_NE(answer.text.find("agent:bob, version 2: lines 3-4"), std::string::npos)
        << answer.text;
    desk.call(kRead);
    EXPECT_EQ(told(desk), "");
}

TEST(ChangedSinceRead, ChangesOfTheDiskAreItsOwn) {
    Workspace desk;
    desk.disk.put("a.txt", "one\ntwo\nthree\n");
    desk.call(kRead);
    desk.disk.put("a.txt", "one\nthree\n");

    desk.call(kRead);

    EXPECT_EQ(told(desk), "source:disk v2 1-1");
}

TEST(ChangedSinceRead, ACallersOwnChangesAreNoNews) {
    Workspace desk;
    desk.disk.put("a.txt", "one\n");
    desk.call(kRead);
    desk.call(append(1));
    EXPECT_EQ(told(desk), "");
    desk.call(kRead);
    EXPECT_EQ(told(desk), "");
    desk.disk.put("a.txt", "zero\none\n");

    // The change of the disk is taken in first; the call's own comes after it.
    desk.call(append(2));

    EXPECT_EQ(told(desk), "source:disk v3 0-1");
}

TEST(ChangedSinceRead, ASessionIsACallerOfItsOwn) {
    Workspace desk;
    desk.disk.put("a.txt", "one\n");
    const auto one = std::make_shared<const kernel::Notify>();
    const auto other = std::make_shared<const kernel::Notify>();
    const auto as = [&](std::uint64_t session) {
        desk.session = session;
        desk.notify = session == 1 ? one : other;
    };
    as(1);
    desk.call(kRead);
    as(2);
    desk.call(append(1));
    EXPECT_EQ(told(desk), "");

    as(1);
    desk.call(kRead);

    EXPECT_EQ(told(desk), "agent:ada v2 1-2");
}

TEST(ChangedSinceRead, ManyChangesAreTheTenOldestAndACount) {
    Workspace desk(Profile::model);
    desk.disk.put("a.txt", "one\n");
    desk.call(kRead);
    for (int i = 0; i < 13; ++i) desk.call(append(i), cat("agent:b", i));

    desk.call(kRead);

    ASSERT_NE(desk.last.get("changed_since_read"), nullptr);
    EXPECT_EQ(desk.last.get("changed_since_read")->as_list().size(), 10U);
    EXPECT_EQ(told(desk).substr(0, 14), "agent:b0 v2 2-");
    EXPECT_EQ(desk.last.get("changed_more")->as_int(), 3);
}

TEST(ChangedSinceRead, NothingIsClaimedAfterARestart) {
    Workspace desk;
    desk.disk.put("a.txt", "one\n");
    desk.call(kRead);
    desk.call(append(1), "agent:bob");
    desk.restart();

    desk.call(kRead);

    EXPECT_EQ(told(desk), "");
}

}  // namespace
}  // namespace quire
