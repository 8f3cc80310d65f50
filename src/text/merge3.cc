// Each side's changes are splices of the base, one per hunk of lines, in ascending order. The merge
// walks both lists at once and collects groups: changes of either side that touch each other,
// directly or through a chain. A group with changes of one side is copied. A group of both sides is
// compared again by token, and only if the tokens overlap is it a tie. So most of the text is
// handled by line, and the finer and slower comparison runs on the few lines that both sides
// changed. The diffs are the cost; the walk is linear in the changes.

#include "text/merge3.h"

#include <algorithm>

#include "text/diff.h"

namespace quire::text {
namespace {

using text::Splice;

// The begin and the end of a splice in the base.
std::size_t begin_of(const Splice& splice) {
    return splice.at.n;
}
std::size_t end_of(const Splice& splice) {
    return splice.at.n + splice.erase.n;
}

// The difference as one splice per hunk of lines.
std::vector<Splice> line_splices(std::string_view before, std::string_view after) {
    const auto starts = [](std::string_view text) {
        std::vector<std::size_t> out = {0};
        for (const std::string_view line : text::split_lines(text))
            out.push_back(out.back() + line.size());
        return out;
    };
    const std::vector<std::size_t> from = starts(before);
    const std::vector<std::size_t> to = starts(after);
    std::vector<Splice> splices;
    for (const text::Hunk& hunk : text::diff_lines(before, after)) {
        const std::size_t begin = from[hunk.before.begin.n];
        const std::size_t insert = to[hunk.after.begin.n];
        splices.push_back({{begin},
                           {from[hunk.before.end.n] - begin},
                           std::string(after.substr(insert, to[hunk.after.end.n] - insert))});
    }
    return splices;
}

// base[begin, end) after the `splices`, which lie within it.
std::string applied(std::string_view base, std::size_t begin, std::size_t end,
                    const std::vector<Splice>& splices) {
    std::string out;
    for (const Splice& splice : splices) {
        out.append(base.substr(begin, begin_of(splice) - begin));
        out.append(splice.insert);
        begin = end_of(splice);
    }
    out.append(base.substr(begin, end - begin));
    return out;
}

// True if two changes exclude each other: they replace a common byte of the base, or one inserts
// inside the other's range. The same change on both sides counts once.
bool overlap(const Splice& a, const Splice& b) {
    return begin_of(a) < end_of(b) && begin_of(b) < end_of(a) && a != b;
}

bool any_overlap(const std::vector<Splice>& ours, const std::vector<Splice>& theirs) {
    for (std::size_t a = 0, b = 0; a < ours.size() && b < theirs.size();) {
        if (overlap(ours[a], theirs[b])) return true;
        end_of(ours[a]) <= end_of(theirs[b]) ? ++a : ++b;
    }
    return false;
}

// One merge of two lists of changes.
class Merge {
public:
    Merge(std::string_view base, Side tie, Side first) : base_(base), tie_(tie), first_(first) {}

    // Walks both lists, group by group, and copies the unchanged text in between.
    Merged run(const std::vector<Splice>& ours, const std::vector<Splice>& theirs) {
        std::size_t a = 0;
        std::size_t b = 0;
        std::size_t done = 0;
        while (a < ours.size() || b < theirs.size()) {
            // A group: changes of both sides that touch, directly or through others.
            std::vector<Splice> from_ours, from_theirs;
            const std::size_t begin =
                std::min(a < ours.size() ? begin_of(ours[a]) : base_.size(),
                         b < theirs.size() ? begin_of(theirs[b]) : base_.size());
            std::size_t end = begin;
            for (bool grew = true; grew;) {
                grew = false;
                while (a < ours.size() && begin_of(ours[a]) <= end) {
                    end = std::max(end, end_of(ours[a]));
                    from_ours.push_back(ours[a++]);
                    grew = true;
                }
                while (b < theirs.size() && begin_of(theirs[b]) <= end) {
                    end = std::max(end, end_of(theirs[b]));
                    from_theirs.push_back(theirs[b++]);
                    grew = true;
                }
            }
            out_.text.append(base_.substr(done, begin - done));
            group(begin, end, from_ours, from_theirs);
            done = end;
        }
        out_.text.append(base_.substr(done));
        return std::move(out_);
    }

private:
    // A group with changes of one side is applied; one with both is compared by token.
    void group(std::size_t begin, std::size_t end, const std::vector<Splice>& ours,
               const std::vector<Splice>& theirs) {
        const std::string a = applied(base_, begin, end, ours);
        const std::string b = applied(base_, begin, end, theirs);
        if (theirs.empty() || a == b) return void(out_.text += a);
        if (ours.empty()) return void(out_.text += b);

        const std::string_view piece = base_.substr(begin, end - begin);
        const std::vector<Splice> fine_a = text::minimal_splices(piece, a);
        const std::vector<Splice> fine_b = text::minimal_splices(piece, b);
        if (!any_overlap(fine_a, fine_b)) return interleave(piece, fine_a, fine_b);
        out_.text += tie_ == Side::ours ? a : b;
        out_.ties.push_back({{begin}, {end}, a, b});
    }

    // Merges both sides' changes of one piece, none of which overlap.
    void interleave(std::string_view piece, const std::vector<Splice>& ours,
                    const std::vector<Splice>& theirs) {
        std::size_t a = 0;
        std::size_t b = 0;
        std::size_t done = 0;
        while (a < ours.size() || b < theirs.size()) {
            bool take_ours = b == theirs.size();
            if (a < ours.size() && b < theirs.size()) {
                const bool together = begin_of(ours[a]) == begin_of(theirs[b]);
                take_ours =
                    together ? first_ == Side::ours : begin_of(ours[a]) < begin_of(theirs[b]);
                if (together && ours[a] == theirs[b]) {
                    ++b;  // Both sides made the same change; apply it once.
                    take_ours = true;
                } else if (together) {
                    out_.ordered_freely = true;
                }
            }
            const Splice& next = take_ours ? ours[a++] : theirs[b++];
            // The second insertion at one place may come before text that the first replaced.
            if (begin_of(next) > done) out_.text.append(piece.substr(done, begin_of(next) - done));
            out_.text.append(next.insert);
            done = std::max(done, end_of(next));
        }
        out_.text.append(piece.substr(done));
    }

    std::string_view base_;
    Side tie_;
    Side first_;
    Merged out_;
};

}  // namespace

Merged merge3(std::string_view base, std::string_view ours, std::string_view theirs, Side tie,
              Side first) {
    return Merge(base, tie, first).run(line_splices(base, ours), line_splices(base, theirs));
}

}  // namespace quire::text
