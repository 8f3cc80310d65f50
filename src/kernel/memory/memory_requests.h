// The requests and answers of MemoryCalls (kernel/memory/memory_calls.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "edits/view.h"
#include "kernel/core/block_edits.h"
#include "kernel/core/block_reads.h"
#include "kernel/memory/memory_type.h"
#include "memory/convert.h"
#include "memory/field_path.h"
#include "policy/actor.h"
#include "policy/permission.h"

namespace quire::kernel {

struct CarriedBlock;

// The label or id of a text block in an agent's context, for callers that use memory like files.
// Errors for other blocks: invalid_argument "schema_mismatch" or "section_required" for another
// schema; not_found "archived" for an archival block.
struct TextLabel {
    std::string label;
};

// A source's answer to an edit of its block's config (memory/feed.h).
struct SourceAnswer {
    std::string name;
    std::string answer;  // "applied" or "pending".
    std::string message;
};
// A block and the version that a call made or found.
struct MemoryVersion {
    std::string label;
    std::string block_id;
    std::uint64_t version = 0;
    std::optional<SourceAnswer> source = {};
};

// The request for a new block: with a schema, or with the name of a template.
struct MemoryCreate {
    std::string label;
    // Exactly one of these two is given.
    std::optional<Value> schema;  // In the form of memory/schema_form.h.
    std::optional<std::string> from_template;
    std::optional<std::string> description;  // Absent: the template's.
    MemoryType type = MemoryType::working;
    policy::Permission permission = policy::Permission::read_write;
    std::optional<std::size_t> char_limit;  // Code points of one text.
    bool pinned = false;
    std::string content = {};  // The first content of a Text.
};

// A row of a list. It is read from the block's record, so no document is loaded.
struct MemoryRow {
    MemoryVersion block;
    MemoryType type = MemoryType::working;
    policy::Permission permission = policy::Permission::read_only;  // The caller's.
    std::string description;
    bool pinned = false;
    bool is_text = false;  // Its schema is Text.
    policy::Actor owner;
    // In a list: how its reader names the block, which is OWNER/LABEL where the label alone would
    // name another block, or several.
    std::string address = {};
};
// Selects the blocks to list.
struct MemoryListQuery {
    std::optional<MemoryType> type = {};
    std::string prefix = {};  // The label begins with it.
    bool deleted = false;     // Deleted blocks instead.
};
struct MemoryList {
    std::vector<MemoryRow> blocks;
    std::vector<std::string> unreadable;  // Labels of blocks that do not parse.
};
// The part of a block that is viewed.
struct MemoryLook {
    std::optional<std::string> section = {};  // None: the whole block.
    bool describes = true;                    // `rendered` says what fields and sections are for.
};
// A block as a model reads it (`rendered`) and as a program reads it (`schema`, `value`).
struct MemoryView {
    MemoryRow row;
    Value schema;
    std::string rendered;  // The body alone, where one section was asked for.
    Value value;
};

// Lines of a block whose schema is Text.
struct MemoryText {
    MemoryVersion block;
    edits::View view;
    std::size_t line_count = 0;  // The whole text's.
};
struct MemoryEdited {
    MemoryVersion block;
    Edited edited;
};

// --- writes (memory/memory_edit.h) ---
// A write to one field.
struct SetField {
    memory::FieldPath path;
    Value value;
};
// Appends text to a Text, an item to a List, an entry to a Log.
struct AppendContent {
    std::string section;
    Value content;
};
// Replaces every occurrence of `find` in a text.
struct ReplaceText {
    std::string section;
    std::string find;
    std::string replace;
};
// Makes a Text read so, by the smallest edit.
struct SetText {
    std::string section;
    std::string text;
};
// Appends to the list in a field; without a field, to a List's own items.
struct AppendToList {
    memory::FieldPath path;
    Value item;
};
// Inserts before the element at `index`; the length appends.
struct InsertItem {
    memory::FieldPath path;
    std::int64_t index = 0;
    Value item;
};
// Changes the element at `index`: all of it, or one member of an object, which null removes.
struct SetItem {
    memory::FieldPath path;
    std::int64_t index = 0;
    std::optional<std::string> member;
    Value value;
};
struct RemoveFromList {
    memory::FieldPath path;
    std::int64_t index = 0;
};
struct IncrementCounter {
    memory::FieldPath path;
    Value delta;
};
// Writes several parts of a block, all or nothing.
struct Remember {
    using Part = std::variant<SetField, AppendContent>;
    std::vector<Part> parts;
};
using MemoryWrite = std::variant<SetField, AppendContent, ReplaceText, SetText, AppendToList,
                                 InsertItem, SetItem, RemoveFromList, IncrementCounter, Remember>;

struct MemoryWritten {
    MemoryVersion block;
    Value made;  // The counter, what was removed, how many were replaced; else null.
    bool no_op = false;  // The block read so already, and no version was made.
};
// The answer of an undo or redo; see Undone.
struct MemoryUndone {
    MemoryVersion block;
    std::size_t restored = 0;
    std::size_t removed = 0;
    std::size_t skipped_because_changed = 0;
};
struct MemoryHistory {
    MemoryVersion block;
    HistoryPage page;
};
// A person's edited copy of the block at a version.
struct MemoryRevise {
    std::string version_id;  // The version that was shown.
    // The new content, in the form of MemoryView's; unchanged sections may be left out.
    Value value;
};
// The answer: the merged block, and the places that others had changed too.
struct MemoryRevised {
    MemoryVersion block;
    bool changed = false;
    std::vector<std::string> both = {};  // Places that others had changed meanwhile, too.
};
struct MemoryDiff {
    MemoryVersion block;
    std::string from, to;  // Version ids; "0" is nothing.
    std::string diff;      // Unified, between their texts by memory/plain_text.h.
};
// The request for another schema; `mapping` says where content moves.
struct MemoryConvert {
    Value schema;      // In the form of memory/schema_form.h.
    Map mapping = {};  // In the form of memory/convert.h.
    bool dry_run = false;
    bool accept_loss = false;  // Content may go that has no place under the new schema.
};
// The result of a conversion, or of a dry run: content that moved, content that has no place any
// more, and required fields that have no value.
struct MemoryConverted {
    MemoryVersion block;
    bool additive = false;  // The content stays where it is.
    std::vector<memory::Conversion::Move> moved = {};
    std::vector<std::string> lost = {};
    std::vector<std::string> unset = {};
};
struct MemorySearch {
    std::string query;                   // A query in the language of text/words_query.h.
    std::vector<MemoryType> types = {};  // None: all.
    std::size_t limit = 20;
};
struct MemoryFound {
    struct Hit {
        MemoryRow row;
        double score = 0;     // The higher the better.
        std::string snippet;  // One line, ** around what was found.
    };
    std::vector<Hit> hits;  // Best first.
};
struct MemoryImport {
    std::vector<CarriedBlock> blocks;
    std::optional<policy::Actor> owner = {};  // In place of the one that each has.
    // Appended to labels that are taken or invalid; "" to refuse them.
    std::string suffix = {};
    bool dry_run = false;
};
struct MemoryImported {
    struct One {
        std::string from;     // The label that it had.
        MemoryVersion block;  // Without an id in a dry run.
    };
    std::vector<One> blocks;  // In their order.
};
struct MemoryMoved {
    MemoryVersion block;         // The block that has the label now.
    std::string archival_label;  // The label of what is in the archive now.
};

}  // namespace quire::kernel
