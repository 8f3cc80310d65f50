// context: structured memory, by label. One tool with an operation, so that a rule can allow some
// of them.
#include "base/concat.h"
#include "json/json.h"
#include "tools/context_operation.h"
#include "tools/context_render.h"
#include "tools/memories.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::json {

template <>
struct Words<tools::ContextOperation> {
    static constexpr std::size_t count = tools::kContextOperations.size();
    static std::string_view word(tools::ContextOperation operation) {
        return tools::name_of(operation);
    }
};

}  // namespace quire::json

namespace quire::tools {

namespace {

using kernel::MemoryVersion;

constexpr std::size_t kFound = 20;

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
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> version_id;
    std::optional<std::string> archival_label;
    std::optional<std::string> query;
    std::optional<std::vector<kernel::MemoryType>> types;
    std::optional<Map> mapping;
    std::optional<bool> dry_run;
    std::optional<std::size_t> limit;
    std::optional<std::string> cursor;
};

Operations operations(bool full) {
    std::vector<std::string> of_history = {"limit"};
    if (full) of_history.emplace_back("cursor");
    const std::string own = "your own writes.";
    return {
        "operation",
        {{.name = "create",
          .needed = {"label"},
          .more = {"schema", "template", "description", "type", "permission", "char_limit",
                   "pinned"},
          .says = "takes schema or template (partner_profile task_list activity_log "
                  "observation_log scratchpad)."},
         {.name = "view", .needed = {"label"}, .more = {"section"}, .reads = true},
         {.name = "list", .more = {"type", "prefix"}, .reads = true},
         {.name = "append", .needed = {"label", "content"}, .more = {"section"}},
         {.name = "replace", .needed = {"label", "find", "replace"}, .more = {"section"}},
         {.name = "set_field", .needed = {"label", "field", "value"}, .more = {"section"}},
         {.name = "append_to_list", .needed = {"label", "item"}, .more = {"field", "section"}},
         {.name = "remove_from_list", .needed = {"label", "index"}, .more = {"field", "section"}},
         {.name = "increment_counter", .needed = {"label", "field", "delta"}, .more = {"section"}},
         {.name = "archive", .needed = {"label"}, .more = {"archival_label"}},
         {.name = "load", .needed = {"archival_label"}, .more = {"label"}},
         {.name = "swap", .needed = {"label", "archival_label"}},
         {.name = "search",
          .needed = {"query"},
          .more = {"types", "limit"},
          .reads = true,
          .says = "words \"phrase\" -not label:NAME."},
         {.name = "undo", .needed = {"label"}, .says = own},
         {.name = "redo", .needed = {"label"}, .says = own},
         {.name = "history", .needed = {"label"}, .more = of_history, .reads = true},
         {.name = "diff", .needed = {"label"}, .more = {"from", "to"}, .reads = true},
         {.name = "rollback", .needed = {"label", "version_id"}},
         {.name = "share", .needed = {"label", "with"}, .more = {"permission"}},
         {.name = "unshare", .needed = {"label", "with"}},
         {.name = "convert", .needed = {"label", "schema"}, .more = {"mapping", "dry_run"}},
         {.name = "delete", .needed = {"label"}}}};
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
    const memory::FieldPath path{section, args.field.value_or("")};
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
        case ContextOperation::search:
        case ContextOperation::undo:
        case ContextOperation::redo:
        case ContextOperation::history:
        case ContextOperation::diff:
        case ContextOperation::rollback:
        case ContextOperation::archive:
        case ContextOperation::load:
        case ContextOperation::swap:
        case ContextOperation::convert:
        case ContextOperation::share:
        case ContextOperation::unshare:
        case ContextOperation::erase:
            break;
    }
    CHECK(false && "a write is one of the six above");
    return {};
}

Reply<MemoryVersion> answer_done(Reply<ToolResult> reply, std::string what) {
    return answer_with<MemoryVersion>(std::move(reply),
                                      [what = std::move(what)](const MemoryVersion& block) {
                                          return render_memory_done(block, what);
                                      });
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
                 answer_done(std::move(reply),
                             cat(gives ? "shared with " : "not shared with ", with->str())));
}

void run(kernel::MemoryCalls& memory, const Session& session, Args args, Reply<ToolResult> reply) {
    const kernel::Caller& by = session.caller;
    switch (args.operation) {
        case ContextOperation::create: {
            Result<kernel::MemoryCreate> what = create_of(std::move(args));
            if (!what) return reply(refused(what.error()));
            return memory.create(by, std::move(*what), answer_done(std::move(reply), "created"));
        }
        case ContextOperation::view:
            return memory.view(
                by, *args.label, std::move(args.section),
                answer_with<kernel::MemoryView>(std::move(reply), render_memory_view));
        case ContextOperation::list:
            return memory.list(
                by, args.type, args.prefix.value_or(""),
                answer_with<kernel::MemoryList>(std::move(reply), render_memory_list));
        case ContextOperation::append:
        case ContextOperation::replace:
        case ContextOperation::set_field:
        case ContextOperation::append_to_list:
        case ContextOperation::remove_from_list:
        case ContextOperation::increment_counter: {
            const std::string_view word = name_of(args.operation);
            const MadeByWrite made =
                args.operation == ContextOperation::increment_counter  ? MadeByWrite::value
                : args.operation == ContextOperation::remove_from_list ? MadeByWrite::removed
                                                                       : MadeByWrite::nothing;
            const std::string label = *args.label;
            return memory.write(
                by, label, write_of(std::move(args)),
                answer_with<kernel::MemoryWritten>(
                    std::move(reply), [word, made](const kernel::MemoryWritten& written) {
                        return render_memory_written(written, word, made);
                    }));
        }
        case ContextOperation::undo:
        case ContextOperation::redo: {
            const bool redo = args.operation == ContextOperation::redo;
            return memory.undo(by, *args.label, redo,
                               answer_with<kernel::MemoryUndone>(
                                   std::move(reply), [redo](const kernel::MemoryUndone& undone) {
                                       return render_memory_undone(undone, redo);
                                   }));
        }
        case ContextOperation::history:
            return memory.history(
                by, *args.label, args.limit.value_or(100), args.cursor.value_or(""),
                answer_with<kernel::MemoryHistory>(std::move(reply), render_memory_history));
        case ContextOperation::search:
            return memory.search(
                by,
                {std::move(*args.query), args.types.value_or(std::vector<kernel::MemoryType>()),
                 args.limit.value_or(kFound)},
                answer_with<kernel::MemoryFound>(std::move(reply), render_memory_found));
        case ContextOperation::diff:
            return memory.diff(
                by, *args.label, args.from, args.to,
                answer_with<kernel::MemoryDiff>(std::move(reply), render_memory_diff));
        case ContextOperation::rollback:
            return memory.rollback(by, *args.label, *args.version_id,
                                   answer_done(std::move(reply), "rolled back"));
        case ContextOperation::archive:
            return memory.archive(
                by, *args.label, args.archival_label,
                answer_with<kernel::MemoryMoved>(std::move(reply), render_archived));
        case ContextOperation::load:
            return memory.load(by, *args.archival_label, args.label,
                               answer_done(std::move(reply), "loaded"));
        case ContextOperation::swap:
            return memory.swap(by, *args.label, *args.archival_label,
                               answer_with<kernel::MemoryMoved>(std::move(reply), render_swapped));
        case ContextOperation::convert: {
            const bool dry_run = args.dry_run.value_or(false);
            return memory.convert(
                by, *args.label,
                {unwrapped(std::move(*args.schema)), std::move(args.mapping).value_or(Map()),
                 dry_run},
                answer_with<kernel::MemoryConverted>(std::move(reply), [dry_run](const auto& made) {
                    return render_converted(made, dry_run);
                }));
        }
        case ContextOperation::share:
        case ContextOperation::unshare:
            return share(memory, by, args, std::move(reply));
        case ContextOperation::erase:
            return memory.erase(by, *args.label,
                                answer_done(std::move(reply), "deleted; the label is free"));
    }
}

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
            .optional("with", &Args::with)
            .optional("from", &Args::from)
            .optional("to", &Args::to)
            .optional("version_id", &Args::version_id)
            .optional("archival_label", &Args::archival_label)
            .optional("query", &Args::query)
            .optional("types", &Args::types)
            .optional("mapping", &Args::mapping)
            .optional("dry_run", &Args::dry_run)
            .optional("limit", &Args::limit, "", {{"minimum", 1}, {"maximum", 1000}});
    if (full) static_cast<void>(std::move(fields).optional("cursor", &Args::cursor));
    return make_tool<Args>({.name = "context",
                            .title = "Work with memory",
                            .description = "Structured memory, by label.",
                            .annotations = {.destructive = true},
                            .answer = memory_answer(full),
                            .operations = operations(full)},
                           std::move(fields),
                           [&memory](const Session& session, Args args, Reply<ToolResult> reply) {
                               run(memory, session, std::move(args), std::move(reply));
                           });
}

}  // namespace quire::tools
