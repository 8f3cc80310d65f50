// A query is compiled once and then run on many lines. All copies share the compiled form, which
// RE2 lets several threads run at once.
#include "text/search.h"

#include <re2/re2.h>

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::text {

namespace {

// Patterns are written by hand; a longer one is an attack or a mistake.
constexpr std::size_t kMaxPatternBytes = 4096;
// Bounds the compiled program and the automaton's cache, and so the cost of one search.
constexpr std::int64_t kMaxProgramMemory = 8 << 20;

}  // namespace

struct Query::Body {
    std::string text;
    std::unique_ptr<const RE2> regex;  // Null for a literal.
};

// RE2 bounds time and memory, so a pattern from anyone is safe to run.
Result<Query> Query::compile(std::string_view text, Match mode) {
    if (text.empty())
        return invalid("empty_query", "the query is empty; give the text to look for");
    if (text.size() > kMaxPatternBytes) {
        return fail(Errc::out_of_range, "too_large",
                    cat("the query has ", text.size(), " bytes; at most ", kMaxPatternBytes),
                    {{"limit", kMaxPatternBytes}});
    }
    if (!utf8::is_valid(text)) return invalid("invalid_utf8", "the query is not well-formed UTF-8");

    auto body = std::make_shared<Body>();
    body->text = std::string(text);
    if (mode == Match::regex) {
        RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(kMaxProgramMemory);
        body->regex =
            std::make_unique<const RE2>(re2::StringPiece(text.data(), text.size()), options);
        if (!body->regex->ok()) {
            return invalid(
                "invalid_regex",
                cat("the query is not a regular expression (RE2): ", body->regex->error(),
                    ". Mend it, or search for it with mode \"literal\""));
        }
    }
    Query query;
    query.body_ = std::move(body);
    return query;
}

Match Query::mode() const {
    return body_->regex ? Match::regex : Match::literal;
}

const std::string& Query::text() const {
    return body_->text;
}

// A literal is searched directly, a regular expression by RE2.
bool Query::find(std::string_view line, std::size_t from, Hit& hit) const {
    if (from > line.size()) return false;
    if (!body_->regex) {
        const std::size_t at = line.find(body_->text, from);
        if (at == std::string_view::npos) return false;
        hit = {at, at + body_->text.size()};
        return true;
    }
    // RE2 gets the whole line and a start within it, so that ^ and \b see the text before `from`.
    const re2::StringPiece subject(line.data(), line.size());
    re2::StringPiece found;
    if (!body_->regex->Match(subject, from, line.size(), RE2::UNANCHORED, &found, 1)) return false;
    const auto begin = static_cast<std::size_t>(found.data() - line.data());
    hit = {begin, begin + found.size()};
    return true;
}

}  // namespace quire::text
