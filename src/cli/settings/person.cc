#include "cli/settings/person.h"

#include <pwd.h>
#include <unistd.h>

#include "base/concat.h"

namespace quire::cli {

// The real user counts, not the effective one: a program that gained rights still acts for its
// caller. The name comes from the system and not from an environment variable, which an agent could
// set.
policy::Actor person_here() {
    const struct passwd* const entry = ::getpwuid(::getuid());
    auto login = policy::Actor::parse(cat("human:", entry == nullptr ? "" : entry->pw_name));
    if (login) return std::move(*login);
    return {policy::ActorKind::human, cat("uid-", ::getuid())};
}

}  // namespace quire::cli
