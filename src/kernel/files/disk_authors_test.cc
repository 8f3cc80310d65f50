// Attribution of announced changes on the disk.
#include "kernel/files/disk_authors.h"

#include <string>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace quire::kernel {
namespace {

const policy::Actor kAda{policy::ActorKind::agent, "ada"};
const policy::Actor kBob{policy::ActorKind::agent, "bob"};

std::string author(const DiskAuthors& authors, const std::string& path,
                   const std::string& hash = "any") {
    const auto found = authors.author_of(path, hash);
    return found ? found->name : "none";
}

TEST(DiskAuthors, AChangeIsItsAuthorsUntilTheAuthorIsDone) {
    ManualClock clock;
    DiskAuthors authors(clock);
    authors.expect(kAda, "1", {{"a.txt"}, {"src/"}});
    EXPECT_EQ(author(authors, "a.txt"), "ada");
    EXPECT_EQ(author(authors, "src/deep/b"), "ada");
    EXPECT_EQ(author(authors, "src"), "none");
    EXPECT_EQ(author(authors, "a.txt.bak"), "none");
    EXPECT_EQ(authors.expected(kAda, "1").size(), 2U);
    EXPECT_TRUE(authors.expected(kBob, "1").empty());
    authors.end(kBob, "1");
    EXPECT_EQ(author(authors, "a.txt"), "ada");
    authors.end(kAda, "1");
    EXPECT_EQ(author(authors, "a.txt"), "none");
    // Changes below the directory may still arrive.
    EXPECT_EQ(author(authors, "src/b"), "ada");
    clock.advance(DiskAuthors::kLingerMs);
    EXPECT_EQ(author(authors, "src/b"), "none");
}

TEST(DiskAuthors, OfTwoAuthorsNeitherIsNamed) {
    ManualClock clock;
    DiskAuthors authors(clock);
    authors.expect(kAda, "1", {{"src/"}});
    authors.expect(kAda, "2", {{"src/a"}});
    EXPECT_EQ(author(authors, "src/a"), "ada");
    authors.expect(kBob, "1", {{"src/a"}});
    EXPECT_EQ(author(authors, "src/a"), "none");
    EXPECT_EQ(author(authors, "src/b"), "ada");
    authors.end(kAda, "2");
    EXPECT_EQ(author(authors, "src/a"), "none");
    authors.end(kBob, "1");
    EXPECT_EQ(author(authors, "src/a"), "ada");
}

TEST(DiskAuthors, OtherBytesThanTheAuthorSaidAreSomebodyElses) {
    ManualClock clock;
    DiskAuthors authors(clock);
    authors.expect(kAda, "1", {{"a", "11"}, {"b"}});
    EXPECT_EQ(author(authors, "a", "11"), "ada");
    EXPECT_EQ(author(authors, "a", "22"), "none");
    EXPECT_EQ(author(authors, "b", "22"), "ada");
    // Bob announces the other bytes.
    authors.expect(kBob, "1", {{"a", "22"}});
    EXPECT_EQ(author(authors, "a", "11"), "ada");
    EXPECT_EQ(author(authors, "a", "22"), "bob");
}

TEST(DiskAuthors, WhoNeverSaysThatTheyAreDoneIsForgotten) {
    ManualClock clock;
    DiskAuthors authors(clock);
    for (std::size_t i = 0; i < DiskAuthors::kMost + 5; ++i)
        authors.expect(kAda, std::to_string(i), {{"a" + std::to_string(i)}});
    EXPECT_EQ(author(authors, "a0"), "ada");
    // Announcements above the limit are ignored.
    EXPECT_EQ(author(authors, "a" + std::to_string(DiskAuthors::kMost)), "none");
    clock.advance(DiskAuthors::kPatienceMs);
    EXPECT_EQ(author(authors, "a0"), "none");
    authors.expect(kAda, "new", {{"b"}});
    EXPECT_EQ(author(authors, "b"), "ada");
}

}  // namespace
}  // namespace quire::kernel
