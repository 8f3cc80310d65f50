#include "cli/exchange/memory_file.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "cli/exchange/foreign_memory.h"

namespace quire::cli {
namespace {

MemoryFile sample() {
    return {"agent:ada",
            "2026-11-22T14:00:00Z",
            "0.1.0",
            {Map{{"label", "a"}, {"value", "x\ny"}}, Map{{"label", "b"}, {"value", 1.5}}}};
}

std::string reason_of(std::string_view text) {
    const auto file = read_memory_file(text);
    return file ? "fine" : file.error().reason();
}

TEST(MemoryFile, ReadsWhatItWrote) {
    const std::string text = write_memory_file(sample());
    EXPECT_TRUE(is_memory_file(text));
    const auto file = read_memory_file(text);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->owner, sample().owner);
    EXPECT_EQ(file->exported_at, sample().exported_at);
    EXPECT_EQ(file->program, sample().program);
    EXPECT_EQ(file->blocks, sample().blocks);
}

// Wherever it is cut, and whichever byte is another, it is noticed.
TEST(MemoryFile, IsReadWholeAndUnchangedOrNotAtAll) {
    const std::string text = write_memory_file(sample());
    for (std::size_t size = 0; size < text.size(); ++size)
        EXPECT_NE(reason_of(std::string_view(text).substr(0, size)), "fine") << size;
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string other = text;
        other[at] = other[at] == 'e' ? 'f' : 'e';
        EXPECT_NE(reason_of(other), "fine") << at;
    }
    EXPECT_NE(reason_of(text + "{}\n"), "fine");
    EXPECT_EQ(reason_of("{\"quire_memory\":2,\"blocks\":0}\n"), "newer_file");
    EXPECT_FALSE(is_memory_file("{\"type\":\"entity\"}\n"));
}

std::string foreign(std::string_view text, bool named = true) {
    std::optional<policy::Actor> owner;
    if (named) owner = policy::Actor::parse("agent:ada").value();
    const auto blocks = read_foreign_memory(text, owner);
    if (!blocks) return blocks.error().message();
    std::string out;
    for (const auto& each : *blocks) out += each.header.block.label + ";";
    return out;
}

TEST(ForeignMemory, LabelsAreValidAndDiffer) {
    const auto entity = [](std::string_view name) {
        return "{\"type\":\"entity\",\"name\":\"" + std::string(name) +
               "\",\"entityType\":\"t\",\"observations\":[]}\n";
    };
    EXPECT_EQ(foreign(entity("a\\nb") + entity("") + entity("a b") + entity("a b")),
              "a b;unnamed;a b_2;");
    const std::string longer(300, 'x');
    EXPECT_EQ(foreign(entity(longer)).size(), 181U);
    std::string wide;
    for (int i = 0; i < 100; ++i) wide += "\xe6\x97\xa5";
    EXPECT_EQ(foreign(entity(wide)), wide.substr(0, 180) + ";");
}

TEST(ForeignMemory, AnEntityThatOccursTwiceKeepsAllItsObservations) {
    const auto entity = [](std::string_view type, std::string_view observation) {
        return cat(R"({"type":"entity","name":"Ann","entityType":")", type,
                   R"(","observations":[")", observation, "\"]}\r\n");
    };
    const std::string text = cat("\r\n", entity("person", "tea"), entity("", "hat"),
                                 entity("author", "books"), entity("person", "tea"));

    const auto blocks = read_foreign_memory(text, policy::Actor::parse("agent:ada").value());

    ASSERT_TRUE(blocks) << blocks.error().message();
    ASSERT_EQ(blocks->size(), 1U);
    EXPECT_EQ(blocks->front().header.block.description, "person, author");
    EXPECT_EQ(blocks->front().value,
              Value(Map{{"name", "Ann"},
                        {"entity_type", "person, author"},
                        {"observations", List{"tea", "hat", "books", "tea"}}}));
}

TEST(ForeignMemory, ReportsEntriesThatItDoesNotUnderstand) {
    EXPECT_TRUE(foreign("{\"type\":\"entity\"}\n").starts_with("line 1: an entity has"));
    EXPECT_TRUE(
        foreign("{\"type\":\"relation\",\"from\":\"a\",\"to\":\"b\",\"relationType\":\"r\"}\n"
                "\n{\n")
            .starts_with("line 3: it is not JSON"));
    EXPECT_TRUE(foreign("{}").starts_with("the file is in no known format"));
    EXPECT_TRUE(foreign("{\"agents\":[],\"blocks\":[{\"label\":\"a\"}]}")
                    .starts_with("block 1: a block has"));
    EXPECT_TRUE(foreign("{\"agents\":[],\"blocks\":[{\"label\":\"a\",\"value\":\"\"}]}", false)
                    .starts_with("block 1 ('a') belongs to no agent"));
}

}  // namespace
}  // namespace quire::cli
