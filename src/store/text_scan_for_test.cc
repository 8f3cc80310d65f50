#include "store/text_scan_for_test.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/concat.h"

namespace quire::store {
namespace {

// A name weighs more than a description, and that more than the content.
constexpr double kWeights[] = {8, 4, 1};
constexpr std::size_t kAround = 60;  // Bytes of a snippet to either side.

struct Word {
    std::string text;
    std::size_t begin;
    std::size_t end;
};

bool is_word_char(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

std::vector<Word> words_of(std::string_view text) {
    std::vector<Word> words;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!is_word_char(text[at])) continue;
        Word word{"", at, at};
        for (; at < text.size() && is_word_char(text[at]); ++at) {
            word.text +=
                text[at] >= 'A' && text[at] <= 'Z' ? static_cast<char>(text[at] + 32) : text[at];
        }
        word.end = at;
        words.push_back(std::move(word));
    }
    return words;
}

// The places where the words of the phrase stand side by side, each by the index of its first
// word.
std::vector<std::size_t> places(const std::vector<Word>& words, std::string_view phrase) {
    const std::vector<Word> wanted = words_of(phrase);
    std::vector<std::size_t> found;
    if (wanted.empty()) return found;
    for (std::size_t i = 0; i + wanted.size() <= words.size(); ++i) {
        const bool here =
            std::equal(wanted.begin(), wanted.end(), words.begin() + static_cast<std::ptrdiff_t>(i),
                       [](const Word& a, const Word& b) { return a.text == b.text; });
        if (here) found.push_back(i);
    }
    return found;
}

std::string snippet_of(const std::string& text, const Word& first, const Word& last) {
    const std::size_t begin = first.begin - std::min(first.begin, kAround);
    return cat(text.substr(begin, first.begin - begin), std::string(1, kHit),
               text.substr(first.begin, last.end - first.begin), std::string(1, kHitEnd),
               text.substr(last.end, kAround));
}

// One document, looked at.
class Look {
public:
    explicit Look(const TextRecord& record)
        : texts_{&record.name, &record.description, &record.content}, tags_(words_of(record.tags)) {
        for (const std::string* text : texts_) words_.push_back(words_of(*text));
    }

    bool fits(const TextQuery& query) {
        const auto none_is = [&](const std::vector<std::string>& terms, std::size_t columns) {
            return std::none_of(terms.begin(), terms.end(),
                                [&](const std::string& term) { return find(term, columns); });
        };
        const auto all_are = [&](const std::vector<std::string>& terms, std::size_t columns) {
            return std::all_of(terms.begin(), terms.end(),
                               [&](const std::string& term) { return find(term, columns); });
        };
        const bool tagged =
            std::all_of(query.tags.begin(), query.tags.end(), [&](const auto& group) {
                return std::any_of(group.begin(), group.end(), [&](const std::string& tag) {
                    return !places(tags_, tag).empty();
                });
            });
        if (!tagged || !none_is(query.none, 3) || !none_is(query.not_in_name, 1)) return false;
        // Required words come last, because they give the score and the snippet.
        hit_ = {};
        return all_are(query.in_name, 1) && all_are(query.all, 3);
    }
    TextHit hit(DocumentKey document) {
        hit_.document = document;
        if (hit_.snippet.empty()) hit_.snippet = texts_[2]->substr(0, 2 * kAround);
        return hit_;
    }

private:
    bool find(const std::string& term, std::size_t columns) {
        bool found = false;
        for (std::size_t i = 0; i < columns; ++i) {
            const std::vector<std::size_t> at = places(words_[i], term);
            if (at.empty()) continue;
            found = true;
            hit_.score += kWeights[i] * static_cast<double>(at.size()) /
                          static_cast<double>(words_[i].size() + 10);
            const std::size_t last = at.front() + words_of(term).size() - 1;
            hit_.snippet = snippet_of(*texts_[i], words_[i][at.front()], words_[i][last]);
        }
        return found;
    }

    std::vector<const std::string*> texts_;
    std::vector<std::vector<Word>> words_;
    std::vector<Word> tags_;
    TextHit hit_;
};

}  // namespace

void keep_texts(std::map<DocumentKey, TextRecord>& texts, const std::vector<TextRecord>& records) {
    for (const TextRecord& record : records) {
        const auto known = texts.find(record.document);
        const bool older =
            known != texts.end() && !record.gone && known->second.version >= record.version;
        if (!older && (known == texts.end() || !known->second.gone))
            texts.insert_or_assign(record.document, record);
    }
}

std::vector<TextHit> scan_texts(const std::map<DocumentKey, TextRecord>& texts,
                                const TextQuery& query) {
    std::vector<TextHit> hits;
    for (const auto& [document, record] : texts) {
        if (record.gone) continue;
        Look look(record);
        if (look.fits(query)) hits.push_back(look.hit(document));
    }
    std::sort(hits.begin(), hits.end(), [](const TextHit& a, const TextHit& b) {
        return a.score != b.score ? a.score > b.score : a.document > b.document;
    });
    if (hits.size() > query.limit) hits.resize(query.limit);
    return hits;
}

}  // namespace quire::store
