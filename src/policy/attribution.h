// Attribution: the message of a change names its author and the operation that made it, as in
// "agent:ada:edit", "source:lsp:set_field:diagnostics" or "system:log_trim:trim". "system:OP" is short for
// the actor system:kernel. ':' and '%' inside a part are percent-escaped, so a message always splits back into
// its parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/actor.h"

namespace quire::policy {

// The author of a change, and the operation with its detail.
struct Attribution {
    policy::Actor actor;
    std::string operation;
    std::string detail;  // "" for none.
    friend bool operator==(const Attribution&, const Attribution&) = default;
};

// The message of a change with this attribution.
std::string message_of(const Attribution& attribution);
// Returns nothing for a message of another form: other programs write what they like there.
std::optional<Attribution> parse_message(std::string_view message);

}  // namespace quire::policy
