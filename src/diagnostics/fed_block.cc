// The block is a Composite of two Maps. The descriptions here are what agents read about it.
#include "diagnostics/fed_block.h"

#include <utility>

#include "diagnostics/check_config.h"
#include "memory/feed.h"

namespace quire::diagnostics {
namespace {

memory::Field fed(std::string name, memory::FieldType type, std::string description) {
    memory::Field out;
    out.name = std::move(name);
    out.type = type;
    out.description = std::move(description);
    return out;
}

}  // namespace

memory::MemoryBlock make_block(const std::string& label) {
    using memory::FieldType;
    memory::MapSchema found{
        {fed("status", FieldType::text, "what the source is doing"),
         fed("errors", FieldType::number, "in what paths and checks choose"),
         fed("warnings", FieldType::number, "likewise"),
         fed("matching", FieldType::number, "findings that the config lets through, shown or not"),
         fed("last_run", FieldType::timestamp, "when the run ended that found this"),
         fed("findings", FieldType::list, "errors first, then by place")}};
    memory::CompositeSchema shape;
    shape.sections.push_back({.name = std::string(kFedSection),
                              .schema = memory::BlockSchema(std::move(found)),
                              .description = "written by source:diagnostics",
                              .read_only = true});
    shape.sections.push_back({.name = std::string(memory::kConfigSection),
                              .schema = memory::BlockSchema(memory::MapSchema{config_fields()}),
                              .description = "what to check and show; yours to set"});
    memory::MemoryBlock out;
    out.label = label;
    out.description =
        "What the compiler says of this workspace. Set the fields of config to choose what is "
        "checked and shown; each edit is answered applied, pending or rejected.";
    out.schema = std::move(shape);
    return out;
}

}  // namespace quire::diagnostics
