// The first '/' ends the owner, since no actor's name has one; a label may have several.

#include "kernel/memory/owned_label.h"

#include <cstddef>
#include <utility>

#include "base/concat.h"

namespace quire::kernel {

std::optional<OwnedLabel> OwnedLabel::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    Result<policy::Actor> owner = policy::Actor::parse(text.substr(0, slash));
    if (!owner) return std::nullopt;
    return OwnedLabel{std::move(*owner), std::string(text.substr(slash + 1))};
}

std::string OwnedLabel::str() const {
    return cat(owner.str(), "/", label);
}

}  // namespace quire::kernel
