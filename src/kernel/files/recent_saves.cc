// For each document a short list of the versions that the file had before a save, or before another
// program's change, each with the time until which it was on the disk. It is bounded by count and
// by time, and gone with the kernel; without it a change is merged as if its program had seen the
// last save.
#include "kernel/files/recent_saves.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
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

std::string without_shared_lines(std::string_view disk, std::string_view saved,
                                 std::string_view origin) {
    struct Counts {
        std::size_t disk = 0;
        std::size_t saved = 0;
        std::size_t origin = 0;
    };
    std::map<std::string_view, Counts> lines;
    for (const std::string_view line : text::split_lines(disk)) ++lines[line].disk;
    for (const std::string_view line : text::split_lines(saved)) ++lines[line].saved;
    for (const std::string_view line : text::split_lines(origin)) ++lines[line].origin;
    std::string out;
    for (const std::string_view line : text::split_lines(disk)) {
        const Counts& n = lines[line];
        const bool is_shared = n.disk == 1 && n.saved == 1 && n.origin == 0;
        if (!is_shared) out += line;
    }
    return out;
}

void RecentSaves::add_save(store::DocumentKey document, files::Version before,
                           const fs::Stamp& saved) {
    state_.with([&](State& state) {
        state.sweep(saved.changed_ns);
        PastVersions& versions = state.files[document];
        // A version whose time is after this save has a wrong one: the disk's clock went back. It
        // would seem near to everything.
        std::erase_if(versions, [&](const Past& past) {
            return past.until_ns + kWithinNs < saved.changed_ns || past.until_ns > saved.changed_ns;
        });
        add({std::move(before), saved.changed_ns, true}, versions);
    });
}

void RecentSaves::add_change(store::DocumentKey document, files::Version before,
                             const fs::Stamp& changed) {
    state_.with([&](State& state) {
        const auto found = state.files.find(document);
        if (found != state.files.end())
            add({std::move(before), changed.changed_ns, false}, found->second);
    });
}

void RecentSaves::add(Past past, PastVersions& versions) {
    if (versions.size() == kMost) versions.erase(versions.begin());
    versions.push_back(std::move(past));
}

// Gives up the files that were not saved lately, as often as their number doubles.
void RecentSaves::State::sweep(std::int64_t now_ns) {
    if (files.size() <= sweep_above) return;
    std::erase_if(files, [&](const auto& entry) {
        return std::ranges::all_of(
            entry.second, [&](const Past& past) { return past.until_ns + kWithinNs < now_ns; });
    });
    sweep_above = 1000 + 2 * files.size();
}

RecentSaves::PastVersions RecentSaves::versions_near(store::DocumentKey document,
                                                     const fs::Stamp& changed) const {
    PastVersions out;
    state_.with([&](const State& state) {
        const auto found = state.files.find(document);
        if (found == state.files.end()) return;
        for (const Past& past : found->second) {
            // A file of a folder that is renamed keeps its time, which is before the last saves.
            if (std::abs(changed.changed_ns - past.until_ns) <= kWithinNs) out.push_back(past);
        }
    });
    if (std::ranges::none_of(out, &Past::was_saved_over)) out.clear();
    return out;
}

Result<std::optional<PastText>> RecentSaves::origin_of(LiveDocument& document,
                                                       const files::Version& now,
                                                       const std::string& disk,
                                                       const fs::Stamp& changed) const {
    const PastVersions versions = versions_near(document.key(), changed);
    if (versions.empty()) return std::nullopt;
    const std::string saved = TRY(text_at(document, now));
    std::size_t distance = size_of_edit(saved, disk);
    // A stream of saves leaves hundreds of versions. Of a large text only some are compared at
    // first, evenly spread.
    const std::size_t most = std::max<std::size_t>(1, kMostComparedBytes / (disk.size() + 1));
    std::size_t step = (versions.size() + most - 1) / most;
    std::optional<PastText> nearest;
    // The oldest comes first, and stands where a later one differs as much.
    std::size_t closest = 0;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    const auto compare = [&](std::size_t i) -> Result<void> {
        std::string old = TRY(text_at(document, versions[i].version));
        const std::size_t size = size_of_edit(old, disk);
        if (size < least) {
            least = size;
            closest = i;
        }
        // Both have to hold: it is nearer to the old text than to the saved one, and has hardly
        // anything of what was saved since.
        if (size >= distance || !lacks_edit(old, saved, disk)) return {};
        distance = size;
        nearest = PastText{versions[i].version, std::move(old)};
        return {};
    };
    for (std::size_t i = 0; i < versions.size() && least > 0; i += step) TRY(compare(i));
    // Texts differ the less, the nearer they are in time: the nearest may be between two of these.
    while (step > 1 && least > 0) {
        step = (step + 1) / 2;
        const std::size_t middle = closest;
        if (middle >= step) TRY(compare(middle - step));
        if (middle + step < versions.size()) TRY(compare(middle + step));
    }
    // This is exactly an old text: somebody went back to it on purpose.
    if (least == 0) return std::nullopt;
    return nearest;
}

}  // namespace quire::kernel
