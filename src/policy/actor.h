// Actors: agent:NAME, human:NAME, source:NAME, system:NAME.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/enum_words.h"
#include "base/result.h"

namespace quire::policy {

// The kinds of actors: programs that work for a person, people, feeders of blocks, and the kernel.
enum class ActorKind { agent, human, source, system };
constexpr auto words_of(ActorKind) {
    return word_table("agent", "human", "source", "system");
}

// One actor. Two actors are equal if kind and name are.
struct Actor {
    ActorKind kind = ActorKind::agent;
    std::string name = "local";

    // "agent:ada". Errors: invalid_argument "invalid_actor": not KIND:NAME, or a name that is
    // empty, over 64 bytes, or holds anything but letters, digits and "._-@".
    static Result<Actor> parse(std::string_view text);
    // "KIND:NAME"; parse() reads it back.
    std::string str() const;

    friend auto operator<=>(const Actor&, const Actor&) = default;
};

}  // namespace quire::policy
