// The methods of `quire view`, `views`, `land` and `refresh`: adopted trees. Part of CommandSession.
#include <utility>

#include "base/clock.h"
#include "kernel/core/core.h"
#include "kernel/oversight/admission.h"
#include "kernel/views/view_calls.h"
#include "server/command_replies.h"
#include "server/command_session.h"
#include "server/tree_rows.h"

namespace quire::server {
namespace {

Reply<kernel::TreeReport> replying_row(const rpc::Answer& answer, kernel::Kernel& kernel) {
    return replying<kernel::TreeReport>(answer, [&kernel](const kernel::TreeReport& report) {
        const std::int64_t now_ms = kernel.core()->parts().clock.wall_ms();
        return json::Codec<TreeRow>::fields().encode(row_of(report, now_ms));
    });
}

// The arguments that the log and an approval name.
Map named(const kernel::WhichTrees& which) {
    return {{"tree", which.directory.value_or(which.around)}};
}

}  // namespace

void CommandSession::adopt_tree(const rpc::Answer& answer, std::string directory,
                                std::string actor) {
    const auto adopted = policy::Actor::parse(actor);
    if (!adopted) return answer_error(answer, adopted.error());
    kernel::Admission(workspace_.kernel)
        .run<kernel::TreeReport>(
            caller(answer),
            {.name = "view_adopt", .arguments = Map{{"tree", directory}, {"actor", actor}}},
            replying_row(answer, workspace_.kernel),
            [&views = workspace_.views, directory, by_actor = *adopted](const kernel::Caller& by,
                                                                        auto done) {
                views.adopt(by, {directory, by_actor}, std::move(done));
            });
}

void CommandSession::drop_tree(const rpc::Answer& answer, std::string directory) {
    kernel::Admission(workspace_.kernel)
        .run<kernel::TreeReport>(
            caller(answer), {.name = "view_drop", .arguments = Map{{"tree", directory}}},
            replying_row(answer, workspace_.kernel),
            [&views = workspace_.views, directory](const kernel::Caller& by, auto done) {
                views.drop(by, directory, std::move(done));
            });
}

void CommandSession::trees(const rpc::Answer& answer) {
    workspace_.views.list(
        caller(answer),
        replying<std::vector<kernel::TreeReport>>(
            answer, [&kernel = workspace_.kernel](const std::vector<kernel::TreeReport>& all) {
                const std::int64_t now_ms = kernel.core()->parts().clock.wall_ms();
                TreeRows rows;
                for (const kernel::TreeReport& each : all)
                    rows.trees.push_back(row_of(each, now_ms));
                return json::Codec<TreeRows>::fields().encode(rows);
            }));
}

void CommandSession::sync_trees(const rpc::Answer& answer, const char* name,
                                kernel::WhichTrees which, kernel::Direction direction) {
    kernel::Admission(workspace_.kernel)
        .run<std::vector<kernel::Synced>>(
            caller(answer),
            {.profile = "full", .name = name, .arguments = named(which), .asks = true},
            replying<std::vector<kernel::Synced>>(
                answer,
                [](const std::vector<kernel::Synced>& all) {
                    return json::Codec<SyncedRows>::fields().encode(rows_of(all));
                }),
            [&views = workspace_.views, which, direction](const kernel::Caller& by, auto done) {
                if (direction == kernel::Direction::land) {
                    views.land(by, which, std::move(done));
                } else {
                    views.refresh(by, which, std::move(done));
                }
            });
}

void CommandSession::land(const rpc::Answer& answer, std::optional<std::string> directory,
                          std::string around) {
    sync_trees(answer, "land", {std::move(directory), std::move(around)}, kernel::Direction::land);
}

void CommandSession::refresh(const rpc::Answer& answer, std::optional<std::string> directory,
                             std::string around) {
    sync_trees(answer, "refresh", {std::move(directory), std::move(around)},
               kernel::Direction::refresh);
}

}  // namespace quire::server
