// One row for each source, made from what the source says about itself. Nothing is kept between two
// reports. A source with many blocks is cut off at kMostNamedBlocks, because the report is one
// message and its reader may be a model; the rest is counted in `more_blocks`.

#include "server/source_report.h"

#include <cstddef>
#include <utility>

#include "kernel/core/sources.h"

namespace quire::server {
namespace {

constexpr std::size_t kMostNamedBlocks = 1000;

List as_list(std::vector<std::string> words) {
    List out;
    for (std::string& word : words) out.emplace_back(std::move(word));
    return out;
}

// The member that names a block is `path` or `label`: the source says which, in SourceSpec::names.
Map row_of(const kernel::Source& source, const kernel::Caller& by) {
    kernel::SourceSpec spec = source.spec();
    kernel::SourceState state = source.state();
    List rules;
    for (kernel::SourcePermission& rule : spec.permission_rules) {
        rules.push_back(
            Map{{"pattern", std::move(rule.pattern)}, {"permission", name_of(rule.permission)}});
    }
    List tools;
    for (kernel::RequiredTool& each : spec.required_tools) {
        tools.push_back(Map{{"tool", std::move(each.tool)},
                            {"operations", as_list(std::move(each.operations))}});
    }
    const std::string owner = spec.actor.str();
    List blocks;
    std::size_t more = 0;
    for (kernel::SourceBlock& block : source.blocks(by)) {
        if (blocks.size() == kMostNamedBlocks) {
            ++more;
            continue;
        }
        const policy::Permission permission = source.permission_for(by.actor, block.name);
        blocks.push_back(Map{{"block_id", std::move(block.block_id)},
                             {spec.names, std::move(block.name)},
                             {"owner", owner},
                             {"permission", name_of(permission)}});
    }
    Map out{{"source_id", std::move(spec.source_id)},
            {"name", std::move(spec.name)},
            {"description", std::move(spec.description)},
            {"base", std::move(spec.base)},
            {"actor", owner},
            {"schema", std::move(spec.schema)},
            {"permission_rules", std::move(rules)},
            {"required_tools", std::move(tools)},
            {"watch", spec.is_watching},
            {"state", std::move(state.text)},
            {"running", state.running},
            {"failed", state.failed},
            {"blocks", std::move(blocks)}};
    if (more > 0) out.append("more_blocks", more);
    return out;
}

}  // namespace

Map source_report(const kernel::Sources& sources, const kernel::Caller& by) {
    List rows;
    for (const kernel::Source* const source : sources.all()) rows.push_back(row_of(*source, by));
    return {{"sources", std::move(rows)}};
}

}  // namespace quire::server
