#include <gtest/gtest.h>

#include "base/concat.h"
#include "memory/memory_desk_for_test.h"

namespace quire::memory {
namespace {

TEST(MemoryRead, DefaultsOfAnEntryAreReadInTheOrderOfTheSchema) {
    LogSchema log;
    log.entry.fields = {{.name = "kind", .type = FieldType::text, .default_value = "note"},
                        {.name = "what", .type = FieldType::text, .required = true},
                        {.name = "weight", .type = FieldType::number, .default_value = 1}};
    MemoryDesk desk(log);
    ASSERT_TRUE(desk.edit().append_entry("", "hello").has_value());
    ASSERT_TRUE(desk.edit().append_entry("", Map{{"weight", 2}, {"what", "x"}}).has_value());
    const auto members = [&](std::int64_t index) {
        std::string out;
        const Value entry = desk.reader().at("", index).value();
        for (const Map::Entry& each : entry.as_map()) cat_to(out, cat(each.key, " "));
        return out;
    };
    EXPECT_EQ(members(0), "timestamp agent_id kind what weight ");
    EXPECT_EQ(members(1), "timestamp agent_id kind what weight ");
    EXPECT_EQ(*desk.reader().at("", 0)->get("kind"), Value("note"));
    EXPECT_EQ(*desk.reader().at("", 1)->get("weight"), Value(2));
    EXPECT_EQ(desk.value().as_list()[0], desk.reader().at("", 0).value());
}

}  // namespace
}  // namespace quire::memory
