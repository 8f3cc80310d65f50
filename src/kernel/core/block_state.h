// BlockState: the kernel's records of a block, beside its content: its version, its history of undo
// units, the appends that wait, and the cursors in it. It belongs to its document and is touched on
// that document's strand alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "conversation/block.h"
#include "crdt/doc/doc.h"
#include "kernel/core/history.h"

namespace quire::conversation {
struct ConversationBlock;
}

namespace quire::kernel {

struct Appends;
class Cursors;

struct BlockState {
    // How the store names it: "" for the document itself, else "PEER_NUMBER_COUNTER". It is the key
    // under which LiveDocument has this.
    std::string_view key;
    std::uint64_t version = 0;
    History history;
    // Null until something is first appended.
    std::unique_ptr<Appends> appends;
    // Appends that were accepted are given versions before these are stored. Those up to `reserved`
    // may be: the store has been told, and after a crash none of them is given out again.
    // `reserving` is the same once what is on its way is stored; 0 for none. `told` is what the
    // store will then have.
    std::uint64_t reserved = 0;
    std::uint64_t reserving = 0;
    std::uint64_t told = 0;
    // It was running when an earlier kernel ended, so that its writer is gone: it shows as error
    // until someone writes to it or sets its status.
    bool interrupted = false;
    std::shared_ptr<Cursors> cursors;  // Null until somebody sets one.

    BlockState();
    BlockState(const BlockState&) = delete;
    BlockState& operator=(const BlockState&) = delete;
    ~BlockState();

    Appends& appends_made();
    // Returns true if text was handed over that is not committed.
    bool has_waiting_appends() const;
    // Ends an actor's run of appends, or everybody's, so that the next append begins a new unit of
    // undo.
    void end_append_run(const std::string& actor);
    void end_append_runs();
    bool has_append_runs() const;
    // Gives up what it keeps for appends, if none waits, runs or may be joined.
    void forget_idle_appends();
};

// Error: not_found "invalid_reference" {block_id}.
Failure no_such_block(const std::string& block_id);

// A block found in its document. Valid within one task on the strand.
struct BlockRef {
    BlockState* state = nullptr;
    crdt::Handle content{};
    // Null for a block that is the whole document.
    const conversation::ConversationBlock* fields = nullptr;
    crdt::OpId id;  // The id of `fields`.
};

}  // namespace quire::kernel
