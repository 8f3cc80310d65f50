#include <algorithm>
#include <array>

#include "base/cat.h"
#include "base/check.h"
#include "json/schema.h"
#include "policy/approval.h"
#include "policy/operation_filter.h"
#include "tools/blocks.h"
#include "tools/tool.h"

namespace quire::tools {

namespace {

constexpr std::array kProfiles = {Profile::model, Profile::full, Profile::compat};

// A model reads the list of its tools at every start, and pays for each word: of what they answer
// it is told the names. The other profiles have the types as well.
Value names_alone(Value schema) {
    Value* properties = schema.is_map() ? schema.as_map().find("properties") : nullptr;
    if (properties == nullptr) return schema;
    for (Map::Entry& each : properties->as_map()) each.value = Map{};
    return schema;
}

// The operation that a dotted name means among the arguments. Error: invalid_argument
// "invalid_argument" where they name another one.
Result<void> set_operation(Map& arguments, const Operations& operations, std::string_view name,
                           std::string_view word) {
    const Value* const given = arguments.find(operations.argument);
    if (given != nullptr && *given != Value(word)) {
        return invalid("invalid_argument",
                       cat(name, " is the operation ", word, ", and the argument ",
                           operations.argument, " names another; leave it out"));
    }
    arguments.set(operations.argument, word);
    return {};
}

json::Schema compiled(const Value& schema) {
    Result<json::Schema> made = json::Schema::compile(schema, {.strict = true});
    CHECK(made.has_value());
    return std::move(*made);
}

// A tool as one profile has it.
struct Entry {
    std::unique_ptr<const Tool> tool;
    ToolInfo info;  // As it is published.
    json::Schema accepts;
};

// A tool as a call names it. Of "context.set_field" the operation is not among the arguments.
struct Named {
    const Entry* entry = nullptr;
    std::string_view operation = {};
};

// What the tool is called with. Errors: denied "permission_denied" for who may not call it at all;
// those of json::Schema::accept() and settle_arguments().
Result<Value> accept(const Entry& entry, const Session& session, std::string_view name,
                     std::string_view operation, Value arguments) {
    if (entry.info.for_people) TRY(policy::check_person(session.caller.actor));
    if (arguments.is_null()) arguments = Map{};
    // What is no object the schema refuses.
    if (arguments.is_map() && !operation.empty())
        TRY(set_operation(arguments.as_map(), entry.info.operations, name, operation));
    Value accepted = TRY(entry.accepts.accept(std::move(arguments)));
    TRY(settle_arguments(entry.info.operations, accepted.as_map()));
    return accepted;
}

}  // namespace

std::string published_name(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '.', '_');
    return out;
}

struct Registry::Body {
    struct Shelf {
        std::vector<Entry> entries;
        std::vector<ToolInfo> infos;        // For everybody,
        std::vector<ToolInfo> people_have;  // and for people.

        const Entry* published(std::string_view name) const {
            const auto at = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
                return entry.info.name == name;
            });
            return at == entries.end() ? nullptr : &*at;
        }
        Named find(std::string_view name) const {
            if (const Entry* entry = published(published_name(name))) return {entry};
            const std::size_t dot = name.find('.');
            if (dot == std::string_view::npos) return {};
            const Entry* entry = published(name.substr(0, dot));
            const std::string_view word = name.substr(dot + 1);
            const bool there = entry != nullptr && entry->info.operations.find(word) != nullptr;
            return there ? Named{entry, word} : Named{};
        }
    };
    const Shelf& of(Profile profile) const { return shelves[static_cast<std::size_t>(profile)]; }

    explicit Body(kernel::Kernel& house) : kernel(house) {}

    kernel::Kernel& kernel;
    std::array<Shelf, kProfiles.size()> shelves;
};

Registry::Registry(kernel::Kernel& kernel) : body_(std::make_unique<Body>(kernel)) {
    add(Profile::full, make_block_create(kernel, Profile::full));
    add(Profile::full, make_block_status(kernel));
    add(Profile::full, make_block_append(kernel, Profile::full));
    add(Profile::full, make_block_edit(kernel));
    add(Profile::full, make_block_splice(kernel));
    add(Profile::full, make_block_read(kernel));
    add(Profile::full, make_block_search(kernel, Profile::full));
    add(Profile::full, make_block_list(kernel, Profile::full));
    add(Profile::full, make_kernel_search(kernel));
    add(Profile::full, make_block_delete(kernel));
    add(Profile::full, make_block_undo(kernel, Profile::full));
    add(Profile::full, make_block_redo(kernel));
    add(Profile::full, make_block_history(kernel));
    add(Profile::model, make_block_view(kernel));
    add(Profile::model, make_block_str_replace(kernel));
    add(Profile::model, make_block_insert(kernel));
    add(Profile::model, make_block_replace_lines(kernel));
    add(Profile::model, make_block_append(kernel, Profile::model));
    add(Profile::model, make_block_create(kernel, Profile::model));
    add(Profile::model, make_block_list(kernel, Profile::model));
    add(Profile::model, make_block_search(kernel, Profile::model));
    add(Profile::model, make_block_undo(kernel, Profile::model));
}

Registry::~Registry() = default;

ToolInfo published(ToolInfo info, const std::vector<std::string>& operations) {
    Operations& all = info.operations;
    if (all.empty()) return info;
    info.input_schema = policy::without_members(
        policy::filter_schema_enum(std::move(info.input_schema), all.argument, operations),
        all.unused_by(operations));
    const std::string says = all.description(operations);
    if (!says.empty()) cat_to(info.description, cat(" ", says));
    std::erase_if(all.all, [&](const Operation& each) {
        return std::find(operations.begin(), operations.end(), each.name) == operations.end();
    });
    if (std::all_of(all.all.begin(), all.all.end(), [](const auto& each) { return each.reads; })) {
        info.annotations.read_only = true;
        info.annotations.destructive = false;
    }
    return info;
}

void Registry::add(Profile profile, std::unique_ptr<const Tool> tool) {
    CHECK(find(profile, tool->info().name) == nullptr);
    Body::Shelf& shelf = body_->shelves[static_cast<std::size_t>(profile)];
    ToolInfo info = published(tool->info(), tool->info().operations.names());
    if (profile == Profile::model) info.output_schema = names_alone(std::move(info.output_schema));
    if (!info.for_people) shelf.infos.push_back(info);
    shelf.people_have.push_back(info);
    json::Schema accepts = compiled(info.input_schema);
    shelf.entries.push_back({std::move(tool), std::move(info), std::move(accepts)});
}

const std::vector<ToolInfo>& Registry::list(Profile profile, policy::ActorKind to) const {
    const Body::Shelf& shelf = body_->of(profile);
    return to == policy::ActorKind::human ? shelf.people_have : shelf.infos;
}

const ToolInfo* Registry::find(Profile profile, std::string_view name) const {
    const Entry* const entry = body_->of(profile).find(name).entry;
    return entry == nullptr ? nullptr : &entry->info;
}

void Registry::call(const Session& session, std::string_view name, Value arguments,
                    Reply<ToolResult> reply) const {
    const auto [entry, operation] = body_->of(session.profile).find(name);
    if (entry == nullptr) {
        std::string message = cat("there is no tool \"", name.substr(0, 80), "\" in profile ",
                                  profile_name(session.profile), "; there are");
        List names;
        for (const ToolInfo& info : list(session.profile, session.caller.actor.kind)) {
            message += cat(" ", info.name);
            names.emplace_back(info.name);
        }
        reply(fail(Errc::not_found, "unknown_tool", std::move(message),
                   {{"tools", std::move(names)}}));
        return;
    }
    Result<Value> accepted = accept(*entry, session, name, operation, std::move(arguments));
    if (!accepted) return reply(refused(accepted.error()));
    Session asked = session;
    asked.caller.call = std::make_shared<const kernel::Call>(
        kernel::Call{std::string(profile_name(session.profile)), entry->info.name, *accepted});
    kernel::Kernel& kernel = body_->kernel;
    Reply<ToolResult> ended = [&kernel, by = asked.caller,
                               reply = std::move(reply)](Result<ToolResult> result) mutable {
        kernel.end(by, !result || result->is_error);
        reply(std::move(result));
    };
    kernel.begin(asked.caller, [tool = entry->tool.get(), asked, arguments = std::move(*accepted),
                                ended = std::move(ended)](Result<void> begun) mutable {
        if (!begun) return ended(refused(begun.error()));
        tool->call(asked, std::move(arguments), std::move(ended));
    });
}

}  // namespace quire::tools
