// JSON that parses is written and read back unchanged; any other bytes are refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto value = quire::json::parse(text);
    if (!value) return 0;
    const std::string written = quire::json::write(*value);
    const auto again = quire::json::parse(written);
    CHECK(again && *again == *value);
    CHECK(quire::json::write(*again) == written);
    return 0;
}
