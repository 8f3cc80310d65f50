// Schemas to begin with, by name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "memory/block_schema.h"

namespace quire::memory {

struct Template {
    std::string_view name;
    std::string_view description;  // What a block made from it is for.
    BlockSchema schema;
};

// partner_profile, task_list, activity_log, observation_log, scratchpad.
std::vector<Template> templates();
// None for a name that there is not.
std::optional<Template> find_template(std::string_view name);

}  // namespace quire::memory
