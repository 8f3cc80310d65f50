// Blame: the author of each line of a text.
//
// Every character of a text is an atom of the document's history, and its id says who wrote it as
// part of which run of atoms. An entry of a block's history keeps the heads of the document after
// it. Heads grow from entry to entry, so the entry that brought an atom is the first whose version
// includes it: a binary search, and one for each stretch of atoms that came with one entry.
//
// An undo that brings characters back writes copies of them. The entry of the undo says which atoms
// they stand for (crdt::StandIn), and blame asks for those. A line has the author of its newest
// character, so a line from which something was only deleted keeps its author.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "kernel/core/versions.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

// The atoms that copies stand for.
class Originals {
public:
    explicit Originals(const std::vector<Unit>& units) {
        for (const Unit& unit : units) {
            for (const crdt::StandIn& each : unit.stand_ins) {
                if (each.as == crdt::StandIn::As::atom && each.length > 0)
                    by_copy_.emplace(each.copy, each);
            }
        }
    }

    // The first atoms of a stretch, as the ids of what they stand for; those that stand for nothing
    // as their own. The answer has as many atoms as it speaks for, at least one.
    crdt::IdSpan first_of(crdt::IdSpan span) const {
        // A copy may be of a copy. No chain is longer than there are notes.
        for (std::size_t step = 0; step <= by_copy_.size(); ++step) {
            const auto next = by_copy_.upper_bound({span.peer, span.begin});
            if (next != by_copy_.end() && next->first.peer == span.peer)
                span.end = std::min(span.end, next->first.counter);
            if (next == by_copy_.begin()) return span;
            const crdt::StandIn& note = std::prev(next)->second;
            const crdt::Counter skipped = span.begin - note.copy.counter;
            if (note.copy.peer != span.peer || skipped >= note.length) return span;
            const crdt::Counter size = std::min(span.size(), note.length - skipped);
            const crdt::Counter begin = note.of.counter + skipped;
            span = {note.of.peer, begin, begin + size};
        }
        return span;
    }

private:
    std::map<crdt::OpId, crdt::StandIn> by_copy_;
};

// The entries of a block's history by the atoms that they brought.
class Authors {
public:
    static constexpr std::size_t kNone = ~std::size_t{0};

    Authors(crdt::History history, const std::vector<Unit>& units)
        : history_(history), units_(units) {
        for (std::size_t i = 0; i < units.size(); ++i) (units[i].heads ? dated_ : old_).push_back(i);
        versions_.resize(dated_.size());
    }

    // The entry that brought the first atom of a stretch, kNone if there is none. Cuts the stretch
    // to the atoms that came with it. Errors: those of crdt::History.
    Result<std::size_t> author_of(crdt::IdSpan& span) {
        // Entries of earlier versions of the program have no heads.
        for (const std::size_t i : old_) {
            for (const crdt::IdSpan& each : units_[i].spans) {
                const bool has = each.peer == span.peer && each.begin <= span.begin &&
                                 span.begin < each.end;
                if (!has) continue;
                span.end = std::min(span.end, each.end);
                return i;
            }
        }
        std::size_t low = 0;
        std::size_t high = dated_.size();
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            const crdt::VersionVector& version = *TRY(version_after(middle));
            if (version.includes({span.peer, span.begin})) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        if (low == dated_.size()) return kNone;
        span.end = std::min(span.end, TRY(version_after(low))->end_of(span.peer));
        return dated_[low];
    }

private:
    Result<const crdt::VersionVector*> version_after(std::size_t dated) {
        std::optional<crdt::VersionVector>& version = versions_[dated];
        if (!version) version = TRY(history_.version_of(*units_[dated_[dated]].heads));
        return &*version;
    }

    crdt::History history_;
    const std::vector<Unit>& units_;
    std::vector<std::size_t> dated_;  // The units with heads, and those without.
    std::vector<std::size_t> old_;
    std::vector<std::optional<crdt::VersionVector>> versions_;  // The versions after dated_ units, once asked for.
};

// Stretches of characters with the entries that they came with, in the order of the text.
struct Written {
    std::size_t characters = 0;
    std::size_t unit = Authors::kNone;
};

Result<std::vector<Written>> writers_of(LiveDocument& document, const BlockRef& block) {
    crdt::Doc& doc = document.doc();
    const std::vector<Unit>& units = block.state->history.units();
    const Originals originals(units);
    Authors authors(doc.history(), units);
    std::vector<Written> out;
    const std::vector<crdt::IdSpan> spans = TRY(doc.text(block.content).characters());
    for (const crdt::IdSpan& span : spans) {
        for (crdt::Counter at = span.begin; at < span.end;) {
            crdt::IdSpan part = originals.first_of({span.peer, at, span.end});
            const std::size_t unit = TRY(authors.author_of(part));
            const auto characters = static_cast<std::size_t>(part.size());
            if (!out.empty() && out.back().unit == unit) {
                out.back().characters += characters;
            } else {
                out.push_back({characters, unit});
            }
            at += part.size();
        }
    }
    return out;
}

// Reads a list of stretches character by character.
class Writers {
public:
    explicit Writers(const std::vector<Written>& all) : all_(all) {}
    // The newest entry of the next characters; kNone for no characters.
    std::size_t newest_of(std::size_t characters) {
        std::size_t newest = Authors::kNone;
        while (characters > 0 && at_ < all_.size()) {
            const std::size_t left = all_[at_].characters - used_;
            const std::size_t taken = std::min(left, characters);
            const std::size_t unit = all_[at_].unit;
            if (newest == Authors::kNone || (unit != Authors::kNone && unit > newest))
                newest = unit;
            characters -= taken;
            used_ += taken;
            if (used_ == all_[at_].characters) {
                ++at_;
                used_ = 0;
            }
        }
        return newest;
    }

private:
    const std::vector<Written>& all_;
    std::size_t at_ = 0;
    std::size_t used_ = 0;
};

HistoryEntry entry_of(const std::vector<Unit>& units, std::size_t index) {
    if (index == Authors::kNone) return {"", 0, "system:unknown", ""};
    const Unit& unit = units[index];
    return {cat(unit.version), unit.at_ms, unit.actor, unit.description};
}

// The characters of a line without its terminator.
std::size_t characters_of(std::string_view line) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return utf8::count_code_points(line);
}

// Adds the next line to the stretches.
void add_line(Blame& to, const std::vector<Unit>& units, std::size_t unit) {
    HistoryEntry entry = entry_of(units, unit);
    const bool joins =
        !to.stretches.empty() && to.stretches.back().entry.version_id == entry.version_id;
    const std::size_t number = to.stretches.empty() ? 0 : to.stretches.back().end;
    if (!joins) to.stretches.push_back({number, number, std::move(entry)});
    ++to.stretches.back().end;
}

constexpr std::size_t kMostVersions = 200;

// The place of each line in the text before it; none for a new line.
std::vector<std::optional<std::size_t>> places_before(std::string_view before,
                                                      std::string_view after) {
    std::vector<std::optional<std::size_t>> out(text::split_lines(after).size());
    const std::vector<text::Hunk> hunks = text::diff_lines(before, after);
    std::size_t line = 0;
    std::size_t old_line = 0;
    for (const text::Hunk& hunk : hunks) {
        while (line < hunk.after.begin.n) out[line++] = old_line++;
        line = hunk.after.end.n;
        old_line = hunk.before.end.n;
    }
    while (line < out.size()) out[line++] = old_line++;
    return out;
}

}  // namespace

Result<Blame> blame_by_versions(LiveDocument& document, const BlockRef& block,
                                Function<Result<std::string>(const BlockAt&)> text_of) {
    const std::vector<Unit>& units = block.state->history.units();
    Blame out;
    out.version = block.state->version;
    BlockAt at = TRY(block_at(document, block, std::nullopt));
    out.text = TRY(text_of(at));
    // Each line of today's text with its place in the version that is looked at.
    std::vector<std::size_t> writers(text::split_lines(out.text).size(), Authors::kNone);
    std::vector<std::optional<std::size_t>> places(writers.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::string after = out.text;
    for (std::size_t left = std::min(units.size(), kMostVersions); left > 0; --left) {
        const std::size_t unit = units.size() - at.units_since - 1;
        Result<BlockAt> before = block_before(block, at);
        const bool is_last = left == 1 || !before;
        std::string old_text = before ? TRY(text_of(*before)) : "";
        const auto moved = places_before(old_text, after);
        bool any = false;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (!places[i]) continue;
            places[i] = is_last ? std::nullopt : moved[*places[i]];
            if (!places[i]) writers[i] = unit;
            any = any || places[i];
        }
        if (!any || is_last) break;
        at = std::move(*before);
        after = std::move(old_text);
    }
    for (const std::size_t writer : writers) add_line(out, units, writer);
    return out;
}

Result<Blame> blame_of(LiveDocument& document, const BlockRef& block) {
    Blame out;
    out.version = block.state->version;
    const std::vector<Written> written = TRY(writers_of(document, block));
    out.text = document.doc().text(block.content).rope().str();
    Writers writers(written);
    const std::vector<std::string_view> lines = text::split_lines(out.text);
    for (const std::string_view line : lines) {
        const std::size_t characters = characters_of(line);
        const std::size_t of_text = writers.newest_of(characters);
        const std::size_t of_end = writers.newest_of(utf8::count_code_points(line) - characters);
        add_line(out, block.state->history.units(), characters > 0 ? of_text : of_end);
    }
    return out;
}

}  // namespace quire::kernel
