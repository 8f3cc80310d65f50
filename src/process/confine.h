// Confinement for a program that nobody vouches for, such as a compiler that reads what agents
// write. The program and everything it starts may read what the user may read, except one folder;
// write only what is named; open no socket; trace and signal nobody; and stay in their process
// group. Landlock and seccomp enforce this without privileges.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "process/call_filter.h"
#include "process/land_rules.h"

namespace quire::process {

// The limits for one program.
struct Confinement {
    // Existing files, or existing folders with everything below them.
    std::vector<std::string> writable = {};
    std::string hidden = {};  // A folder that cannot be read; "" for none.
};

// A confinement that is ready to be entered.
class Cage {
public:
    // Landlock can only allow, so a folder is hidden by allowing everything beside it and beside
    // its parents. Entries that appear there later are hidden too. O(entries of those folders).
    //
    // Errors: unsupported "no_confinement" if the system cannot do it (Linux before 5.13, or no
    // Landlock); unavailable "no_confinement" {path} if something that should be writable does not
    // exist, or without {path} if the filter cannot be made.
    static Result<Cage> make(const Confinement& wanted);

    // For the child between fork and exec: makes system calls only and allocates nothing. Returns
    // 0 or an errno.
    int enter() const;

private:
    Cage(LandRules rules, CallFilter filter)
        : rules_(std::move(rules)), filter_(std::move(filter)) {}
    LandRules rules_;
    CallFilter filter_;
};

}  // namespace quire::process
