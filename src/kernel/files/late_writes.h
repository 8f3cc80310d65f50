// LateWrites: what other programs write to files whose place a save has taken.
//
// A program that opened a file before a save goes on writing to the file that the save displaced.
// For two seconds each save's displaced file is kept open; what is written to it is merged into the
// file that is at the path now, as that program would have made the change there. So it becomes a
// change of the disk like any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fs/file_system.h"
#include "sched/guarded.h"
#include "text/charset.h"

namespace quire::kernel {

// Any thread. Files and clock outlive it.
class LateWrites {
public:
    // How long a displaced file is kept.
    static constexpr std::int64_t kKeptMs = 2000;

    // Displaced files of more than `file_bytes` are not merged.
    LateWrites(fs::FileSystem& files, Clock& clock, std::size_t file_bytes)
        : files_(files), clock_(clock), file_bytes_(file_bytes) {}

    // From now on the file that was displaced from the path counts.
    void keep(const std::string& path, std::shared_ptr<fs::Displaced> file);
    // Merges what was written to displaced files of the path, and gives up those whose time is up.
    // `declared`: the encoding that a rule names for the path. Returns true if it is to be called
    // again soon: a file whose time is up is still being written to, and is kept for five seconds
    // more at most, or a merge displaced another. Almost free where there is none.
    bool take(const std::string& path, std::optional<text::Charset> declared);

private:
    struct Late {
        std::shared_ptr<fs::Displaced> file;
        std::int64_t since_ms = 0;
    };
    void bring_back(const std::string& path, std::optional<text::Charset> declared, Late& late,
                    bool thorough);
    Result<void> merge(const std::string& path, std::optional<text::Charset> declared,
                       const std::string& before, const std::string& after);

    fs::FileSystem& files_;
    Clock& clock_;
    const std::size_t file_bytes_;
    sched::Guarded<std::map<std::string, std::vector<Late>>> kept_;
};

}  // namespace quire::kernel
