#include <gtest/gtest.h>

#include "kernel/memory/memory_study_test.h"

namespace quire::kernel {
namespace {

class Reviser : public Study {
public:
    Result<MemoryRevised> revise(const std::string& label, const std::string& version,
                                 std::string_view value, const std::string& by = "human:tom") {
        const MemoryRevise what{version, json::parse(value).value()};
        return desk.ask<MemoryRevised>(
            [&](auto reply) { calls().revise(as(by), label, what, std::move(reply)); });
    }
};

TEST(MemoryRevise, ARevisionIsOneVersionAndOneUndoBesideOthersWrites) {
    Reviser study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.set("build", "status", "busy"));
    ASSERT_TRUE(study.set("build", "tags", List{"a"}));

    const auto made = study.revise("build", "2", R"({"status": "idle", "visits": 3})");

    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->block.version, 4U);
    EXPECT_TRUE(made->changed);
    EXPECT_TRUE(made->both.empty());
    const std::string after = R"({"status":"idle","visits":3,"tags":["a"]})";
    EXPECT_EQ(study.value("build"), after);
    study.crash();
    EXPECT_EQ(study.value("build"), after);
    ASSERT_TRUE(study.undo("build", "human:tom"));
    EXPECT_EQ(study.value("build"), R"({"status":"busy","visits":0,"tags":["a"]})");
}

TEST(MemoryRevise, PutsTextsTogetherByTheirWords) {
    Reviser study;
    ASSERT_TRUE(study.create("notes", R"("Text")"));
    ASSERT_TRUE(study.write("notes", AppendContent{"", "one two\nthree\nfour five\n"}));
    ASSERT_TRUE(study.write("notes", ReplaceText{"", "one", "uno"}));

    auto made = study.revise("notes", "2", R"("one dos\nthree\nfour five\n")");
    EXPECT_EQ(study.value("notes"), R"("uno dos\nthree\nfour five\n")");
    EXPECT_TRUE(made->both.empty());
    // Both changed one word: the person's text wins, and they are told.
    made = study.revise("notes", "2", R"("eins two\nthree\nfour five\n")");
    EXPECT_EQ(study.value("notes"), R"("eins two\nthree\nfour five\n")");
    EXPECT_EQ(made->both, std::vector<std::string>{"text"});
}

TEST(MemoryRevise, AnUnchangedRevisionMakesNoVersion) {
    Reviser study;
    ASSERT_TRUE(study.create("build"));
    const auto made = study.revise("build", "1", R"({"visits": 0})");
    ASSERT_TRUE(made);
    EXPECT_FALSE(made->changed);
    EXPECT_EQ(study.version("build"), 1U);
}

TEST(MemoryRevise, IsRefusedWhole) {
    Reviser study;
    ASSERT_TRUE(study.create("build"));
    EXPECT_EQ(reason(study.revise("build", "1", R"({"visits": 3, "status": "a", "origin": "me"})")),
              "read_only_field");
    EXPECT_EQ(reason(study.revise("build", "9", "{}")), "invalid_reference");
    EXPECT_EQ(reason(study.revise("build", "1", R"({"visits": 1})", "agent:eve")),
              "invalid_reference");
    EXPECT_EQ(study.version("build"), 1U);
    EXPECT_EQ(study.value("build"), R"({"visits":0})");

    ASSERT_TRUE(study.create("fixed", R"("Text")", Permission::read_only));
    EXPECT_EQ(reason(study.revise("fixed", "1", R"("a")")), "permission_denied");
    ASSERT_TRUE(study.create("asked", R"("Text")", Permission::human));
    EXPECT_EQ(reason(study.revise("asked", "1", R"("a")")), "fine");
}

TEST(MemoryRevise, ARevisionOfAnotherSchemaIsRefused) {
    Reviser study;
    ASSERT_TRUE(study.create("build"));
    std::string more(kStatus);
    more.insert(more.rfind(']'), R"(, {"name": "more", "field_type": "Text", "default": "x"})");
    ASSERT_TRUE(study.convert("build", more));
    EXPECT_EQ(reason(study.revise("build", "1", R"({"visits": 1})")), "schema_changed");
    EXPECT_EQ(reason(study.revise("build", "2", R"({"visits": 1, "more": "x"})")), "fine");
}

}  // namespace
}  // namespace quire::kernel
