// A schema and a value, as [schema, value]: whatever they are, compiling and checking end, say the
// same twice, and what is accepted fits.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/json.h"
#include "json/schema/schema.h"
#include "text/ecma_pattern.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto pair = quire::json::parse(text);
    if (!pair || !pair->is_list() || pair->as_list().size() != 2) return 0;
    const auto schema =
        quire::json::Schema::compile(pair->as_list()[0], {.patterns = quire::text::ecma_pattern});
    if (!schema) return 0;
    const quire::Value& value = pair->as_list()[1];
    const auto checked = schema->check(value);
    const auto again = schema->check(value);
    CHECK(checked.has_value() == again.has_value());
    CHECK(checked.has_value() || checked.error().message() == again.error().message());
    const auto accepted = schema->accept(value);
    CHECK(!accepted || schema->check(*accepted));
    CHECK(!checked || accepted);
    return 0;
}
