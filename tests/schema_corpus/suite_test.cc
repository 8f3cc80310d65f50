// The cases of the official JSON-Schema-Test-Suite for draft 2020-12, as they are bundled in
// tests/data/json-schema-test-suite: every file there is run, none of its cases is left out, and
// how many there must be is said here.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "json/schema/schema.h"
#include "text/ecma_pattern.h"

namespace quire::json {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRequiredCases = 1299;
constexpr std::size_t kOptionalCases = 121;

fs::path data() {
    return fs::path(QUIRE_SOURCE_DIR) / "tests/data/json-schema-test-suite";
}

Value read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    auto value = parse(text);
    EXPECT_TRUE(value) << file;
    return value ? std::move(*value) : Value();
}

std::vector<fs::path> json_files(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

// The documents that the cases refer to, at the address that the suite gives them.
class Remotes {
public:
    Remotes() {
        const fs::path root = data() / "remotes";
        for (const auto& entry : fs::recursive_directory_iterator(root)) {
            if (!entry.is_regular_file()) continue;
            values_.push_back(read(entry.path()));
            documents_.push_back({cat("http://localhost:1234/",
                                      entry.path().lexically_relative(root).generic_string()),
                                  &values_.back()});
        }
    }
    SchemaOptions options() const {
        return {.documents = documents_, .patterns = text::ecma_pattern};
    }

private:
    std::deque<Value> values_;
    std::vector<SchemaDocument> documents_;
};

// Runs every case of every file in `folder`; how many there were.
std::size_t run(const fs::path& folder) {
    const Remotes remotes;
    std::size_t cases = 0;
    for (const fs::path& file : json_files(folder)) {
        const Value groups = read(file);
        for (const Value& group : groups.as_list()) {
            const std::string where =
                cat(file.stem().string(), " / ", group.get("description")->as_string());
            const auto schema = Schema::compile(*group.get("schema"), remotes.options());
            EXPECT_TRUE(schema) << where << ": " << (schema ? "" : schema.error().message());
            for (const Value& test : group.get("tests")->as_list()) {
                ++cases;
                if (!schema) continue;
                const auto checked = schema->check(*test.get("data"));
                EXPECT_EQ(checked.has_value(), test.get("valid")->as_bool())
                    << where << " / " << test.get("description")->as_string() << ": "
                    << (checked ? "" : checked.error().message());
                if (checked) continue;
                // A refusal is a verdict, and says where and by which rule.
                EXPECT_EQ(checked.error().reason(), "invalid_arguments") << where;
                EXPECT_TRUE(checked.error().details().contains("path")) << where;
                EXPECT_TRUE(checked.error().details().contains("rule")) << where;
                EXPECT_FALSE(checked.error().message().empty()) << where;
            }
        }
    }
    return cases;
}

TEST(JsonSchemaTestSuite, EveryRequiredCaseHasItsVerdict) {
    EXPECT_EQ(run(data() / "tests/draft2020-12"), kRequiredCases);
}

// The bundled optional cases are those that fit this validator: patterns as ECMA-262 has them,
// numbers as large as a Value holds them, names that are not schemas.
TEST(JsonSchemaTestSuite, TheOptionalCasesThatAreBundledHaveTheirVerdictToo) {
    EXPECT_EQ(run(data() / "tests/draft2020-12/optional"), kOptionalCases);
}

}  // namespace
}  // namespace quire::json
