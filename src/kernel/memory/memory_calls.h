// MemoryCalls: the use cases of memory blocks, by label. A memory block is a document of kind
// "memory" whose name is its label. Its schema, owner and permissions are in the document's
// header (memory_header.h). Every write passes the gate of memory/gate.h.
//
// Labels belong to the blocks' owners, and are unique among an owner's blocks that are not deleted.
// memory_address.h says how a call names a block. Replies come exactly once, from any thread, and
// what they say is durable.
//
// Errors of every call but create() and list(): not_found "invalid_reference", also for a block that
// the caller may not see; conflict "ambiguous_label" {candidates}; corrupt where what is stored of
// the block does not parse. Those of Kernel besides. Of a block that a source feeds
// (fed_blocks.h) every write may also give invalid_argument "source_rejected" {source, field,
// value, allowed}; whatever else would change it, denied "source_owned" {source}.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "edits/view.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/kernel.h"
#include "kernel/memory/carried.h"
#include "kernel/memory/memory_header.h"
#include "memory/convert.h"
#include "memory/field_path.h"

namespace quire::memory {
class Source;
}

namespace quire::kernel {

// The label or id of a text block in an agent's context, for callers that use memory like files.
// Errors for other blocks: invalid_argument "schema_mismatch" or "section_required" for another
// schema; not_found "archived" for an archival block.
struct TextLabel {
    std::string label;
};

// A source's answer to an edit of its block's config (memory/source.h).
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
struct AppendContent {  // Text to a Text, an item to a List, an entry to a Log.
    std::string section;
    Value content;
};
// Replaces every occurrence of `find` in a text.
struct ReplaceText {
    std::string section;
    std::string find;
    std::string replace;
};
// Appends to the list in a field; without a field, to a List's own items.
struct AppendToList {  // Without a field: a List's own items.
    memory::FieldPath path;
    Value item;
};
struct RemoveFromList {
    memory::FieldPath path;
    std::int64_t index = 0;
};
struct IncrementCounter {
    memory::FieldPath path;
    Value delta;
};
using MemoryWrite = std::variant<SetField, AppendContent, ReplaceText, AppendToList, RemoveFromList,
                                 IncrementCounter>;

struct MemoryWritten {
    MemoryVersion block;
    Value made;  // The counter, what was removed, how many were replaced; else null.
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
    std::string suffix = {};                  // For labels that are taken or invalid; "" to refuse them.
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

class MemoryCalls {
public:
    // The sources outlive the kernel's calls.
    explicit MemoryCalls(Kernel& kernel, std::vector<memory::Source*> sources = {});

    // The caller owns it. Errors: conflict "label_exists"; invalid_argument "invalid_label",
    // "invalid_schema"; not_found "unknown_template"; with content also those of MemoryEdit, and
    // out_of_range "too_large".
    void create(Caller by, MemoryCreate what, Reply<MemoryVersion> reply);
    // The block's content, or one section of it. Errors: those of locate() (memory/field_path.h).
    void view(Caller by, std::string label, std::optional<std::string> section,
              Reply<MemoryView> reply);
    // Blocks that the caller may see, by label. O(blocks); of those that are not deleted none is
    // loaded for it.
    void list(Caller by, MemoryListQuery what, Reply<MemoryList> reply);
    // Makes one version and one unit of undo; none if it changes nothing. Errors: those of
    // MemoryEdit; out_of_range "too_large".
    void write(Caller by, std::string label, MemoryWrite what, Reply<MemoryWritten> reply);
    // Merges a person's changes of the block at a version into the block as it is now
    // (memory/revision.h), as one version and one unit of undo; none if nothing changes. Errors:
    // those of revise(), write() and diff(); unsupported "schema_changed" if the schema has
    // changed since.
    void revise(Caller by, std::string label, MemoryRevise what, Reply<MemoryRevised> reply);
    // These are like the kernel's read() and edit(). An edit needs the permission to overwrite,
    // except for text put at the end.
    void read_text(Caller by, TextLabel label, std::optional<text::LineRange> range,
                   Reply<MemoryText> reply);
    void edit_text(Caller by, TextLabel label, std::string operation, edits::Plan plan,
                   Reply<MemoryEdited> reply);
    // Deletes the block; its label is free again.
    void erase(Caller by, std::string label, Reply<MemoryVersion> reply);
    void erase(Caller by, TextLabel label, Reply<MemoryVersion> reply);
    // A deleted block is back, under `to` or the label that it had. What deleting it needs. Errors:
    // conflict "label_exists"; invalid_argument "invalid_label".
    void restore(Caller by, std::string label, std::optional<std::string> to,
                 Reply<MemoryVersion> reply);
    // The caller's own last call that changed the block: a write, a conversion, a move, or, by the
    // block's id, its deletion. A move is found by either of its labels, and a swap is taken back in
    // both blocks. What others changed since is left whole. To undo is to overwrite. Errors: not_found
    // "nothing_to_undo", "nothing_to_redo"; conflict "label_exists" where the label is taken;
    // unsupported "schema_changed" for a write before a conversion that stands.
    void undo(Caller by, std::string label, bool redo, Reply<MemoryUndone> reply);
    void history(Caller by, std::string label, std::size_t limit, std::string cursor,
                 Reply<MemoryHistory> reply);
    // The difference between two versions. Without `from` it is the version before `to`; without
    // `to` it is the present one. O(document). Errors: not_found "invalid_reference"; unsupported
    // "version_too_old" (versions.h).
    void diff(Caller by, std::string label, std::optional<std::string> from,
              std::optional<std::string> to, Reply<MemoryDiff> reply);
    // The block reads as it did, by new ops; one step of undo. It is held against the gate as a
    // replica's changes are: who may not write something does not set it back. O(document). Errors:
    // those of diff(), and of check_incoming() (document/incoming.h). Across a conversion the schema
    // goes back too; then only the owner, an admin, and who is no agent may do it.
    void rollback(Caller by, std::string label, std::string version_id, Reply<MemoryVersion> reply);
    // Takes the block out of every context and makes it an archival block with that label, or
    // with one made from its label and the time. The old label is free again. Needs the
    // permission to delete. Errors: denied "core_block"; conflict "label_exists", "archived" for
    // an archival block.
    void archive(Caller by, std::string label, std::optional<std::string> archival_label,
                 Reply<MemoryMoved> reply);
    // Makes an archival block a working one, with that label or the one it has. Needs the
    // permission to overwrite. Errors: conflict "label_exists", "not_archived".
    void load(Caller by, std::string archival_label, std::optional<std::string> label,
              Reply<MemoryVersion> reply);
    // Gives the block another label; the old one is free again. Needs what deleting it needs: it
    // is the owner's to do, or an admin's. Errors: conflict "label_exists"; invalid_argument "invalid_label".
    void rename(Caller by, std::string label, std::string to, Reply<MemoryVersion> reply);
    void rename(Caller by, TextLabel label, std::string to, Reply<MemoryVersion> reply);
    // Archives one block and loads the other in one transaction: they exchange their labels.
    // Needs the permission to overwrite both. Errors: those of archive() and load().
    void swap(Caller by, std::string label, std::string archival_label, Reply<MemoryMoved> reply);
    // Gives a block another schema and carries its content over (memory/convert.h); with dry_run,
    // only reports the result. Needs the permission to overwrite. Read-only parts must stay as they
    // are, except for sources and the system. The conversion is one version and one step of undo.
    // Errors: invalid_argument "invalid_schema", "invalid_mapping", "loses_text" {lost} without
    // accept_loss; denied "read_only_field", "read_only_section", and "permission_denied" if an
    // agent that has a share below admin would lose something; those of MemoryEdit.
    void convert(Caller by, std::string label, MemoryConvert what, Reply<MemoryConverted> reply);
    // Finds blocks that the caller may read by the words of their labels, descriptions and
    // content. For a long block, the first 256 KiB of plain_text() are searched; for a Log these
    // are its newest entries. Blocks that changed since the last search are indexed first.
    // Errors: invalid_argument "empty_query".
    void search(Caller by, MemorySearch what, Reply<MemoryFound> reply);
    // The whole block with its history (carried.h), for people, sources, the system and the
    // owner. Errors: denied "permission_denied" for other agents. O(history).
    void export_block(Caller by, std::string label, Reply<CarriedBlock> reply);
    // Creates blocks from exported ones: all in one transaction, or none. Each history is
    // replayed and must lead to the block's value. For people and the system. Errors: denied
    // "permission_denied"; corrupt, naming the block; conflict "label_exists" {labels}, also if
    // two of them would have one label; those of create(); those of MemoryEdit for a block
    // without history. O(all histories).
    void import_blocks(Caller by, MemoryImport what, Reply<MemoryImported> reply);
    // Gives an agent a permission level on the block; no level takes it away. Errors: denied
    // "permission_denied" for agents that are not the owner.
    void share(Caller by, std::string label, policy::Actor with,
               std::optional<policy::Permission> permission, Reply<MemoryVersion> reply);

    struct Body;

private:
    friend class SourceCalls;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
