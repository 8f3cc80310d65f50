// Calls about the past of a block of a conversation, or of a file: differences between versions,
// going back to one, and who wrote each line.
#include <utility>

#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/core/versions.h"

namespace quire::kernel {

void Kernel::diff(Caller by, std::string block_id, std::optional<std::string> from,
                  std::optional<std::string> to, Reply<BlockDiff> reply) {
    core_->run_on_block<BlockDiff>(
        std::move(by), {block_id, true}, Access::read, std::move(reply),
        [core = core_, from = std::move(from), to = std::move(to)](
            LiveDocument& document, const BlockRef& block, const Caller&) -> Result<BlockDiff> {
            if (document.kind() == kMemoryKind) return is_memory(document);
            core->flush(document, block);
            return diff_of_versions(
                document, block, diff_name(document, block), from, to,
                [&](const BlockAt& at) { return text_at(document, block, at); });
        });
}

void Kernel::rollback(Caller by, std::string block_id, std::string version_id,
                      Reply<Edited> reply) {
    core_->run_on_block<Edited>(
        std::move(by), block_id, Access::overwrite, std::move(reply),
        [core = core_, version_id = std::move(version_id)](
            LiveDocument& document, const BlockRef& block, const Caller& caller) -> Result<Edited> {
            core->flush(document, block);
            TextEdit what = TRY(rollback_edit(document, block, version_id));
            return core->edit(document, block, caller, what);
        });
}

void Kernel::blame(Caller by, std::string block_id, Reply<Blame> reply) {
    core_->run_on_block<Blame>(std::move(by), {block_id, true}, Access::read, std::move(reply),
                               [core = core_](LiveDocument& document, const BlockRef& block,
                                              const Caller&) -> Result<Blame> {
                                   if (document.kind() == kMemoryKind) return is_memory(document);
                                   core->flush(document, block);
                                   return blame_of(document, block);
                               });
}

}  // namespace quire::kernel
