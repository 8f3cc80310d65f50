// Reach: which files agents may write, by whatever name they are called, and which are the
// workspace's. Looks at the disk.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace quire::diagnostics {

struct CompileUnit;

class Reach {
public:
    // `root`: absolute. `agents_write` returns true if the rules let agents write a path from the
    // root; without it they may write none.
    Reach(std::string root, std::function<bool(const std::string&)> agents_write);

    // Without links; as far as it exists.
    static std::string resolved(const std::string& path);
    // The path from the root of what `path`, absolute, leads to; none where that is outside.
    std::optional<std::string> below_root(const std::string& path) const;
    // Returns true if agents may write `path`, absolute: what it leads to, or a name on the way to
    // it.
    bool is_agents(const std::string& path) const;

    // The part of the unit's command that agents may write and that the compiler runs or takes
    // its command from: a program (one without '/' is looked for in PATH), a plugin, a response
    // file; "" if there is none. The options checked are @FILE, -wrapper, -B, -specs, -fplugin,
    // -load, -fpass-plugin, -iplugindir and --config.
    std::string agents_part(const CompileUnit& unit, const std::string& program) const;

private:
    std::optional<std::string> from_root(const std::string& resolved) const;
    std::string agents_part(const CompileUnit& unit, const std::vector<std::string>& words,
                            int depth) const;

    const std::string root_;
    const std::function<bool(const std::string&)> agents_write_;
};

// The .clang-tidy that `file`, absolute and below `root`, is checked by: the first, from its
// directory up to the root, that agents may not write; "" where there is none. Errors: denied
// "agents_write" where that one takes in others, and agents may write one of those.
Result<std::string> tidy_config_of(const std::string& file, const std::string& root,
                                   const Reach& reach);

// That agents may write `path`, which says what is run, and what to do about it.
std::string agents_refusal(const std::string& path, const Reach& reach);

// The whole of a regular file that agents may not write. Never waits: a pipe is no file. Errors:
// not_found "file_not_found"; denied "agents_write"; unavailable "unreadable" for what is no file,
// is empty, or cannot be read; out_of_range "too_large" {limit}.
Result<std::string> read_trusted(const std::string& path, const Reach& reach);

}  // namespace quire::diagnostics
