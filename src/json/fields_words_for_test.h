// The structs that the tests of field lists describe.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/enum_words.h"
#include "json/fields.h"
#include "json/json.h"

namespace quire::json {

namespace fields_test {

enum class Mood { calm, loud, sad };
constexpr auto words_of(Mood) {
    return word_table("calm", "loud", "sad");
}

// A struct of another room, so its fields are listed beside it.
struct Spot {
    std::string name;
    std::int64_t height = 0;
    friend bool operator==(const Spot&, const Spot&) = default;
};

struct Move {
    std::size_t by = 0;
    std::optional<Spot> to;
    friend bool operator==(const Move&, const Move&) = default;
    static Fields<Move> fields() {
        return Fields<Move>().tag("do", "move").required("by", &Move::by).optional("to", &Move::to);
    }
};
struct Say {
    std::string by;
    friend bool operator==(const Say&, const Say&) = default;
    static Fields<Say> fields() { return Fields<Say>().required("by", &Say::by).tag("do", "say"); }
};
using Deed = std::variant<Move, Say>;

struct Row {
    std::string id;
    std::string path;
    std::optional<std::int64_t> size;
    std::optional<Mood> mood;
    friend bool operator==(const Row&, const Row&) = default;
    static Fields<Row> fields() {
        return Fields<Row>()
            .required("id", &Row::id)
            .nullable("path", &Row::path)
            .nullable("size", &Row::size)
            .nullable("mood", &Row::mood, "How.");
    }
};

}  // namespace fields_test

using fields_test::Deed;
using fields_test::Mood;
using fields_test::Move;
using fields_test::Row;
using fields_test::Say;
using fields_test::Spot;

template <>
struct FieldsOf<Spot> {
    static Fields<Spot> fields() {
        return Fields<Spot>().required("name", &Spot::name).optional("height", &Spot::height);
    }
};

inline Value json_of(std::string_view text) {
    return *parse(text);
}

}  // namespace quire::json
