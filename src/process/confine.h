// Confinement of a program for whose doings nobody answers: a compiler that reads what agents
// write. It reads what its user may read but for one folder, writes nothing but what is named,
// opens no socket, traces nobody, signals nobody by name, and stays in its process group. All that
// it starts is held likewise. By Landlock and seccomp, without rights of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace quire::process {

struct Confinement {
    std::vector<std::string> writable =
        {};                   // Files, or folders with all below them; they are there.
    std::string hidden = {};  // A folder that is not read; "" for none.
};

// A confinement that is ready to be entered.
class Cage {
public:
    // What is hidden is hidden by naming all else: what comes to stand beside it, or beside a
    // folder above it, after this is not read either. O(entries of those folders). Errors:
    // unsupported "no_confinement" where the system cannot do it (Linux before 5.13, or without
    // Landlock); unavailable "no_confinement" {path} where something that is to be writable is not
    // there.
    static Result<Cage> make(const Confinement& wanted);
    Cage(Cage&& other) noexcept;
    Cage& operator=(Cage&& other) noexcept;
    ~Cage();

    // Between fork and exec, by the child: it makes system calls and nothing else. An errno, or 0.
    int enter() const;

private:
    explicit Cage(int rules) : rules_(rules) {}
    int rules_;
};

}  // namespace quire::process
