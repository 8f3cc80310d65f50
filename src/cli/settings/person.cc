#include "cli/settings/person.h"

#include <pwd.h>
#include <unistd.h>

#include "base/concat.h"

namespace quire::cli {

std::optional<policy::Actor> person_here() {
    const struct passwd* const entry = ::getpwuid(::getuid());
    auto login = policy::Actor::parse(cat("human:", entry == nullptr ? "" : entry->pw_name));
    return login ? std::optional(std::move(*login)) : std::nullopt;
}

}  // namespace quire::cli
