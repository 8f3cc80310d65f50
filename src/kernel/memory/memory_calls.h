// MemoryCalls: the use cases of memory blocks, by label. A memory block is a document of kind
// "memory" whose name is its label. Its schema, owner and permissions are in the document's
// header (memory_header.h). Every write passes the gate of memory/gate.h.
//
// Labels belong to the blocks' owners, and are unique among an owner's blocks that are not deleted.
// memory_address.h says how a call names a block. Replies come exactly once, from any thread, and
// what they say is durable.
//
// Errors of every call but create() and list(): not_found "invalid_reference", also for a block
// that the caller may not see; conflict "ambiguous_label" {candidates}; corrupt if the stored block
// does not parse; those of Kernel besides. If a source feeds the block (fed_blocks.h), every write
// may also give invalid_argument "source_rejected" {source, field, value, allowed}, and any other
// change denied "source_owned" {source}.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "edits/plan.h"
#include "kernel/core/caller.h"
#include "kernel/memory/memory_requests.h"

namespace quire::memory {
class Feed;
}

namespace quire::kernel {

class Kernel;
struct MemorySettings;
struct MemoryTool;

class MemoryCalls {
public:
    // The feeds outlive the kernel's calls.
    explicit MemoryCalls(Kernel& kernel, std::vector<memory::Feed*> feeds = {});

    // The settings hold from the next call on.
    void set(MemorySettings settings);
    // Creates a block, which the caller owns. Errors: conflict "label_exists"; invalid_argument
    // "invalid_label", "invalid_schema"; not_found "unknown_template"; with content also those of
    // MemoryEdit, and out_of_range "too_large".
    void create(Caller by, MemoryCreate what, Reply<MemoryVersion> reply);
    // The block's content, or one section of it. Errors: those of locate() (memory/field_path.h).
    void view(Caller by, std::string label, MemoryLook what, Reply<MemoryView> reply);
    // The block that a label names, without its content.
    void find(Caller by, std::string label, Reply<MemoryRow> reply);
    // The tool that writes to the block which the label names, by the block's record alone; nothing
    // if the label names none, or several, or a block of which the actor may write nothing. Answers
    // at once, on any thread. O(log blocks + schema).
    std::optional<MemoryTool> tool(const policy::Actor& by, const std::string& label) const;
    // Writes what such a tool was given: one version, one unit of undo, all or nothing. Errors: those
    // of write().
    void remember(Caller by, std::string label, Map arguments, Reply<MemoryWritten> reply);
    // Lists the blocks that the caller may see, by label. O(blocks); loads deleted blocks only.
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
    // Brings a deleted block back, under `to` or the label that it had. Needs the permission to
    // delete. Errors: conflict "label_exists"; invalid_argument "invalid_label".
    void restore(Caller by, std::string label, std::optional<std::string> to,
                 Reply<MemoryVersion> reply);
    // Takes back, or does again, the caller's own last call that changed the block: a write, a
    // conversion, a move, or, by the block's id, its deletion. A move is found by either of its
    // labels, and a swap is taken back in both blocks. Changes that others made since stay. Needs
    // the permission to overwrite. Errors: not_found "nothing_to_undo", "nothing_to_redo"; conflict
    // "label_exists" if the label is taken; unsupported "schema_changed" for a write before a
    // conversion that stands.
    void undo(Caller by, std::string label, bool redo, Reply<MemoryUndone> reply);
    void history(Caller by, std::string label, std::size_t limit, std::string cursor,
                 Reply<MemoryHistory> reply);
    // The difference between two versions. Without `from` it is the version before `to`; without
    // `to` it is the present one. O(document). Errors: not_found "invalid_reference"; unsupported
    // "version_too_old" (versions.h).
    void diff(Caller by, std::string label, std::optional<std::string> from,
              std::optional<std::string> to, Reply<MemoryDiff> reply);
    // The authors of the lines of the block's plain text (blame_by_versions() in versions.h).
    void blame(Caller by, std::string label, Reply<Blame> reply);
    // Sets the block back to a version, by new ops; one step of undo. The gate checks it like a
    // replica's changes: a caller cannot set back a part that it may not write. O(document).
    // Errors: those of diff(), and of check_incoming() (memory/incoming.h). Across a conversion the
    // schema goes back too; then only the owner, an admin and callers that are no agents may do it.
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
    // Gives the block another label; the old one is free again. Needs the permission to delete: the
    // owner and admins have it. Errors: conflict "label_exists"; invalid_argument "invalid_label".
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
    friend class FedSource;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
