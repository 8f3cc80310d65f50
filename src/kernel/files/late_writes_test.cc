// Bytes that another program writes to a file that a save has displaced.
#include <string>

#include <gtest/gtest.h>

#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

// Moves both times on, so that what waits for them runs.
void pass(FileOffice& office, std::int64_t ms) {
    office.clock.advance(ms);
    office.scheduler.advance(ms);
}

TEST(LateWrites, AreAChangeOfTheDiskAndOfTheDocument) {
    FileOffice office;
    office.files.put("f", "one\ntwo\nthree\n");
    ASSERT_EQ(office.edit("f", "one", "ONE"), "ok");
    ASSERT_TRUE(office.save("f"));
    office.files.write_late("f", "one\ntwo\nthree\nlate\n");

    EXPECT_EQ(office.text("f"), "ONE\ntwo\nthree\nlate\n");
    EXPECT_EQ(office.disk("f"), "ONE\ntwo\nthree\nlate\n");
    EXPECT_FALSE(office.status("f").dirty);
}

TEST(LateWrites, AreTakenInWhenTheTimeIsUpThoughNobodyAsks) {
    FileOffice office;
    office.files.put("f", "one\n");
    ASSERT_EQ(office.edit("f", "one", "ONE"), "ok");
    ASSERT_TRUE(office.save("f"));
    pass(office, 1500);
    office.files.write_late("f", "one\nlate\n");
    pass(office, 1000);
    // It is given up now, so this write comes too late.
    office.files.write_late("f", "one\nlate\nlater\n");
    pass(office, 5000);

    EXPECT_EQ(office.disk("f"), "ONE\nlate\n");
    EXPECT_EQ(office.text("f"), "ONE\nlate\n");
}

TEST(LateWrites, OfSeveralKindsAreEachTakenInOnce) {
    FileOffice office;
    office.files.put("f", "one\ntwo\nthree\n");
    ASSERT_EQ(office.edit("f", "one", "ONE"), "ok");
    ASSERT_TRUE(office.save("f"));
    office.files.write_late("f", "one\nlate\ntwo\nthree\n");
    EXPECT_EQ(office.text("f"), "ONE\nlate\ntwo\nthree\n");
    office.files.write_late("f", "one\nlate\ntwo\nthree\nlater\n");
    // Meanwhile the disk changes as well.
    office.files.put("f", "ONE\nlate\n2\nthree\n");

    EXPECT_EQ(office.text("f"), "ONE\nlate\n2\nthree\nlater\n");
    EXPECT_EQ(office.text("f"), "ONE\nlate\n2\nthree\nlater\n");
}

TEST(LateWrites, ToAFileThatIsSavedWithItsEditsAreKept) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "one\ntwo\nthree\n");
    ASSERT_EQ(office.edit("f", "one", "ONE"), "ok");
    office.files.write_late("f", "one\ntwo\nthree\nlate\n");

    ASSERT_EQ(office.edit("f", "two", "TWO"), "ok");

    EXPECT_EQ(office.disk("f"), "ONE\nTWO\nthree\nlate\n");
}

TEST(LateWrites, ThatAreNoTextDisturbNobody) {
    FileOffice office;
    office.files.put("f", "one\n");
    ASSERT_EQ(office.edit("f", "one", "ONE"), "ok");
    ASSERT_TRUE(office.save("f"));
    office.files.write_late("f", std::string("\0\1", 2));

    EXPECT_EQ(office.text("f"), "ONE\n");
    pass(office, 5000);
    EXPECT_EQ(office.text("f"), "ONE\n");
    // They are kept where a person finds them.
    const std::string kept =
        cat(".quire/recovered/", fs::Hash::of(std::string_view("\0\1", 2)).hex(), ".late");
    EXPECT_EQ(office.disk(kept), std::string("\0\1", 2));
}

TEST(LateWrites, OnTheSameLineWinOverTheSave) {
    FileOffice office;
    office.files.put("f", "one\n-\ntwo\n");
    ASSERT_EQ(office.edit("f", "one", "agent"), "ok");
    ASSERT_TRUE(office.save("f"));
    ASSERT_EQ(office.edit("f", "two", "unsaved"), "ok");
    office.files.write_late("f", "person\n-\ntwo\n");

    EXPECT_EQ(office.text("f"), "person\n-\nunsaved\n");
    EXPECT_EQ(office.disk("f"), "person\n-\ntwo\n");
}

}  // namespace
}  // namespace quire::kernel
