#include "json/json.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::json {
namespace {

Value parsed(std::string_view text) {
    auto value = parse(text);
    EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message());
    return value ? std::move(*value) : Value("(not parsed)");
}

std::string refusal(std::string_view text, ParseLimits limits = {}) {
    const auto value = parse(text, limits);
    return value ? cat("accepted as ", write(*value)) : value.error().reason();
}

std::size_t offset_of_error(std::string_view text) {
    const auto value = parse(text);
    if (value) return std::string_view::npos;
    return static_cast<std::size_t>(value.error().details().find("offset")->as_int());
}

TEST(JsonParse, ReadsEveryKindOfValue) {
    EXPECT_EQ(parsed("null"), Value());
    EXPECT_EQ(parsed(" true "), Value(true));
    EXPECT_EQ(parsed("false"), Value(false));
    EXPECT_EQ(parsed("-12"), Value(-12));
    EXPECT_EQ(parsed("1.5e3"), Value(1500.0));
    EXPECT_EQ(parsed(R"("a\"b")"), Value("a\"b"));
    EXPECT_EQ(parsed("[]"), Value(List{}));
    EXPECT_EQ(parsed("{}"), Value(Map{}));
    EXPECT_EQ(parsed("\t[1,\r\n[2,{}],\"x\"]\n"), Value(List{1, List{2, Map{}}, "x"}));
    EXPECT_EQ(parsed(R"({"a":[{"b":null}],"c":{}})"),
              Value(Map{{"a", List{Map{{"b", nullptr}}}}, {"c", Map{}}}));
}

TEST(JsonParse, KeepsIntegersExactAndApartFromFloats) {
    EXPECT_EQ(parsed("9223372036854775807"), Value(std::numeric_limits<std::int64_t>::max()));
    EXPECT_EQ(parsed("-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
    EXPECT_EQ(parsed("9007199254740993"), Value(9007199254740993));
    EXPECT_EQ(parsed("9223372036854775808"), Value(9223372036854775808.0));
    EXPECT_EQ(parsed("1"), Value(1));
    EXPECT_EQ(parsed("1.0"), Value(1.0));
    EXPECT_NE(parsed("1"), parsed("1.0"));
}

TEST(JsonParse, RefusesAnInexactIntegerIfAskedTo) {
    for (const char* text : {"[9223372036854775809]", "[-9223372036854775809]",
                             "[9223372036854776001]", "[123456789012345678901234567890]"}) {
        EXPECT_EQ(refusal(text, {.exact_integers = true}), "inexact_number");
        EXPECT_TRUE(parsed(text).as_list()[0].is_float());
    }
    for (const char* text :
         {"[9223372036854775807,-9223372036854775808]", "[1e30,0.1]", "[9223372036854775808]",
          "[-9223372036854776000]", "[18446744073709552000]", "[18446744073709551616]",
          "[999999999999999900000]", "[1000000000000000000000]"})
        EXPECT_EQ(json::write(*parse(text, {.exact_integers = true})), json::write(parsed(text)));
}

TEST(JsonParse, ReadsFloatsToTheNearestDouble) {
    EXPECT_EQ(parsed("0.1").as_float(), 0.1);
    EXPECT_EQ(parsed("5e-324").as_float(), std::numeric_limits<double>::denorm_min());
    EXPECT_EQ(parsed("1.7976931348623157e308").as_float(), std::numeric_limits<double>::max());
    EXPECT_EQ(parsed("2.2250738585072011e-308").as_float(), 2.2250738585072011e-308);
}

TEST(JsonParse, ReadsAFloatTooSmallAsZeroAndRefusesOneTooLarge) {
    EXPECT_EQ(parsed("1e-999").as_float(), 0.0);
    EXPECT_TRUE(std::signbit(parsed("-1e-999").as_float()));
    EXPECT_EQ(parsed(cat("0.", std::string(400, '0'), "1e+5")).as_float(), 0.0);
    EXPECT_EQ(parsed("1e-99999999999999999999999").as_float(), 0.0);
    EXPECT_EQ(refusal("1e999"), "invalid_json");
    EXPECT_EQ(refusal("-1e999"), "invalid_json");
    EXPECT_EQ(refusal("1e99999999999999999999999"), "invalid_json");
    EXPECT_EQ(refusal(cat("1", std::string(400, '0'), "e-5")), "invalid_json");
    EXPECT_EQ(refusal(std::string(400, '9')), "invalid_json");
}

TEST(JsonParse, UnescapesStrings) {
    EXPECT_EQ(parsed(R"("\u0041\u00e9\u20AC\ud83d\ude00")"), Value("Aé€😀"));
    EXPECT_EQ(parsed(R"("\b\f\n\r\t\/\\")"), Value("\b\f\n\r\t/\\"));
    EXPECT_EQ(parsed(R"("a\u0000b")"), Value(std::string("a\0b", 3)));
}

TEST(JsonParse, RefusesHalfASurrogatePair) {
    for (const char* text : {R"("\ud83d")", R"("\ude00")", R"("\ud83d\u0041")", R"("\ud83dx")",
                             R"("\ud83d\ud83d")", R"("\ud83d\)"}) {
        EXPECT_EQ(refusal(text), "invalid_json") << text;
    }
}

TEST(JsonParse, RefusesInvalidUtf8) {
    EXPECT_EQ(refusal("\"\xff\""), "invalid_json");
    EXPECT_EQ(refusal("\"\xed\xa0\x80\""), "invalid_json");
    EXPECT_EQ(refusal("\"\xc0\x80\""), "invalid_json");
    EXPECT_EQ(refusal("\"\xe2\x82"), "invalid_json");
}

TEST(JsonParse, RefusesTextThatIsAlmostJson) {
    for (const char* text : {"",         " ",        "nul",         "nullx",     "True",
                             "+1",       "01",       "-",           "-a",        "1.",
                             ".5",       "1e",       "1e+",         "0x10",      "NaN",
                             "Infinity", "[1,]",     "[,1]",        "[1 2]",     "[1",
                             "]",        "[1}",      "{\"a\":1,}",  "{\"a\" 1}", "{a:1}",
                             "{\"a\"}",  "{\"a\":}", "{'a':1}",     "{",         "{\"a\":1",
                             "\"abc",    "\"\\x\"",  "\"\\u12g4\"", "\"\\u12\"", "\"a\nb\"",
                             "\"a\tb\"", "1 2",      "{} x",        "[]]",       "\xEF\xBB\xBF{}",
                             "// c\n1",  "\\"}) {
        EXPECT_EQ(refusal(text), "invalid_json") << text;
    }
    EXPECT_EQ(refusal(std::string_view("1\0", 2)), "invalid_json");
    EXPECT_EQ(refusal(std::string_view("\"\0\"", 3)), "invalid_json");
}

TEST(JsonParse, SaysWhereTheMistakeIs) {
    EXPECT_EQ(offset_of_error(R"({"a": tru})"), 6U);
    EXPECT_EQ(offset_of_error("[1, 2"), 5U);
    EXPECT_EQ(offset_of_error("[1] x"), 4U);
    EXPECT_EQ(offset_of_error("[1e999]"), 1U);
}

TEST(JsonParse, LetsTheLastOfARepeatedKeyWinInTheFirstOnesPlace) {
    EXPECT_EQ(write(parsed(R"({"a":1,"b":2,"a":3})")), R"({"a":3,"b":2})");

    std::string many = "{";
    for (int i = 0; i < 1000; ++i) many += cat("\"k", i % 500, "\":", i, i < 999 ? "," : "}");
    const Value value = parsed(many);
    ASSERT_EQ(value.as_map().size(), 500U);
    EXPECT_EQ(value.as_map().begin()->key, "k0");
    EXPECT_EQ(value.get("k7")->as_int(), 507);
}

TEST(JsonParse, StopsAtItsDepthWhateverIsNested) {
    const auto nested = [](std::string_view open, std::string_view close, std::size_t depth) {
        std::string text;
        for (std::size_t i = 0; i < depth; ++i) text.append(open);
        for (std::size_t i = 0; i < depth; ++i) text.append(close);
        return text;
    };
    EXPECT_EQ(refusal(nested("[", "]", 100'000)), "too_deep");
    EXPECT_EQ(refusal(std::string(100'000, '[')), "too_deep");
    EXPECT_EQ(refusal(nested("{\"a\":", "}", 100'000)), "too_deep");
    EXPECT_EQ(refusal(nested("[", "]", 3), {.depth = 2}), "too_deep");
    EXPECT_TRUE(parse(nested("[", "]", 2), {.depth = 2}));
    EXPECT_TRUE(parse(nested("[", "]", 128)));
}

TEST(JsonParse, RefusesTextBeyondItsLimit) {
    EXPECT_EQ(refusal("[1,2]", {.bytes = 4}), "too_large");
    EXPECT_TRUE(parse("[1,2]", {.bytes = 5}));
}

TEST(JsonParse, TakesAMillionKeysInOneObject) {
    std::string text = "{";
    for (int i = 0; i < 200'000; ++i) {
        if (i > 0) text.push_back(',');
        cat_to(text, '"');
        cat_to(text, i);
        cat_to(text, "\":0");
    }
    text.push_back('}');
    EXPECT_EQ(parsed(text).as_map().size(), 200'000U);
}

TEST(JsonWrite, IsCompactAndKeepsTheOrderOfKeys) {
    EXPECT_EQ(write(Map{{"z", 1}, {"a", List{true, nullptr, "x"}}, {"m", Map{}}, {"l", List{}}}),
              R"({"z":1,"a":[true,null,"x"],"m":{},"l":[]})");
}

TEST(JsonWrite, GivesFloatsAFractionOrAnExponent) {
    EXPECT_EQ(write(1.0), "1.0");
    EXPECT_EQ(write(-0.0), "-0.0");
    EXPECT_EQ(write(0.1), "0.1");
    EXPECT_EQ(write(1e21), "1e+21");
    EXPECT_EQ(write(std::nan("")), "null");
    EXPECT_EQ(write(std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonWrite, EscapesOnlyWhatItMust) {
    EXPECT_EQ(write(std::string("\"\\/\b\f\n\r\t\x01\x7f é\0", 14)),
              "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f é\\u0000\"");
}

TEST(JsonWrite, ReplacesBytesThatAreNotText) {
    EXPECT_EQ(write("a\xff\xfe b\xe2\x82"),
              "\"a\xEF\xBF\xBD\xEF\xBF\xBD b\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonWrite, SpellsBytesInBase64) {
    EXPECT_EQ(write(Bytes{0, 255, 16}), R"({"$bytes":"AP8Q"})");
}

TEST(JsonWrite, IndentsWhenPretty) {
    EXPECT_EQ(write_pretty(Map{{"a", List{1, Map{}}}, {"b", List{}}}),
              "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

TEST(Base64, RoundTripsEveryLength) {
    std::string bytes;
    for (int i = 0; i < 70; ++i) {
        const auto back = from_base64(base64(bytes));
        ASSERT_TRUE(back);
        EXPECT_EQ(std::string(back->begin(), back->end()), bytes);
        bytes.push_back(static_cast<char>(i * 37));
    }
    EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("f"), "Zg==");
}

TEST(Base64, RefusesTextThatIsNotBase64) {
    for (const char* text :
         {"Z", "Zg", "Zg=", "Zg=a", "Z===", "====", "Zm9v!mFy", "Zh==", "Zg==Zg=="}) {
        EXPECT_FALSE(from_base64(text)) << text;
    }
}

// Values at random, with the awkward ones on purpose.
class Chance {
public:
    explicit Chance(std::uint64_t seed) : engine_(seed) {}

    std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }

    Value value(int depth) {
        switch (below(depth > 0 ? 8 : 6)) {
            case 0:
                return nullptr;
            case 1:
                return below(2) == 0;
            case 2:
                return static_cast<std::int64_t>(engine_() >> below(64));
            case 3:
                return -static_cast<std::int64_t>(engine_() >> (1 + below(63)));
            case 4:
                return number();
            case 5:
                return text();
            case 6: {
                List list;
                for (std::size_t n = below(5); n > 0; --n) list.push_back(value(depth - 1));
                return list;
            }
            default: {
                Map map;
                for (std::size_t n = below(12); n > 0; --n) map.set(text(), value(depth - 1));
                return map;
            }
        }
    }

private:
    double number() {
        double number = 0;
        do {
            const std::uint64_t bits = engine_();
            std::memcpy(&number, &bits, sizeof number);
        } while (!std::isfinite(number));
        return below(3) == 0 ? std::trunc(std::fmod(number, 1e6)) : number;
    }

    std::string text() {
        std::string out;
        for (std::size_t n = below(9); n > 0; --n) {
            char32_t c = static_cast<char32_t>(below(3) == 0 ? below(0x110000) : below(0x80));
            if (c >= 0xD800 && c <= 0xDFFF) c = U'\uFFFD';
            utf8::append(out, c);
        }
        return out;
    }

    std::mt19937_64 engine_;
};

TEST(Json, ReadsBackWhatItWroteByteForByte) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(cat("seed ", seed));
    Chance chance(seed);
    for (int i = 0; i < 3000; ++i) {
        const Value value = chance.value(4);
        const std::string compact = write(value);
        ASSERT_EQ(parsed(compact), value) << compact;
        ASSERT_EQ(write(parsed(compact)), compact);
        ASSERT_EQ(parsed(write_pretty(value)), value);
    }
}

TEST(Json, SurvivesDamageToItsInput) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(cat("seed ", seed));
    Chance chance(seed);
    for (int i = 0; i < 5000; ++i) {
        std::string text = write(chance.value(3));
        for (std::size_t n = 1 + chance.below(3); n > 0; --n) {
            const std::size_t at = chance.below(text.size());
            switch (chance.below(3)) {
                case 0:
                    text.erase(at, 1);
                    break;
                case 1:
                    text.insert(at, 1, "[]{},:\"\\u0-e."[chance.below(14)]);
                    break;
                default:
                    text[at] = static_cast<char>(chance.below(256));
            }
            if (text.empty()) break;
        }
        const auto value = parse(text);
        if (value) {
            ASSERT_EQ(parsed(write(*value)), *value) << text;
        } else {
            ASSERT_EQ(value.error().reason(), "invalid_json") << text;
        }
    }
}

}  // namespace
}  // namespace quire::json
