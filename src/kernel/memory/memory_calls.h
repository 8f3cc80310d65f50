// MemoryCalls: the use cases of memory blocks, by label. A memory block is a document of kind
// "memory" whose name is its label; what its schema, its owner and its permissions are stands in
// the document's header (memory_header.h). Every write passes the gate of document/gate.h.
//
// Labels are unique among the blocks that are not deleted. A label may also be given as the block's
// id. Replies come exactly once, from any thread, and what they say is durable.
//
// Errors of every call but create() and list(): not_found "invalid_reference"; denied
// "permission_denied" for an agent that neither owns the block nor has a share; corrupt where what
// is stored of the block does not parse. Those of Kernel besides. Of a block that a source feeds
// (fed_blocks.h) every write may also give invalid_argument "source_rejected" {source, field,
// value, allowed}; whatever else would change it, denied "source_owned" {source}.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernel/core/kernel.h"
#include "kernel/memory/carried.h"
#include "kernel/memory/memory_header.h"
#include "memory/convert.h"
#include "memory/field_path.h"

namespace quire::memory {
class Source;
}

namespace quire::kernel {

// The label, or the id, of a block by which callers mean a text that is in context, as a file among
// others: a block of another schema is refused as invalid_argument "schema_mismatch" or
// "section_required", an archival one as not_found "archived".
struct TextLabel {
    std::string label;
};

// A source's answer to an edit of its block's config (memory/source.h).
struct SourceAnswer {
    std::string name;
    std::string answer;  // "applied" or "pending".
    std::string message;
};
struct MemoryVersion {
    std::string label;
    std::string block_id;
    std::uint64_t version = 0;
    std::optional<SourceAnswer> source = {};
};

struct MemoryCreate {
    std::string label;
    // One of the two.
    std::optional<Value> schema;  // In the form of memory/schema_form.h.
    std::optional<std::string> from_template;
    std::optional<std::string> description;  // Absent: the template's.
    MemoryType type = MemoryType::working;
    policy::Permission permission = policy::Permission::read_write;
    std::optional<std::size_t> char_limit;  // Code points of one text.
    bool pinned = false;
    std::string content = {};  // The first content of a Text.
};

struct MemoryRow {
    MemoryVersion block;
    MemoryType type = MemoryType::working;
    policy::Permission permission = policy::Permission::read_only;  // The caller's.
    std::string description;
    bool pinned = false;
    bool is_text = false;  // Its schema is Text.
    policy::Actor owner;
};
struct MemoryList {
    std::vector<MemoryRow> blocks;
    std::vector<std::string> unreadable;  // Labels of blocks that do not parse.
};
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

// --- writes, as document/memory_edit.h has them ---
struct SetField {
    memory::FieldPath path;
    Value value;
};
struct AppendContent {  // Text to a Text, an item to a List, an entry to a Log.
    std::string section;
    Value content;
};
struct ReplaceText {
    std::string section;
    std::string find;
    std::string replace;
};
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
struct MemoryRevise {
    std::string version_id;  // The version that was shown.
    // The new content, in the form of MemoryView's; unchanged sections may be left out.
    Value value;
};
struct MemoryRevised {
    MemoryVersion block;
    bool changed = false;
    std::vector<std::string> both = {};  // Places that others had changed meanwhile, too.
};
struct MemoryDiff {
    MemoryVersion block;
    std::string from, to;  // Version ids; "0" is nothing.
    std::string diff;      // Unified, of what document/plain_text.h makes of the two.
};
struct MemoryConvert {
    Value schema;      // In the form of memory/schema_form.h.
    Map mapping = {};  // In the form of memory/convert.h.
    bool dry_run = false;
};
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
    std::string suffix = {};                  // For labels that are taken; "" to refuse them.
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
    // Errors: those of locate() (document/field_path.h).
    void view(Caller by, std::string label, std::optional<std::string> section,
              Reply<MemoryView> reply);
    // Blocks that the caller may see, by label. O(blocks); none is loaded for it.
    void list(Caller by, std::optional<MemoryType> type, std::string prefix,
              Reply<MemoryList> reply);
    // One version and one step of undo; none where it changes nothing. Errors: those of MemoryEdit;
    // out_of_range "too_large".
    void write(Caller by, std::string label, MemoryWrite what, Reply<MemoryWritten> reply);
    // Carries a person's changes of the block at a version over to the block as it is now
    // (document/revision.h); one version and one step of undo, none where it changes nothing.
    // Errors: those of revise(), write() and diff(); unsupported "schema_changed" where the schema
    // is another by now.
    void revise(Caller by, std::string label, MemoryRevise what, Reply<MemoryRevised> reply);
    // Like the kernel's read() and edit() of a block. An edit overwrites, except for text put at
    // the end.
    void read_text(Caller by, TextLabel label, std::optional<text::LineRange> range,
                   Reply<MemoryText> reply);
    void edit_text(Caller by, TextLabel label, std::string operation, edits::Plan plan,
                   Reply<MemoryEdited> reply);
    // The label is free again.
    void erase(Caller by, std::string label, Reply<MemoryVersion> reply);
    void erase(Caller by, TextLabel label, Reply<MemoryVersion> reply);
    // The caller's own last write. To undo is to overwrite. Errors: not_found "nothing_to_undo",
    // "nothing_to_redo".
    void undo(Caller by, std::string label, bool redo, Reply<MemoryUndone> reply);
    void history(Caller by, std::string label, std::size_t limit, std::string cursor,
                 Reply<MemoryHistory> reply);
    // Between two versions; none given is the version before `to`, and what is now. O(document).
    // Errors: not_found "invalid_reference"; unsupported "version_too_old" (versions.h).
    void diff(Caller by, std::string label, std::optional<std::string> from,
              std::optional<std::string> to, Reply<MemoryDiff> reply);
    // The block reads as it did, by new ops; one step of undo. It is held against the gate as a
    // replica's changes are: who may not write something does not set it back. O(document). Errors:
    // those of diff(), and of check_incoming() (document/incoming.h).
    void rollback(Caller by, std::string label, std::string version_id, Reply<MemoryVersion> reply);
    // Out of everybody's context, as an archival block of that label, or of one that is made from
    // the label and the time; the label is free again. What deleting it would need. Errors: denied
    // "core_block"; conflict "label_exists", "archived" for an archival block.
    void archive(Caller by, std::string label, std::optional<std::string> archival_label,
                 Reply<MemoryMoved> reply);
    // An archival block back as a working one, under that label or the one it has. What overwriting
    // needs. Errors: conflict "label_exists", "not_archived".
    void load(Caller by, std::string archival_label, std::optional<std::string> label,
              Reply<MemoryVersion> reply);
    // Another label; the old one is free again. What overwriting needs. Errors: conflict
    // "label_exists"; invalid_argument "invalid_label".
    void rename(Caller by, TextLabel label, std::string to, Reply<MemoryVersion> reply);
    // Archives the one and loads the other in one transaction: they exchange their labels. What
    // overwriting both needs. Errors: those of archive() and load().
    void swap(Caller by, std::string label, std::string archival_label, Reply<MemoryMoved> reply);
    // Another schema for a block, with what it holds carried over (schema/convert.h); with dry_run
    // only what would be. What overwriting needs; what is read-only must stay as it is, but for
    // sources and the system. Older versions are not gone back to, unless it was additive. Errors:
    // invalid_argument "invalid_schema", "invalid_mapping"; denied "read_only_field",
    // "read_only_section"; those of MemoryEdit.
    void convert(Caller by, std::string label, MemoryConvert what, Reply<MemoryConverted> reply);
    // Blocks by the words of their labels, descriptions and content, of those that the caller may
    // read. Of a long block what plain_text() gives of its first 256 KiB is looked through, of a
    // log the newest. Blocks that were written to since the last search are read first. Errors:
    // invalid_argument "empty_query".
    void search(Caller by, MemorySearch what, Reply<MemoryFound> reply);
    // All of a block, with its history (carried.h). For people, sources, the system, and the owner.
    // Errors: denied "permission_denied" for other agents. O(history).
    void export_block(Caller by, std::string label, Reply<CarriedBlock> reply);
    // New blocks of what was carried out, here or elsewhere: all in one transaction, or none. Each
    // is replayed, and must read as it says. For people and the system. Errors: denied
    // "permission_denied"; corrupt, naming the block; conflict "label_exists" {labels}, also where
    // two of them would have one label; those of create() and, of a block that is made of its
    // value, of MemoryEdit. O(history of all).
    void import_blocks(Caller by, MemoryImport what, Reply<MemoryImported> reply);
    // Gives an agent a level, or with none takes it away. Errors: denied "permission_denied" for
    // agents that are not the owner.
    void share(Caller by, std::string label, policy::Actor with,
               std::optional<policy::Permission> permission, Reply<MemoryVersion> reply);

    struct Body;

private:
    friend class SourceCalls;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
