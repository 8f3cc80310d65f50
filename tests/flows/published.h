// Checks that a tool's answer matches what the tool publishes.
#pragma once

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "json/json.h"
#include "json/schema/schema.h"
#include "tools/tool.h"

namespace quire {

// A schema that lets through only what it names, on every level.
inline Value closed(Value schema) {
    if (Value* const items = schema.is_map() ? schema.as_map().find("items") : nullptr)
        *items = closed(std::move(*items));
    Value* const members = schema.is_map() ? schema.as_map().find("properties") : nullptr;
    if (members == nullptr) return schema;
    for (Map::Entry& each : members->as_map()) each.value = closed(std::move(each.value));
    schema.as_map().set("additionalProperties", false);
    return schema;
}

inline Result<tools::EncodedResult> encoded(Result<tools::ToolResult> result) {
    if (!result) return Failure(std::move(result).error());
    return tools::encoded(std::move(*result));
}

// It fits the output schema; in profile `full`, which leaves nothing out, that names all of it.
inline void expect_published(const tools::Registry& registry, tools::Profile profile,
                             std::string_view tool, const tools::EncodedResult& result) {
    const tools::ToolInfo* const info = registry.find(profile, tool);
    if (info == nullptr) return;
    const bool names_all = profile == tools::Profile::full && !result.is_error;
    const auto schema = json::Schema::compile(
        names_all ? closed(info->output_schema) : info->output_schema, {.strict = true});
    ASSERT_TRUE(schema) << tool;
    const auto fits = schema->check(result.structured);
    EXPECT_TRUE(fits) << tool << ": " << json::write(result.structured) << ": "
                      << (fits ? "" : fits.error().message());
}

}  // namespace quire
