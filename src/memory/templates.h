// Templates: schemas by name, from which blocks are made.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/block_schema.h"

namespace quire::memory {

struct Template {
    std::string name;
    std::string description;  // The purpose of a block made from it.
    BlockSchema schema;
    friend bool operator==(const Template&, const Template&) = default;
};

// The built-in templates: partner_profile, task_list, activity_log, observation_log, scratchpad.
std::vector<Template> templates();
// Returns nothing if no built-in template has the name.
std::optional<Template> find_template(std::string_view name);

}  // namespace quire::memory
