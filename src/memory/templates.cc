// The templates are ordinary schemas, built anew at each call. A block is made from one by copying
// its schema, and knows nothing of the template afterwards: a template that changes here changes no
// block that exists. Descriptions are written for the model that fills the block.

#include "memory/templates.h"

namespace quire::memory {
namespace {

BlockSchema partner_profile() {
    return MapSchema{{
        {.name = "name", .description = "What to call them"},
        {.name = "preferences",
         .description = "What they like, and how they like to work",
         .type = FieldType::list,
         .default_value = List()},
        {.name = "energy_level",
         .description = "1 to 10",
         .type = FieldType::number,
         .default_value = 5},
        {.name = "current_focus", .description = "What they are busy with"},
        {.name = "last_interaction",
         .description = "When you last spoke",
         .type = FieldType::timestamp},
    }};
}

BlockSchema task_list() {
    return ListSchema{
        BlockSchema(MapSchema{{
            {.name = "title", .description = "What is to be done", .required = true},
            {.name = "done", .type = FieldType::boolean, .required = true, .default_value = false},
            {.name = "priority", .description = "low, medium or high"},
            {.name = "due", .description = "By when", .type = FieldType::timestamp},
        }}),
        100};
}

BlockSchema activity_log() {
    return LogSchema{
        50,
        {true,
         true,
         {{.name = "event_type", .description = "What kind of thing happened", .required = true},
          {.name = "description", .description = "What happened", .required = true}}}};
}

BlockSchema observation_log() {
    return LogSchema{20,
                     {true,
                      true,
                      {{.name = "observation", .description = "What was seen", .required = true},
                       {.name = "context", .description = "When and where it matters"}}}};
}

}  // namespace

std::vector<Template> templates() {
    return {{"partner_profile", "What is known of the person you work with", partner_profile()},
            {"task_list", "What is to be done", task_list()},
            {"activity_log", "What happened, newest first", activity_log()},
            {"observation_log", "What was noticed, newest first", observation_log()},
            {"scratchpad", "Notes without a form", TextSchema{}}};
}

std::optional<Template> find_template(std::string_view name) {
    for (Template& each : templates()) {
        if (each.name == name) return std::move(each);
    }
    return std::nullopt;
}

}  // namespace quire::memory
