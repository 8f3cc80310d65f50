// The rules for files, asked about a path that may have no document.
#pragma once

#include <string>

#include "policy/actor.h"
#include "policy/path_rules.h"

namespace quire::kernel {

class FileGate;

// The strictest decision for the path and the other names of its file. A directory may be made or
// removed where a file in it may.
policy::Decision decide_entry(FileGate& gate, const std::string& path, bool is_directory,
                              policy::Operation operation, const policy::Actor& by);

}  // namespace quire::kernel
