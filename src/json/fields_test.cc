#include "json/fields.h"

#include <array>

#include <gtest/gtest.h>

#include "json/fields_words_for_test.h"
#include "json/schema/schema.h"

namespace quire::json {

namespace {

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

TEST(Fields, AnAbsentMemberHasTheDefault) {
    const Guest guest = Codec<Guest>::decode(json_of(R"({"name":"ada"})"));

    EXPECT_EQ(guest.count, 3U);
    EXPECT_EQ(guest.mood, Mood::loud);
    EXPECT_FALSE(guest.note.has_value());
}

TEST(Fields, EncodeMembersThatDifferFromTheDefaultInTheirOrder) {
    Guest guest;
    EXPECT_EQ(write(Codec<Guest>::encode(guest)), R"({"name":""})");
    guest.mood = Mood::calm;
    guest.count = 0;
    guest.note = "";
    guest.wanted = {Mood::sad};
    EXPECT_EQ(write(Codec<Guest>::encode(guest)),
              R"({"name":"","count":0,"note":"","wanted":["sad"],"mood":"calm"})");
}

// Checks the JSON of a shape, that it fits the schema, and that reading it gives the same value.
template <class T>
void expect_kept(const T& it, std::string_view text) {
    const Value value = Codec<T>::encode(it);
    EXPECT_EQ(write(value), text);
    const auto schema = Schema::compile(Codec<T>::schema(), {.strict = true});
    ASSERT_TRUE(schema) << text;
    EXPECT_TRUE(schema->check(value)) << text;
    EXPECT_TRUE(decode<T>(value) == it) << text;
    EXPECT_TRUE(decode<T>(json_of(text)) == it) << text;
}

TEST(Codecs, DecodeWhatTheyEncoded) {
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

TEST(Codecs, TheTagTellsTheMembersOfAVariantApart) {
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
};
struct Derived : Base {
    std::array<Spot, 1> places;
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
    it.places[0] = {"hill"};
    EXPECT_EQ(write(Codec<Derived>::encode(it)), R"({"at":4,"first":"hill"})");
}

TEST(Fields, UnlistedMembersAreAccepted) {
    const Value schema = Codec<Derived>::schema();
    EXPECT_EQ(schema, json_of(R"({"type":"object","properties":{"at":{"type":"integer"}},
                                   "required":["at"]})"));
    EXPECT_TRUE(Schema::compile(schema, {.strict = true})->check(json_of(R"({"at":1,"x":2})")));
}

TEST(Fields, AMemberCanBeRequiredHereAndOptionalElsewhere) {
    const auto fields = Fields<Guest>().required("note", &Guest::note);
    EXPECT_EQ(fields.schema().find("required")->as_list(), List{Value("note")});
    Guest guest;
    guest.note = "n";
    EXPECT_EQ(write(fields.encode(guest)), R"({"note":"n"})");
}

// --- reading what no schema has checked ---

struct Party {
    std::vector<Guest> guests;
    Deed deed = Say{};
    Bytes seal;
    bool open = true;
    std::optional<std::string> note;
    friend bool operator==(const Party&, const Party&) = default;
    static Fields<Party> fields() {
        return Fields<Party>()
            .constant("format", 2)
            .required("guests", &Party::guests, "", {{"maxItems", 2}})
            .required("deed", &Party::deed)
            .required("seal", &Party::seal)
            .defaulted("open", &Party::open)
            .optional("note", &Party::note, "", {{"minLength", 2}});
    }
};

std::string told(const Value& value) {
    const Read<Party> party = read<Party>(value);
    return party ? "" : party.error().message();
}

TEST(Fields, ReadWhatTheyWrite) {
    Party party;
    party.guests = {Guest{.name = "ada",
                          .count = 3,
                          .loud = {},
                          .note = {},
                          .wanted = {},
                          .extra = {},
                          .mood = Mood::sad}};
    party.deed = Move{2, Spot{"hill"}};
    party.seal = {0, 255};
    const std::string text = write(Codec<Party>::encode(party));
    EXPECT_EQ(text,
              R"({"format":2,"guests":[{"name":"ada","mood":"sad"}],)"
              R"("deed":{"do":"move","by":2,"to":{"name":"hill"}},"seal":"AP8=","open":true})");

    EXPECT_TRUE(read<Party>(json_of(text)).value() == party);
    EXPECT_TRUE(
        read<Party>(
            json_of(R"({"format":2,"guests":[],"deed":{"do":"say","by":"x"},"seal":"","more":1})"))
            .value()
            .open)
        << "unknown members are passed over, and one that is not there is what it is anew";
}

TEST(Fields, AFaultNamesTheMemberAndWhatItMustBe) {
    const Value right =
        json_of(R"({"format":2,"guests":[{"name":"a"}],"deed":{"do":"say","by":"x"},"seal":""})");
    const auto with = [&](std::string_view member, std::string_view text) {
        Map changed = right.as_map();
        changed.set(member, json_of(text));
        return told(changed);
    };
    const auto without = [&](std::string_view member) {
        Map changed = right.as_map();
        changed.erase(member);
        return told(changed);
    };
    EXPECT_EQ(told(right), "");
    EXPECT_EQ(told(List{}), "the value must be an object, not an array");
    EXPECT_EQ(with("format", "1"), "`format` must be 2");
    EXPECT_EQ(without("format"), "`format` is missing; it must be 2");
    EXPECT_EQ(without("guests"), "`guests` is missing; it must be an array");
    EXPECT_EQ(with("guests", "{}"), "`guests` must be an array, not an object");
    EXPECT_EQ(with("guests", R"([{"name":"a"},{"name":1}])"),
              "`guests[1].name` must be a string, not an integer");
    EXPECT_EQ(with("guests", R"([{"name":"a","mood":"glad"}])"),
              "`guests[0].mood` must be one of calm, loud, sad");
    EXPECT_EQ(with("guests", R"([{"name":"a","count":10}])"),
              "`guests[0].count` must be from 1 to 9");
    EXPECT_EQ(with("guests", R"([{"name":"a","wanted":["sad",null]}])"),
              "`guests[0].wanted[1]` must be one of calm, loud, sad, not null");
    EXPECT_EQ(with("guests", "[{},{},{}]"), "`guests` must be at most 2 items long");
    EXPECT_EQ(with("deed", R"({"do":"sing"})"), "`deed.do` must be one of move, say");
    EXPECT_EQ(with("deed", R"({"do":"move","by":-1})"),
              "`deed.by` must be a whole number from 0 on");
    EXPECT_EQ(with("deed", R"({"do":"move","by":1,"to":{"height":1}})"),
              "`deed.to.name` is missing; it must be a string");
    EXPECT_EQ(with("seal", "\"!\""), "`seal` must be base64");
    EXPECT_EQ(with("open", "null"), "`open` must be true or false, not null");
    EXPECT_EQ(with("note", "\"é\""), "`note` must be at least 2 characters long");
}

TEST(Fields, AListMayRefuseUnknownMembersAndTakeNullForNothing) {
    const auto fields = Fields<Spot>()
                            .required("name", &Spot::name)
                            .optional("height", &Spot::height)
                            .closed()
                            .null_is_absent()
                            .check([](const Spot& spot) -> std::optional<Fault> {
                                if (spot.height >= 0) return std::nullopt;
                                return bad_value("is below the ground").value().in_member("height");
                            });

    EXPECT_EQ(fields.read(json_of(R"({"name":"hill","height":null})")).value(), Spot{"hill"});
    const auto unknown = fields.read(json_of(R"({"name":"hill","width":1})"));
    EXPECT_EQ(unknown.error().message(), "`width` is not known; the members are name, height");
    EXPECT_EQ(unknown.error().kind, Fault::Kind::unknown_member);
    EXPECT_EQ(fields.read(json_of(R"({"name":null})")).error().kind, Fault::Kind::missing);
    EXPECT_EQ(fields.read(json_of(R"({"name":"pit","height":-1})")).error().message(),
              "`height` is below the ground");
}

TEST(Fields, AFaultBecomesTheErrorOfItsReader) {
    const auto reading = [](const Value& value) -> Result<std::string> {
        return TRY(read<Spot>(value)).name;
    };
    const auto spot = reading(json_of(R"({"name":1})"));
    ASSERT_FALSE(spot);
    EXPECT_EQ(spot.error().code(), Errc::invalid_argument);
    EXPECT_EQ(spot.error().reason(), "invalid_argument");
    EXPECT_EQ(Value(spot.error().details()), Value(Map{{"path", "name"}}));
    EXPECT_EQ(read<Spot>(Value()).error().error(Errc::corrupt, "damaged").reason(), "damaged");
}

}  // namespace
}  // namespace quire::json
