// The right to use a file, and advice where it is missing.
//
// The kernel's state and settings are files that a person may have made as another user, with sudo
// for example. A refusal then names the command that mends it.
#pragma once

#include <string>

namespace quire {

// Says why this process may not read and write the file, and what gives it the right: "its mode is
// 0400. Run: chmod u+rw FILE". "" for a file that it may use, or that is not there. Asks the system
// for the effective user.
std::string missing_rights(const std::string& file);

}  // namespace quire
