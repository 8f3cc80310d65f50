#include "tools/block_calls.h"

#include <optional>
#include <utility>

#include "kernel/core/kinds.h"
#include "kernel/files/file_calls.h"
#include "tools/render.h"

namespace quire::tools {
namespace {

// The path of the file that the block is, if calls on files save it. None for any other block, and
// for every file while edits are saved on demand: then the kernel's own calls do all that is
// needed.
std::optional<std::string> saved_file(const BlockCalls& on, const std::string& block_id) {
    if (on.files == nullptr || !on.files->saves_on_commit()) return std::nullopt;
    kernel::BlockPlace place = on.kernel.place_of(block_id);
    if (place.kind != kernel::kFileKind) return std::nullopt;
    return std::move(place.path);
}

}  // namespace

void edit_block(const BlockCalls& on, const kernel::Caller& by, std::string block_id,
                std::string operation, edits::Plan plan, Reply<kernel::Edited> reply) {
    std::optional<std::string> path = saved_file(on, block_id);
    if (!path) {
        return on.kernel.edit(by, std::move(block_id), std::move(operation), std::move(plan),
                              std::move(reply));
    }
    on.files->edit(by, std::move(*path), std::move(operation), std::move(plan),
                   answer_with(std::move(reply),
                               [](kernel::FileEdited made) { return std::move(made.edited); }));
}

void append_to_block(const BlockCalls& on, const kernel::Caller& by, std::string block_id,
                     std::string text, kernel::Ack ack, Reply<kernel::Appended> reply) {
    std::optional<std::string> path;
    // An accepted append returns before there is a change to save.
    if (ack == kernel::Ack::durable) path = saved_file(on, block_id);
    if (!path)
        return on.kernel.append(by, std::move(block_id), std::move(text), ack, std::move(reply));
    on.files->append(by, std::move(*path), std::move(text),
                     answer_with(std::move(reply), [](kernel::FileAppended made) {
                         return std::move(made.appended);
                     }));
}

void undo_block(const BlockCalls& on, const kernel::Caller& by, std::string block_id,
                kernel::UndoWhich which, Reply<kernel::Undone> reply) {
    // Every undo of a file goes through the files, saved or not: it may bring back a file that was
    // deleted.
    if (on.files == nullptr || on.kernel.place_of(block_id).kind != kernel::kFileKind)
        return on.kernel.undo(by, std::move(block_id), std::move(which), std::move(reply));
    on.files->undo_block(by, std::move(block_id), std::move(which), std::move(reply));
}

}  // namespace quire::tools
