#include "json/fields.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

#include "json/json.h"
#include "json/schema/schema.h"

namespace quire::json {

namespace fields_test {

enum class Mood { calm, loud, sad };

// Of another room: its fields stand beside it.
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

}  // namespace fields_test

using fields_test::Deed;
using fields_test::Mood;
using fields_test::Move;
using fields_test::Say;
using fields_test::Spot;

template <>
struct Words<Mood> {
    static constexpr std::array<std::string_view, 3> words = {"calm", "loud", "sad"};
    static constexpr std::size_t count = words.size();
    static std::string_view word(Mood mood) { return words[static_cast<std::size_t>(mood)]; }
};
template <>
struct FieldsOf<Spot> {
    static Fields<Spot> fields() {
        return Fields<Spot>().required("name", &Spot::name).optional("height", &Spot::height);
    }
};

namespace {

Value json_of(std::string_view text) {
    return *parse(text);
}

struct Guest {
    std::string name;
    std::size_t count = 3;
    bool loud = false;
    std::optional<std::string> note;
    std::vector<Mood> wanted;
    Map extra;
    Mood mood = Mood::loud;
    friend bool operator==(const Guest&, const Guest&) = default;
    static Fields<Guest> fields() {
        return Fields<Guest>()
            .required("name", &Guest::name, "Who.")
            .optional("count", &Guest::count, "", {{"minimum", 1}, {"maximum", 9}})
            .optional("loud", &Guest::loud)
            .optional("note", &Guest::note)
            .optional("wanted", &Guest::wanted)
            .optional("extra", &Guest::extra)
            .optional("mood", &Guest::mood, "How.");
    }
};

TEST(Fields, DescribeThemselves) {
    EXPECT_EQ(Value(Codec<Guest>::schema()), json_of(R"({"type":"object","properties":{
        "name":{"type":"string","description":"Who."},
        "count":{"type":"integer","minimum":1,"maximum":9,"default":3},
        "loud":{"type":"boolean","default":false},
        "note":{"type":"string"},
        "wanted":{"type":"array","items":{"enum":["calm","loud","sad"]}},
        "extra":{"type":"object"},
        "mood":{"enum":["calm","loud","sad"],"description":"How.","default":"loud"}},
        "required":["name"],"additionalProperties":false})"));
}

TEST(Fields, DecodeWhatTheyDescribe) {
    const Guest guest = Codec<Guest>::decode(json_of(
        R"({"name":"ada","count":7,"loud":true,"note":"n","wanted":["sad","calm"],"extra":{"x":[1]},"mood":"sad"})"));

    EXPECT_EQ(guest.name, "ada");
    EXPECT_EQ(guest.count, 7U);
    EXPECT_TRUE(guest.loud);
    EXPECT_EQ(guest.note, "n");
    EXPECT_EQ(guest.wanted, (std::vector<Mood>{Mood::sad, Mood::calm}));
    EXPECT_EQ(Value(guest.extra), json_of(R"({"x":[1]})"));
    EXPECT_EQ(guest.mood, Mood::sad);
}

TEST(Fields, WhatIsAbsentIsTheDefault) {
    const Guest guest = Codec<Guest>::decode(json_of(R"({"name":"ada"})"));

    EXPECT_EQ(guest.count, 3U);
    EXPECT_EQ(guest.mood, Mood::loud);
    EXPECT_FALSE(guest.note.has_value());
}

TEST(Fields, EncodeWhatSaysSomethingInTheirOrder) {
    Guest guest;
    EXPECT_EQ(write(Codec<Guest>::encode(guest)), R"({"name":""})");
    guest.mood = Mood::calm;
    guest.count = 0;
    guest.note = "";
    guest.wanted = {Mood::sad};
    EXPECT_EQ(write(Codec<Guest>::encode(guest)),
              R"({"name":"","count":0,"note":"","wanted":["sad"],"mood":"calm"})");
}

// What each shape is in JSON, that it fits its schema, and that it is the same when it is back.
template <class T>
void expect_kept(const T& it, std::string_view text) {
    const Value value = Codec<T>::encode(it);
    EXPECT_EQ(write(value), text);
    const auto schema = Schema::compile(Codec<T>::schema(), {.strict = true});
    ASSERT_TRUE(schema) << text;
    EXPECT_TRUE(schema->check(value)) << text;
    EXPECT_TRUE(Codec<T>::decode(value) == it) << text;
    EXPECT_TRUE(Codec<T>::decode(json_of(text)) == it) << text;
}

TEST(Codecs, GiveBackWhatTheyWereGiven) {
    expect_kept(std::string("a\n\"é"), "\"a\\n\\\"é\"");
    expect_kept(true, "true");
    expect_kept(INT64_MIN, "-9223372036854775808");
    expect_kept(std::size_t{INT64_MAX}, "9223372036854775807");
    expect_kept(2.0, "2.0");
    expect_kept(-0.25, "-0.25");
    expect_kept(Map{{"b", 1}, {"a", nullptr}}, R"({"b":1,"a":null})");
    expect_kept(Value(), "null");
    expect_kept(Value(List{1, "x"}), R"([1,"x"])");
    expect_kept(Mood::sad, "\"sad\"");
    expect_kept(std::vector<std::string>{}, "[]");
    expect_kept(std::vector<std::vector<Mood>>{{Mood::calm}, {}}, R"([["calm"],[]])");
    expect_kept(Spot{"hill", -3}, R"({"name":"hill","height":-3})");
    expect_kept(Deed(Say{"ada"}), R"({"by":"ada","do":"say"})");
    expect_kept(Deed(Move{2, Spot{"hill"}}), R"({"do":"move","by":2,"to":{"name":"hill"}})");
}

TEST(Codecs, OneOfSeveralIsToldByItsTag) {
    const Value schema = Codec<Deed>::schema();
    EXPECT_EQ(schema.get("oneOf")->as_list().size(), 2U);
    EXPECT_EQ(*schema.get("oneOf")->as_list()[0].get("properties")->get("do"),
              Value(Map{{"const", "move"}}));
    const auto compiled = Schema::compile(schema, {.strict = true});
    ASSERT_TRUE(compiled);
    // `by` is a number of the one and a name of the other.
    EXPECT_FALSE(compiled->check(json_of(R"({"do":"move","by":"ada"})")));
    EXPECT_FALSE(compiled->check(json_of(R"({"do":"sing","by":"ada"})")));
    EXPECT_FALSE(compiled->check(json_of(R"({"by":"ada"})")));
}

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

TEST(Fields, ANullableMemberIsAlwaysThere) {
    EXPECT_EQ(Value(Codec<Row>::schema()), json_of(R"({"type":"object","properties":{
        "id":{"type":"string"},"path":{"type":["string","null"]},"size":{"type":["integer","null"]},
        "mood":{"anyOf":[{"enum":["calm","loud","sad"]},{"type":"null"}],"description":"How."}},
        "required":["id","path","size","mood"],"additionalProperties":false})"));
    expect_kept(Row{"r", "", {}, {}}, R"({"id":"r","path":null,"size":null,"mood":null})");
    expect_kept(Row{"", "p", 0, Mood::calm}, R"({"id":"","path":"p","size":0,"mood":"calm"})");
}

// A row with something beside it, and another that has an id of its own.
struct RowAndMore {
    Row row;
    Spot place;
    struct Named {
        std::string id;
        std::string title;
        friend bool operator==(const Named&, const Named&) = default;
    } named;
    friend bool operator==(const RowAndMore&, const RowAndMore&) = default;
    static Fields<RowAndMore> fields() {
        return Fields<RowAndMore>()
            .members(Codec<Row>::fields(), &RowAndMore::row)
            .required("place", &RowAndMore::place)
            .members(Fields<Named>().required("id", &Named::id).required("title", &Named::title),
                     &RowAndMore::named);
    }
};

TEST(Fields, MembersOfAStructStandAmongItsOwn) {
    expect_kept(
        RowAndMore{{"r", "", {}, {}}, {"hill"}, {"r", "t"}},
        R"({"id":"r","path":null,"size":null,"mood":null,"place":{"name":"hill"},"title":"t"})");
    EXPECT_EQ(Codec<RowAndMore>::schema().find("required")->as_list().size(), 6U);
}

struct Base {
    std::int64_t at = 0;
    friend bool operator==(const Base&, const Base&) = default;
};
struct Derived : Base {
    std::vector<Spot> places;
    friend bool operator==(const Derived&, const Derived&) = default;
    static Fields<Derived> fields() {
        return Fields<Derived>()
            .required("at", &Derived::at)
            .required(
                "first", [](auto& it) -> auto& { return it.places[0].name; })
            .unlisted();
    }
};

TEST(Fields, AMemberMayBeOfABaseOrFurtherIn) {
    Derived it;
    it.at = 4;
    it.places = {{"hill"}};
    EXPECT_EQ(write(Codec<Derived>::encode(it)), R"({"at":4,"first":"hill"})");
}

TEST(Fields, WhatIsNotListedIsLetThrough) {
    const Value schema = Codec<Derived>::schema();
    EXPECT_EQ(schema, json_of(R"({"type":"object","properties":{"at":{"type":"integer"}},
                                   "required":["at"]})"));
    EXPECT_TRUE(Schema::compile(schema, {.strict = true})->check(json_of(R"({"at":1,"x":2})")));
}

TEST(Fields, WhatIsRequiredHereMayBeOptionalElsewhere) {
    const auto fields = Fields<Guest>().required("note", &Guest::note);
    EXPECT_EQ(fields.schema().find("required")->as_list(), List{Value("note")});
    Guest guest;
    guest.note = "n";
    EXPECT_EQ(write(fields.encode(guest)), R"({"note":"n"})");
}

// --- whatever there is ---

struct Everything {
    std::string text;
    bool yes = true;
    std::int64_t number = -7;
    std::size_t size = 0;
    double share = 0.5;
    Map object;
    Value any;
    Mood mood = Mood::calm;
    Spot place;
    Deed step;
    std::optional<std::string> maybe_text;
    std::optional<Value> maybe_any;
    std::optional<Spot> maybe_place;
    std::optional<Deed> maybe_step;
    std::string null_text;
    std::optional<double> null_share;
    std::vector<Deed> steps;
    std::vector<Row> rows;
    friend bool operator==(const Everything&, const Everything&) = default;
    static Fields<Everything> fields() {
        return Fields<Everything>()
            .optional("text", &Everything::text)
            .optional("yes", &Everything::yes)
            .optional("number", &Everything::number)
            .required("size", &Everything::size)
            .optional("share", &Everything::share)
            .optional("object", &Everything::object)
            .required("any", &Everything::any)
            .optional("mood", &Everything::mood)
            .optional("place", &Everything::place)
            .optional("step", &Everything::step)
            .optional("maybe_text", &Everything::maybe_text)
            .optional("maybe_any", &Everything::maybe_any)
            .optional("maybe_place", &Everything::maybe_place)
            .optional("maybe_step", &Everything::maybe_step)
            .nullable("null_text", &Everything::null_text)
            .nullable("null_share", &Everything::null_share)
            .optional("steps", &Everything::steps)
            .required("rows", &Everything::rows);
    }
};

class Maker {
public:
    explicit Maker(std::uint64_t seed) : dice_(seed) {}

    Everything everything() {
        Everything out;
        // Much of it is left as it is: that is what has to be told from what was said.
        if (coin()) out.text = text();
        if (coin()) out.yes = coin();
        if (coin()) out.number = static_cast<std::int64_t>(dice_()) >> below(64);
        if (coin()) out.size = dice_() >> (1 + below(63));
        if (coin()) out.share = static_cast<double>(below(9)) / 4;
        if (coin()) out.object = {{text(), any(2)}};
        if (coin()) out.any = any(2);
        if (coin()) out.mood = mood();
        if (coin()) out.place = spot();
        if (coin()) out.step = step();
        if (coin()) out.maybe_text = text();
        if (coin()) out.maybe_any = any(1);
        if (coin()) out.maybe_place = spot();
        if (coin()) out.maybe_step = step();
        if (coin()) out.null_text = text();
        if (coin()) out.null_share = static_cast<double>(below(9)) / 4;
        while (coin()) out.steps.push_back(step());
        while (coin()) {
            out.rows.push_back({text(), text(), coin() ? std::optional(INT64_C(5)) : std::nullopt,
                                coin() ? std::optional(mood()) : std::nullopt});
        }
        return out;
    }

private:
    std::size_t below(std::size_t limit) { return dice_() % limit; }
    bool coin() { return below(2) == 0; }
    std::string text() {
        constexpr std::array<std::string_view, 6> kTexts = {"", "a", "é", "\n\"", "null", "{}"};
        return std::string(kTexts[below(kTexts.size())]);
    }
    Mood mood() { return static_cast<Mood>(below(3)); }
    Spot spot() { return {text(), static_cast<std::int64_t>(below(3))}; }
    Deed step() {
        if (coin()) return Say{text()};
        return Move{below(3), coin() ? std::optional(spot()) : std::nullopt};
    }
    Value any(std::size_t depth) {
        switch (below(depth == 0 ? 4 : 6)) {
            case 0:
                return nullptr;
            case 1:
                return coin();
            case 2:
                return static_cast<double>(below(5)) / 2;
            case 3:
                return text();
            case 4:
                return List{any(depth - 1), any(depth - 1)};
            default:
                return Map{{"a", any(depth - 1)}};
        }
    }

    std::mt19937_64 dice_;
};

TEST(Fields, WhateverIsEncodedFitsAndIsTheSameWhenItIsBack) {
    const auto schema = Schema::compile(Codec<Everything>::schema(), {.strict = true});
    ASSERT_TRUE(schema);
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const Everything it = Maker(seed).everything();
        const Value value = Codec<Everything>::encode(it);
        const std::string text = write(value);
        const auto fits = schema->check(value);
        ASSERT_TRUE(fits) << "seed " << seed << ": " << text << ": " << fits.error().message();
        ASSERT_TRUE(Codec<Everything>::decode(value) == it) << "seed " << seed << ": " << text;
        ASSERT_TRUE(Codec<Everything>::decode(json_of(text)) == it) << "seed " << seed << text;
        ASSERT_EQ(write(Codec<Everything>::encode(Codec<Everything>::decode(value))), text);
    }
}

}  // namespace
}  // namespace quire::json
