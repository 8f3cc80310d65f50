// Ready-made schemas, by name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "memory/block_schema.h"

namespace quire::memory {

// A schema to start from.
struct Template {
    std::string_view name;
    std::string_view description;  // The purpose of a block made from it.
    BlockSchema schema;
};

// partner_profile, task_list, activity_log, observation_log, scratchpad.
std::vector<Template> templates();
// Nothing if no template has the name.
std::optional<Template> find_template(std::string_view name);

}  // namespace quire::memory
