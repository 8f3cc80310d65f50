// The resolver of all block tools. A name costs one call of the kernel before the tool's own; an id
// costs a look into the catalog, and one more call if it is a memory block's.
//
//   file:PATH         -> Source::load()         -> id, and path for the answer
//   memory:LABEL      -> MemoryCalls::find()    -> id, label and owner
//   id of a memory    -> MemoryCalls::find(), for label and owner; the tool refuses a hidden one
//   any other id      -> as it is, with its path if it is a file's
//
// The tools themselves know ids alone. So a new spelling is one more case here, and no tool can
// forget it.
#include "tools/addressed.h"

#include <string>
#include <string_view>
#include <utility>

#include "kernel/core/kernel.h"
#include "kernel/core/kinds.h"
#include "kernel/core/sources.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/memory/owned_label.h"
#include "tools/tool.h"

namespace quire::tools {
namespace {

constexpr std::string_view kArgument = "block_id";

// A block, and the names that answers give it.
struct BlockTarget {
    std::string block_id;
    std::string path = {};
    std::string label = {}, owner = {};
};

BlockTarget target_of(const kernel::MemoryRow& row) {
    return {row.block.block_id, {}, row.block.label, row.owner.str()};
}

// Names the block in an answer, where the tool has not done so itself. The facts for the audit log
// get the same names, so that an entry is found by path or label however the call spelled the
// block.
void name_block(ToolResult& result, const BlockTarget& target) {
    auto* const answer = std::get_if<ToolAnswer>(&result.outcome);
    if (answer == nullptr || !answer->structured.is_map()) return;
    Map& structured = answer->structured.as_map();
    const auto add = [&](std::string_view member, const std::string& value) {
        if (!value.empty() && !structured.contains(member))
            structured.append(std::string(member), value);
    };
    add("path", target.path);
    add("label", target.label);
    add("owner", target.owner);
    kernel::Touched& touched = result.touched;
    if (touched.block_id.empty()) touched.block_id = target.block_id;
    if (touched.path.empty()) touched.path = target.path;
    if (touched.label.empty()) touched.label = target.label;
}

// The tool's description, whose answers have the members that name_block() adds. Labels are named
// only for tools that read, since the others refuse memory blocks.
ToolInfo with_names(ToolInfo info) {
    Value* const members =
        info.output_schema.is_map() ? info.output_schema.as_map().find("properties") : nullptr;
    if (members == nullptr) return info;
    const auto add = [&](std::string_view member) {
        if (!members->as_map().contains(member))
            members->as_map().append(std::string(member), Map{{"type", "string"}});
    };
    add("path");
    if (!info.annotations.read_only) return info;
    add("label");
    add("owner");
    return info;
}

// Errors: those of Source::load() and MemoryCalls::find(). An id that names nothing is left to the
// tool to refuse.
void resolve(const BlockNames& names, const kernel::Caller& by, std::string name,
             Reply<BlockTarget> reply) {
    kernel::Source* const source =
        name.starts_with(kernel::kFilePrefix) ? source_of(names, name) : nullptr;
    if (source != nullptr) {
        return source->load(
            by, std::move(name),
            [reply = std::move(reply)](Result<kernel::SourceVersion> file) mutable {
                if (!file) return reply(Failure(std::move(file).error()));
                reply(BlockTarget{std::move(file->block_id), std::move(file->name)});
            });
    }
    const bool by_label = name.starts_with(kernel::kMemoryPrefix);
    kernel::BlockPlace place = names.kernel.place_of(name);
    if (names.memory == nullptr || (!by_label && place.kind != kernel::kMemoryKind))
        return reply(BlockTarget{std::move(name), std::move(place.path)});
    names.memory->find(
        by, name,
        [name, by_label, reply = std::move(reply)](Result<kernel::MemoryRow> row) mutable {
            if (row) return reply(target_of(*row));
            // A label that names nothing is the caller's mistake and is answered here. An id may be
            // one that the caller may not see: the tool refuses it in its own words.
            if (by_label) return reply(Failure(std::move(row).error()));
            reply(BlockTarget{std::move(name)});
        });
}

class AddressedTool final : public Tool {
public:
    AddressedTool(MadeTool tool, BlockNames names)
        : Tool(with_names(tool->info())), tool_(std::move(tool)), names_(names) {}

    void call(const Session& session, Value arguments, Reply<ToolResult> reply) const override {
        const Value* const given = arguments.get(kArgument);
        if (given == nullptr) return tool_->call(session, std::move(arguments), std::move(reply));
        std::string name = given->as_string();
        resolve(names_, session.caller, std::move(name),
                [tool = tool_.get(), session, arguments = std::move(arguments),
                 reply = std::move(reply)](Result<BlockTarget> target) mutable {
                    if (!target) return reply(refused(std::move(target).error()));
                    arguments.as_map().set(kArgument, target->block_id);
                    tool->call(session, std::move(arguments),
                               [target = std::move(*target),
                                reply = std::move(reply)](Result<ToolResult> result) mutable {
                                   if (result) name_block(*result, target);
                                   reply(std::move(result));
                               });
                });
    }

private:
    MadeTool tool_;
    BlockNames names_;
};

// Names are resolved one after another: each may load a file, and the first that cannot be resolved
// ends the call.
struct Resolving {
    BlockNames names;
    kernel::Caller by;
    std::vector<std::string> blocks;
    Reply<std::vector<std::string>> reply;
    std::size_t next = 0;
};

void resolve_next(std::shared_ptr<Resolving> all) {
    if (all->next == all->blocks.size()) return all->reply(std::move(all->blocks));
    std::string name = std::move(all->blocks[all->next]);
    const BlockNames names = all->names;
    const kernel::Caller by = all->by;
    resolve(names, by, std::move(name), [all = std::move(all)](Result<BlockTarget> target) mutable {
        if (!target) return all->reply(Failure(std::move(target).error()));
        all->blocks[all->next++] = std::move(target->block_id);
        resolve_next(std::move(all));
    });
}

}  // namespace

kernel::Source* source_of(const BlockNames& names, const std::string& block_id) {
    return names.sources != nullptr ? names.sources->of(block_id) : nullptr;
}

void resolve_ids(const BlockNames& names, kernel::Caller by, std::vector<std::string> blocks,
                 Reply<std::vector<std::string>> reply) {
    resolve_next(std::make_shared<Resolving>(
        Resolving{names, std::move(by), std::move(blocks), std::move(reply)}));
}

MadeTool addressed(MadeTool tool, BlockNames names) {
    return std::make_unique<AddressedTool>(std::move(tool), names);
}

}  // namespace quire::tools
