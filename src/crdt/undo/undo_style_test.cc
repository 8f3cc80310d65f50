// Styles that undo gives back, and the styles of text that it brings back.
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "crdt/doc/text.h"
#include "crdt/undo/desk_for_test.h"
#include "crdt/undo/revert.h"
#include "crdt/undo/undo_history.h"

namespace quire::crdt {
namespace {

std::string styled(const Desk& desk) {
    std::string out;
    for (const TextStep& step : desk.doc.text(desk.text).delta()) {
        const PutText& part = std::get<PutText>(step);
        out += part.text;
        for (const auto& [key, value] : part.attributes) {
            out += "<" + key;
            if (value.is_int()) out += std::to_string(value.as_int());
            out += ">";
        }
    }
    return out;
}

TEST(Undo, OfAStyleGivesBackTheOneBefore) {
    Desk desk;
    const auto mark = [&](std::size_t from, std::size_t to, std::string_view key, Value value) {
        EXPECT_TRUE(desk.doc.text(desk.text).mark({from}, {to}, key, std::move(value)));
        desk.commit();
    };
    desk.doc.settings().text_styles = [] {
        StyleConfig config = StyleConfig::usual();
        config.set_default(Expand::none);
        return config;
    }();
    desk.type(0, "abcdefgh");
    desk.commit();
    const std::vector<std::string> shown = {
        "abcdefgh", "abcdef<size1>gh", "ab<size1>cde<size2>f<size1>gh", "ab<size1>c<size2>defgh",
        "ab<size1>c<size2>d<bold><size2>ef<bold>gh"};
    mark(0, 6, "size", 1);
    mark(2, 5, "size", 2);
    mark(3, 8, "size", nullptr);
    EXPECT_EQ(styled(desk), shown[3]);
    mark(3, 4, "size", 2);
    EXPECT_TRUE(desk.doc.text(desk.text).mark({3}, {6}, "bold", true));
    desk.commit();
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(styled(desk), "ab<size1>c<size2>d<bold><size2>ef<bold>gh");
        EXPECT_TRUE(desk.undo());
        EXPECT_EQ(styled(desk), "ab<size1>cd<size2>efgh");
        for (std::size_t i = 4; i-- > 0;) {
            EXPECT_TRUE(desk.undo());
            EXPECT_EQ(styled(desk), shown[i]);
        }
        for (std::size_t i = 1; i < 4; ++i) {
            EXPECT_TRUE(desk.redo());
            EXPECT_EQ(styled(desk), shown[i]);
        }
        EXPECT_TRUE(desk.redo());
        EXPECT_TRUE(desk.redo());
    }
    check_invariants(desk.doc);
}

TEST(Undo, OfAStyleLeavesWhatAnotherStyledSince) {
    Desk a(1), b(2);
    a.type(0, "abcdef");
    sync(a, b);
    EXPECT_TRUE(a.doc.text(a.text).mark({0}, {6}, "bold", true));
    a.commit();
    sync(a, b);
    EXPECT_TRUE(b.doc.text(b.text).mark({2}, {4}, "bold", 7));
    b.commit();
    sync(a, b);

    EXPECT_TRUE(a.undo());

    EXPECT_EQ(styled(a), "abcd<bold7>ef");
    EXPECT_TRUE(a.redo());
    EXPECT_EQ(styled(a), "ab<bold>cd<bold7>ef<bold>");
    sync(a, b);
}

TEST(Undo, ATextComesBackWithoutTheStyleThatItGotJustBeforeItWent) {
    Desk desk;
    const auto text = [&] { return desk.doc.open(desk.doc.list(desk.list).child(0)); };
    EXPECT_TRUE(desk.doc.list(desk.list).insert_container(0, ContainerKind::text));
    EXPECT_TRUE(desk.doc.text(text()).insert({0}, "ab"));
    desk.commit();
    EXPECT_TRUE(desk.doc.text(text()).mark({1}, {2}, "bold", true));
    EXPECT_TRUE(desk.doc.list(desk.list).erase(0, 1));
    desk.commit();

    EXPECT_TRUE(desk.undo());

    EXPECT_EQ(desk.doc.text(text()).delta(), (TextDelta{PutText{"ab"}}));
}

TEST(Undo, TextComesBackInTheStylesThatOthersGaveItsPlace) {
    Desk a(1), b(2);
    a.type(0, "abc");
    sync(a, b);
    a.erase(1, 1);
    sync(a, b);
    EXPECT_TRUE(b.doc.text(b.text).mark({0}, {2}, "bold", true));
    sync(a, b);

    EXPECT_TRUE(a.undo());

    EXPECT_EQ(a.doc.text(a.text).delta(), (TextDelta{PutText{"abc", {{"bold", true}}}}));
}

TEST(Undo, TextComesBackWithoutTheStyleThatItsPlaceGotInTheSameStep) {
    Desk desk;
    desk.type(0, "ab");
    desk.commit();
    desk.erase(0, 1);
    EXPECT_TRUE(desk.doc.text(desk.text).mark({0}, {1}, "bold", true));
    desk.commit();

    EXPECT_TRUE(desk.undo());

    EXPECT_EQ(desk.doc.text(desk.text).delta(), (TextDelta{PutText{"ab"}}));
}

TEST(Undo, TextComesBackBesideTheAnchorsOfAStyleThatCameAndWent) {
    Desk desk;
    desk.type(0, "ab");
    desk.commit();
    desk.erase(0, 1);
    desk.commit();
    desk.type(0, "cd");
    desk.commit();
    desk.erase(1, 2);
    desk.commit();
    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.doc.text(desk.text).mark({0}, {3}, "bold", true));
    desk.commit();

    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.undo());

    EXPECT_EQ(desk.read(), "ab");
}

}  // namespace
}  // namespace quire::crdt
