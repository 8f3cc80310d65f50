//   a tool of the shelf
//     -> published()   schema, description and annotations of the operations that are left
//     -> shown_in()    the profile's form: output schema, hints, twins
//     -> twins         a read-only tool for each operation that has one, after its tool
//     -> make_brief()  in profile `model`, over the whole list
//
// A view is made once for each profile and set of rules and shared by all who are held to these
// (registry.cc), so it may cost a schema compilation for each tool that the rules narrow.
#include "tools/profile_view.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/concat.h"
#include "json/schema/object_members.h"
#include "json/schema/operation_filter.h"
#include "policy/rule_set.h"
#include "tools/brief_list.h"
#include "tools/read_marks.h"

namespace quire::tools {
namespace {

// A schema that takes no arguments at all. It stands for a foreign schema that is broken by what
// was taken from it: a call that cannot be checked must not pass.
json::Schema closed() {
    return std::move(*json::Schema::compile(Value(false)));
}

// "numbered lines" as "Numbered lines."
std::string as_sentence(std::string words) {
    if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
        words.front() = static_cast<char>(words.front() - 'a' + 'A');
    return words + ".";
}

// The read-only tool that stands for one operation of `of`. It exists in the list alone: a call of
// it is a call of the operation, with the operation's rules and log entry.
ToolInfo twin_info(const ToolInfo& of, const Operation& row) {
    return {.name = cat(of.name, "_", row.name),
            .title = row.twin.title,
            .description = as_sentence(row.says),
            .input_schema = json::without_members(row.arguments, row.twin.without),
            .output_schema = of.output_schema,
            .annotations = {.read_only = true, .idempotent = true, .brief = true}};
}

void require(Map& schema, const std::string& member) {
    Value* const required = schema.find("required");
    if (required == nullptr) {
        schema.append("required", List{member});
    } else if (required->is_list() &&
               std::find(required->as_list().begin(), required->as_list().end(), Value(member)) ==
                   required->as_list().end()) {
        required->as_list().push_back(member);
    }
}

}  // namespace

ToolInfo shown_in(Profile profile, ToolInfo info) {
    if (profile == Profile::model) {
        if (info.output_schema.is_map()) info.output_schema = Map{{"type", "object"}};
        info.annotations.brief = !info.foreign;
    } else {
        // A twin lets a client allow reads alone, which is of use where a model calls the tools;
        // the other profiles have the operations only.
        for (Operation& row : info.operations.all) row.twin = {};
        if (!info.foreign) publish_changes(info.output_schema);
    }
    return info;
}

ToolInfo published(ToolInfo info, const std::vector<std::string>& operations) {
    Operations& all = info.operations;
    if (all.empty()) return info;
    info.input_schema = info.foreign ? json::filter_schema_enum(std::move(info.input_schema),
                                                                all.argument, operations)
                                     : all.input_schema(all.listed(operations));
    const std::string lines = all.lines(all.listed(operations));
    if (!lines.empty()) cat_to(info.description, cat("\n", lines));
    std::erase_if(all.all, [&](const Operation& each) {
        return std::find(operations.begin(), operations.end(), each.name) == operations.end();
    });
    // With only reads left the tool is as harmless as they are, and clients may call it without
    // asking.
    if (std::all_of(all.all.begin(), all.all.end(), [](const auto& each) { return each.reads; })) {
        info.annotations.read_only = true;
        info.annotations.destructive = false;
    }
    return info;
}

View make_view(const Shelf& shelf, Profile profile, const policy::RuleSet* set, bool is_person) {
    View out;
    for (const Entry& entry : shelf.entries) {
        if (entry.info.for_people && !is_person) continue;
        if (set != nullptr && !set->is_listed(entry.info.name)) continue;
        const auto left = set == nullptr ? std::nullopt : set->allowed_operations(entry.info.name);
        const auto list = [&out](ToolInfo info) {
            std::vector<ToolInfo> twins;
            for (const Operation& row : info.operations.all) {
                if (!row.twin.title.empty()) twins.push_back(twin_info(info, row));
            }
            out.infos.push_back(std::move(info));
            std::ranges::move(twins, std::back_inserter(out.infos));
        };
        if (!left) {
            list(entry.info);
            continue;
        }

        ToolInfo info = shown_in(profile, published(entry.tool->info(), *left));

        // A call that names no operation is refused, so that it does not fit what is shown.
        if (info.foreign && info.input_schema.is_map())
            require(info.input_schema.as_map(), info.operations.argument);

        // The rest of a schema that we did not write need not be one.
        Result<json::Schema> left_of = accepting(info);
        const bool usable = left_of.has_value();
        out.narrowed.emplace(&entry, usable ? std::move(*left_of) : closed());
        // The remaining operations may be words of a later version.
        if (usable && !info.operations.empty()) list(std::move(info));
    }
    if (profile == Profile::model) make_brief(out.infos);
    return out;
}

}  // namespace quire::tools
