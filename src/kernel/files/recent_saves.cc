#include "kernel/files/recent_saves.h"

#include <algorithm>
#include <utility>

#include "kernel/core/live_document.h"
#include "kernel/files/file_gate.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

constexpr std::size_t kMostComparedBytes = std::size_t{16} << 20;

// How much of a text was replaced or added, in bytes.
std::size_t size_of_edit(std::string_view before, std::string_view after) {
    std::size_t out = 0;
    for (const text::Splice& splice : text::minimal_splices(before, after))
        out += splice.erase.n + splice.insert.size();
    return out;
}

// Lines of one text that another does not have, as one flag for each line.
std::vector<bool> lines_gone(std::string_view before, std::string_view after) {
    std::vector<bool> gone(text::split_lines(before).size());
    for (const text::Hunk& hunk : text::diff_lines(before, after)) {
        for (std::size_t line = hunk.before.begin.n; line < hunk.before.end.n; ++line)
            gone[line] = true;
    }
    return gone;
}

// Returns true if the disk's text has hardly anything of the edit that turned `old` into `saved`.
bool lacks_edit(std::string_view old, std::string_view saved, std::string_view disk) {
    const std::vector<std::string_view> old_lines = text::split_lines(old);
    const std::vector<std::string_view> saved_lines = text::split_lines(saved);
    const std::vector<bool> old_gone = lines_gone(old, disk);
    const std::vector<bool> saved_gone = lines_gone(saved, disk);
    std::size_t all = 0, had = 0;
    for (const text::Hunk& hunk : text::diff_lines(old, saved)) {
        for (std::size_t line = hunk.before.begin.n; line < hunk.before.end.n; ++line) {
            all += old_lines[line].size();
            if (old_gone[line]) had += old_lines[line].size();
        }
        for (std::size_t line = hunk.after.begin.n; line < hunk.after.end.n; ++line) {
            all += saved_lines[line].size();
            if (!saved_gone[line]) had += saved_lines[line].size();
        }
    }
    return had * 8 <= all;
}

}  // namespace

void RecentSaves::add(store::DocumentKey document, files::Version before, const fs::Stamp& saved) {
    state_.with([&](State& state) {
        state.sweep(saved.changed_ns);
        std::vector<Save>& saves = state.saves[document];
        std::erase_if(saves, [&](const Save& save) {
            return save.at_ns + kWithinNs < saved.changed_ns || save.at_ns > saved.changed_ns;
        });
        // An older version does as well as the one between: what both sides have is merged once.
        if (saves.size() == kMost) {
            std::size_t index = 0;
            std::erase_if(saves, [&](const Save&) { return index++ % 2 == 1; });
        }
        saves.push_back({std::move(before), saved.changed_ns});
    });
}

// Gives up the documents that were not saved lately, as often as their number doubles.
void RecentSaves::State::sweep(std::int64_t now_ns) {
    if (saves.size() <= sweep_above) return;
    std::erase_if(
        saves, [&](const auto& entry) { return entry.second.back().at_ns + kWithinNs < now_ns; });
    sweep_above = 1000 + 2 * saves.size();
}

std::vector<RecentSaves::Save> RecentSaves::saves_before(store::DocumentKey document,
                                                         const fs::Stamp& changed) const {
    std::vector<Save> out;
    state_.with([&](const State& state) {
        const auto found = state.saves.find(document);
        if (found == state.saves.end()) return;
        for (const Save& save : found->second) {
            const std::int64_t age = changed.changed_ns - save.at_ns;
            if (age >= 0 && age <= kWithinNs) out.push_back(save);
        }
    });
    return out;
}

Result<std::optional<PastText>> RecentSaves::origin_of(LiveDocument& document,
                                                       const files::Version& now,
                                                       const std::string& disk,
                                                       const fs::Stamp& changed) const {
    const std::vector<Save> saves = saves_before(document.key(), changed);
    if (saves.empty()) return std::nullopt;
    const std::string saved = TRY(text_at(document, now));
    std::size_t distance = size_of_edit(saved, disk);
    const std::size_t most = std::max<std::size_t>(1, kMostComparedBytes / (disk.size() + 1));
    const std::size_t step = (saves.size() + most - 1) / most;
    std::optional<PastText> nearest;
    // The oldest comes first, and stands where a later one differs as much.
    for (std::size_t i = 0; i < saves.size(); i += step) {
        std::string old = TRY(text_at(document, saves[i].before));
        if (old == disk) return std::nullopt;
        const std::size_t size = size_of_edit(old, disk);
        if (size >= distance || !lacks_edit(old, saved, disk)) continue;
        distance = size;
        nearest = PastText{saves[i].before, std::move(old)};
    }
    return nearest;
}

}  // namespace quire::kernel
