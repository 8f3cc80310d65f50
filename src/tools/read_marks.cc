// A mark is the last version that a caller was answered about, and the versions since that its own
// calls made. Versions count up by one for each change of a block, so if all between two answers
// are its own, others have changed nothing and nothing need be asked. An answer costs a look-up
// under a lock; the question to the history is asked only where somebody else has written.
#include "tools/read_marks.h"

#include <utility>

#include "base/concat.h"
#include "edits/numbering.h"
#include "tools/render.h"

namespace quire::tools {
namespace {

// A caller with more is forgotten, and begins anew.
constexpr std::size_t kMostBlocks = 10'000;
constexpr std::size_t kMostCallers = 1'000;
// An answer that is passed by later ones leaves its version behind.
constexpr std::size_t kMostOwn = 1'000;

std::string key_of_caller(const kernel::Caller& by) {
    // Two clients of one actor have seen different things, so each has marks of its own.
    return by.notify == nullptr ? by.actor.str() : cat("session ", by.session);
}

}  // namespace

std::optional<kernel::ChangedSinceQuery> ReadMarks::note(const kernel::Caller& by,
                                                         const std::string& block_id,
                                                         std::uint64_t version, bool wrote) {
    return marks_.with([&](auto& callers) -> std::optional<kernel::ChangedSinceQuery> {
        if (callers.size() > kMostCallers) callers.clear();
        Blocks& blocks = callers[key_of_caller(by)];
        if (blocks.size() > kMostBlocks) blocks.clear();
        const auto [at, is_new] = blocks.try_emplace(block_id, Mark{version, {}});
        Mark& mark = at->second;
        if (wrote) mark.own.insert(version);
        if (mark.own.size() > kMostOwn) mark.own.erase(mark.own.begin());
        // Answers may overtake each other. One about an older version must not set the mark back.
        if (is_new || version <= mark.version) return std::nullopt;
        const std::uint64_t seen = std::exchange(mark.version, version);
        kernel::ChangedSinceQuery query{block_id, seen, version, mark.own};
        // Own versions above this one stay: their answers are still to come.
        mark.own.erase(mark.own.begin(), mark.own.upper_bound(version));
        std::erase_if(query.own, [&](std::uint64_t own) { return own <= seen; });
        // All versions between are its own.
        if (query.own.size() == version - seen) return std::nullopt;
        return query;
    });
}

void ReadMarks::end_session(const kernel::Caller& by) {
    if (by.notify == nullptr) return;
    marks_.with([&](auto& callers) { callers.erase(key_of_caller(by)); });
}

void publish_changes(Value& output_schema) {
    Value* const members =
        output_schema.is_map() ? output_schema.as_map().find("properties") : nullptr;
    if (members == nullptr || members->as_map().find("block_id") == nullptr) return;
    Map schema = json::Codec<kernel::ChangedSince>::schema();
    for (Map::Entry& each : schema.find("properties")->as_map())
        members->as_map().set(each.key, std::move(each.value));
}

void tell_changes(ToolAnswer& answer, kernel::ChangedSince changed, Profile profile) {
    if (changed.changes.empty() || !answer.structured.is_map()) return;
    const bool from_one = numbering_of(profile) == edits::Numbering::one_inclusive;
    std::string text = "Changed by others since you last saw it:";
    for (kernel::ChangedLines& each : changed.changes) {
        const bool is_gone = each.start == each.end;
        if (from_one) ++each.start;
        if (from_one && is_gone) ++each.end;
        cat_to(text, cat("\n- ", each.actor, ", version ", each.version,
                         is_gone ? ": lines deleted at " : ": lines ", each.start,
                         is_gone || each.start == each.end ? "" : cat("-", each.end)));
    }
    if (changed.more > 0) cat_to(text, cat("\n- and ", changed.more, " more changes"));
    Value rows = json::Codec<kernel::ChangedSince>::encode(changed);
    for (Map::Entry& each : rows.as_map())
        answer.structured.as_map().set(each.key, std::move(each.value));
    if (!answer.text.empty() && !answer.text.ends_with('\n')) answer.text += "\n";
    cat_to(answer.text, cat(text, "\n"));
}

}  // namespace quire::tools
