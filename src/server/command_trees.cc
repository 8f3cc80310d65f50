// The methods of `quire view`, `views`, `land` and `refresh`: adopted trees. Part of
// CommandSession. Calls that change a tree or the workspace pass kernel::Admission, each under a
// name of its own, so the log has them; `trees` and `claims` only read, and do not. Land and
// refresh alone ask a person: they may overwrite the files of others.
#include <utility>

#include "kernel/oversight/admission.h"
#include "kernel/views/view_calls.h"
#include "server/command_replies.h"
#include "server/command_session.h"
#include "server/tree_rows.h"

namespace quire::server {
namespace {

// The arguments that the log and an approval name.
Map named(const kernel::WhichTrees& which) {
    return {{"tree", which.directory.value_or(which.around)}};
}

}  // namespace

// Runs work(by, done), which replies with a tree.
template <class Work>
void CommandSession::on_tree(const rpc::Answer& answer, const char* name, Map arguments,
                             Work work) {
    kernel::Admission(workspace_.kernel)
        .run<kernel::TreeReport>(
            caller(answer), {.name = name, .arguments = std::move(arguments)},
            replying<kernel::TreeReport>(answer,
                                         [](const kernel::TreeReport& report) {
                                             return json::Codec<TreeRow>::fields().encode(
                                                 row_of(report));
                                         }),
            std::move(work));
}

// Two actors are at work here: the caller, in whose name this is logged, and `actor`, to whom
// changes that come from the tree are attributed.
void CommandSession::adopt_tree(const rpc::Answer& answer, std::string directory,
                                std::string actor) {
    const auto adopted = policy::Actor::parse(actor);
    if (!adopted) return answer_error(answer, adopted.error());
    on_tree(
        answer, "view_adopt", {{"tree", directory}, {"actor", actor}},
        [&views = workspace_.views, directory, of = *adopted](const kernel::Caller& by, auto done) {
            views.adopt(by, {directory, of}, std::move(done));
        });
}

void CommandSession::make_tree(const rpc::Answer& answer, std::string directory,
                               std::string actor) {
    const auto adopted = policy::Actor::parse(actor);
    if (!adopted) return answer_error(answer, adopted.error());
    on_tree(
        answer, "view_make", {{"tree", directory}, {"actor", actor}},
        [&views = workspace_.views, directory, of = *adopted](const kernel::Caller& by, auto done) {
            views.make(by, {directory, of}, std::move(done));
        });
}

void CommandSession::drop_tree(const rpc::Answer& answer, std::string directory) {
    on_tree(answer, "view_drop", {{"tree", directory}},
            [&views = workspace_.views, directory](const kernel::Caller& by, auto done) {
                views.drop(by, directory, std::move(done));
            });
}

void CommandSession::remove_tree(const rpc::Answer& answer, std::string directory) {
    on_tree(answer, "view_remove", {{"tree", directory}},
            [&views = workspace_.views, directory](const kernel::Caller& by, auto done) {
                views.remove(by, directory, std::move(done));
            });
}

void CommandSession::claims(const rpc::Answer& answer, std::string tree,
                            std::vector<std::string> paths) {
    workspace_.views.claims(
        caller(answer), std::move(tree), std::move(paths),
        replying<std::vector<kernel::Claim>>(answer, [](const std::vector<kernel::Claim>& all) {
            return json::Codec<ClaimRows>::fields().encode(rows_of(all));
        }));
}

void CommandSession::trees(const rpc::Answer& answer) {
    workspace_.views.list(caller(answer),
                          replying<std::vector<kernel::TreeReport>>(
                              answer, [](const std::vector<kernel::TreeReport>& all) {
                                  TreeRows rows;
                                  for (const kernel::TreeReport& each : all)
                                      rows.trees.push_back(row_of(each));
                                  return json::Codec<TreeRows>::fields().encode(rows);
                              }));
}

// `land` and `refresh` differ in their direction only. An outcome that is not `done` is an answer
// and no error: each tree has its own, and one that is refused does not stop the others.
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
                          std::string around, std::optional<bool> asks) {
    sync_trees(answer, "land", {std::move(directory), std::move(around), asks.value_or(false)},
               kernel::Direction::land);
}

void CommandSession::refresh(const rpc::Answer& answer, std::optional<std::string> directory,
                             std::string around) {
    sync_trees(answer, "refresh", {std::move(directory), std::move(around)},
               kernel::Direction::refresh);
}

}  // namespace quire::server
