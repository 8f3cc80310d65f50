#include "tools/file_events.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/concat.h"
#include "tools/render.h"

namespace quire::tools {
namespace {

constexpr std::int64_t kLongestWaitMs = 300'000;

FileEventsShown shown_events(const std::string& id, const kernel::FileHub::Events& events,
                             bool lagged) {
    FileEventsShown out{id, {}, lagged};
    for (const auto& event : events) out.events.push_back(*event);
    return out;
}

ToolResult render_file_events(const kernel::FileEvents& pulled) {
    std::string text;
    for (const auto& event : pulled.events) {
        text += cat(name_of(event->change_type), " ",
                    event->from.empty() ? "" : cat(event->from, " -> "), event->path, " by ",
                    event->actor, "\n");
    }
    if (text.empty()) text = "No change since.\n";
    if (pulled.lagged)
        text += "Earlier changes were dropped: they were not asked for in time. Read anew what "
                "you rely on.\n";
    text += cat("Go on with subscription_id ", pulled.subscription_id, ".\n");
    return result_of(shown_events(pulled.subscription_id, pulled.events, pulled.lagged),
                     std::move(text));
}

// Sends events to the client of a session, for as long as that lasts. A weak pointer, so that a
// subscription does not outlive its client. None for a caller without a session, who pulls.
kernel::DiskWatch::Push push_to(const std::shared_ptr<const kernel::Notify>& notify) {
    if (notify == nullptr) return nullptr;
    return [session = std::weak_ptr(notify)](const std::string& id,
                                             const kernel::FileHub::Events& events) {
        const auto send = session.lock();
        if (send == nullptr) return;
        Value params = json::Codec<FileEventsShown>::encode(shown_events(id, events, false));
        (*send)("notifications/quire/files", std::move(params.as_map()));
    };
}

}  // namespace

void show_file_events(kernel::DiskWatch& watch, OperationCall call,
                      std::optional<std::string> subscription_id,
                      std::optional<std::int64_t> wait_ms) {
    const std::int64_t wait = std::clamp(wait_ms.value_or(0), std::int64_t{0}, kLongestWaitMs);
    watch.events(call.by(), std::move(subscription_id), wait, push_to(call.by().notify),
                 answer_with(std::move(call.reply), render_file_events));
}

}  // namespace quire::tools
