// State: the part of a shell's state that later commands depend on. Where branches of a script meet,
// their states are joined: what differs has either value, and a value that cannot be told is not known.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shell/syntax.h"
#include "shell/values.h"

namespace quire::shell {

// A state with more directories than this is one whose directory is not known.
inline constexpr std::size_t kMostDirectories = 8;

// The elements of an array, without their subscripts.
struct Elements {
    std::vector<Arg> all;
    // These are the elements, in this order. Else they are among these, and their number is not known.
    bool are_exact = true;
    friend bool operator==(const Elements&, const Elements&) = default;
};

struct State {
    std::vector<std::string> cwds;  // Sorted; empty if the directory is not known.
    // The variables that the script has set. A name that is absent has the value that it had when
    // the script began: Situation::environment and Run::variable() say which.
    std::map<std::string, Value> variables;
    // A name is a key of one of the two maps at most.
    std::map<std::string, Elements> arrays;
    // Variables that were made read-only. An assignment to one may fail.
    std::set<std::string> fixed;
    // Bodies, which the script owns; null if branches define the function differently.
    std::map<std::string, const List*> functions;
    // $1 and those after it.
    std::vector<Arg> positional;
    bool splits_oddly = false;  // IFS was set.
    bool globs_oddly = false;   // Options of globs were set.
    friend bool operator==(const State&, const State&) = default;
};
// The state after one of two branches. O(variables).
// A name that only one of them has set is not known afterwards: in the other it has its value from
// before. A function that they define differently is null.
State either(State one, const State& other);

// The states after a command that succeeded, and after one that failed if that is another.
// Only commands that set something and may fail to do so, such as cd, need two. `failed` is absent
// for all others, and the state after a failure is then `ok`.
struct Ends {
    State ok;
    std::optional<State> failed = {};
    State any() const { return failed ? either(ok, *failed) : ok; }
    const State& after_failure() const { return failed ? *failed : ok; }
};

}  // namespace quire::shell
