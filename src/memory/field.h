// Field: one named value of a schema, and the six types of fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/enum_words.h"
#include "base/value.h"

namespace quire::memory {

// Timestamps are strings, as timestamp.h reads them. A counter is a number that replicas add to.
enum class FieldType { text, number, boolean, list, timestamp, counter };
constexpr auto words_of(FieldType) {
    return word_table("Text", "Number", "Boolean", "List", "Timestamp", "Counter");
}

// A field's description in a schema.
struct Field {
    std::string name;
    std::string description = {};
    FieldType type = FieldType::text;
    bool required = false;
    // The field's value until it is set; has the field's type.
    std::optional<Value> default_value = {};
    // True if only sources and the system may write it.
    bool read_only = false;

    friend bool operator==(const Field&, const Field&) = default;
};

}  // namespace quire::memory
