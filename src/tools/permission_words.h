// The words of permissions, as tools answer them.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

#include "json/fields.h"
#include "policy/permission.h"

namespace quire::json {

template <>
struct Words<policy::Permission> {
    static constexpr std::size_t count = std::size(policy::kPermissions);
    static std::string_view word(policy::Permission permission) {
        return policy::name_of(permission);
    }
};

}  // namespace quire::json
