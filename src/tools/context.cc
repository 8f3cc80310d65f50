// context: structured memory, by label. A function for each operation, and the table of them.
//
// The functions only translate: arguments into the kernel's structs, and its answers into results
// (context_render.h). Which operation takes what stands in the table at the end; who may do what,
// and which values a schema accepts, is decided by the kernel. A check stands here only where two
// arguments exclude each other, which no schema of one flat object says.
//
// Descriptions are as short as they can be understood: the tool has 27 operations, and a model pays
// for every word of them at every start.
#include "base/concat.h"
#include "json/json.h"
#include "kernel/memory/memory_calls.h"
#include "tools/context_render.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace quire::tools {

namespace {

using kernel::MemoryCalls;
using kernel::MemoryVersion;

Map schema_rules() {
    return {{"type", List{"object", "string"}}};
}
Map limit_rules() {
    return {{"minimum", 1}, {"maximum", 1000}};
}

// The words for arguments that several operations take.
constexpr std::string_view kLabelSays = "A block's label.";
constexpr std::string_view kSchemaSays =
    R"({"Map":{"fields":[{"name":"mood","field_type":"Text"}]}}; Text, List, Log…)";
constexpr std::string_view kTypeSays = "core: in context.";
constexpr std::string_view kPermissionSays = "read_only append read_write admin";
constexpr std::string_view kLimitSays = "Most rows.";

// Answers an operation that changed a block and made nothing else.
auto answer_done(Reply<ToolResult> reply, std::string what) {
    return answer_with(std::move(reply), [what = std::move(what)](const MemoryVersion& block) {
        return render_memory_done(block, what);
    });
}

// --- create, convert ---

// The schema itself, where a client sent its JSON as a string. Some clients make a string of every
// argument that is no plain type. "Text" is a schema too, and no JSON of an object, so it stays
// what it is.
Value parsed_schema(Value schema) {
    if (!schema.is_string()) return schema;
    Result<Value> inside = json::parse(schema.as_string());
    return inside && inside->is_map() ? std::move(*inside) : schema;
}

struct NewMemory {
    std::string label;
    std::optional<Value> schema;
    std::optional<std::string> from_template;
    std::optional<std::string> description;
    std::optional<kernel::MemoryType> type;
    std::optional<std::string> permission;
    std::optional<std::size_t> char_limit;
    std::optional<bool> pinned;
    // `templates`: those of the workspace, which are named beside the built-in ones.
    static Fields<NewMemory> fields(const std::vector<std::string>& templates = {}) {
        std::string names = "partner_profile task_list activity_log observation_log scratchpad";
        for (const std::string& each : templates) cat_to(names, cat(" ", each));
        return Fields<NewMemory>()
            .required("label", &NewMemory::label, kLabelSays)
            .optional("schema", &NewMemory::schema, kSchemaSays, schema_rules())
            .optional("template", &NewMemory::from_template, cat(names, ", or of quire.toml."))
            .optional("description", &NewMemory::description, "Its purpose.")
            .optional("type", &NewMemory::type, kTypeSays)
            .optional("permission", &NewMemory::permission, kPermissionSays)
            .optional("char_limit", &NewMemory::char_limit, "Most characters of a text.",
                      {{"minimum", 1}})
            .optional("pinned", &NewMemory::pinned, "Keep in context.");
    }
};

void create_memory(MemoryCalls& memory, OperationCall call, NewMemory args) {
    kernel::MemoryCreate what;
    // The argument is a string and no enum: the parser ignores case and takes "read-write" and
    // "readwrite" as well.
    if (args.permission) {
        const Result<policy::Permission> level = policy::parse_permission(*args.permission);
        if (!level) return call.reply(Failure(level.error()));
        what.permission = *level;
    }
    what.label = std::move(args.label);
    if (args.schema) what.schema = parsed_schema(std::move(*args.schema));
    what.from_template = std::move(args.from_template);
    what.description = std::move(args.description);
    what.type = args.type.value_or(what.type);
    what.char_limit = args.char_limit;
    what.pinned = args.pinned.value_or(false);
    memory.create(call.by(), std::move(what), answer_done(std::move(call.reply), "created"));
}

// `mapping` says which old field becomes which new one; a dry run only reports.
void convert_memory(MemoryCalls& memory, OperationCall call, std::string label, Value schema,
                    std::optional<Map> mapping, std::optional<bool> dry_run,
                    std::optional<bool> accept_loss) {
    const bool is_dry = dry_run.value_or(false);
    memory.convert(
        call.by(), std::move(label),
        {parsed_schema(std::move(schema)), std::move(mapping).value_or(Map()), is_dry,
         accept_loss.value_or(false)},
        answer_with(std::move(call.reply), [is_dry](const kernel::MemoryConverted& made) {
            return render_converted(made, is_dry);
        }));
}

// --- view, list, search ---

void view_memory(MemoryCalls& memory, OperationCall call, std::string label,
                 std::optional<std::string> section) {
    memory.view(call.by(), std::move(label), {std::move(section)},
                answer_with(std::move(call.reply), render_memory_view));
}

void list_memory(MemoryCalls& memory, OperationCall call, std::optional<kernel::MemoryType> type,
                 std::optional<std::string> prefix, std::optional<bool> deleted) {
    memory.list(call.by(), {type, std::move(prefix).value_or(""), deleted.value_or(false)},
                answer_with(std::move(call.reply), render_memory_list));
}

void search_memory(MemoryCalls& memory, OperationCall call, std::string query,
                   std::optional<std::vector<kernel::MemoryType>> types,
                   std::optional<std::size_t> limit) {
    kernel::MemorySearch search{.query = std::move(query)};
    if (types) search.types = std::move(*types);
    if (limit) search.limit = *limit;
    memory.search(call.by(), std::move(search),
                  answer_with(std::move(call.reply), render_memory_found));
}

// --- writes to a text, to fields and to lists ---

using Section = std::optional<std::string>;

// A path without a section or a field leaves that part empty. The kernel knows by the block's
// schema which parts it needs.
memory::FieldPath path_of(Section section, std::optional<std::string> field) {
    return {std::move(section).value_or(""), std::move(field).value_or("")};
}

void write_memory(MemoryCalls& memory, OperationCall call, std::string label,
                  kernel::MemoryWrite write, WriteMade made = WriteMade::nothing) {
    memory.write(call.by(), std::move(label), std::move(write),
                 answer_with(std::move(call.reply), [made](const kernel::MemoryWritten& written) {
                     return render_memory_written(written, made);
                 }));
}

void append_content(MemoryCalls& memory, OperationCall call, std::string label, Value content,
                    Section section) {
    write_memory(memory, std::move(call), std::move(label),
                 kernel::AppendContent{std::move(section).value_or(""), std::move(content)});
}

void replace_text(MemoryCalls& memory, OperationCall call, std::string label, std::string find,
                  std::string replace, Section section) {
    write_memory(
        memory, std::move(call), std::move(label),
        kernel::ReplaceText{std::move(section).value_or(""), std::move(find), std::move(replace)},
        WriteMade::replacements);
}

void set_field(MemoryCalls& memory, OperationCall call, std::string label, std::string field,
               Value value, Section section) {
    write_memory(memory, std::move(call), std::move(label),
                 kernel::SetField{path_of(std::move(section), std::move(field)), std::move(value)});
}

// One schema says what `content` is in all operations, so that it is a text is asked here.
void set_text(MemoryCalls& memory, OperationCall call, std::string label, Value content,
              Section section) {
    if (!content.is_string()) {
        return call.reply(invalid("invalid_arguments",
                                  "'content' must be a text here; nothing was changed"));
    }
    write_memory(memory, std::move(call), std::move(label),
                 kernel::SetText{std::move(section).value_or(""), content.as_string()});
}

void insert_item(MemoryCalls& memory, OperationCall call, std::string label, std::int64_t index,
                 Value item, std::optional<std::string> field, Section section) {
    write_memory(memory, std::move(call), std::move(label),
                 kernel::InsertItem{path_of(std::move(section), std::move(field)), index,
                                    std::move(item)});
}

void set_item(MemoryCalls& memory, OperationCall call, std::string label, std::int64_t index,
              std::optional<Value> item, std::optional<std::string> item_field,
              std::optional<Value> value, std::optional<std::string> field, Section section) {
    // Three arguments, two forms: `item` alone, or `item_field` and `value` together.
    if (item.has_value() == item_field.has_value() || value.has_value() != item_field.has_value()) {
        return call.reply(invalid("invalid_arguments",
                                  "give either 'item', the whole of it, or 'item_field' with "
                                  "'value'; nothing was changed"));
    }
    write_memory(memory, std::move(call), std::move(label),
                 kernel::SetItem{path_of(std::move(section), std::move(field)), index,
                                 std::move(item_field), item ? *std::move(item)
                                                             : *std::move(value)});
}

void append_to_list(MemoryCalls& memory, OperationCall call, std::string label, Value item,
                    std::optional<std::string> field, Section section) {
    write_memory(
        memory, std::move(call), std::move(label),
        kernel::AppendToList{path_of(std::move(section), std::move(field)), std::move(item)});
}

void remove_from_list(MemoryCalls& memory, OperationCall call, std::string label,
                      std::int64_t index, std::optional<std::string> field, Section section) {
    write_memory(memory, std::move(call), std::move(label),
                 kernel::RemoveFromList{path_of(std::move(section), std::move(field)), index},
                 WriteMade::removed);
}

void increment_counter(MemoryCalls& memory, OperationCall call, std::string label,
                       std::string field, Value delta, Section section) {
    write_memory(
        memory, std::move(call), std::move(label),
        kernel::IncrementCounter{path_of(std::move(section), std::move(field)), std::move(delta)},
        WriteMade::value);
}

// --- undo, redo, history, diff, rollback, delete, restore, rename ---

// Undo and redo differ in one flag of the kernel's call.
template <bool redo>
void undo_memory(MemoryCalls& memory, OperationCall call, std::string label) {
    memory.undo(call.by(), std::move(label), redo,
                answer_with(std::move(call.reply), [](const kernel::MemoryUndone& undone) {
                    return render_memory_undone(undone, redo);
                }));
}

// Profile `full` pages through the history; `model` sees its newest part only.
struct MemoryVersions {
    std::string label;
    std::optional<std::size_t> limit;
    std::string cursor;
};
Fields<MemoryVersions> version_fields(bool full) {
    Fields<MemoryVersions> out;
    out.required("label", &MemoryVersions::label, kLabelSays)
        .optional("limit", &MemoryVersions::limit, kLimitSays, limit_rules());
    if (full) out.optional("cursor", &MemoryVersions::cursor, "From next_cursor.");
    return out;
}

void list_memory_versions(MemoryCalls& memory, OperationCall call, MemoryVersions args) {
    constexpr std::size_t kVersions = 100;
    memory.history(call.by(), std::move(args.label), args.limit.value_or(kVersions),
                   std::move(args.cursor),
                   answer_with(std::move(call.reply), render_memory_history));
}

void diff_memory(MemoryCalls& memory, OperationCall call, std::string label,
                 std::optional<std::string> from, std::optional<std::string> to) {
    memory.diff(call.by(), std::move(label), std::move(from), std::move(to),
                answer_with(std::move(call.reply), render_memory_diff));
}

void roll_back_memory(MemoryCalls& memory, OperationCall call, std::string label,
                      std::string version_id) {
    memory.rollback(call.by(), std::move(label), std::move(version_id),
                    answer_done(std::move(call.reply), "rolled back"));
}

void delete_memory(MemoryCalls& memory, OperationCall call, std::string label) {
    memory.erase(call.by(), std::move(label),
                 answer_done(std::move(call.reply), "deleted; the label is free"));
}

// A deleted block is named by its id, or by the label that it had.
void restore_memory(MemoryCalls& memory, OperationCall call, std::optional<std::string> label,
                    std::optional<std::string> block_id, std::optional<std::string> to) {
    if (label.has_value() == block_id.has_value()) {
        return call.reply(invalid("invalid_arguments",
                                  "restore takes either the block_id of a deleted block or the "
                                  "label that it had"));
    }
    memory.restore(call.by(), block_id ? std::move(*block_id) : std::move(*label), std::move(to),
                   answer_done(std::move(call.reply), "restored"));
}

void rename_memory(MemoryCalls& memory, OperationCall call, std::string label, std::string to) {
    memory.rename(call.by(), std::move(label), std::move(to),
                  answer_done(std::move(call.reply), "renamed; the old label is free"));
}

// --- archive, load, swap ---

void archive_memory(MemoryCalls& memory, OperationCall call, std::string label,
                    std::optional<std::string> archival_label) {
    memory.archive(call.by(), std::move(label), std::move(archival_label),
                   answer_with(std::move(call.reply), render_archived));
}

void load_memory(MemoryCalls& memory, OperationCall call, std::string archival_label,
                 std::optional<std::string> label) {
    memory.load(call.by(), std::move(archival_label), std::move(label),
                answer_done(std::move(call.reply), "loaded"));
}

void swap_memory(MemoryCalls& memory, OperationCall call, std::string label,
                 std::string archival_label) {
    memory.swap(call.by(), std::move(label), std::move(archival_label),
                answer_with(std::move(call.reply), render_swapped));
}

// --- share, unshare ---

// An agent by its name alone, or any actor as KIND:NAME. Errors: those of policy::Actor::parse().
Result<policy::Actor> partner_of(const std::string& with) {
    return policy::Actor::parse(with.find(':') == std::string::npos ? cat("agent:", with) : with);
}

void share_memory(MemoryCalls& memory, OperationCall call, std::string label, std::string with,
                  std::optional<std::string> permission) {
    const Result<policy::Actor> partner = partner_of(with);
    if (!partner) return call.reply(Failure(partner.error()));
    // Sharing without a level lets the other add to the block and nothing more.
    const Result<policy::Permission> level =
        policy::parse_permission(permission.value_or("append"));
    if (!level) return call.reply(Failure(level.error()));
    memory.share(call.by(), std::move(label), *partner, *level,
                 answer_done(std::move(call.reply), cat("shared with ", partner->str())));
}

void unshare_memory(MemoryCalls& memory, OperationCall call, std::string label, std::string with) {
    const Result<policy::Actor> partner = partner_of(with);
    if (!partner) return call.reply(Failure(partner.error()));
    memory.share(call.by(), std::move(label), *partner, std::nullopt,
                 answer_done(std::move(call.reply), cat("not shared with ", partner->str())));
}

// --- the table ---

// One row per operation, in the order in which they are listed. An argument that several operations
// take is one Argument, since they must agree on its schema.
std::vector<OperationRow<MemoryCalls&>> context_rows(
    bool full, const std::vector<std::string>& templates = {}) {
    const Argument label{"label", std::string(kLabelSays)};
    const Argument schema{"schema", std::string(kSchemaSays), schema_rules()};
    const Argument type{"type", std::string(kTypeSays)};
    const Argument permission{"permission", std::string(kPermissionSays)};
    const Argument limit{"limit", std::string(kLimitSays), limit_rules()};
    const Argument archival_label{"archival_label", "In the archive."};
    const Argument section{"section", "Of a Composite schema."};
    const Argument field{"field", "Its name; absent in a List."};
    const Argument content{"content", "Text, item or entry."};
    const Argument item{"item", "Any JSON."};
    const Argument index{"index", "In the list, from 0."};
    const Argument value{"value", "Of the field's type."};
    const Argument version{"version_id", "From history."};
    const Argument from{"from", "A version; absent: the previous."};
    const Argument to{"to", "New label; in diff, version."};
    const Argument with{"with", "An agent."};
    return {
        {{.name = "create", .says = "by schema or template"},
         create_memory,
         NewMemory::fields(templates)},
        {{.name = "view", .reads = true, .twin = {"View memory"}, .says = "text, value, schema"},
         view_memory,
         {label, section}},
        {{.name = "list", .reads = true, .says = "what you may see"},
         list_memory,
         {type, {"prefix", "Of their labels."}, {"deleted", "Only deleted."}}},
        {{.name = "append", .says = "to a Text, List or Log"},
         append_content,
         {label, content, section}},
        {{.name = "replace", .says = "each match"},
         replace_text,
         {label, {"find", "Exact text."}, {"replace", "New text."}, section}},
        {{.name = "set_field", .says = "of a Map"}, set_field, {label, field, value, section}},
        {{.name = "set_text", .says = "of a Text, whole"}, set_text, {label, content, section}},
        {{.name = "append_to_list", .says = "at its end"},
         append_to_list,
         {label, item, field, section}},
        {{.name = "insert_item", .says = "before index"},
         insert_item,
         {label, index, item, field, section}},
        {{.name = "set_item", .says = "item, or item_field and value"},
         set_item,
         {label, index, item, {"item_field", "Of an object."}, value, field, section}},
        {{.name = "remove_from_list", .says = "by index"},
         remove_from_list,
         {label, index, field, section}},
        {{.name = "increment_counter", .says = "adds delta"},
         increment_counter,
         {label, field, {"delta", "May be below 0.", {{"type", "number"}}}, section}},
        {{.name = "archive", .says = "puts it away"}, archive_memory, {label, archival_label}},
        {{.name = "load", .says = "brings it back"}, load_memory, {archival_label, label}},
        {{.name = "swap", .says = "both at once"}, swap_memory, {label, archival_label}},
        {{.name = "search", .reads = true, .says = "archive too"},
         search_memory,
         {{"query", "Words \"phrase\" -not label:NAME."}, {"types", "Only these."}, limit}},
        {{.name = "undo", .says = "your last change"}, undo_memory<false>, {label}},
        {{.name = "redo", .says = "brings it back"}, undo_memory<true>, {label}},
        {{.name = "history", .reads = true, .says = "newest first"},
         list_memory_versions,
         version_fields(full)},
        {{.name = "diff", .reads = true, .says = "two versions"}, diff_memory, {label, from, to}},
        {{.name = "rollback", .says = "to a version"}, roll_back_memory, {label, version}},
        {{.name = "share", .says = "with an agent"}, share_memory, {label, with, permission}},
        {{.name = "unshare", .says = "ends that"}, unshare_memory, {label, with}},
        {{.name = "convert", .says = "to another schema"},
         convert_memory,
         {label,
          schema,
          {"mapping", "Old field to new."},
          {"dry_run", "Only report."},
          {"accept_loss", "Accept loss."}}},
        {{.name = "rename", .says = "frees the old label"}, rename_memory, {label, to}},
        {{.name = "delete", .says = "restorable"}, delete_memory, {label}},
        {{.name = "restore", .says = "by one of the two"},
         restore_memory,
         {label, {"block_id", "A deleted block's."}, to}},
    };
}

}  // namespace

std::vector<std::string> context_operations() {
    return operation_names(context_rows(true));
}

std::vector<std::string> context_twins() {
    return twin_names(context_rows(true));
}

Operations context_table(Profile profile) {
    return operations_of("operation", context_rows(profile == Profile::full));
}

std::unique_ptr<const Tool> make_context(MemoryCalls& memory, Profile profile,
                                         const std::vector<std::string>& templates) {
    const bool full = profile == Profile::full;
    return make_operation_tool<MemoryCalls&>({.name = "context",
                                              .title = "Memory",
                                              .description = "Memory that lasts, by label.",
                                              .annotations = {.destructive = true},
                                              .answer = memory_answer(full)},
                                             "operation", memory, context_rows(full, templates));
}

}  // namespace quire::tools
