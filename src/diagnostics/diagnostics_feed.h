// DiagnosticsFeed: what a compiler or clang-tidy says of the workspace, as a source of a memory
// block.
//
// It checks the files that compile_commands.json lists, each with its own command and without
// making anything; a file whose command and whose inputs have not changed since is not checked
// again. The first run begins when somebody reads the block or sets its config; from then on a
// change of what was read begins another once it has settled. What a run has found stands until the
// next one has ended.
//
// The commands that are run come from the settings and from compile_commands.json alone: `config` only chooses
// among files, and what is shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "memory/feed.h"

namespace quire::sched {
class Scheduler;
}

namespace quire::diagnostics {

struct DiagnosticsOptions {
    std::string label = "diagnostics";
    std::string root;              // The workspace: absolute, no links in it.
    std::string compile_commands;  // From the root, or absolute.
    std::string tool = {};         // A compiler, or clang-tidy; "" for the compiler of each entry.
    std::string scratch;  // A directory for files that live as long as a check: made and removed.
    // Files and folders that a check may write beside its own file, as a cache of the tool's.
    std::vector<std::string> writable = {};
    std::int64_t timeout_ms = 120'000;  // The most that one check may take.
    std::size_t jobs = 1;               // Checks at once.
    std::int64_t look_ms = 3'000;       // How often what was read is looked at for changes; two
                                        // looks that agree are a settled change.
    std::int64_t progress_ms = 2'000;   // A run tells how far it is at most so often, and twenty
                                        // times in all.
    // Returns true if agents may write a path, given from the root. Nothing at such a path is run,
    // nor does it say what is run.
    std::function<bool(const std::string&)> agents_write = {};
};

class DiagnosticsFeed final : public memory::Feed {
public:
    // Checks block a worker each, so `workers` are its own. Both outlive the tasks that it posts;
    // after stop() each of these ends soon.
    DiagnosticsFeed(DiagnosticsOptions options, sched::Scheduler& workers, Clock& clock);
    DiagnosticsFeed(const DiagnosticsFeed&) = delete;
    DiagnosticsFeed& operator=(const DiagnosticsFeed&) = delete;
    ~DiagnosticsFeed() override;

    const std::string& name() const override;
    const memory::MemoryBlock& block() const override;
    memory::ConfigAnswer judge(const Value& config) override;
    Value feed(const Value& config) override;
    void attend(const Value& config) override;
    void run(const Value& config) override;
    void start(std::function<void()> changed) override;
    void stop() override;
    State state() const override;

private:
    class Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::diagnostics
