// block_sync: what a caller lacks who has some blocks at some versions. It keeps nothing between
// calls: the versions in the call say where the caller stands, so it may repeat a call or lose an
// answer. A large answer is cut, and the caller goes on with the versions that it has reached.
#include <utility>

#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/addressed.h"
#include "tools/block_feed.h"
#include "tools/block_fields.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {
namespace {

struct BlockSyncArgs {
    std::vector<kernel::BlockAtVersion> versions;
    EventFormat format = EventFormat::text;
};

Answered<kernel::BlockSync> render_sync(kernel::BlockSync sync, EventFormat format) {
    std::string text;
    for (auto* const events : {&sync.patches, &sync.new_blocks}) {
        for (kernel::BlockEvent& event : *events) {
            event = shown_event(std::move(event), format);
            text += words_of_event(event);
        }
    }
    if (text.empty()) text = "You have everything.\n";
    if (sync.has_more) text += "There is more: sync again with the versions that you have now.\n";
    return {std::move(sync), std::move(text)};
}

}  // namespace

MadeTool make_block_sync(const BlockNames& names) {
    using kernel::BlockSync;
    return make_tool<BlockSyncArgs>(
        {.name = "block_sync",
         .title = "Catch up with blocks",
         .description = "What came after the versions that you have, as events, and the blocks "
                        "that you did not name. Changes nothing: the same call gives the same "
                        "answer until something changes. An event `created` of a block that you "
                        "have already is its whole state.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<BlockSyncArgs>()
            .required("versions", &BlockSyncArgs::versions,
                      "[[block_id, version], …] that you have; version 0: nothing of it.")
            .optional("format", &BlockSyncArgs::format, kFormatSays),
        Fields<BlockSync>()
            .required("patches", &BlockSync::patches)
            .required("new_blocks", &BlockSync::new_blocks)
            .optional("has_more", &BlockSync::has_more),
        [names](const Session& session, BlockSyncArgs args, Reply<Answered<BlockSync>> reply) {
            const kernel::Caller by = session.caller;
            std::vector<std::string> named;
            for (const auto& [block, version] : args.versions) named.push_back(block);
            resolve_ids(
                names, by, std::move(named),
                [core = names.kernel.core(), by, args = std::move(args),
                 reply = std::move(reply)](Result<std::vector<std::string>> ids) mutable {
                    if (!ids) return reply(Failure(std::move(ids).error()));
                    for (std::size_t i = 0; i < ids->size(); ++i)
                        args.versions[i].first = (*ids)[i];
                    kernel::sync_blocks(
                        core, by, std::move(args.versions), args.format == EventFormat::ops,
                        answer_with(std::move(reply), [format = args.format](BlockSync sync) {
                            return render_sync(std::move(sync), format);
                        }));
                });
        });
}

}  // namespace quire::tools
