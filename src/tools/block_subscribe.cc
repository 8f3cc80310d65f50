// block_subscribe: opens a stream of the events of blocks, which the client then is sent, and can
// pull with block_events. Labels and paths are resolved once, here: the subscription is to ids.
#include <memory>
#include <optional>
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

struct BlockSubscribeArgs {
    std::optional<std::vector<std::string>> block_ids;
    std::vector<kernel::BlockAtVersion> from_versions;
    EventFormat format = EventFormat::text;
};
struct Subscribed {
    std::string subscription_id;
    static Fields<Subscribed> fields() {
        return Fields<Subscribed>().required("subscription_id", &Subscribed::subscription_id);
    }
};
// The params of notifications/quire/blocks.
struct BlockNews {
    std::string subscription_id;
    std::vector<kernel::BlockEvent> events;
    static Fields<BlockNews> fields() {
        return Fields<BlockNews>()
            .required("subscription_id", &BlockNews::subscription_id)
            .required("events", &BlockNews::events);
    }
};

// Sends events to the client of a session, for as long as that lasts.
kernel::BlockPush push_blocks_to(const std::shared_ptr<const kernel::Notify>& notify,
                                 EventFormat format) {
    if (notify == nullptr) return nullptr;
    // Weak, so that a subscription does not keep a session alive whose client has gone. Events for
    // it are then dropped.
    return [session = std::weak_ptr(notify), format](const std::string& id,
                                                     const kernel::BlockHub::Events& events) {
        const auto send = session.lock();
        if (send == nullptr) return;
        BlockNews news{id, {}};
        for (const auto& event : events) news.events.push_back(shown_event(*event, format));
        Value params = json::Codec<BlockNews>::encode(news);
        (*send)("notifications/quire/blocks", std::move(params.as_map()));
    };
}

// Names in place of ids: first those of block_ids, then those of from_versions.
std::vector<std::string> named_in(const BlockSubscribeArgs& args) {
    std::vector<std::string> out = args.block_ids.value_or(std::vector<std::string>());
    for (const auto& [block, version] : args.from_versions) out.push_back(block);
    return out;
}

}  // namespace

MadeTool make_block_subscribe(const BlockNames& names) {
    return make_tool<BlockSubscribeArgs>(
        {.name = "block_subscribe",
         .title = "Follow blocks",
         .description =
             "Opens a stream of what becomes of blocks: one event for each version. Subscribe "
             "first, then read the blocks, then leave out events that are not newer. The events "
             "come as notifications/quire/blocks, and block_events pulls the same. The "
             "subscription ends with your session.",
         .annotations = {.read_only = true}},
        Fields<BlockSubscribeArgs>()
            .optional("block_ids", &BlockSubscribeArgs::block_ids,
                      "Ids, file:PATH or memory:LABEL. Absent: all that you may see, later ones "
                      "too.")
            .optional("from_versions", &BlockSubscribeArgs::from_versions,
                      "[[block_id, version], …] that you have: what came after comes first.")
            .optional("format", &BlockSubscribeArgs::format, kFormatSays),
        Subscribed::fields(),
        [names](const Session& session, BlockSubscribeArgs args,
                Reply<Answered<Subscribed>> reply) {
            const kernel::Caller by = session.caller;
            std::vector<std::string> named = named_in(args);
            resolve_ids(names, by, std::move(named),
                        [core = names.kernel.core(), by, args = std::move(args),
                         reply = std::move(reply)](Result<std::vector<std::string>> ids) mutable {
                            if (!ids) return reply(Failure(std::move(ids).error()));
                            kernel::BlockWatch watch;
                            watch.wants_updates = args.format == EventFormat::ops;
                            // The resolved ids stand in the order of named_in(): those of block_ids
                            // first.
                            std::size_t next = 0;
                            if (args.block_ids) {
                                next = args.block_ids->size();
                                watch.block_ids.emplace(
                                    ids->begin(), ids->begin() + static_cast<std::ptrdiff_t>(next));
                            }
                            for (const auto& [block, version] : args.from_versions)
                                watch.from_versions.emplace_back((*ids)[next++], version);
                            kernel::watch_blocks(
                                core, by, std::move(watch), push_blocks_to(by.notify, args.format),
                                answer_with(std::move(reply), [](std::string id) {
                                    std::string text =
                                        cat("Subscribed: block_events with subscription_id ", id,
                                            " gives what comes.\n");
                                    return Answered<Subscribed>{{std::move(id)}, std::move(text)};
                                }));
                        });
        });
}

}  // namespace quire::tools
