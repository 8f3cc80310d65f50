// Styles on text: marking, typing at edges, merging, versions.
#include <gtest/gtest.h>

#include "base/concat.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

const ContainerId kRich = ContainerId::root("t", ContainerKind::text);

// One peer's document with a text.
struct Page {
    explicit Page(PeerId peer, std::string_view text = "") : doc(peer), handle(doc.open(kRich)) {
        type(0, text);
    }
    Page& type(std::size_t at, std::string_view text) {
        EXPECT_TRUE(doc.text(handle).insert({at}, text));
        return *this;
    }
    Page& erase(std::size_t at, std::size_t count) {
        EXPECT_TRUE(doc.text(handle).erase({at}, {count}));
        return *this;
    }
    Page& mark(std::size_t from, std::size_t to, std::string_view key, Value value = true) {
        EXPECT_TRUE(doc.text(handle).mark({from}, {to}, key, std::move(value)));
        return *this;
    }
    Page& unmark(std::size_t from, std::size_t to, std::string_view key) {
        EXPECT_TRUE(doc.text(handle).unmark({from}, {to}, key));
        return *this;
    }
    Page& pull(Page& from) {
        doc.commit();
        from.doc.commit();
        EXPECT_TRUE(doc.import(from.doc.changes_since(doc.version())));
        return *this;
    }
    // "plain<bold link=x>styled</>": what a reader sees.
    std::string read() const { return written(doc.text(handle).delta()); }

    static std::string written(const TextDelta& delta) {
        std::string out;
        for (const TextStep& step : delta) {
            Map attributes;
            std::string what;
            if (const auto* put = std::get_if<PutText>(&step)) {
                what = put->text;
                attributes = put->attributes;
            } else if (const auto* kept = std::get_if<Retain>(&step)) {
                what = cat("[", kept->count, "]");
                attributes = kept->attributes;
            } else {
                what = cat("[-", std::get<Erase>(step).count, "]");
            }
            if (attributes.empty()) {
                out += what;
                continue;
            }
            out += '<';
            for (const auto& [key, value] : attributes) {
                if (out.back() != '<') out += ' ';
                out += key;
                if (!(value == Value(true)))
                    out += cat("=", value.is_null() ? "null" : value.as_string());
            }
            out += cat(">", what, "</>");
        }
        return out;
    }

    Doc doc;
    Handle handle;
};

// Two peers that part at what `origin` made, edit, and meet.
struct Meeting {
    explicit Meeting(std::string_view text) : a(1, text), b(2) { b.pull(a); }
    std::string met() {
        a.pull(b);
        b.pull(a);
        check_invariants(a.doc);
        check_invariants(b.doc);
        EXPECT_EQ(a.read(), b.read());
        return a.read();
    }
    // Peers 1 and 2; by their numbers text and anchors at one place are ordered.
    Page a, b;
};

TEST(Richtext, AMarkStylesItsCharactersAndNothingElse) {
    Page page(1, "Hello World");

    page.mark(0, 5, "bold");

    EXPECT_EQ(page.read(), "<bold>Hello</> World");
    EXPECT_EQ(page.doc.text(page.handle).rope().str(), "Hello World");
    check_invariants(page.doc);
}

TEST(Richtext, MarkingStyledTextAgainWritesNoOp) {
    Page page(1, "Hello World");
    page.mark(0, 5, "bold").mark(5, 11, "bold");
    page.doc.commit();
    const std::size_t ops = page.doc.history().op_count();

    page.mark(2, 8, "bold").unmark(0, 11, "link").mark(0, 11, "link", nullptr);
    EXPECT_TRUE(page.doc.commit().empty());
    EXPECT_EQ(page.doc.history().op_count(), ops);

    page.mark(2, 8, "bold", "very");
    EXPECT_EQ(page.read(), "<bold>He</><bold=very>llo Wo</><bold>rld</>");
}

TEST(Richtext, InvalidMarksAreRefused) {
    Page page(1, "Hello");
    const auto reason = [&](std::size_t from, std::size_t to, std::string_view key) {
        const auto marked = page.doc.text(page.handle).mark({from}, {to}, key, true);
        return marked ? std::string("none") : marked.error().reason();
    };

    EXPECT_EQ(reason(2, 2, "bold"), "empty_range");
    EXPECT_EQ(reason(3, 2, "bold"), "empty_range");
    EXPECT_EQ(reason(0, 6, "bold"), "out_of_bound");
    EXPECT_EQ(reason(0, 5, "colour"), "unknown_style_key");
    EXPECT_EQ(reason(0, 5, "colour:red"), "unknown_style_key");
    EXPECT_EQ(reason(0, 5, "comment:1"), "none");
    // A style that is not there can be taken away, whatever its name.
    EXPECT_TRUE(page.doc.text(page.handle).unmark({0}, {5}, "colour"));

    StyleConfig config;
    config.set("colour", Expand::none);
    page.doc.settings().text_styles = config;
    EXPECT_EQ(reason(0, 5, "colour:red"), "none");
    EXPECT_EQ(reason(0, 5, "bold"), "unknown_style_key");
    config.set_default(Expand::both);
    page.doc.settings().text_styles = config;
    EXPECT_EQ(reason(0, 5, "bold"), "none");
}

TEST(Richtext, TextTypedAtAnEdgeFollowsTheExpansion) {
    struct Case {
        Expand expand;
        const char* before;  // "x" typed at the start of the style,
        const char* after;   // and at its end.
    };
    for (const Case& c : {Case{Expand::none, "ax<s>bc</>d", "a<s>bc</>xd"},
                          Case{Expand::before, "a<s>xbc</>d", "a<s>bc</>xd"},
                          Case{Expand::after, "ax<s>bc</>d", "a<s>bcx</>d"},
                          Case{Expand::both, "a<s>xbc</>d", "a<s>bcx</>d"}}) {
        StyleConfig config;
        config.set("s", c.expand);
        for (const bool at_end : {false, true}) {
            Page page(1, "abcd");
            page.doc.settings().text_styles = config;
            page.mark(1, 3, "s").type(at_end ? 3 : 1, "x");
            EXPECT_EQ(page.read(), at_end ? c.after : c.before);
            check_invariants(page.doc);
        }
    }
}

TEST(Richtext, TakingAStyleAwayKeepsItsExpansion) {
    Page bold(1, "abcdef");
    bold.mark(0, 6, "bold").unmark(2, 4, "bold");
    EXPECT_EQ(bold.read(), "<bold>ab</>cd<bold>ef</>");
    // Bold goes on at its end, and where it was taken away nothing does.
    bold.type(2, "x").type(5, "y");
    EXPECT_EQ(bold.read(), "<bold>abx</>cdy<bold>ef</>");

    Page link(1, "abcdef");
    link.mark(0, 6, "link", "u").unmark(2, 4, "link");
    link.type(2, "x").type(5, "y");
    EXPECT_EQ(link.read(), "<link=u>abx</>cdy<link=u>ef</>");
}

TEST(Richtext, TypingGoesBetweenABoldAndALinkThatEndTogether) {
    Page page(1, "Hello World");

    page.mark(0, 5, "bold").mark(0, 5, "link", "u").type(5, "t");

    EXPECT_EQ(page.read(), "<bold link=u>Hello</><bold>t</> World");
}

TEST(Richtext, DeletingStyledTextLeavesItsAnchors) {
    Page page(1, "Hello World");
    page.mark(0, 5, "bold").mark(6, 11, "link", "u");

    page.erase(3, 5);
    EXPECT_EQ(page.read(), "<bold>Hel</><link=u>rld</>");
    page.erase(0, 6);
    EXPECT_EQ(page.read(), "");
    check_invariants(page.doc);
    Page other(2);
    EXPECT_EQ(other.pull(page).read(), "");
    page.type(0, "Hi");
    EXPECT_EQ(other.pull(page).read(), page.read());
}

// --- merging ---

TEST(RichtextMerge, TextTypedInsideABoldStretchIsBold) {
    Meeting meeting("Hello World");
    meeting.a.mark(0, 11, "bold");
    meeting.b.type(5, " New");
    EXPECT_EQ(meeting.met(), "<bold>Hello New World</>");
}

TEST(RichtextMerge, StylesThatOverlapAreOne) {
    Meeting meeting("Hello World");
    meeting.a.mark(0, 5, "bold");
    meeting.b.mark(3, 11, "bold");
    EXPECT_EQ(meeting.met(), "<bold>Hello World</>");
}

TEST(RichtextMerge, TextTypedWhereAStyleIsRemovedDoesNotHaveIt) {
    Meeting meeting("Hello World");
    meeting.b.pull(meeting.a.mark(0, 11, "bold"));
    meeting.a.unmark(0, 6, "bold");
    meeting.b.type(5, " a");
    EXPECT_EQ(meeting.met(), "Hello a <bold>World</>");
}

TEST(RichtextMerge, TextTypedBesideAStretchThatIsStyledStaysOutside) {
    Meeting meeting("Hello World");
    meeting.a.mark(6, 11, "bold");
    meeting.b.type(5, " a");
    EXPECT_EQ(meeting.met(), "Hello a <bold>World</>");
}

TEST(RichtextMerge, AStyleShrinksWithItsText) {
    Meeting meeting("Hello World");
    meeting.a.mark(0, 5, "link", "u");
    meeting.b.erase(2, 3).type(2, "y");
    EXPECT_EQ(meeting.met(), "<link=u>Hey</> World");
}

TEST(RichtextMerge, TheLastMarkOfAKeyWins) {
    Meeting meeting("The fox jumped over the dog.");
    meeting.b.pull(meeting.a.mark(0, 14, "bold"));
    meeting.a.unmark(0, 14, "bold");
    meeting.b.unmark(4, 7, "bold");
    EXPECT_EQ(meeting.met(), "The fox jumped over the dog.");
}

TEST(RichtextMerge, StylesRemovedConcurrentlyAreBothGone) {
    Meeting meeting("The fox jumped over the dog.");
    meeting.b.pull(meeting.a.mark(0, 14, "bold"));
    meeting.a.unmark(7, 14, "bold");
    meeting.b.unmark(3, 14, "bold").mark(24, 27, "bold");
    EXPECT_EQ(meeting.met(), "<bold>The</> fox jumped over the <bold>dog</>.");
}

TEST(RichtextMerge, StylesOfDifferentKeysLieOnEachOther) {
    Meeting meeting("The fox jumped.");
    meeting.a.mark(0, 7, "bold").mark(0, 7, "comment:1", "a");
    meeting.b.mark(4, 14, "italic").mark(4, 14, "comment:2", "b");
    EXPECT_EQ(meeting.met(),
              "<bold comment:1=a>The </><bold comment:1=a comment:2=b italic>fox</>"
              "<comment:2=b italic> jumped</>.");
}

TEST(RichtextMerge, TheValueOfTheLaterStartWins) {
    Meeting meeting("abcdef");
    meeting.a.mark(0, 4, "link", "one");
    meeting.b.mark(2, 6, "link", "two");
    // The lamports are equal, so the larger peer decides.
    EXPECT_EQ(meeting.met(), "<link=one>ab</><link=two>cdef</>");
    meeting.a.mark(1, 5, "link", "three");
    EXPECT_EQ(meeting.met(), "<link=one>a</><link=three>bcde</><link=two>f</>");
}

// --- what only others write ---

Change foreign(PeerId peer, std::vector<OpContent> contents, Frontiers deps = {}) {
    Change change{{peer, 0}, std::move(deps), 0, 0, "", {}};
    Counter counter = 0;
    for (OpContent& content : contents) {
        const Counter atoms = atom_count(content);
        change.ops.push_back({kRich, counter, std::move(content)});
        counter += atoms;
    }
    return change;
}

TEST(Richtext, AStyleThatLosesAnAnchorStylesNothing) {
    const auto shown = [](SequenceDelete gone) {
        Page page(1);
        const auto imported = page.doc.import(
            {foreign(5, {TextInsert{0, "abcdef"}, StyleStart{0, 5, "bold", "old", 0x84}, StyleEnd{},
                         StyleStart{2, 5, "bold", "new", 0x84}, StyleEnd{}, gone})});
        EXPECT_TRUE(imported);
        check_invariants(page.doc);
        return page.read();
    };

    EXPECT_EQ(shown({9, 1, {5, 5}}), "<bold=old>a</><bold=new>bcd</><bold=old>e</>");
    EXPECT_EQ(shown({2, 1, {5, 8}}), "<bold=old>abcde</>f");
    EXPECT_EQ(shown({6, 1, {5, 9}}), "<bold=old>abcde</>f");
    EXPECT_EQ(shown({2, 5, {5, 8}}), "<bold=old>ae</>f");
    EXPECT_EQ(shown({0, 1, {5, 6}}), "a<bold=new>bcd</>ef");
    EXPECT_EQ(shown({9, -10, {5, 6}}), "");
}

TEST(Richtext, AStartWithoutItsEndStylesNothing) {
    Page page(1);
    ASSERT_TRUE(page.doc.import(
        {foreign(5, {TextInsert{0, "abcdef"}, StyleStart{0, 4, "bold", true, 0x84}})}));

    EXPECT_EQ(page.read(), "abcdef");
    page.type(0, "x").mark(1, 3, "link", "u");
    page.doc.commit();
    check_invariants(page.doc);
    EXPECT_EQ(page.read(), "x<link=u>ab</>cdef");
}

TEST(Richtext, AStyleThatEndsBeforeItStartsIsRefused) {
    Page page(1);
    EXPECT_FALSE(page.doc.import(
        {foreign(5, {TextInsert{0, "abcdef"}, StyleStart{4, 2, "bold", true, 0x84}, StyleEnd{}})}));
    EXPECT_FALSE(page.doc.import({foreign(5, {TextInsert{0, "abcdef"}, StyleEnd{}})}));
}

// --- deltas ---

TEST(Richtext, AppliesADelta) {
    Page page(1, "Hello World");
    page.mark(0, 5, "bold");

    const auto applied =
        page.doc.text(page.handle)
            .apply({Retain{2, Map{{"bold", nullptr}, {"link", "u"}}}, PutText{"XX", {}},
                    PutText{"Y", Map{{"bold", true}}}, Erase{3}, Retain{1}, Erase{1},
                    PutText{"w", Map{{"italic", true}}}, Retain{1, Map{{"italic", true}}}});

    EXPECT_TRUE(applied);
    EXPECT_EQ(page.read(), "<link=u>He</>XX<bold>Y</> <italic>wo</>rld");
    page.doc.commit();
    check_invariants(page.doc);
}

TEST(Richtext, ADeltaThatDoesNotFitChangesNothing) {
    Page page(1, "Hello");
    page.mark(0, 2, "bold");
    page.doc.commit();
    const auto reason = [&](const TextDelta& delta) {
        const auto applied = page.doc.text(page.handle).apply(delta);
        return applied ? std::string("none") : applied.error().reason();
    };

    EXPECT_EQ(reason({PutText{"x", {}}, Retain{6}}), "out_of_bound");
    EXPECT_EQ(reason({Erase{2}, Erase{4}}), "out_of_bound");
    EXPECT_EQ(reason({PutText{"x", {}}, Retain{1, Map{{"colour", true}}}}), "unknown_style_key");
    EXPECT_EQ(reason({PutText{"\xFF", {}}}), "invalid_utf8");
    EXPECT_EQ(reason({Retain{0, Map{{"bold", true}}}}), "empty_range");
    EXPECT_TRUE(page.doc.pending().empty());
    EXPECT_EQ(page.read(), "<bold>He</>llo");
}

TEST(Richtext, ACommitReportsStyleChanges) {
    Page page(1, "Hello World");
    page.doc.commit();

    page.mark(0, 5, "bold").type(5, "!").mark(3, 8, "link", "u").erase(0, 1);
    const Commit commit = page.doc.commit({.want_diff = true});
    EXPECT_EQ(Page::written(std::get<TextDelta>(commit.diff.at(0).delta)),
              "[-1]<bold>[2]</><bold link=u>[2]</><bold link=u>!</><link=u>[2]</>");

    page.unmark(0, 6, "bold");
    const Commit second = page.doc.commit({.want_diff = true});
    EXPECT_EQ(Page::written(std::get<TextDelta>(second.diff.at(0).delta)), "<bold=null>[5]</>");

    Page other(2);
    const auto imported = other.doc.import(page.doc.changes_since({}), {.want_diff = true});
    ASSERT_TRUE(imported);
    EXPECT_EQ(Page::written(std::get<TextDelta>(imported->diff.at(0).delta)), page.read());
}

// Would take minutes if a mark moved what lies behind it or looked at what lies before it.
TEST(Richtext, ManyMarksStayUsable) {
    constexpr std::size_t kMarks = 20'000;
    Page page(1, std::string(kMarks, 'x'));
    page.doc.commit();
    std::size_t told = 0;
    for (std::size_t i = 0; i < kMarks; ++i) {
        const std::size_t begin = i * 7919 % (kMarks - 40);
        page.mark(begin, begin + 1 + i % 40, i % 3 == 0 ? "link" : "bold", std::to_string(i));
        if (i % 10 == 0) {
            page.type(begin, "y");
            told += page.doc.commit({.want_diff = true}).diff.size();
        }
    }
    page.doc.commit();
    EXPECT_EQ(told, kMarks / 10);

    Page other(2);
    other.pull(page);

    EXPECT_TRUE(page.doc.text(page.handle).delta() == other.doc.text(other.handle).delta());
}

}  // namespace
}  // namespace quire::crdt
