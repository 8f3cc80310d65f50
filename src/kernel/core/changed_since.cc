// A change is the difference between the version before it and its own. Its ends are then carried
// to the text of today through the difference between its version and the latest, so that lines
// which were inserted above it meanwhile count.
#include "kernel/core/changed_since.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "kernel/core/core.h"

namespace quire::kernel {
namespace {

// A part of a text, in code points.
struct Region {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// The text's part of the difference between two versions; empty if it is the same in both.
Result<crdt::TextDelta> text_delta(LiveDocument& document, const BlockRef& block,
                                   const crdt::Frontiers& from, const crdt::Frontiers& to) {
    const crdt::Diff diff = TRY(document.doc().history().diff(from, to));
    const crdt::ContainerId& id = document.doc().id_of(block.content);
    for (const crdt::ContainerDiff& each : diff) {
        const auto* const delta = std::get_if<crdt::TextDelta>(&each.delta);
        if (delta != nullptr && each.container == id) return *delta;
    }
    return crdt::TextDelta{};
}

// The smallest part of the text after the delta that holds all it changed.
std::optional<Region> changed_region(const crdt::TextDelta& delta) {
    std::optional<Region> out;
    std::size_t at = 0;
    for (const crdt::TextStep& step : delta) {
        if (const auto* kept = std::get_if<crdt::Retain>(&step)) {
            at += kept->count;
            continue;
        }
        const auto* const put = std::get_if<crdt::PutText>(&step);
        const std::size_t size = put == nullptr ? 0 : utf8::count_code_points(put->text);
        if (!out) out = Region{at, at};
        at += size;
        out->end = at;
    }
    return out;
}

// The position after the delta. What is inserted at the position itself comes before it, or, for an
// end, after it.
std::size_t carried(std::size_t at, const crdt::TextDelta& delta, bool is_end) {
    std::size_t before = 0, after = 0;
    for (const crdt::TextStep& step : delta) {
        if (const auto* kept = std::get_if<crdt::Retain>(&step)) {
            if (at < before + kept->count) return after + (at - before);
            before += kept->count;
            after += kept->count;
        } else if (const auto* gone = std::get_if<crdt::Erase>(&step)) {
            if (at < before + gone->count) return after;
            before += gone->count;
        } else if (const auto* put = std::get_if<crdt::PutText>(&step)) {
            if (is_end && at == before) return after;
            after += utf8::count_code_points(put->text);
        }
    }
    return after + (at - before);
}

// The lines of a region: none for one without text that begins with a line, whose lines are gone.
ChangedLines lines_of(const seq::Rope& text, Region region) {
    const text::Byte begin = text.to_byte(text::CodePoint{region.begin});
    const text::Byte end = text.to_byte(text::CodePoint{region.end});
    const std::size_t lines = text.lines().n;
    ChangedLines out;
    out.start = begin == text.bytes() && (text.empty() || text.ends_with_newline())
                    ? lines
                    : text.to_line(begin).n;
    out.end = out.start;
    if (begin < end) {
        out.end = text.to_line(text::Byte{end.n - 1}).n + 1;
    } else if (out.start < lines && text.line_start(text::Line{out.start}) != begin) {
        ++out.end;
    }
    return out;
}

Result<ChangedSince> find_changes(LiveDocument& document, const BlockRef& block,
                                  const ChangedSinceQuery& query) {
    ChangedSince out;
    const seq::Rope& text = document.doc().text(block.content).rope();
    const crdt::Frontiers now = document.doc().frontiers();
    crdt::Frontiers before;
    bool is_known = true;  // The version before: entries of long ago have none.
    for (const Unit& unit : block.state->history.units()) {
        const bool is_asked = unit.version > query.seen && unit.version <= query.until &&
                              !query.own.contains(unit.version);
        // Beyond `most` a change is only counted, for each one told costs two differences. Whether
        // it touched the text is not looked at then: an entry with operations counts.
        if (is_asked && out.changes.size() == query.most) {
            out.more += unit.spans.empty() ? 0 : 1;
        } else if (is_asked && unit.heads && is_known) {
            const auto delta = TRY(text_delta(document, block, before, *unit.heads));
            if (const auto region = changed_region(delta)) {
                const auto since = TRY(text_delta(document, block, *unit.heads, now));
                ChangedLines lines = lines_of(text, {carried(region->begin, since, false),
                                                     carried(region->end, since, true)});
                lines.actor = unit.actor;
                lines.version = unit.version;
                out.changes.push_back(std::move(lines));
            }
        }
        is_known = unit.heads.has_value();
        if (is_known) before = *unit.heads;
    }
    return out;
}

}  // namespace

void changed_since(const std::shared_ptr<Core>& kernel, Caller by, ChangedSinceQuery query,
                   Reply<ChangedSince> reply) {
    const std::string id = query.block_id;
    kernel->run_on_block<ChangedSince>(
        std::move(by), {id}, Access::look, std::move(reply),
        [query = std::move(query)](LiveDocument& document, const BlockRef& block, const Caller&) {
            return find_changes(document, block, query);
        });
}

}  // namespace quire::kernel
