// Confinement for a program that nobody has reviewed, such as a compiler that reads what agents
// write. It may read what its user may read except one folder, writes only to named places, opens
// no sockets, traces nobody, signals nobody by name, and stays in its process group. Its children
// are confined as well. Uses Landlock and seccomp and needs no privileges.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace quire::process {

// The limits for one program.
struct Confinement {
    std::vector<std::string> writable =
        {};                   // Files, or folders with all below them; they are there.
    std::string hidden = {};  // A folder that cannot be read; "" for none.
};

// A confinement that is ready to be entered.
class Cage {
public:
    // Hiding a folder means allowing everything else by name: entries that appear later beside it,
    // or beside a folder above it, cannot be read either. O(entries of those folders). Errors:
    // unsupported "no_confinement" if the system lacks support (Linux before 5.13, or without
    // Landlock); unavailable "no_confinement" {path} if a writable place does not exist.
    static Result<Cage> make(const Confinement& wanted);
    Cage(Cage&& other) noexcept;
    Cage& operator=(Cage&& other) noexcept;
    ~Cage();

    // Is called by the child between fork and exec; makes only system calls. Returns 0 or an errno.
    int enter() const;

private:
    explicit Cage(int rules) : rules_(rules) {}
    int rules_;
};

}  // namespace quire::process
