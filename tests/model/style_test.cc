// Random styling by several peers: what readers see, now, at any version and from diffs alone, is
// what the naive model makes of the same changes.
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "json/json.h"
#include "tests/model/edit_style.h"
#include "tests/model/model.h"
#include "tests/model/model_style.h"
#include "tests/model/scribblers.h"
#include "tests/model/shadow.h"

namespace quire {
namespace {

using namespace crdt;
using model::Shadow;

const ContainerId kStyled = ContainerId::root("text", ContainerKind::text);

std::string written(const TextDelta& delta) {
    std::string out;
    for (const TextStep& step : delta) {
        if (const auto* put = std::get_if<PutText>(&step)) {
            out += put->text + json::write(Value(put->attributes));
        } else {
            out += "?";
        }
    }
    return out;
}

// A peer's document, and what its commits and imports told.
struct Page {
    explicit Page(PeerId peer) : doc(peer) {
        StyleConfig config = StyleConfig::usual();
        config.set("comment", Expand::both);
        doc.settings().text_styles = config;
        text = doc.open(kStyled);
    }
    void commit() { told.apply(doc.commit({.want_diff = true}).diff); }
    void take(const std::vector<Change>& changes) {
        commit();
        const auto imported = doc.import(changes, {.want_diff = true});
        ASSERT_TRUE(imported) << imported.error().message();
        told.apply(imported->diff);
    }
    TextDelta read() { return doc.text(text).delta(); }

    Doc doc;
    Handle text{};
    Shadow told;
};

class Pages {
public:
    Pages(std::uint64_t seed, std::size_t count) : random_(seed) {
        for (std::size_t i = 0; i < count; ++i)
            pages_.push_back(std::make_unique<Page>(10 * (i + 1)));
    }

    void step() {
        Page& page = *pages_[below(pages_.size())];
        switch (below(10)) {
            case 0:
            case 1:
                give(page, *pages_[below(pages_.size())]);
                break;
            case 2:
                write_as_others_do(page);
                break;
            default:
                for (std::size_t i = below(3) + 1; i > 0; --i) edit(page);
                if (below(2) == 0) return;
                page.commit();
                versions_.push_back(page.doc.frontiers());
        }
    }

    void meet() {
        for (const auto& from : pages_) {
            for (const auto& to : pages_) give(*from, *to);
        }
        for (const auto& from : pages_) give(*from, *pages_[0]);
        for (const auto& page : pages_) give(*pages_[0], *page);
        const std::vector<Change> all = pages_[0]->doc.changes_since({}).changes();
        const TextDelta expected = model::styled(all, kStyled);
        for (const auto& page : pages_) {
            crdt::check_invariants(page->doc);
            ASSERT_TRUE(page->read() == expected) << written(page->read()) << "\n"
                                                  << written(expected);
            ASSERT_TRUE(page->told.text(kStyled) == expected)
                << written(page->told.text(kStyled)) << "\n"
                << written(expected);
        }
    }

    void travel() {
        Page& page = *pages_[below(pages_.size())];
        page.commit();
        const Frontiers a = versions_[below(versions_.size())];
        const Frontiers b = versions_[below(versions_.size())];
        if (!page.doc.history().version_of(a) || !page.doc.history().version_of(b)) return;
        const auto at_a = fork_at(page.doc, a, 7);
        const auto at_b = fork_at(page.doc, b, 8);
        const TextDelta expected = model::styled(at_b->changes_since({}).changes(), kStyled);
        ASSERT_TRUE(page.doc.checkout(b));
        ASSERT_TRUE(page.read() == expected) << written(page.read()) << "\n" << written(expected);
        page.doc.checkout_to_latest();

        Shadow shadow;
        shadow.apply(*page.doc.history().diff({}, a));
        ASSERT_TRUE(shadow.text(kStyled) ==
                    model::styled(at_a->changes_since({}).changes(), kStyled));
        shadow.apply(*page.doc.history().diff(a, b));
        ASSERT_TRUE(shadow.text(kStyled) == expected) << written(shadow.text(kStyled)) << "\n"
                                                      << written(expected);
    }

private:
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

    void edit(Page& page) {
        const std::size_t size = page.doc.text(page.text).rope().code_points().n;
        if (size > 0 && below(2) == 0) {
            edit_styles(page.doc, page.text, [&](std::size_t n) { return below(n); });
        } else if (size == 0 || below(5) < 3) {
            const char* words[] = {"a", "bc", "\xC3\xA9", "\xF0\x9F\x98\x80x"};
            ASSERT_TRUE(page.doc.text(page.text).insert({below(size + 1)}, words[below(4)]));
        } else {
            const std::size_t from = below(size);
            const std::size_t count = 1 + below(std::min<std::size_t>(3, size - from));
            ASSERT_TRUE(page.doc.text(page.text).erase({from}, {count}));
        }
    }

    // Anchors deleted, styles without an end, styles on nothing.
    void write_as_others_do(Page& page) {
        page.commit();
        const std::size_t size =
            model::entities(page.doc.changes_since({}).changes(), kStyled).size();
        Change change{{1000 + others_++, 0}, page.doc.frontiers(), 0, 0, "", {}};
        if (size > 0 && below(2) == 0) {
            const std::size_t at = below(size);
            const auto len =
                static_cast<std::int32_t>(1 + below(std::min<std::size_t>(4, size - at)));
            change.ops.push_back(
                {kStyled, 0, SequenceDelete{static_cast<std::int32_t>(at), len, {1, 1}}});
        } else {
            const auto at = static_cast<std::uint32_t>(below(size + 1));
            const auto end = at + static_cast<std::uint32_t>(below(size + 1 - at));
            change.ops.push_back({kStyled, 0, StyleStart{at, end, "bold", "theirs", 0x84}});
            if (below(3) > 0) change.ops.push_back({kStyled, 1, StyleEnd{}});
        }
        page.take({change});
    }

    void give(Page& from, Page& to) {
        if (&from == &to) return;
        from.commit();
        to.commit();
        to.take(from.doc.changes_since(to.doc.version()).changes());
        versions_.push_back(to.doc.frontiers());
    }

    std::mt19937_64 random_;
    std::vector<std::unique_ptr<Page>> pages_;
    std::vector<Frontiers> versions_{{}};
    PeerId others_ = 0;
};

TEST(Style, RandomPeersAgreeWithTheNaiveModel) {
    const model::Runs given(40);
    for (std::uint64_t run = 0; run < given.count; ++run) {
        const std::uint64_t seed = given.seed + run;
        SCOPED_TRACE("SEED=" + std::to_string(seed) + " QUIRE_STEPS=1");
        Pages pages(seed, 2 + seed % 3);
        for (int meeting = 0; meeting < 2; ++meeting) {
            for (int i = 0; i < 20; ++i) pages.step();
            pages.meet();
            for (int i = 0; i < 4; ++i) pages.travel();
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(Style, TheComparisonSeesAStyleThatDiffers) {
    Page page(1);
    ASSERT_TRUE(page.doc.text(page.text).insert({0}, "abcdef"));
    ASSERT_TRUE(page.doc.text(page.text).mark({1}, {3}, "bold", true));
    ASSERT_TRUE(page.doc.text(page.text).mark({2}, {5}, "bold", 1));
    page.commit();
    const std::vector<Change> changes = page.doc.changes_since({}).changes();
    ASSERT_EQ(changes.size(), 1U);
    ASSERT_TRUE(model::styled(changes, kStyled) == page.read());
    const auto differs = [&](std::size_t op, OpContent content) {
        std::vector<Change> changed = changes;
        changed[0].ops.at(op).content = std::move(content);
        return !(model::styled(changed, kStyled) == page.read());
    };

    EXPECT_TRUE(differs(1, StyleStart{0, 3, "bold", true, 0x84}));
    EXPECT_TRUE(differs(1, StyleStart{1, 3, "bold", nullptr, 0x84}));
    EXPECT_TRUE(differs(3, StyleStart{3, 7, "bold", 1.0, 0x84}));
    EXPECT_TRUE(differs(3, StyleStart{3, 7, "italic", 1, 0x84}));
}

}  // namespace
}  // namespace quire
