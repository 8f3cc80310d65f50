// One pass with two states: the lines before, which may become the context of the next hit, and how
// many lines the last hit still lacks behind it. A line between two hits goes to one of them, so
// where contexts meet nothing is shown twice. Memory is the hits and a few lines.
#include "edits/find.h"

#include <algorithm>
#include <deque>
#include <string_view>

#include "base/utf8.h"
#include "edits/lines.h"

namespace quire::edits {

namespace {

// At most `columns` code points of `line`, with the match among them.
std::string_view around(std::string_view line, std::size_t begin, std::size_t columns) {
    if (line.size() <= columns) return line;
    const std::string_view head = utf8::prefix(line, columns);
    if (begin < head.size()) return head;
    // Half of the room goes before the match. A code point has at most four bytes, so the match
    // still fits.
    std::size_t from = begin - std::min(begin, columns / 2);
    while (from > 0 && !utf8::is_boundary(line[from])) --from;
    return utf8::prefix(line.substr(from), columns);
}

// Collects hits line by line and gives each the context that no other hit has.
class Finder {
public:
    Finder(const text::Query& query, const FindOptions& options)
        : query_(query), options_(options) {}

    // Returns false when enough hits were found.
    bool take(text::Line line, std::string_view with_terminator) {
        const std::string_view text = without_terminator(with_terminator);
        text::Query::Hit hit;
        bool any = false;
        // Hits of a line come from left to right, so its code points are counted once, whatever the
        // number of hits.
        counted_ = {};
        for (std::size_t from = 0; query_.find(text, from, hit);) {
            if (out_.hits.size() == options_.max_matches) {
                out_.truncated = true;
                return false;
            }
            add(line, text, hit, any);
            any = true;
            // An empty match would be found again at its own end.
            if (hit.end == hit.begin || hit.end == text.size()) break;
            from = hit.end;
        }
        if (!any) add_context(text);
        return true;
    }

    Finding finish() { return std::move(out_); }

private:
    // Adds a hit with the lines before it, unless an earlier hit on the line already has them.
    void add(text::Line line, std::string_view text, const text::Query::Hit& hit, bool again) {
        Finding::Hit found;
        found.line = line;
        found.content_begin = line;
        if (!again) {
            for (const Before& before : before_) {
                found.content.append(before.shown) += '\n';
                found.cut = found.cut || before.cut;
            }
            found.content_begin.n -= before_.size();
        }
        before_.clear();
        const std::string_view shown = around(text, hit.begin, options_.columns);
        found.cut = found.cut || shown.size() < text.size();
        found.match_start = column_of(text, hit.begin);
        found.match_end = column_of(text, hit.end);
        found.content.append(shown);
        out_.hits.push_back(std::move(found));
        after_ = options_.context_lines;
    }

    // The code points of the line before `byte`, which is no less than in the call before.
    std::size_t column_of(std::string_view line, std::size_t byte) {
        counted_.code_points +=
            utf8::count_code_points(line.substr(counted_.bytes, byte - counted_.bytes));
        counted_.bytes = byte;
        return counted_.code_points;
    }

    // A line between hits belongs to the hit before as long as that lacks context, else it is kept
    // for the next one.
    void add_context(std::string_view text) {
        if (after_ == 0 && options_.context_lines == 0) return;
        const std::string_view shown = utf8::prefix(text, options_.columns);
        const bool cut = shown.size() < text.size();
        if (after_ > 0) {
            --after_;
            Finding::Hit& last = out_.hits.back();
            last.content.append("\n").append(shown);
            last.cut = last.cut || cut;
            return;
        }
        if (before_.size() == options_.context_lines) before_.pop_front();
        before_.push_back({std::string(shown), cut});
    }

    struct Before {
        std::string shown;
        bool cut = false;
    };

    const text::Query& query_;
    const FindOptions options_;
    Finding out_;
    struct {
        std::size_t bytes = 0, code_points = 0;
    } counted_;                  // In the line that is looked at.
    std::deque<Before> before_;  // The lines since the last one shown.
    std::size_t after_ = 0;      // How many lines of context are still to come after the last hit.
};

}  // namespace

Finding find(const seq::Rope& text, const text::Query& query, const FindOptions& options) {
    Finder finder(query, options);
    for_each_line(text, {{0}, text.lines()}, [&](text::Line line, std::string_view content) {
        return finder.take(line, content);
    });
    return finder.finish();
}

}  // namespace quire::edits
