// The methods of `quire hook`: agents with their own editors and shells report the files that they
// change. Part of CommandSession. Two calls frame one use of the agent's own tool: hook_before
// announces its paths under a key and tells who else changed them lately, and hook_after has the
// files taken in and ends the announcement. The agent stands still until a hook is answered, so an
// answer goes out after kMostMs at the latest, with the rows that are there and the number of those
// that are missing; their work goes on.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "kernel/core/core.h"
#include "kernel/files/disk_authors.h"
#include "kernel/files/file_calls.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"
#include "server/command_replies.h"
#include "server/command_session.h"
#include "text/utc_time.h"

namespace quire::server {
namespace {

// The limits of one hook, because the agent waits for its answer.
constexpr std::size_t kMostPaths = 50;
constexpr std::int64_t kMostMs = 200;
// Older changes by others are not reported.
constexpr std::int64_t kLatelyMs = std::int64_t{15} * 60 * 1000;
constexpr std::size_t kNewest = 5;

// Selects the paths of files; the others name directories.
std::vector<std::string> files_in(const std::vector<std::string>& paths) {
    std::vector<std::string> out;
    for (const std::string& path : paths) {
        if (!path.ends_with('/') && out.size() < kMostPaths) out.push_back(path);
    }
    return out;
}

// The announced changes. The hashes belong to the first paths; the other files may get any bytes.
std::vector<kernel::ExpectedChange> changes_of(const std::vector<std::string>& paths,
                                               const std::vector<std::string>& hashes) {
    std::vector<kernel::ExpectedChange> out;
    for (std::size_t i = 0; i < paths.size(); ++i)
        out.push_back({paths[i], i < hashes.size() ? hashes[i] : ""});
    return out;
}

// Collects a row for each file. Answers when all rows are there, or with some of them when time is up.
class FileRows : public std::enable_shared_from_this<FileRows> {
public:
    // `ending` is called before the answer.
    FileRows(rpc::Answer answer, std::size_t expected, Function<void()> ending)
        : answer_(std::move(answer)), ending_(std::move(ending)), state_({expected, {}, false}) {}

    void begin(sched::Scheduler& scheduler) {
        scheduler.post_after(kMostMs, [self = shared_from_this()] { self->finish(); });
        if (state_.with([](const State& state) { return state.left == 0; })) finish();
    }
    void add(std::optional<Map> row) {
        const bool is_last = state_.with([&](State& state) {
            if (row) state.rows.push_back(std::move(*row));
            return --state.left == 0;
        });
        if (is_last) finish();
    }

private:
    struct State {
        std::size_t left;
        List rows;
        bool is_answered;
    };

    // Called by the last row and by the timer, from any thread: the first call answers. The hook's
    // own ending runs outside the lock, and before the answer lets the agent go on.
    void finish() {
        auto rows = state_.with([](State& state) -> std::optional<Map> {
            if (std::exchange(state.is_answered, true)) return std::nullopt;
            return Map{{"files", std::move(state.rows)}, {"pending", state.left}};
        });
        if (!rows) return;
        ending_();
        answer_.result(std::move(*rows));
    }

    rpc::Answer answer_;
    Function<void()> ending_;
    sched::Guarded<State> state_;
};

// The newest recent change by another actor. The first version of a file is not a change.
std::optional<Map> others_change(const std::string& path, const kernel::HistoryPage& page,
                                 const std::string& caller, std::int64_t now_ms) {
    for (const kernel::HistoryEntry& entry : page.versions) {
        if (entry.timestamp < now_ms - kLatelyMs) break;
        if (entry.actor == caller || entry.version_id == "1") continue;
        return Map{{"path", path},
                   {"actor", entry.actor},
                   {"timestamp", text::utc_time(entry.timestamp)},
                   {"seconds", (now_ms - entry.timestamp) / 1000}};
    }
    return std::nullopt;
}

}  // namespace

void CommandSession::hook_before(const rpc::Answer& answer, std::string key,
                                 std::vector<std::string> paths,
                                 std::optional<std::vector<std::string>> hashes) {
    const kernel::Caller by = caller(answer);
    const std::vector<std::string> files = files_in(paths);
    const kernel::Parts& parts = workspace_.kernel.core()->parts();
    // The announcement begins after the files are read, because their present text is not the actor's.
    const auto rows = std::make_shared<FileRows>(
        answer, files.size(),
        [&authors = workspace_.files.authors(), actor = by.actor, key = std::move(key),
         changes = changes_of(paths, hashes.value_or(std::vector<std::string>()))] {
            authors.expect(actor, key, changes);
        });
    rows->begin(parts.scheduler);
    for (const std::string& path : files) {
        workspace_.files.history(
            by, path, kNewest, "",
            [rows, path, actor = by.actor.str(),
             now_ms = parts.clock.wall_ms()](Result<kernel::FileHistory> got) {
                rows->add(got ? others_change(path, got->page, actor, now_ms) : std::nullopt);
            });
    }
}

// Files named in hook_before are looked at too, even if the tool's own report leaves them out. Each
// file is reconciled by a call of its own: one that is slow or cannot be read holds up no other.
void CommandSession::hook_after(const rpc::Answer& answer, std::string key,
                                std::vector<std::string> paths) {
    const kernel::Caller by = caller(answer);
    kernel::DiskAuthors& authors = workspace_.files.authors();
    for (const std::string& path : authors.expected(by.actor, key)) {
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    }
    const std::vector<std::string> files = files_in(paths);
    // An agent without a hook before its tool announces its changes only now.
    authors.expect(by.actor, key, changes_of(paths, {}));
    const auto rows = std::make_shared<FileRows>(answer, files.size(), [] {});
    // The announcement ends with the last file, which may be taken in after the answer.
    const auto ending = std::shared_ptr<void>(
        nullptr, [&authors, actor = by.actor, key](void*) { authors.end(actor, key); });
    rows->begin(workspace_.kernel.core()->parts().scheduler);
    for (const std::string& path : files) {
        workspace_.files.reconcile(
            by, {path}, [rows, ending](Result<std::vector<kernel::FileReconciled>> made) {
                if (!made || made->empty()) return rows->add(std::nullopt);
                const kernel::FileReconciled& one = made->front();
                Map row{{"path", one.path}, {"result", name_of(one.result)}};
                if (one.change_type) row.append("change_type", name_of(*one.change_type));
                rows->add(std::move(row));
            });
    }
}

}  // namespace quire::server
