#include <algorithm>
#include <array>

#include "base/cat.h"
#include "base/check.h"
#include "tools/blocks.h"
#include "tools/tool.h"

namespace quire::tools {

namespace {

constexpr std::array kProfiles = {Profile::model, Profile::full, Profile::compat};
constexpr std::string_view kOperation = "operation";

// A tool as a call names it. Of "context.set_field" the operation is not among the arguments.
struct Named {
    const Tool* tool = nullptr;
    std::string_view operation = {};
};

bool has_operation(const ToolInfo& info, std::string_view word) {
    const Value* properties = info.input_schema.get("properties");
    const Value* operation = properties != nullptr ? properties->get(kOperation) : nullptr;
    const Value* words = operation != nullptr ? operation->get("enum") : nullptr;
    if (words == nullptr) return false;
    const List& all = words->as_list();
    return std::find(all.begin(), all.end(), Value(word)) != all.end();
}

// A model reads the list of its tools at every start, and pays for each word: of what they answer
// it is told the names. The other profiles have the types as well.
Value names_alone(Value schema) {
    Value* properties = schema.is_map() ? schema.as_map().find("properties") : nullptr;
    if (properties == nullptr) return schema;
    for (Map::Entry& each : properties->as_map()) each.value = Map{};
    return schema;
}

// Error: invalid_argument "invalid_argument" where the arguments name another one.
Result<void> set_operation(Value& arguments, std::string_view name, std::string_view word) {
    if (arguments.is_null()) arguments = Map{};
    if (!arguments.is_map()) return {};  // The tool says what it takes.
    Map& members = arguments.as_map();
    if (const Value* given = members.find(kOperation); given != nullptr && *given != Value(word)) {
        return invalid("invalid_argument",
                       cat(name, " is the operation ", word,
                           ", and the argument operation names another; leave it out"));
    }
    members.set(std::string(kOperation), word);
    return {};
}

}  // namespace

std::string published_name(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '.', '_');
    return out;
}

struct Registry::Body {
    struct Shelf {
        std::vector<ToolInfo> infos;        // For everybody,
        std::vector<ToolInfo> people_have;  // and for people.
        std::vector<std::unique_ptr<const Tool>> tools;

        const Tool* published(std::string_view name) const {
            const auto at = std::find_if(tools.begin(), tools.end(), [&](const auto& tool) {
                return tool->info().name == name;
            });
            return at == tools.end() ? nullptr : at->get();
        }
        Named find(std::string_view name) const {
            if (const Tool* tool = published(published_name(name))) return {tool};
            const std::size_t dot = name.find('.');
            if (dot == std::string_view::npos) return {};
            const Tool* tool = published(name.substr(0, dot));
            const std::string_view word = name.substr(dot + 1);
            return tool != nullptr && has_operation(tool->info(), word) ? Named{tool, word}
                                                                        : Named{};
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

void Registry::add(Profile profile, std::unique_ptr<const Tool> tool) {
    CHECK(find(profile, tool->info().name) == nullptr);
    Body::Shelf& shelf = body_->shelves[static_cast<std::size_t>(profile)];
    ToolInfo info = tool->info();
    if (profile == Profile::model) info.output_schema = names_alone(std::move(info.output_schema));
    if (!info.for_people) shelf.infos.push_back(info);
    shelf.people_have.push_back(std::move(info));
    shelf.tools.push_back(std::move(tool));
}

const std::vector<ToolInfo>& Registry::list(Profile profile, policy::ActorKind to) const {
    const Body::Shelf& shelf = body_->of(profile);
    return to == policy::ActorKind::human ? shelf.people_have : shelf.infos;
}

const ToolInfo* Registry::find(Profile profile, std::string_view name) const {
    const Tool* tool = body_->of(profile).find(name).tool;
    return tool == nullptr ? nullptr : &tool->info();
}

void Registry::call(const Session& session, std::string_view name, Value arguments,
                    Reply<ToolResult> reply) const {
    const auto [tool, operation] = body_->of(session.profile).find(name);
    if (tool == nullptr) {
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
    if (!operation.empty()) {
        if (const Result<void> set = set_operation(arguments, name, operation); !set)
            return reply(refused(set.error()));
    }
    Session asked = session;
    asked.caller.call = std::make_shared<const kernel::Call>(
        kernel::Call{std::string(profile_name(session.profile)), tool->info().name, arguments});
    kernel::Kernel& kernel = body_->kernel;
    Reply<ToolResult> ended = [&kernel, by = asked.caller,
                               reply = std::move(reply)](Result<ToolResult> result) mutable {
        kernel.end(by, !result || result->is_error);
        reply(std::move(result));
    };
    kernel.begin(asked.caller, [tool = tool, asked, arguments = std::move(arguments),
                                ended = std::move(ended)](Result<void> begun) mutable {
        if (!begun) return ended(refused(begun.error()));
        tool->call(asked, std::move(arguments), std::move(ended));
    });
}

}  // namespace quire::tools
