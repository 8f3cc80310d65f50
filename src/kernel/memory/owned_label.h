// A memory block named by its owner and label: "agent:ada/persona".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/actor.h"

namespace quire::kernel {

// The owner ends at the first '/', which no actor's name contains.
struct OwnedLabel {
    policy::Actor owner;
    std::string label;

    // Nothing for a text that does not begin with an actor and a '/'.
    static std::optional<OwnedLabel> parse(std::string_view text);
    std::string str() const;
};

}  // namespace quire::kernel
