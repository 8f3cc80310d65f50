// The answer errs on one side only: a text that can match is never ruled out. So where RE2 finds no
// strings that a match must contain, or too many, every text may match.
#include "text/needs.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include "base/utf8.h"
#include "text/search.h"

namespace quire::text {
namespace {

constexpr int kGramBytes = 3;
// A formula over more strings than a word has bits is not worth its time.
constexpr std::size_t kMostAtoms = 64;

// Letters have two cases in some script below the first of these blocks, and in none within them.
bool has_no_case(char32_t c) {
    return (c >= 0x2E80 && c <= 0xA63F) || (c >= 0xAC00 && c <= 0xD7A3);
}

// RE2 spells the strings that a text must contain in lower case, by Unicode. A signature knows the
// lower case of ASCII alone, so only the parts are looked for that are ASCII or have no case.
std::vector<Gram> grams_in_any_case(std::string_view atom) {
    std::vector<Gram> grams;
    std::string part;
    const auto end_part = [&] {
        for (const Gram gram : grams_of(part)) grams.push_back(gram);
        part.clear();
    };
    for (std::size_t at = 0; at < atom.size();) {
        const char32_t c = utf8::decode(atom, at);
        if (c < 0x80 || has_no_case(c)) {
            utf8::append(part, c);
        } else {
            end_part();
        }
    }
    end_part();
    return grams;
}

}  // namespace

// A literal is one string. Of a regular expression RE2 finds the strings and the formula; texts have
// few different subsets of them, so the formula's value is kept for each.
struct Needs::Body {
    std::vector<std::vector<Gram>> atoms;
    re2::FilteredRE2 filter{kGramBytes};
    bool has_formula = false;
    std::unordered_map<std::uint64_t, bool> known;

    bool holds_for(std::uint64_t present) {
        const auto [at, is_new] = known.try_emplace(present, false);
        if (!is_new) return at->second;
        std::vector<int> there;
        for (std::size_t i = 0; i < atoms.size(); ++i) {
            if ((present >> i & 1) != 0) there.push_back(static_cast<int>(i));
        }
        std::vector<int> possible;
        filter.AllPotentials(there, &possible);
        return at->second = !possible.empty();
    }
};

Needs::Needs(const Query& query) : body_(std::make_unique<Body>()) {
    if (query.mode() == Match::literal) {
        body_->atoms.push_back(grams_of(query.text()));
        return;
    }
    RE2::Options options;
    options.set_log_errors(false);
    int id = 0;
    std::vector<std::string> atoms;
    if (body_->filter.Add(query.text(), options, &id) != RE2::NoError) return;
    body_->filter.Compile(&atoms);
    if (atoms.empty() || atoms.size() > kMostAtoms) return;
    for (const std::string& atom : atoms) body_->atoms.push_back(grams_in_any_case(atom));
    body_->has_formula = true;
}

Needs::~Needs() = default;

bool Needs::may_match(Signature signature) {
    if (!body_->has_formula)
        return body_->atoms.empty() || may_have(signature, body_->atoms.front());
    std::uint64_t present = 0;
    for (std::size_t i = 0; i < body_->atoms.size(); ++i) {
        if (may_have(signature, body_->atoms[i])) present |= std::uint64_t{1} << i;
    }
    return body_->holds_for(present);
}

}  // namespace quire::text
