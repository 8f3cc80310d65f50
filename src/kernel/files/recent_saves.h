// RecentSaves: finds the text from which another program wrote a file whose place a save had taken.
//
// A program reads a file, a save puts new bytes in place, and the program then writes its text over
// them: it has never seen what was saved. Compared with the saved text, it seems to have deleted all
// of it. So for each save the version that the file had before is kept, and each that other programs
// replace soon after. Where the disk changes within two seconds of a save, its text is compared with
// these versions too. It was written from one
// of them if it differs less from that one than from what was saved, and has hardly anything of what
// was saved since: at most an eighth of the lines that came, and of those that went. A program that
// has seen the save and rewrites the same lines leaves neither. A file that is exactly as it was
// before is a revert (`git checkout`, an editor's undo).
//
// The times are those that the file system gave the two files, so that a busy kernel decides as an
// idle one does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "files/disk_state.h"
#include "sched/guarded.h"
#include "store/store_records.h"

namespace quire::kernel {

class LiveDocument;

// A version of a document, and the text that it had.
struct PastText {
    files::Version version;
    std::string text;
};

// The disk's text without the lines that what was saved has as well and `origin` has not, if each has
// the line once. The program wrote from a text between the two that is not known, and the line came
// to both from there: merged as it is, it could come out twice. O(text log text).
std::string without_shared_lines(std::string_view disk, std::string_view saved,
                                 std::string_view origin);

// Any thread; a document's functions run on its strand. In memory only.
class RecentSaves {
public:
    // How long after a save a program may write from what it had read before.
    static constexpr std::int64_t kWithinNs = 2'000'000'000;
    // How many versions are kept for a document, about 100 KB. The oldest are given up. None between
    // may be left out: a text that is merged from an older version than its own has lines that both
    // sides brought, and they could come out twice.
    static constexpr std::size_t kMost = 1024;

    // A save took the place of what the file had at the version `before`. Gives up what is too old.
    void add_save(store::DocumentKey document, files::Version before, const fs::Stamp& saved);
    // Another program did. Kept only where the file was saved lately.
    void add_change(store::DocumentKey document, files::Version before, const fs::Stamp& changed);
    // Finds the earlier text that the disk's was written from; none where that is the text at `now`,
    // the version that the disk had last. O(1) where nothing was saved lately; else O(text) beside
    // the diffs, and at most 16 MB are compared.
    Result<std::optional<PastText>> origin_of(LiveDocument& document, const files::Version& now,
                                              const std::string& disk,
                                              const fs::Stamp& changed) const;

private:
    struct Past {
        files::Version version;
        std::int64_t until_ns = 0;
        bool was_saved_over = false;
    };
    // The past versions of one file, the oldest first. One was saved over, at least.
    using PastVersions = std::vector<Past>;

    static void add(Past past, PastVersions& versions);
    PastVersions versions_near(store::DocumentKey document, const fs::Stamp& changed) const;

    struct State {
        std::map<store::DocumentKey, PastVersions> files;
        std::size_t sweep_above = 1000;
        void sweep(std::int64_t now_ns);
    };

    sched::Guarded<State> state_;
};

}  // namespace quire::kernel
