// Random values of a struct with members of every kind.
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "json/fields_words_for_test.h"
#include "json/schema/schema.h"

namespace quire::json {
namespace {

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

TEST(Fields, EveryEncodedValueFitsItsSchemaAndDecodesToTheSame) {
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
        ASSERT_TRUE(read<Everything>(value).value() == it) << "seed " << seed << ": " << text;
        ASSERT_EQ(write(Codec<Everything>::encode(Codec<Everything>::decode(value))), text);
    }
}

}  // namespace
}  // namespace quire::json
