// The registry: tools by profile, what of them an actor is shown, and the way of every call.
//
// A profile is a shelf of tools. A view is what a set of rules leaves of a shelf, with the schemas
// narrowed to the operations that are left; it is made when it is first asked for, and so are
// compiled schemas, for a kernel starts without those of clients that do not come. A call is
// admitted by the kernel (kernel/oversight/admission.h) once its arguments fit the narrowed schema.
//
//   Shelf     one per profile: the tools as they were added; never changes after the start
//   View      one per profile and set of rules: what is listed, and schemas for narrowed tools
//   own tools made for each list and each call, from the memory blocks that the actor may write
//
// A call costs a search for the name, a check against a compiled schema, and the log's entry; a
// list costs nothing after the first time but for own tools. Views are shared by address, so that a
// session finds out cheaply whether its list has changed.
#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <mutex>
#include <optional>

#include "base/check.h"
#include "base/concat.h"
#include "json/schema/schema.h"
#include "kernel/core/kernel.h"
#include "kernel/files/workspace_search.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/rule_calls.h"
#include "policy/approval.h"
#include "policy/tool_catalog.h"
#include "sched/guarded.h"
#include "text/nearest.h"
#include "tools/addressed.h"
#include "tools/loop_notes.h"
#include "tools/profile_view.h"
#include "tools/read_marks.h"
#include "tools/remember_tools.h"
#include "tools/shelf.h"
#include "tools/tool.h"
#include "tools/tools.h"

namespace quire::tools {

namespace {

// The facts that rules see. Blocks are identified by `block_id`, whatever the tool; an argument of
// another type is no fact, and the schema refuses it later.
kernel::RuleCalls::Facts rule_facts(const ToolInfo& info, std::string_view operation,
                                    const Value& arguments) {
    const auto text = [&](std::string_view name) -> std::string {
        const Value* const given = arguments.get(name);
        return given != nullptr && given->is_string() ? given->as_string() : "";
    };
    // A foreign tool's `block_id` is not one of our ids.
    if (info.foreign) return {info.name, std::string(operation), "", ""};
    return {info.name, std::string(operation), text("block_id"), text("conversation")};
}

// The facts about a tool that rules are checked against. Its profiles are added by catalog().
policy::KnownTool known(const ToolInfo& info) {
    const Value* const arguments = info.input_schema.get("properties");
    const auto takes = [&](std::string_view name) {
        return arguments != nullptr && arguments->get(name) != nullptr;
    };
    return {.name = info.name,
            .operations = info.operations.names(),
            .for_people = info.for_people,
            // A tool that takes labels means memory, which is in no conversation.
            .in_conversations = takes("conversation") || (takes("block_id") && !takes("label")),
            .conversation = info.conversation,
            .twins = info.operations.twins()};
}

// Returns true if a call of the operation changes nothing, according to what the tool promises.
// Another program's promise counts for nothing: the log has such a call as one that may have
// changed something.
bool only_reads(const ToolInfo& info, std::string_view operation) {
    if (info.foreign) return false;
    const Operation* const named = info.operations.find(operation);
    return info.annotations.read_only || (named != nullptr && named->reads);
}

// The arguments that the tool is called with. Errors: those of call_arguments(),
// json::Schema::accept() and Operations::settle(); denied "permission_denied" for actors who may
// not call it at all.
Result<Value> accept(const Entry& entry, const json::Schema& schema, const policy::Actor& by,
                     const CallArguments& given) {
    if (given.conflict) return Failure(*given.conflict);
    Value accepted = TRY(schema.accept(given.arguments, given.unwrapped));
    if (entry.info.for_people) TRY(policy::check_person(by));
    TRY(entry.info.operations.settle(accepted.as_map()));
    return accepted;
}

// Returns true if the actor is not shown the tool, or not this operation of it. A call without an
// operation is left to the schema.
bool is_hidden(const policy::RuleSet& set, const std::string& tool, const std::string& operation) {
    if (!set.is_listed(tool)) return true;
    const auto left = set.allowed_operations(tool);
    return left && !operation.empty() &&
           std::find(left->begin(), left->end(), operation) == left->end();
}

// The arguments of a call that its answer need not repeat: names and numbers, not texts. A text may
// come back changed, and comparing long ones would cost more than it saves.
Map not_to_repeat(const Value& arguments) {
    constexpr std::size_t kLongestName = 1024;
    Map out;
    for (const Map::Entry& each : arguments.as_map()) {
        const bool is_name =
            each.value.is_string() && each.value.as_string().size() <= kLongestName;
        if (is_name || each.value.is_int()) out.append(each.key, each.value);
    }
    return out;
}

// The answer without the members that say nothing.
void make_lean(Result<ToolResult>& result, const Map& said) {
    auto* const answer = result ? std::get_if<ToolAnswer>(&result->outcome) : nullptr;
    if (answer != nullptr && answer->lean && answer->structured.is_map())
        answer->lean(answer->structured.as_map(), said);
}

// The end of a call, as the log has it.
kernel::CallEnd end_of(const Result<ToolResult>& result) {
    if (!result) return kernel::CallEnd::of(result.error());
    if (const Error* const error = result->refusal()) return kernel::CallEnd::of(*error);
    return {.touched = result->touched, .failed = result->answer()->failed};
}

void end_call(const kernel::Admission& admission, kernel::AdmittedCall call,
              Result<ToolResult>& result) {
    // Only calls that rules count have a ticket, and only those can change the state of a loop.
    const bool governed = call.ticket.has_value();
    const kernel::Caller by = call.by;
    const policy::LoopStep step = admission.end(std::move(call), end_of(result));
    if (result && governed) tell_host(*admission.rules(), by, step, result->meta);
}

}  // namespace

std::string published_name(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '.', '_');
    return out;
}

struct Registry::Body {
    const Shelf& of(Profile profile) const { return shelves[static_cast<std::size_t>(profile)]; }

    explicit Body(kernel::Kernel& served) : kernel(served) {}

    // Returns null where no rules govern the actor.
    std::shared_ptr<const policy::RuleSet> rules_of(const policy::Actor& actor) const {
        return rules == nullptr ? nullptr : rules->rules_of(actor);
    }
    // Audience one view is for: `set` is null where no rules govern.
    struct Audience {
        Profile profile;
        std::shared_ptr<const policy::RuleSet> set;
        bool is_person;
        friend auto operator<=>(const Audience&, const Audience&) = default;
    };
    // Made when it is first asked for: a kernel starts without those of clients that do not come.
    struct LazyView {
        std::once_flag made;
        View view;
    };
    using Views = std::map<Audience, std::shared_ptr<LazyView>>;

    // Two steps, so that the lock is held for a look-up alone: making a view compiles schemas, and
    // callers with other rules need not wait for that. Callers with the same rules wait for the one
    // that makes it. The pointer that is returned shares the view's owner.
    std::shared_ptr<const View> view_of(const Audience& audience) const {
        const std::shared_ptr<LazyView> shown = views.with([&](Views& all) {
            std::shared_ptr<LazyView>& at = all[audience];
            if (at == nullptr) at = std::make_shared<LazyView>();
            return at;
        });
        std::call_once(shown->made, [&] {
            shown->view = make_view(of(audience.profile), audience.profile, audience.set.get(),
                                    audience.is_person);
        });
        return {shown, &shown->view};
    }
    // Forgets the views of rules that nobody is held to any more.
    void drop_old_views() {
        const auto now = rules->all();
        views.with([&](Views& all) {
            std::erase_if(all, [&](const auto& each) {
                return each.first.set != nullptr &&
                       std::find(now.begin(), now.end(), each.first.set) == now.end();
            });
        });
    }
    // Answers a call. An answer about a file that others have changed since the caller last saw it
    // says so.
    void tell(const Session& session, bool wrote, Result<ToolResult> result,
              Reply<ToolResult> reply) {
        const ToolAnswer* const answer = result ? result->answer() : nullptr;
        const kernel::Touched& touched = result ? result->touched : kernel::Touched{};
        if (answer == nullptr || answer->failed || touched.path.empty() ||
            touched.block_id.empty() || !touched.version)
            return reply(std::move(result));
        auto query = marks.note(session.caller, touched.block_id,
                                static_cast<std::uint64_t>(*touched.version), wrote);
        if (!query) return reply(std::move(result));
        kernel::changed_since(
            kernel.core(), session.caller, std::move(*query),
            [result = std::move(result), profile = session.profile,
             reply = std::move(reply)](Result<kernel::ChangedSince> changed) mutable {
                if (changed) {
                    tell_changes(std::get<ToolAnswer>(result->outcome), std::move(*changed),
                                 profile);
                }
                reply(std::move(result));
            });
    }

    // A tool as a call names it: of a shelf, or the actor's own. An entry of a shelf has no owner
    // here, since the shelf outlives the call; an own tool lives as long as its call.
    struct Called {
        std::shared_ptr<const Entry> entry;
        NamedTool named;
    };
    Called called(Profile profile, std::string_view name, const policy::Actor& by) const {
        const NamedTool named = of(profile).find(name);
        if (named.entry != nullptr) return {{std::shared_ptr<void>(), named.entry}, named};
        if (!remembering) return {};
        MadeTool own = remembering->find(published_name(name), by);
        if (own == nullptr) return {};
        ToolInfo info = shown_in(profile, own->info());
        auto entry = std::make_shared<const Entry>(std::move(own), std::move(info));
        return {entry, {entry.get(), {}, nullptr}};
    }
    // The actor's own tools that its rules leave.
    std::vector<ToolInfo> own_tools(const Audience& audience, const policy::Actor& to) const {
        std::vector<ToolInfo> out;
        if (!remembering) return out;
        for (ToolInfo& each : remembering->list(to)) {
            const bool is_left = audience.set == nullptr || audience.set->is_listed(each.name);
            if (is_left && of(audience.profile).find(each.name).entry == nullptr)
                out.push_back(shown_in(audience.profile, std::move(each)));
        }
        return out;
    }

    kernel::Kernel& kernel;
    std::optional<kernel::WorkspaceSearch> documents;  // Made if no other search was given.
    std::optional<RememberTools> remembering;
    ReadMarks marks;
    kernel::RuleCalls* rules = nullptr;
    std::array<Shelf, kEvery<Profile>.size()> shelves;
    mutable sched::Guarded<Views> views;
};

Registry::Registry(const Parts& parts) : body_(std::make_unique<Body>(parts.kernel)) {
    const BlockNames names{parts.kernel, parts.sources, parts.memory};
    kernel::Kernel& kernel = parts.kernel;
    kernel::FileCalls* const files = parts.files;
    kernel::WorkspaceSearch* search = parts.search;
    if (search == nullptr) search = &body_->documents.emplace(kernel);
    const auto add_named = [&](Profile profile, MadeTool tool) {
        add(profile, addressed(std::move(tool), names));
    };
    // The order is that of lists. Tools with one block_id are wrapped, so that it may be a path or
    // a label; the others name no block, or resolve lists of names themselves.
    add(Profile::full, make_block_create(kernel, files, Profile::full));
    add_named(Profile::full, make_block_status(kernel));
    add_named(Profile::full, make_block_append(kernel, files, Profile::full));
    add_named(Profile::full, make_block_edit(kernel, files));
    add_named(Profile::full, make_block_splice(kernel, files));
    if (files != nullptr) add_named(Profile::full, make_block_apply_patch(kernel, *files));
    add_named(Profile::full, make_block_read(kernel));
    add_named(Profile::full, make_block_search(kernel, *search, Profile::full));
    add(Profile::full, make_block_list(kernel));
    add(Profile::full, make_kernel_search(*search));
    add_named(Profile::full, make_block_delete(kernel));
    add_named(Profile::full, make_block_undo(kernel, files, Profile::full));
    add_named(Profile::full, make_block_redo(kernel, files));
    add_named(Profile::full, make_block_history(kernel));
    add_named(Profile::full, make_block_diff(names));
    add_named(Profile::full, make_block_rollback(names));
    add(Profile::full, make_block_subscribe(names));
    add(Profile::full, make_block_events(kernel));
    add(Profile::full, make_block_sync(names));
    add(Profile::full, make_block_fork(kernel));
    add_named(Profile::full, make_block_mark(kernel));
    add_named(Profile::full, make_block_cursor(kernel));
    add_named(Profile::model, make_block_view(kernel));
    add_named(Profile::model, make_block_str_replace(kernel, files));
    add_named(Profile::model, make_block_insert(kernel, files));
    add_named(Profile::model, make_block_replace_lines(kernel, files));
    if (files != nullptr) add_named(Profile::model, make_block_apply_patch(kernel, *files));
    add_named(Profile::model, make_block_append(kernel, files, Profile::model));
    add(Profile::model, make_block_create(kernel, files, Profile::model));
    add(Profile::model, make_block_list(kernel));
    add_named(Profile::model, make_block_search(kernel, *search, Profile::model));
    add_named(Profile::model, make_block_undo(kernel, files, Profile::model));
}

Registry::~Registry() = default;

void Registry::add(Profile profile, std::unique_ptr<const Tool> tool) {
    CHECK(find(profile, tool->info().name) == nullptr);
    Shelf& shelf = body_->shelves[static_cast<std::size_t>(profile)];
    ToolInfo info = shown_in(profile, published(tool->info(), tool->info().operations.names()));
    shelf.entries.emplace_back(std::move(tool), std::move(info));
}

policy::ToolCatalog Registry::catalog() const {
    policy::ToolCatalog out;
    for (const Profile profile : kEvery<Profile>) {
        for (const Entry& entry : body_->of(profile).entries) {
            policy::KnownTool tool = known(entry.info);
            if (const policy::KnownTool* const before = out.find(tool.name)) {
                tool.profiles = before->profiles;
                if (tool.twins.empty()) tool.twins = before->twins;
            }

            tool.profiles.emplace_back(name_of(profile));
            out.add(std::move(tool));
        }
    }
    if (!body_->remembering) return out;
    for (std::string& name : body_->remembering->names()) {
        if (out.find(name) == nullptr)
            out.add({.name = std::move(name), .in_conversations = false});
    }
    return out;
}

void Registry::remember(RememberTools tools) {
    if (!tools.names().empty()) body_->remembering = std::move(tools);
}

bool Registry::follows_memory() const {
    return body_->remembering.has_value();
}

void Registry::hold_to(kernel::RuleCalls& rules) {
    body_->rules = &rules;
}

void Registry::on_new_rules() {
    body_->drop_old_views();
}

ToolList Registry::list(Profile profile, const policy::Actor& to) const {
    const Body::Audience audience{profile, body_->rules_of(to),
                                  to.kind == policy::ActorKind::human};
    const auto view = body_->view_of(audience);
    std::vector<ToolInfo> own = body_->own_tools(audience, to);
    if (own.empty()) return {view, &view->infos};
    own.insert(own.begin(), view->infos.begin(), view->infos.end());
    return std::make_shared<const std::vector<ToolInfo>>(std::move(own));
}

std::vector<std::string> Registry::rules_for(const policy::Actor& actor) const {
    const auto set = body_->rules_of(actor);
    return set == nullptr ? std::vector<std::string>() : set->sentences();
}

void Registry::end_session(const kernel::Caller& by) const {
    body_->marks.end_session(by);
    if (body_->rules != nullptr) body_->rules->close_session(by);
}

kernel::Admission Registry::admission() const {
    return kernel::Admission(body_->kernel, body_->rules);
}

const ToolInfo* Registry::find(Profile profile, std::string_view name) const {
    const Entry* const entry = body_->of(profile).find(name).entry;
    return entry == nullptr ? nullptr : &entry->info;
}

void Registry::call(const Session& session, std::string_view name, Value arguments,
                    Reply<ToolResult> reply) const {
    const kernel::Admission admission = this->admission();
    const std::string_view profile = name_of(session.profile);
    const auto [entry, named] = body_->called(session.profile, name, session.caller.actor);
    if (entry == nullptr) {
        std::string all;
        List names;
        // "file.raed" is a slip in the operation, and "file_raed" may be one.
        std::vector<std::string> known;
        const ToolList listed = list(session.profile, session.caller.actor);
        for (const ToolInfo& info : *listed) {
            all += cat(" ", info.name);
            names.emplace_back(info.name);
            known.push_back(info.name);
            for (const Operation& each : info.operations.all)
                known.push_back(cat(info.name, ".", each.name));
        }
        text::Nearest nearest(name);
        for (const std::string& each : known) nearest.offer(each);
        std::string message = cat("there is no tool \"", name.substr(0, 80), "\" in profile ",
                                  profile, nearest.suggestion(), "; there are", all);
        Failure unknown = fail(Errc::not_found, "unknown_tool", std::move(message),
                               {{"tools", std::move(names)}});
        admission.refuse(session.caller,
                         {std::string(profile), std::string(name), std::move(arguments), true},
                         unknown.value());
        return reply(std::move(unknown));
    }
    const ToolInfo& info = entry->info;
    const CallArguments given = call_arguments(named, name, std::move(arguments));

    // A call that is refused here has changed nothing.
    const auto refuse = [&](Error error) {
        admission.refuse(session.caller, {std::string(profile), info.name, given.arguments, true},
                         error);
        reply(refused(std::move(error)));
    };
    const std::string word(operation_of(info.operations, named.operation, given.arguments));
    const auto set = body_->rules_of(session.caller.actor);
    if (set != nullptr && is_hidden(*set, info.name, word)) {
        // The rules say which of them refuses it, in their own order. Without a refusal the call
        // goes on: the narrowed schema refuses a word that it does not have.
        std::optional<Error> refusal =
            body_->rules->refusal(session.caller, rule_facts(info, word, given.arguments));
        if (refusal) return refuse(std::move(*refusal));
    }
    const auto view = set == nullptr ? nullptr : body_->view_of({session.profile, set, false});
    const json::Schema& schema = view == nullptr ? entry->accepts() : view->schema_of(*entry);
    Result<Value> accepted = accept(*entry, schema, session.caller.actor, given);
    if (!accepted) return refuse(std::move(accepted).error());

    // From here on the call is one that was let in: the log gets the arguments as the tool gets
    // them, and an approval is for exactly these.
    kernel::CallFacts facts{std::string(profile), info.name, *accepted, only_reads(info, word)};
    if (set != nullptr) facts.for_rules = rule_facts(info, word, *accepted);
    facts.asks = true;
    admission.begin(session.caller, std::move(facts),
                    [admission, body = body_.get(), wrote = !only_reads(info, word), held = entry,
                     profile = session.profile, arguments = std::move(*accepted),
                     reply = std::move(reply)](Result<kernel::AdmittedCall> admitted) mutable {
                        if (!admitted) return reply(refused(std::move(admitted).error()));
                        const Session asked{admitted->by, profile};
                        const bool is_lean = profile == Profile::model;
                        Map said = is_lean ? not_to_repeat(arguments) : Map();
                        held->tool->call(
                            asked, std::move(arguments),
                            [admission, body, asked, wrote, call = std::move(*admitted), is_lean,
                             said = std::move(said),
                             reply = std::move(reply)](Result<ToolResult> result) mutable {
                                // The outcome is logged before the answer is made lean or gets
                                // notes: the log has what the tool answered.
                                end_call(admission, std::move(call), result);
                                if (is_lean) make_lean(result, said);
                                body->tell(asked, wrote, std::move(result), std::move(reply));
                            });
                    });
}

}  // namespace quire::tools
