// block_events: the events of a subscription since the last call.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/block_feed.h"
#include "tools/block_fields.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {
namespace {

constexpr std::int64_t kMostWaitMs = 300'000;

struct BlockEventsArgs {
    std::string subscription_id;
    std::int64_t wait_ms = 0;
};
struct BlockEventsShown {
    std::vector<kernel::BlockEvent> events;
    std::vector<kernel::BlockAtVersion> lagged;
};

Answered<BlockEventsShown> render_block_events(const kernel::BlockHub::Pulled& pulled) {
    BlockEventsShown out;
    // The subscription remembers the format that it was opened with: `kind` is 1 for operations.
    const EventFormat format = pulled.kind == 1 ? EventFormat::ops : EventFormat::text;
    std::string text;
    for (const auto& event : pulled.events) {
        out.events.push_back(shown_event(*event, format));
        text += words_of_event(out.events.back());
    }
    out.lagged.assign(pulled.lagged.begin(), pulled.lagged.end());
    if (text.empty()) text = "No event since.\n";
    for (const auto& [block, version] : out.lagged) {
        text += cat("Events of ", block, " after version ", version,
                    " were dropped: block_sync from there has them.\n");
    }
    return {std::move(out), std::move(text)};
}

}  // namespace

MadeTool make_block_events(kernel::Kernel& kernel) {
    return make_tool<BlockEventsArgs>(
        {.name = "block_events",
         .title = "Events of blocks",
         .description =
             "What a subscription of yours has gathered since the last call. A queue holds 1,000 "
             "events or 1 MiB; of what was dropped `lagged` says from which version block_sync has "
             "it.",
         .annotations = {.read_only = true}},
        Fields<BlockEventsArgs>()
            .required("subscription_id", &BlockEventsArgs::subscription_id,
                      "As block_subscribe answered.")
            .optional("wait_ms", &BlockEventsArgs::wait_ms,
                      "Where there are none, wait so long for some; at most 300000.",
                      {{"minimum", 0}}),
        Fields<BlockEventsShown>()
            .required("events", &BlockEventsShown::events)
            .optional("lagged", &BlockEventsShown::lagged),
        [&kernel](const Session& session, BlockEventsArgs args,
                  Reply<Answered<BlockEventsShown>> reply) {
            kernel::block_events(kernel.core(), session.caller, std::move(args.subscription_id),
                                 std::min(args.wait_ms, kMostWaitMs),
                                 answer_with(std::move(reply), render_block_events));
        });
}

}  // namespace quire::tools
