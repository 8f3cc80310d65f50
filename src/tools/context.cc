// context: structured memory, by label. One tool with an operation, so that a rule can allow some
// of them.
#include <array>

#include "base/cat.h"
#include "json/json.h"
#include "tools/memories.h"
#include "tools/render.h"
#include "tools/takes.h"
#include "tools/typed_tool.h"

namespace quire::tools {

enum class ContextOperation {
    create,
    view,
    list,
    append,
    replace,
    set_field,
    append_to_list,
    remove_from_list,
    increment_counter,
    undo,
    redo,
    history,
    share,
    unshare,
    erase
};

template <>
struct Words<ContextOperation> {
    static constexpr std::array<std::string_view, 15> words = {"create",
                                                               "view",
                                                               "list",
                                                               "append",
                                                               "replace",
                                                               "set_field",
                                                               "append_to_list",
                                                               "remove_from_list",
                                                               "increment_counter",
                                                               "undo",
                                                               "redo",
                                                               "history",
                                                               "share",
                                                               "unshare",
                                                               "delete"};
    static constexpr std::size_t count = words.size();
    static std::string_view word(ContextOperation operation) {
        return words[static_cast<std::size_t>(operation)];
    }
};
template <>
struct Words<kernel::MemoryType> {
    static constexpr std::size_t count = std::size(kernel::kMemoryTypes);
    static std::string_view word(kernel::MemoryType type) { return kernel::name_of(type); }
};

namespace {

using kernel::MemoryVersion;

struct Args {
    ContextOperation operation = ContextOperation::list;
    std::optional<std::string> label;
    std::optional<std::string> section;
    std::optional<std::string> field;
    std::optional<Value> value;
    std::optional<Value> content;
    std::optional<std::string> find;
    std::optional<std::string> replace;
    std::optional<Value> item;
    std::optional<std::int64_t> index;
    std::optional<Value> delta;
    std::optional<Value> schema;
    std::optional<std::string> from_template;
    std::optional<std::string> description;
    std::optional<kernel::MemoryType> type;
    std::optional<std::string> permission;
    std::optional<std::size_t> char_limit;
    std::optional<bool> pinned;
    std::optional<std::string> prefix;
    std::optional<std::string> with;
    std::optional<std::size_t> limit;
    std::optional<std::string> cursor;
};

Takes takes(ContextOperation operation) {
    switch (operation) {
        case ContextOperation::create:
            return {{"label"},
                    {"schema", "template", "description", "type", "permission", "char_limit",
                     "pinned"}};
        case ContextOperation::view:
            return {{"label"}, {"section"}};
        case ContextOperation::list:
            return {{}, {"type", "prefix"}};
        case ContextOperation::append:
            return {{"label", "content"}, {"section"}};
        case ContextOperation::replace:
            return {{"label", "find", "replace"}, {"section"}};
        case ContextOperation::set_field:
            return {{"label", "field", "value"}, {"section"}};
        case ContextOperation::append_to_list:
            return {{"label", "item"}, {"field", "section"}};
        case ContextOperation::remove_from_list:
            return {{"label", "index"}, {"field", "section"}};
        case ContextOperation::increment_counter:
            return {{"label", "field", "delta"}, {"section"}};
        case ContextOperation::history:
            return {{"label"}, {"limit", "cursor"}};
        case ContextOperation::share:
            return {{"label", "with"}, {"permission"}};
        case ContextOperation::unshare:
            return {{"label", "with"}, {}};
        case ContextOperation::undo:
        case ContextOperation::redo:
        case ContextOperation::erase:
            return {{"label"}, {}};
    }
    return {};
}

Result<void> check_arguments(const Args& args) {
    const std::pair<std::string_view, bool> given[] = {
        {"label", args.label.has_value()},
        {"section", args.section.has_value()},
        {"field", args.field.has_value()},
        {"value", args.value.has_value()},
        {"content", args.content.has_value()},
        {"find", args.find.has_value()},
        {"replace", args.replace.has_value()},
        {"item", args.item.has_value()},
        {"index", args.index.has_value()},
        {"delta", args.delta.has_value()},
        {"schema", args.schema.has_value()},
        {"template", args.from_template.has_value()},
        {"description", args.description.has_value()},
        {"type", args.type.has_value()},
        {"permission", args.permission.has_value()},
        {"char_limit", args.char_limit.has_value()},
        {"pinned", args.pinned.has_value()},
        {"prefix", args.prefix.has_value()},
        {"with", args.with.has_value()},
        {"limit", args.limit.has_value()},
        {"cursor", args.cursor.has_value()}};
    return check_takes("operation", Words<ContextOperation>::word(args.operation),
                       takes(args.operation), given);
}

// --- what is answered ---

Map members_of(const MemoryVersion& block) {
    return {{"label", block.label}, {"block_id", block.block_id}, {"version", block.version}};
}

ToolResult done(const MemoryVersion& block, std::string_view what) {
    return {members_of(block),
            cat(block.label, ": ", what, ", now version ", block.version, ".\n")};
}

Map row_of(const kernel::MemoryRow& row) {
    return {{"label", row.block.label},
            {"block_id", row.block.block_id},
            {"type", kernel::name_of(row.type)},
            {"permission", policy::name_of(row.permission)},
            {"description", row.description},
            {"version", row.block.version},
            {"pinned", row.pinned}};
}

ToolResult render_list(const kernel::MemoryList& list) {
    List rows;
    std::string text = list.blocks.empty() ? "No memory blocks.\n" : "";
    for (const kernel::MemoryRow& row : list.blocks) {
        rows.push_back(row_of(row));
        text += cat(row.block.label, "\t", kernel::name_of(row.type), "\t",
                    policy::name_of(row.permission), "\tversion ", row.block.version, "\t",
                    row.description, "\n");
    }
    Map out{{"blocks", std::move(rows)}};
    if (!list.unreadable.empty()) {
        out.append("unreadable", strings(list.unreadable));
        for (const std::string& label : list.unreadable)
            text += cat("Note: ", label, " cannot be read; context view says why.\n");
    }
    return {std::move(out), std::move(text)};
}

ToolResult render_view(kernel::MemoryView view) {
    Map out = members_of(view.row.block);
    out.append("type", kernel::name_of(view.row.type));
    out.append("permission", policy::name_of(view.row.permission));
    out.append("schema", std::move(view.schema));
    out.append("rendered", view.rendered);
    out.append("value", std::move(view.value));
    std::string text = std::move(view.rendered);
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    return {std::move(out), cat(text, "Version ", view.row.block.version, ".\n")};
}

ToolResult render_written(ContextOperation operation, kernel::MemoryWritten written) {
    std::string what(Words<ContextOperation>::word(operation));
    if (!written.made.is_null()) what += cat(" ", json::write(written.made));
    ToolResult result = done(written.block, what);
    Map& out = result.structured.as_map();
    if (operation == ContextOperation::increment_counter)
        out.append("value", std::move(written.made));
    else if (operation == ContextOperation::remove_from_list)
        out.append("removed", std::move(written.made));
    return result;
}

ToolResult render_undone(const kernel::MemoryUndone& undone, bool redo) {
    ToolResult result = done(undone.block, redo ? "redone" : "undone");
    Map& out = result.structured.as_map();
    out.append("restored", undone.restored);
    out.append("removed", undone.removed);
    out.append("skipped_because_changed", undone.skipped_because_changed);
    if (undone.skipped_because_changed > 0) {
        result.text += cat("Note: ", undone.skipped_because_changed,
                           " of its parts had been changed by others since and stay.\n");
    }
    return result;
}

ToolResult render_past(const kernel::MemoryHistory& history) {
    ToolResult result = render_history(history.page);
    for (const Map::Entry& member : members_of(history.block))
        result.structured.as_map().append(member.key, member.value);
    return result;
}

// --- what is asked ---

// A schema that a client sent as text in place of JSON.
Value unwrapped(Value schema) {
    if (!schema.is_string()) return schema;
    Result<Value> inside = json::parse(schema.as_string());
    return inside && inside->is_map() ? std::move(*inside) : schema;
}

Result<kernel::MemoryCreate> create_of(Args&& args) {
    kernel::MemoryCreate what;
    what.label = std::move(*args.label);
    if (args.schema) what.schema = unwrapped(std::move(*args.schema));
    what.from_template = std::move(args.from_template);
    what.description = std::move(args.description);
    if (args.permission) what.permission = TRY(policy::parse_permission(*args.permission));
    what.type = args.type.value_or(what.type);
    what.char_limit = args.char_limit;
    what.pinned = args.pinned.value_or(false);
    return what;
}

// An agent by its name alone, or any actor as KIND:NAME.
Result<policy::Actor> partner_of(const std::string& with) {
    return policy::Actor::parse(with.find(':') == std::string::npos ? cat("agent:", with) : with);
}

kernel::MemoryWrite write_of(Args&& args) {
    const std::string section = args.section.value_or("");
    const document::FieldPath path{section, args.field.value_or("")};
    switch (args.operation) {
        case ContextOperation::append:
            return kernel::AppendContent{section, std::move(*args.content)};
        case ContextOperation::replace:
            return kernel::ReplaceText{section, std::move(*args.find), std::move(*args.replace)};
        case ContextOperation::append_to_list:
            return kernel::AppendToList{path, std::move(*args.item)};
        case ContextOperation::remove_from_list:
            return kernel::RemoveFromList{path, *args.index};
        case ContextOperation::increment_counter:
            return kernel::IncrementCounter{path, std::move(*args.delta)};
        case ContextOperation::set_field:
            return kernel::SetField{path, std::move(*args.value)};
        case ContextOperation::create:
        case ContextOperation::view:
        case ContextOperation::list:
        case ContextOperation::undo:
        case ContextOperation::redo:
        case ContextOperation::history:
        case ContextOperation::share:
        case ContextOperation::unshare:
        case ContextOperation::erase:
            break;
    }
    CHECK(false && "a write is one of the six above");
    return {};
}

void share(kernel::MemoryCalls& memory, const kernel::Caller& by, const Args& args,
           Reply<ToolResult> reply) {
    const bool gives = args.operation == ContextOperation::share;
    const Result<policy::Actor> with = partner_of(*args.with);
    if (!with) return reply(refused(with.error()));
    std::optional<policy::Permission> permission;
    if (gives) {
        const Result<policy::Permission> level =
            policy::parse_permission(args.permission.value_or("append"));
        if (!level) return reply(refused(level.error()));
        permission = *level;
    }
    memory.share(by, *args.label, *with, permission,
                 answer_with<MemoryVersion>(
                     std::move(reply), [gives, name = with->str()](const MemoryVersion& block) {
                         return done(block, cat(gives ? "shared with " : "not shared with ", name));
                     }));
}

void run(kernel::MemoryCalls& memory, const Session& session, Args args, Reply<ToolResult> reply) {
    if (const Result<void> right = check_arguments(args); !right)
        return reply(refused(right.error()));
    const kernel::Caller& by = session.caller;
    switch (args.operation) {
        case ContextOperation::create: {
            Result<kernel::MemoryCreate> what = create_of(std::move(args));
            if (!what) return reply(refused(what.error()));
            return memory.create(
                by, std::move(*what),
                answer_with<MemoryVersion>(std::move(reply), [](const MemoryVersion& block) {
                    return done(block, "created");
                }));
        }
        case ContextOperation::view:
            return memory.view(by, *args.label, std::move(args.section),
                               answer_with<kernel::MemoryView>(std::move(reply), render_view));
        case ContextOperation::list:
            return memory.list(by, args.type, args.prefix.value_or(""),
                               answer_with<kernel::MemoryList>(std::move(reply), render_list));
        case ContextOperation::append:
        case ContextOperation::replace:
        case ContextOperation::set_field:
        case ContextOperation::append_to_list:
        case ContextOperation::remove_from_list:
        case ContextOperation::increment_counter: {
            const ContextOperation operation = args.operation;
            const std::string label = *args.label;
            return memory.write(by, label, write_of(std::move(args)),
                                answer_with<kernel::MemoryWritten>(
                                    std::move(reply), [operation](kernel::MemoryWritten written) {
                                        return render_written(operation, std::move(written));
                                    }));
        }
        case ContextOperation::undo:
        case ContextOperation::redo: {
            const bool redo = args.operation == ContextOperation::redo;
            return memory.undo(by, *args.label, redo,
                               answer_with<kernel::MemoryUndone>(
                                   std::move(reply), [redo](const kernel::MemoryUndone& undone) {
                                       return render_undone(undone, redo);
                                   }));
        }
        case ContextOperation::history:
            return memory.history(
                by, *args.label, args.limit.value_or(100), args.cursor.value_or(""),
                answer_with<kernel::MemoryHistory>(std::move(reply), render_past));
        case ContextOperation::share:
        case ContextOperation::unshare:
            return share(memory, by, args, std::move(reply));
        case ContextOperation::erase:
            return memory.erase(
                by, *args.label,
                answer_with<MemoryVersion>(std::move(reply), [](const MemoryVersion& block) {
                    return done(block, "deleted; the label is free");
                }));
    }
}

// Published to every model at every start, so each word of it is paid for again and again.
constexpr std::string_view kWhatItTakes =
    "Structured memory, by label. create takes schema or template (partner_profile task_list "
    "activity_log observation_log scratchpad). undo, redo: your own writes.";

}  // namespace

std::unique_ptr<const Tool> make_context(kernel::MemoryCalls& memory, Profile profile) {
    const bool full = profile == Profile::full;
    Fields<Args> fields =
        Fields<Args>()
            .required("operation", &Args::operation)
            .optional("label", &Args::label)
            .optional("section", &Args::section)
            .optional("field", &Args::field)
            .optional("value", &Args::value)
            .optional("content", &Args::content)
            .optional("find", &Args::find)
            .optional("replace", &Args::replace)
            .optional("item", &Args::item)
            .optional("index", &Args::index)
            .optional("delta", &Args::delta, "", {{"type", "number"}})
            .optional("schema", &Args::schema, "", {{"type", List{"object", "string"}}})
            .optional("template", &Args::from_template)
            .optional("description", &Args::description)
            .optional("type", &Args::type)
            .optional("permission", &Args::permission)
            .optional("char_limit", &Args::char_limit, "", {{"minimum", 1}})
            .optional("pinned", &Args::pinned)
            .optional("prefix", &Args::prefix)
            .optional("with", &Args::with);
    if (full) {
        static_cast<void>(
            std::move(fields)
                .optional("limit", &Args::limit, "", {{"minimum", 1}, {"maximum", 1000}})
                .optional("cursor", &Args::cursor));
    }
    return make_tool<Args>(
        {.name = "context",
         .title = "Work with memory",
         .description = std::string(kWhatItTakes),
         .annotations = {.destructive = true},
         .output_schema = object_schema(
             {{"label", "string?"}, {"block_id", "string?"}, {"version", "integer?"}}),
         .reads = {"view", "list", "history"}},
        std::move(fields), [&memory](const Session& session, Args args, Reply<ToolResult> reply) {
            run(memory, session, std::move(args), std::move(reply));
        });
}

}  // namespace quire::tools
