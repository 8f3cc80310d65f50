// Calls about the selections of actors in a block.
#include "base/clock.h"
#include "kernel/core/core.h"
#include "kernel/core/cursors.h"
#include "kernel/core/kinds.h"

namespace quire::kernel {

namespace {

// Refuses memory, whose text is drawn from its fields, and has appends in the text before places in
// it are counted.
Result<void> prepare(Core& core, LiveDocument& document, const BlockRef& block) {
    if (document.kind() == kMemoryKind) return is_memory(document);
    core.flush(document, block);
    return {};
}

std::vector<ActorCursors> all_in(Core& core, LiveDocument& document, const BlockRef& block) {
    if (block.state->cursors == nullptr) return {};
    return block.state->cursors->all(document.doc(), block.content, core.parts().clock.steady_ms());
}

}  // namespace

void Kernel::set_cursors(Caller by, std::string block_id, std::vector<Selection> selections,
                         Reply<std::vector<ActorCursors>> reply) {
    core_->run_on_block<std::vector<ActorCursors>>(
        std::move(by), block_id, Access::read, std::move(reply),
        [core = core_, selections = std::move(selections)](
            LiveDocument& document, const BlockRef& block,
            const Caller& caller) -> Result<std::vector<ActorCursors>> {
            TRY(prepare(*core, document, block));
            if (block.state->cursors == nullptr && !selections.empty())
                block.state->cursors = std::make_shared<Cursors>();
            if (block.state->cursors != nullptr) {
                TRY(block.state->cursors->set(document.doc(), block.content, caller.actor.str(),
                                              selections, core->parts().clock.steady_ms()));
            }
            return all_in(*core, document, block);
        });
}

void Kernel::cursors(Caller by, std::string block_id, Reply<std::vector<ActorCursors>> reply) {
    core_->run_on_block<std::vector<ActorCursors>>(
        std::move(by), block_id, Access::read, std::move(reply),
        [core = core_](LiveDocument& document, const BlockRef& block,
                       const Caller&) -> Result<std::vector<ActorCursors>> {
            TRY(prepare(*core, document, block));
            return all_in(*core, document, block);
        });
}

}  // namespace quire::kernel
