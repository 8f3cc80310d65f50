// DraftFile: a file that is whole under its own name, or not there. It is written as a draft beside
// it, and never takes the place of another file.
#pragma once

#include <string>

#include "base/result.h"

namespace quire::store {

class DraftFile {
public:
    // Makes an empty draft with mode 0600. Errors: conflict "file_exists" {file}; unavailable
    // "file_not_writable" {file}.
    static Result<DraftFile> make(const std::string& path);
    DraftFile(DraftFile&& other) noexcept;
    DraftFile(const DraftFile&) = delete;
    DraftFile& operator=(const DraftFile&) = delete;
    DraftFile& operator=(DraftFile&&) = delete;
    ~DraftFile();  // Removes the draft, unless it was kept.

    // The draft's path; its writer closes it before keep().
    const std::string& draft() const { return draft_; }
    // Flushes the draft, gives it its name and flushes that too: afterwards the file survives a
    // loss of power. Errors: as make(), and unavailable "disk_full".
    Result<void> keep();

private:
    DraftFile(std::string path, std::string draft);

    std::string path_;
    std::string draft_;  // "" once it is kept.
};

}  // namespace quire::store
