// The directories of a tree. No tree lists them: they come with the files in them, and go with the last.
#pragma once

#include <string>
#include <vector>

#include "fs/disk_entries.h"

namespace quire::kernel {

// Returns false for a link to a directory. `root` is absolute.
bool is_directory(const std::string& root, const std::string& path);

// The directory that is in the place of a new file, and every directory below it, each before those
// in it; empty if none is.
std::vector<std::string> directories_in_place(const std::string& root, const std::string& path);

// Removes the directories above a file that is gone, as far as nothing is left in them.
void remove_empty_directories(const fs::DiskEntries& entries, const std::string& path);

}  // namespace quire::kernel
