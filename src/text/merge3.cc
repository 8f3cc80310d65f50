// Each side's changes are hunks of lines of the base. A group is a set of hunks of both sides that
// exclude each other, directly or through a chain: they replace a common line, or one inserts
// inside what the other replaces. Hunks that only touch are no group, because whole lines can stand
// one after the other; but an insertion is put together with a replacement that it touches, so that
// lines which both of them bring appear once.
//
//     base    a | b | c | d           ours: b -> B; insert x before d
//     ours      [1,2)   [3,3)         theirs: b c -> Q
//     theirs    [1,  3)               one group [1,3): a tie; x stands after it
//
// So most of the text is handled by line, and the finer comparison by token runs only on the few
// lines that both sides changed. A token merge can go wrong in a way that a line merge cannot: it
// can glue words of both sides together, or move an edit into what is left of a deleted line. The
// rules of meeting_of() exclude that; what they exclude is a tie. The diffs are the cost; the walk
// is linear in the changes.
#include "text/merge3.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "text/diff.h"

namespace quire::text {
namespace {

using Lines = std::vector<std::string_view>;

// A hunk of one side: base lines [begin, end) became `lines`.
struct Change {
    std::size_t begin = 0;
    std::size_t end = 0;
    Lines lines;
    Side side = Side::ours;
    bool inserts() const { return begin == end; }
};

// Hunks of both sides that are decided together, over base lines [begin, end).
struct Group {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<Change> ours;
    std::vector<Change> theirs;

    // Returns true if the change excludes one of the group, or is an insertion that touches it or is
    // touched by it.
    bool meets(const Change& next) const {
        if (next.begin < end && begin < next.end) return true;
        const bool touches = next.begin <= end && begin <= next.end;
        return touches && (next.inserts() || begin == end);
    }
    void add(Change next) {
        end = std::max(end, next.end);
        (next.side == Side::ours ? ours : theirs).push_back(std::move(next));
    }
};

std::vector<Change> changes_of(std::string_view base, std::string_view after, Side side) {
    const Lines lines = split_lines(after);
    std::vector<Change> out;
    for (const Hunk& hunk : diff_lines(base, after)) {
        const auto first = lines.begin() + static_cast<std::ptrdiff_t>(hunk.after.begin.n);
        const auto last = lines.begin() + static_cast<std::ptrdiff_t>(hunk.after.end.n);
        out.push_back({hunk.before.begin.n, hunk.before.end.n, Lines(first, last), side});
    }
    return out;
}

std::vector<Group> groups_of(std::vector<Change> changes) {
    std::ranges::stable_sort(changes, [](const Change& a, const Change& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::vector<Group> groups;
    for (Change& change : changes) {
        if (groups.empty() || !groups.back().meets(change))
            groups.push_back({change.begin, change.end, {}, {}});
        groups.back().add(std::move(change));
    }
    return groups;
}

// A line of a group as one side has it, and whether that side brought it.
struct SideLine {
    std::string_view text;
    bool is_new = false;
};

std::string text_of(std::span<const SideLine> lines) {
    std::string out;
    for (const SideLine& line : lines) out += line.text;
    return out;
}

bool is_word(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

std::size_t begin_of(const Splice& splice) {
    return splice.at.n;
}
std::size_t end_of(const Splice& splice) {
    return splice.at.n + splice.erase.n;
}

// The part of `piece` that no splice of the other side may touch: the splice's own, and the whole
// lines of a terminator that it erases. At the end of the base a terminator may go: no line follows
// that would be joined.
std::pair<std::size_t, std::size_t> guarded(std::string_view piece, const Splice& splice,
                                            bool at_base_end) {
    std::size_t begin = begin_of(splice);
    std::size_t end = end_of(splice);
    const std::string_view erased = piece.substr(begin, end - begin);
    const bool only_last =
        at_base_end && end == piece.size() && (erased == "\n" || erased == "\r\n");
    if (erased.find('\n') == std::string_view::npos || only_last) return {begin, end};
    begin = begin == 0 ? 0 : piece.rfind('\n', begin - 1) + 1;  // npos + 1 is 0.
    if (piece[end - 1] != '\n') end = std::min(piece.find('\n', end), piece.size() - 1) + 1;
    return {begin, end};
}

// Returns true if the texts, put one after the other, would make one word of two.
bool join_words(std::string_view first, std::string_view second) {
    return !first.empty() && !second.empty() && is_word(first.back()) && is_word(second.front());
}

// How two changes of one piece stand to each other.
enum class Meeting { before, after, equal, beside, clash };

// `beside`: both only insert, at one spot, and leave words apart. `clash`: they touch otherwise.
Meeting meeting_of(std::string_view piece, const Splice& a, const Splice& b, bool at_base_end) {
    if (a == b) return Meeting::equal;
    const auto [a_begin, a_end] = guarded(piece, a, at_base_end);
    const auto [b_begin, b_end] = guarded(piece, b, at_base_end);
    if (a_end < b_begin) return Meeting::before;
    if (b_end < a_begin) return Meeting::after;
    const bool one_spot = a_begin == a_end && b_begin == b_end;
    const bool glued = join_words(a.insert, b.insert) || join_words(b.insert, a.insert);
    return one_spot && !glued ? Meeting::beside : Meeting::clash;
}

// The piece with the changes of both sides, `first` before `second` where they insert at one spot;
// none if two of them clash. Both lists are ascending, and so are their guarded parts.
std::optional<std::string> with_both(std::string_view piece, const std::vector<Splice>& first,
                                     const std::vector<Splice>& second, bool at_base_end) {
    std::string out;
    std::size_t done = 0;
    const auto make = [&](const Splice& splice) {
        out += piece.substr(done, begin_of(splice) - done);
        out += splice.insert;
        done = end_of(splice);
    };
    std::size_t a = 0;
    std::size_t b = 0;
    while (a < first.size() || b < second.size()) {
        const Meeting meeting = b == second.size() ? Meeting::before
                                : a == first.size()
                                    ? Meeting::after
                                    : meeting_of(piece, first[a], second[b], at_base_end);
        switch (meeting) {
            case Meeting::clash:
                return std::nullopt;
            case Meeting::before:
                make(first[a++]);
                break;
            case Meeting::after:
                make(second[b++]);
                break;
            case Meeting::equal:
                make(first[a++]);
                ++b;
                break;
            case Meeting::beside:
                make(first[a++]);
                make(second[b++]);
                break;
        }
    }
    return out += piece.substr(done);
}

// The part [begin, end) of `piece` after the splices, which lie in it.
std::string spliced(std::string_view piece, std::size_t begin, std::size_t end,
                    std::span<const Splice> splices) {
    std::string out;
    for (const Splice& splice : splices) {
        out += piece.substr(begin, begin_of(splice) - begin);
        out += splice.insert;
        begin = end_of(splice);
    }
    return out += piece.substr(begin, end - begin);
}

bool changes_line_ends(std::string_view piece, std::span<const Splice> splices) {
    return std::ranges::any_of(splices, [&](const Splice& splice) {
        return piece.substr(begin_of(splice), splice.erase.n).find('\n') != std::string_view::npos;
    });
}

// The piece with the changes of both sides. Where they overlap, or insert at one spot, the text of
// `first` comes before that of `second`.
std::string with_all(std::string_view piece, std::span<const Splice> first,
                     std::span<const Splice> second) {
    std::string out;
    std::size_t done = 0;
    const auto put = [&](std::string_view text) {
        if (join_words(out, text)) out += ' ';
        out += text;
    };
    std::size_t a = 0;
    std::size_t b = 0;
    while (a < first.size() || b < second.size()) {
        const std::size_t begin = std::min(a < first.size() ? begin_of(first[a]) : piece.size(),
                                           b < second.size() ? begin_of(second[b]) : piece.size());
        std::size_t end = begin;
        const std::size_t a_begin = a;
        const std::size_t b_begin = b;
        // True if the next splice of a side belongs here; then it is taken.
        const auto take = [&](std::span<const Splice> side, std::size_t& next) {
            if (next == side.size()) return false;
            const std::size_t at = begin_of(side[next]);
            if (at > end || (at == end && end > begin)) return false;
            end = std::max(end, end_of(side[next++]));
            return true;
        };
        while (take(first, a) || take(second, b)) {
        }
        out += piece.substr(done, begin - done);
        const std::string one = spliced(piece, begin, end, first.subspan(a_begin, a - a_begin));
        const std::string other = spliced(piece, begin, end, second.subspan(b_begin, b - b_begin));
        const bool touches = begin == done && begin > 0;
        if (a > a_begin) touches ? put(one) : void(out += one);
        if (b > b_begin && (a == a_begin || one != other))
            touches || a > a_begin ? put(other) : void(out += other);
        done = end;
    }
    return out += piece.substr(done);
}

// One merge of two lists of changes.
class Merge {
public:
    Merge(std::string_view base, Side tie, Side first)
        : base_(base), lines_(split_lines(base)), tie_(tie), first_(first) {
        starts_.reserve(lines_.size() + 1);
        std::size_t at = 0;
        for (const std::string_view line : lines_) {
            starts_.push_back(at);
            at += line.size();
        }
        starts_.push_back(at);
    }

    Merged run(const std::vector<Group>& groups) {
        std::size_t done = 0;
        for (const Group& group : groups) {
            put(base_between(done, group.begin));
            theirs_at_ += starts_[group.begin] - starts_[done];
            decide(group);
            theirs_at_ += text_of(lines_of(group, group.theirs)).size();
            done = group.end;
        }
        put(base_between(done, lines_.size()));
        return std::move(out_);
    }

    // The lines of both texts, those that both have once.
    std::string union_of(std::string_view first, std::string_view second) {
        put_union(split_lines(first), split_lines(second));
        return std::move(out_.text);
    }

private:
    std::string_view base_between(std::size_t begin, std::size_t end) const {
        return base_.substr(starts_[begin], starts_[end] - starts_[begin]);
    }

    // Appends whole lines. Only the last line of a text can lack its terminator; if that line is
    // not the last one here, it gets one.
    void put(std::string_view lines) {
        std::string& text = out_.text;
        if (lines.empty()) return;
        if (!text.empty() && text.back() != '\n')
            text += base_.find("\r\n") == std::string_view::npos ? "\n" : "\r\n";
        text += lines;
    }

    void decide(const Group& group) {
        const std::vector<SideLine> ours = lines_of(group, group.ours);
        const std::vector<SideLine> theirs = lines_of(group, group.theirs);
        const std::string a = text_of(ours);
        const std::string b = text_of(theirs);
        if (group.theirs.empty() || a == b) return put(a);
        if (group.ours.empty()) return put(b);
        if (put_touching(group)) return;
        if (const auto both = more_of_the_same(ours, theirs)) return put(*both);
        if (const auto both = more_of_the_same(theirs, ours)) return put(*both);

        const std::string_view piece = base_between(group.begin, group.end);
        const bool at_base_end = group.end == lines_.size();
        const std::vector<Splice> fine_a = minimal_splices(piece, a);
        const std::vector<Splice> fine_b = minimal_splices(piece, b);
        const bool ours_first = first_ == Side::ours;
        if (const auto both = with_both(piece, ours_first ? fine_a : fine_b,
                                        ours_first ? fine_b : fine_a, at_base_end))
            return put(*both);
        const std::string& shown = tie_ == Side::ours ? a : b;
        put(shown);
        out_.ties.push_back({{starts_[group.begin]},
                             {starts_[group.end]},
                             a,
                             b,
                             {out_.text.size() - shown.size()},
                             {theirs_at_}});
    }

    // The base lines of the group as the side with these changes has them.
    std::vector<SideLine> lines_of(const Group& group, const std::vector<Change>& changes) const {
        std::vector<SideLine> out;
        std::size_t at = group.begin;
        for (const Change& change : changes) {
            for (; at < change.begin; ++at) out.push_back({lines_[at], false});
            for (const std::string_view line : change.lines) out.push_back({line, true});
            at = change.end;
        }
        for (; at < group.end; ++at) out.push_back({lines_[at], false});
        return out;
    }

    // Puts the changes of a group whose changes only touch, one after the other. Two insertions at
    // one place come in the order of the sides, an insertion beside a replacement before or after
    // it. Returns false, and puts nothing, if two changes exclude each other.
    bool put_touching(const Group& group) {
        std::vector<const Change*> all;
        for (const Change& change : first_ == Side::ours ? group.ours : group.theirs)
            all.push_back(&change);
        for (const Change& change : first_ == Side::ours ? group.theirs : group.ours)
            all.push_back(&change);
        std::ranges::stable_sort(all, [](const Change* a, const Change* b) {
            return a->begin != b->begin ? a->begin < b->begin : a->inserts() && !b->inserts();
        });
        for (std::size_t i = 1; i < all.size(); ++i) {
            if (all[i]->begin < all[i - 1]->end) return false;
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Lines& lines = all[i]->lines;
            const Change* const next = i + 1 < all.size() ? all[i + 1] : nullptr;
            if (next != nullptr && all[i]->inserts() && next->inserts()) {
                put_union(lines, next->lines);
                ++i;
                continue;
            }
            // The neighbour may have brought the same lines, as its first or its last ones.
            const bool is_known =
                all[i]->inserts() &&
                ((next != nullptr &&
                  is_part(
                      lines,
                      std::span(next->lines).first(std::min(lines.size(), next->lines.size())))) ||
                 (i > 0 &&
                  is_part(lines, std::span(all[i - 1]->lines)
                                     .last(std::min(lines.size(), all[i - 1]->lines.size())))));
            if (!is_known) put(joined(lines));
        }
        return true;
    }

    static bool is_part(const Lines& lines, std::span<const std::string_view> of) {
        return std::ranges::equal(lines, of);
    }
    static std::string joined(std::span<const std::string_view> lines) {
        std::string out;
        for (const std::string_view line : lines) out += line;
        return out;
    }

    // Puts the lines of both, those that both have once; elsewhere `first` before `second`.
    void put_union(const Lines& first, const Lines& second) {
        const auto part = [](const Lines& lines, std::size_t begin, std::size_t end) {
            return joined(std::span(lines).subspan(begin, end - begin));
        };
        std::size_t done = 0;
        for (const Hunk& hunk : diff_lines(joined(first), joined(second))) {
            put(part(first, done, hunk.before.end.n));
            put(part(second, hunk.after.begin.n, hunk.after.end.n));
            done = hunk.before.end.n;
        }
        put(part(first, done, first.size()));
    }

    // If both sides made the same change and `more` added lines to it, the text of `more`.
    static std::optional<std::string> more_of_the_same(std::span<const SideLine> less,
                                                       std::span<const SideLine> more) {
        const auto same = [](const SideLine& a, const SideLine& b) { return a.text == b.text; };
        const std::size_t head =
            static_cast<std::size_t>(std::ranges::mismatch(less, more, same).in1 - less.begin());
        const auto less_rest = less.subspan(head);
        const auto more_rest = more.subspan(head);
        if (less_rest.size() > more_rest.size()) return std::nullopt;
        const auto added = more_rest.first(more_rest.size() - less_rest.size());
        if (!std::ranges::equal(less_rest, more_rest.last(less_rest.size()), same))
            return std::nullopt;
        const auto is_new = [](const SideLine& line) { return line.is_new; };
        const bool changed_alike = std::ranges::any_of(less, is_new);
        if (!changed_alike || !std::ranges::all_of(added, is_new)) return std::nullopt;
        return text_of(more);
    }

    std::string_view base_;
    Lines lines_;
    std::vector<std::size_t> starts_;  // The begin of each line, and the end.
    Side tie_;
    Side first_;
    std::size_t theirs_at_ = 0;  // The place of the next group in their text.
    Merged out_;
};

}  // namespace

Merged merge3(std::string_view base, std::string_view ours, std::string_view theirs, Side tie,
              Side first) {
    std::vector<Change> changes = changes_of(base, ours, Side::ours);
    std::ranges::move(changes_of(base, theirs, Side::theirs), std::back_inserter(changes));
    return Merge(base, tie, first).run(groups_of(std::move(changes)));
}

std::string keep_both(std::string_view base, std::string_view ours, std::string_view theirs,
                      Side first) {
    Merged merged = merge3(base, ours, theirs, Side::ours, first);
    if (merged.ties.empty()) return std::move(merged.text);
    const std::string_view one = first == Side::ours ? ours : theirs;
    const std::string_view other = first == Side::ours ? theirs : ours;
    const std::vector<Splice> fine_one = minimal_splices(base, one);
    const std::vector<Splice> fine_other = minimal_splices(base, other);
    if (changes_line_ends(base, fine_one) || changes_line_ends(base, fine_other))
        return Merge(base, first, first).union_of(one, other);
    return with_all(base, fine_one, fine_other);
}

}  // namespace quire::text
