// RecentSaves: finds the text from which another program wrote a file whose place a save had taken.
//
// A program reads a file, a save puts new bytes in place, and the program then writes its text over
// them: it has never seen what was saved. Compared with the saved text, it seems to have deleted all
// of it. So for each save the version that the file had before is kept. Where the disk changes
// within two seconds of a save, its text is compared with these versions too. It was written from one
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

// Any thread; a document's functions run on its strand. In memory only.
class RecentSaves {
public:
    // How long after a save a program may write from what it had read before.
    static constexpr std::int64_t kWithinNs = 2'000'000'000;
    // How many versions are kept for a document. Where there are more, every other one is given up.
    static constexpr std::size_t kMost = 64;

    // A save took the place of what the file had at the version `before`. Gives up what is too old.
    void add(store::DocumentKey document, files::Version before, const fs::Stamp& saved);
    // Finds the earlier text that the disk's was written from; none where that is the text at `now`,
    // the version that the disk had last. O(1) where nothing was saved lately; else O(text) beside
    // the diffs, and at most 16 MB are compared.
    Result<std::optional<PastText>> origin_of(LiveDocument& document, const files::Version& now,
                                              const std::string& disk,
                                              const fs::Stamp& changed) const;

private:
    struct Save {
        files::Version before;
        std::int64_t at_ns = 0;
    };
    std::vector<Save> saves_before(store::DocumentKey document, const fs::Stamp& changed) const;

    struct State {
        std::map<store::DocumentKey, std::vector<Save>> saves;  // The oldest first.
        std::size_t sweep_above = 1000;
        void sweep(std::int64_t now_ns);
    };

    sched::Guarded<State> state_;
};

}  // namespace quire::kernel
