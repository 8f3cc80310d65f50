// The full-text index in every store.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/store_contract_for_test.h"

namespace quire::store {
namespace {

TextRecord text(DocumentKey key, const std::string& name, const std::string& content,
                const std::string& tags = "all") {
    return {.document = key, .version = 1, .name = name, .content = content, .tags = tags};
}

// The keys of what is found, best first.
std::string found(Store& store, TextQuery query) {
    if (query.tags.empty()) query.tags = {{"all"}};
    std::string out;
    const Result<std::vector<TextHit>> hits = store.search(query);
    if (!hits) return hits.error().message();
    for (const TextHit& hit : *hits) out += (out.empty() ? "" : " ") + std::to_string(hit.document);
    return out;
}

TYPED_TEST(StoreContract, TextsAreFoundByWordsAndPhrasesBestFirst) {
    ASSERT_TRUE(commit(
        this->store(),
        {.texts = {
             text(1, "notes", "the red house and the blue car, and much else that was said of it"),
             text(2, "red things", "a car"), text(3, "diary", "House: red, red and RED."),
             text(4, "other", "nothing of it")}}));
    this->reopen();
    Store& store = this->store();

    EXPECT_EQ(found(store, {.all = {"red"}}), "2 3 1");
    EXPECT_EQ(found(store, {.all = {"Red"}, .limit = 1}), "2");
    EXPECT_EQ(found(store, {.all = {"red house"}}), "1");
    EXPECT_EQ(found(store, {.all = {"house-red"}}), "3");
    EXPECT_EQ(found(store, {.all = {"red", "car"}}), "2 1");
    EXPECT_EQ(found(store, {.all = {"red"}, .none = {"blue car"}}), "2 3");
    EXPECT_EQ(found(store, {.none = {"car", "diary"}}), "4");
    EXPECT_EQ(found(store, {.all = {"car"}, .in_name = {"red"}}), "2");
    EXPECT_EQ(found(store, {.all = {"red"}, .not_in_name = {"red", "notes"}}), "3");
    EXPECT_EQ(found(store, {.all = {"green"}}), "");
    TextQuery query{.all = {"blue"}};
    query.tags = {{"all"}};
    const std::string snippet = store.search(query)->front().snippet;
    EXPECT_NE(snippet.find(std::string("the ") + kHit + "blue" + kHitEnd + " car"),
              std::string::npos)
        << snippet;
}

TYPED_TEST(StoreContract, TextsAreFoundByThoseWhoHaveATagOfEachGroup) {
    ASSERT_TRUE(commit(this->store(), {.texts = {text(1, "a", "x", "all r1 core"),
                                                 text(2, "b", "x", "all r2 core"),
                                                 text(3, "c", "x", "all r1 old")}}));
    const auto with = [&](std::vector<std::vector<std::string>> tags) {
        TextQuery query{.all = {"x"}};
        query.tags = std::move(tags);
        return found(this->store(), query);
    };

    EXPECT_EQ(with({{"r2"}}), "2");
    EXPECT_EQ(with({{"r1"}, {"old"}}), "3");
    EXPECT_EQ(with({{"r3"}}), "");
    EXPECT_EQ(with({{"r2", "r3"}, {"old", "core"}}), "2");
    EXPECT_EQ(found(this->store(), {.all = {"r1"}}), "");
    EXPECT_EQ(found(this->store(), {.all = {"core"}}), "");
}

TYPED_TEST(StoreContract, TagsAreInNoSnippet) {
    ASSERT_TRUE(commit(this->store(),
                       {.texts = {text(1, "alpha", "some text to begin with, and x", "r1 core"),
                                  text(2, "x", "nothing", "r1 core"),
                                  {.document = 3,
                                   .version = 1,
                                   .name = "c",
                                   .description = "an x",
                                   .content = "y",
                                   .tags = "r1 core"}}}));
    TextQuery query{.all = {"x"}};
    query.tags = {{"r1"}, {"core"}};
    std::map<DocumentKey, std::string> snippets;
    const auto hits = this->store().search(query);
    for (const TextHit& hit : *hits) snippets[hit.document] = hit.snippet;

    ASSERT_EQ(snippets.size(), 3U);
    const std::string hit = std::string(1, kHit) + "x" + kHitEnd;
    EXPECT_NE(snippets[1].find("and " + hit), std::string::npos) << snippets[1];
    EXPECT_EQ(snippets[2], hit);
    EXPECT_EQ(snippets[3], "an " + hit);
    query.all.clear();
    const auto all = this->store().search(query);
    for (const TextHit& each : *all) {
        EXPECT_EQ(each.snippet.find("r1"), std::string::npos) << each.snippet;
        EXPECT_EQ(each.snippet.find("core"), std::string::npos) << each.snippet;
    }
}

TYPED_TEST(StoreContract, ATextIsNotReplacedByAnOlderOne) {
    Store& store = this->store();
    const auto put = [&](std::uint64_t version, const std::string& content, bool gone = false) {
        ASSERT_TRUE(commit(store, {.texts = {{.document = 1,
                                              .version = version,
                                              .gone = gone,
                                              .name = "a",
                                              .content = content,
                                              .tags = "all"}}}));
    };
    put(2, "two");
    put(1, "one");
    EXPECT_EQ(found(store, {.all = {"one"}}), "");
    EXPECT_EQ(found(store, {.all = {"two"}}), "1");
    put(3, "three");
    EXPECT_EQ(found(store, {.all = {"two"}}), "");
    EXPECT_EQ(found(store, {.all = {"three"}}), "1");
    put(0, "", true);
    put(4, "four");
    EXPECT_EQ(found(store, {.all = {"a"}}), "");
}

TYPED_TEST(StoreContract, SearchedWordsAreNeverTakenForSyntax) {
    ASSERT_TRUE(commit(this->store(), {.texts = {text(1, "a", "word AND other, tags"),
                                                 text(2, "b", "word", "all secret")}}));
    Store& store = this->store();

    for (const char* odd : {"\"", "a\" OR tags : \"secret", "*", "word*", "^word", "(word", "NEAR(",
                            "-", "tags : secret", "word OR nothing", "{name} : a", "+ word", ")",
                            ":", "\xf0\x9f\x98\x80"}) {
        const std::string answer = found(store, {.all = {odd}});
        EXPECT_TRUE(answer.empty() || answer.starts_with("1") || answer == "2 1")
            << odd << ": " << answer;
        EXPECT_EQ(found(store, {.all = {odd, "nowhere"}}), "") << odd;
    }
    EXPECT_EQ(found(store, {.all = {"AND"}}), "1");
    EXPECT_EQ(found(store, {.all = {"OR"}}), "");
    EXPECT_EQ(found(store, {.all = {"word and other"}}), "1");
}

TYPED_TEST(StoreContract, ATextIsStaleUntilItMatchesItsBlock) {
    Store& store = this->store();
    const auto stale = [&] {
        std::string out;
        const std::vector<DocumentKey> keys = store.stale_texts("conversation").value();
        for (const DocumentKey key : keys) out += std::to_string(key) + " ";
        return out;
    };
    Batch made{.documents = {document(1, "a"), document(2, "b")}};
    made.blocks = {{.document = 1, .version = 1}, {.document = 2, .version = 4}};
    ASSERT_TRUE(commit(store, made));
    EXPECT_EQ(stale(), "1 2 ");
    ASSERT_TRUE(commit(store, {.texts = {text(1, "a", "x"), text(2, "b", "x")}}));
    EXPECT_EQ(stale(), "2 ");
    EXPECT_EQ(store.whole_blocks("conversation")->size(), 2U);
    EXPECT_EQ(store.whole_blocks("memory")->size(), 0U);

    DocumentRecord deleted = document(1, "a");
    deleted.deleted = true;
    ASSERT_TRUE(commit(store, {.documents = {deleted}}));
    EXPECT_EQ(stale(), "1 2 ");
    EXPECT_EQ(store.whole_blocks("conversation")->front().version, 4U);
    ASSERT_TRUE(commit(store, {.texts = {{.document = 1, .gone = true},
                                         {.document = 2, .version = 4, .name = "b"}}}));

    EXPECT_EQ(stale(), "");
    EXPECT_EQ(found(store, {.all = {"x"}}), "");
    EXPECT_EQ(found(store, {.all = {"b"}}), "");
}

}  // namespace
}  // namespace quire::store
