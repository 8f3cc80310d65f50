#include "policy/actor.h"

#include <algorithm>

#include "base/concat.h"

namespace quire::policy {

// The name's characters are limited so that it needs no escaping in messages and prompts.
Result<Actor> Actor::parse(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view name = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-' || c == '@';
    };
    const bool named = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, allowed);
    const auto known = enum_named<ActorKind>(kind);
    if (named && known) return Actor{*known, std::string(name)};
    return invalid(
        "invalid_actor",
        cat("'", text,
            "' is not an actor; write agent:NAME, human:NAME, source:NAME or system:NAME, "
            "the name of letters, digits and ._-@, at most 64"));
}

std::string Actor::str() const {
    return cat(name_of(kind), ":", name);
}

}  // namespace quire::policy
