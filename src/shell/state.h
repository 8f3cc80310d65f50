// State: the part of a shell's state that later commands depend on. Where branches of a script meet,
// their states are joined: what differs has either value, and a value that cannot be told is not known.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shell/syntax.h"
#include "shell/values.h"

namespace quire::shell {

// A state with more directories than this is one whose directory is not known.
inline constexpr std::size_t kMostDirectories = 8;

struct State {
    std::vector<std::string> cwds;  // Sorted; empty if the directory is not known.
    std::map<std::string, Value> variables;
    std::map<std::string, std::vector<Arg>> arrays;
    std::map<std::string, const List*> functions;
    std::vector<Arg> positional;
    bool splits_oddly = false;  // IFS was set.
    bool globs_oddly = false;   // Options of globs were set.
    friend bool operator==(const State&, const State&) = default;
};
// The state after one of two branches. O(variables).
State either(State one, const State& other);

// The states after a command that succeeded, and after one that failed if that is another.
struct Ends {
    State ok;
    std::optional<State> failed = {};
    State any() const { return failed ? either(ok, *failed) : ok; }
    const State& after_failure() const { return failed ? *failed : ok; }
};

}  // namespace quire::shell
