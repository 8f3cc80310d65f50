// Calls that change a block, as values: the request, and the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/enum_words.h"
#include "base/value.h"
#include "conversation/block.h"
#include "edits/plan.h"
#include "edits/view.h"

namespace quire::kernel {

// The request for a new block. With a client token the call is idempotent: a later call of the
// same actor with that token gets the first one's block.
struct BlockCreate {
    std::string conversation = "main";
    // The block above it; absent: it is a root, or has the parent of `after`.
    std::optional<std::string> parent_id;
    std::optional<std::string> after;  // A block id; absent: after every other block.
    conversation::Role role = conversation::Role::user;
    conversation::Kind kind = conversation::Kind::text;
    std::string content;
    Map metadata;
    // Absent: pending.
    std::optional<conversation::Status> status;
    std::string client_token;  // "" for none.
};
// A block and the version that the call made or found. `block_id` is the id that later calls use,
// and stays for good.
struct BlockVersion {
    std::string block_id;
    std::uint64_t version = 0;
};

// The marks of a block to set or to take away; those that are absent stay. A mark says how a block
// is treated when the conversation is given to a model; the content stays as it is.
struct MarkChange {
    std::optional<bool> excluded = {}, collapsed = {}, ephemeral = {};
};

// The blocks of a conversation that a new one, `as`, gets copies of: those from `from` to `to` in
// document order, both included, or from the first and to the last.
struct ForkWhich {
    std::string conversation = "main";
    std::string as = {};
    std::optional<std::string> from = {}, to = {};
};
// The new conversation, and its blocks in document order.
struct Forked {
    std::string conversation;
    std::vector<std::pair<std::string, std::string>> blocks;  // Each old id, and its new one.
};

// A selection in a block's text, in code points: `head` is where it grows, and equals `anchor` for
// a mere cursor.
struct Selection {
    std::size_t anchor = 0;
    std::size_t head = 0;
    friend bool operator==(const Selection&, const Selection&) = default;
};
// The selections of one actor, in the order in which the actor set them.
struct ActorCursors {
    std::string actor;
    std::vector<Selection> selections;
    friend bool operator==(const ActorCursors&, const ActorCursors&) = default;
};

// The promise of an append's answer: the text is on disk, or it is in memory with its version
// fixed.
enum class Ack { durable, accepted };
constexpr auto words_of(Ack) {
    return word_table("durable", "accepted");
}
// The answer of an append.
struct Appended {
    std::uint64_t version = 0;  // The version it has, or will have once flushed.
    bool durable = false;
    std::size_t line_count = 0;  // After the flush, when `change` is there.
    // The change that the flush made, or will make. None where nothing was appended, or
    // where accepted text waits for a store that refuses it.
    std::optional<edits::Change> change = {};
};

// The answer of an edit. `no_op`: the plan changed nothing, and no version was made.
struct Edited {
    std::uint64_t version = 0;
    std::size_t line_count = 0;
    edits::Change change;  // The lines that were written, and those to show.
    bool no_op = false;
    // Remarks for the reader, from the plan and from what a save has to say.
    std::vector<std::string> notes;
};

// The units to choose from: the caller's own, or those of any actor.
enum class UndoScope { own, any };
constexpr auto words_of(UndoScope) {
    return word_table("own", "any");
}
// The entries of a block's history that an undo takes back: the newest that fits, or with
// `all_since` every one that is as young as that, or the one with a version. A redo brings back the
// one that was undone last.
struct UndoWhich {
    std::optional<std::string> actor = {};       // The author; none: anyone.
    std::optional<std::int64_t> all_since = {};  // Milliseconds since 1970.
    std::optional<std::uint64_t> version = {};
    bool redo = false;
};
// The answer of an undo or redo: atoms restored, removed, and left alone because others changed
// them since.
struct Undone {
    // The existence of the file on the disk: untouched by the undo, or created anew, or deleted.
    // Blocks that are not files have the first.
    enum class File { as_before, restored, deleted };
    std::uint64_t version = 0;
    std::size_t restored = 0;
    std::size_t removed = 0;
    std::size_t skipped_because_changed = 0;
    std::size_t line_count = 0;
    edits::Change change = {};
    File file = File::as_before;  // The existence of a file on the disk was taken back too.
};
// The last entry of the actor, or of anyone.
inline UndoWhich last_of(std::string actor, UndoScope scope, bool redo) {
    UndoWhich which{.redo = redo};
    if (scope == UndoScope::own) which.actor = std::move(actor);
    return which;
}

}  // namespace quire::kernel
