// Lean answers: what an encoded struct leaves out, and what it keeps.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "json/fields.h"
#include "json/json.h"

namespace quire::json {
namespace {

struct Shelf {
    struct Book {
        std::string title = {};
        bool lent = false;
        Map notes = {};
        static Fields<Book> fields() {
            return Fields<Book>()
                .required("title", &Book::title)
                .required("lent", &Book::lent)
                .required("notes", &Book::notes)
                .kept();
        }
    };
    std::string name = {};
    std::vector<Book> books = {};
    std::vector<std::string> rows = {};
    std::string owner = {};
    std::int64_t version = 0;
    std::size_t count = 0;
    static Fields<Shelf> fields() {
        return Fields<Shelf>()
            .required("name", &Shelf::name)
            .required("books", &Shelf::books)
            .kept()
            .required("rows", &Shelf::rows)
            .nullable("owner", &Shelf::owner)
            .required("version", &Shelf::version)
            .kept()
            .required("count", &Shelf::count)
            .implied("count");
    }
};

std::string lean(const Shelf& shelf, const Map& said = {}) {
    Map out = Codec<Shelf>::encode(shelf).as_map();
    Codec<Shelf>::fields().lean(out, said);
    return write(Value(std::move(out)));
}

TEST(Fields, LeanLeavesOutWhatSaysNothingAtEachDepth) {
    EXPECT_EQ(lean({}), R"({"books":[],"version":0})");
    EXPECT_EQ(lean({.name = "a", .books = {{.title = "b"}}, .rows = {""}, .count = 1}),
              R"({"name":"a","books":[{"title":"b","notes":{}}],"rows":[""],"version":0})");
}

TEST(Fields, LeanKeepsAMembersContentThatNoFieldsDescribe) {
    EXPECT_EQ(lean({.books = {{.lent = true, .notes = {{"done", false}}}}}),
              R"({"books":[{"lent":true,"notes":{"done":false}}],"version":0})");
}

TEST(Fields, LeanDoesNotRepeatWhatWasSaidUnlessItIsKept) {
    EXPECT_EQ(lean({.name = "a", .owner = "b", .version = 3},
                   {{"name", "a"}, {"owner", "c"}, {"version", 3}}),
              R"({"books":[],"owner":"b","version":3})");
}

}  // namespace
}  // namespace quire::json
