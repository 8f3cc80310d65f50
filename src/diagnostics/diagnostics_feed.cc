// The source keeps the result of every check, keyed by file and command, with the stamps of all
// files that the check read. A run therefore repeats only checks whose inputs changed.
//
//     idle --attend, run, look--> planning --choose files--> checking --last check ends--> idle
//
// Planning reads compile_commands.json and chooses the files, O(files × patterns). Checking runs
// `jobs` tasks on the workers; each takes the next file until none is left. Every run has a round
// number, and a task of an older round drops out at its next step, so a new run can start while
// old tasks finish. look() compares the stamps of all inputs every few seconds and starts a run
// when two looks agree. The state is held under one lock, which is never held during a check or a
// match.
#include "diagnostics/diagnostics_feed.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "base/concat.h"
#include "diagnostics/check.h"
#include "diagnostics/check_config.h"
#include "diagnostics/checker.h"
#include "diagnostics/fed_block.h"
#include "diagnostics/units.h"
#include "json/json.h"
#include "memory/timestamp.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::diagnostics {
namespace {

using memory::ConfigAnswer;

constexpr std::size_t kProgressParts = 20;

}  // namespace

// Checks run on the workers; what is known of them is reached under a lock, for a moment.
class DiagnosticsFeed::Body : public std::enable_shared_from_this<DiagnosticsFeed::Body> {
public:
    Body(DiagnosticsOptions options, sched::Scheduler& workers, Clock& clock)
        : options_(std::move(options)),
          block_(make_block(options_.label)),
          checker_(options_, clock),
          workers_(workers),
          clock_(clock) {}

    const std::string& name() const { return name_; }
    const memory::MemoryBlock& block() const { return block_; }

    ConfigAnswer judge(const Value& config) {
        CheckConfig wanted;
        if (const auto fault = CheckConfig::read(config, wanted)) {
            return {ConfigAnswer::Kind::rejected,
                    cat("config.", fault->field, " cannot be ", json::write(fault->value)),
                    fault->field, fault->value, fault->allowed};
        }
        using Kind = ConfigAnswer::Kind;
        if (!checker_.refusal().empty())
            return {Kind::pending, cat("nothing is run here: ", checker_.refusal())};
        if (!wanted.enabled) return {Kind::applied, "nothing is run any more"};
        const std::optional<Seen> seen = see(wanted);
        if (!seen) return {Kind::pending, "it takes effect with the next run, which begins now"};
        const Shown shown = show(collect(*seen), wanted);
        return {Kind::applied,
                cat(shown.findings.size(), " of ", shown.matching, " findings are shown")};
    }

    Value feed(const Value& config) {
        const Followed wanted = followed(config);
        const std::optional<Seen> seen = see(wanted.config);
        Map out{{"status",
                 state_.with([&](const Inside& state) { return status(state, wanted, seen); })}};
        if (!seen) return Map{{std::string(kFedSection), std::move(out)}};
        const Shown shown = show(collect(*seen), wanted.config);
        List findings;
        for (const Finding& each : shown.findings) findings.push_back(to_value(each));
        out.append("errors", shown.errors);
        out.append("warnings", shown.warnings);
        out.append("matching", shown.matching);
        out.append("findings", std::move(findings));
        // Findings that were there before and are found again are not news. `said_ms` is when the
        // findings became what they are, so a run without news makes no new version.
        Map found = out;
        found.erase("status");
        std::string said = json::write(std::move(found));
        const std::int64_t said_ms = state_.with([&](Inside& state) {
            if (said != state.said) {
                state.said = std::move(said);
                state.said_ms = state.ended_ms;
            }
            return state.said_ms;
        });
        out.append("last_run", memory::format_timestamp(said_ms));
        return Map{{std::string(kFedSection), std::move(out)}};
    }

    void attend(const Value& config) {
        const Followed followed_config = followed(config);
        const CheckConfig& wanted = followed_config.config;
        const bool is_known = see(wanted).has_value();
        const bool begins = state_.with([&](Inside& state) {
            const bool moved = !wanted.same_files(state.followed.config);
            state.followed = followed_config;
            state.asked = true;
            if (!wanted.enabled && state.phase != Phase::idle) {
                ++state.round;
                state.stop.request_stop();
                state.phase = Phase::idle;
            }
            const bool idle = state.phase == Phase::idle;
            return (idle || moved) && wanted.enabled && !is_known;
        });
        if (begins) begin();
    }

    void run(const Value& config) {
        const Followed wanted = followed(config);
        state_.with([&](Inside& state) {
            state.followed = wanted;
            state.asked = true;
        });
        if (wanted.config.enabled) begin();
    }

    void start(std::function<void()> changed) {
        state_.with([&](Inside& state) { state.changed = std::move(changed); });
        // Removes the files of checks that were killed with their kernel.
        std::error_code none;
        std::filesystem::remove_all(options_.scratch, none);
        look_again();
    }

    void stop() {
        state_.with([](Inside& state) {
            state.stopped = true;
            state.changed = nullptr;
            ++state.round;
            state.stop.request_stop();
        });
    }

    State state() const {
        const Followed wanted = state_.with([](const Inside& state) { return state.followed; });
        const std::optional<Seen> seen = see(wanted.config);
        return state_.with([&](const Inside& state) -> State {
            const bool running = state.phase != Phase::idle;
            const bool failed = !checker_.refusal().empty() ||
                                (!running && (!state.problem.empty() || (seen && lacks(*seen))));
            return {running, failed, status(state, wanted, seen)};
        });
    }

private:
    enum class Phase { idle, planning, checking };
    struct Followed {
        CheckConfig config;
        std::string fault;  // Why it is the default instead of what is set; "" where it is that.
    };
    // All that changes, under one lock. A pointer to Listed is valid as long as `units` is held.
    struct Inside {
        std::function<void()> changed;
        bool stopped = false;
        bool asked = false;  // Somebody wants to know.
        Followed followed;
        std::shared_ptr<const Choice> choice;  // The last one that was made.
        Phase phase = Phase::idle;
        std::uint64_t round = 0;  // Tasks of an older one end.
        std::stop_source stop;
        std::shared_ptr<const Units> units;  // None before the file was read.
        std::map<std::string, std::shared_ptr<const Checked>> known;  // Keyed by Listed::key.
        std::deque<const Listed*> waiting;
        std::size_t under_way = 0;
        std::size_t done = 0;
        std::size_t total = 0;
        std::string problem;  // Why the last run could not be: "failed: …", "off: …".
        std::int64_t ended_ms = 0;
        std::int64_t told_ms = 0;  // When the block was last told how far the run is, and how far.
        std::size_t told_part = 0;
        std::string said;  // The findings as last fed, and since when.
        std::int64_t said_ms = 0;
        InputStamp list_stamp;         // The stamp of the file as last read.
        std::vector<InputStamp> seen;  // The changed stamps of the last look.
    };

    // A config that cannot be followed never passes judge(); what was imported or written by
    // another program may be one.
    static Followed followed(const Value& config) {
        Followed out;
        if (const auto fault = CheckConfig::read(config, out.config)) {
            out.fault = cat("; config is not followed, and the default is: config.", fault->field,
                            " is to be ", fault->allowed);
        }
        return out;
    }

    // Returns none where not all of them have been checked, and where to find them is more than a moment's
    // work: then it is for a run.
    std::optional<Seen> see(const CheckConfig& config) const {
        std::shared_ptr<const Units> units;
        std::shared_ptr<const Choice> choice;
        state_.with([&](const Inside& state) {
            units = state.units;
            choice = state.choice;
        });
        if (units == nullptr) return std::nullopt;
        if (choice == nullptr || !choice->is_of(units, config)) {
            if (config.steps(units->path_bytes) > kMostSteps) return std::nullopt;
            choice = choose(units, config, {});
        }
        Seen out{std::move(choice), {}};
        const bool is_known = state_.with([&](const Inside& state) {
            if (state.units != units) return false;
            for (const Listed* const each : out.choice->chosen) {
                const auto known = state.known.find(each->key);
                if (known == state.known.end()) return false;
                out.checks.push_back(known->second);
            }
            return true;
        });
        if (!is_known) return std::nullopt;
        return out;
    }

    std::string status(const Inside& state, const Followed& wanted,
                       const std::optional<Seen>& seen) const {
        return cat(doing(state, wanted.config, seen), wanted.fault);
    }
    std::string doing(const Inside& state, const CheckConfig& config,
                      const std::optional<Seen>& seen) const {
        if (!checker_.refusal().empty()) return cat("off: ", checker_.refusal());
        if (!config.enabled) return "off: enabled is false in config";
        if (state.phase == Phase::planning) return "running: looking at what has changed";
        if (state.phase == Phase::checking) return cat("running ", state.done, " of ", state.total);
        if (!state.problem.empty()) return state.problem;
        if (!seen) return "not run since the kernel started";
        return summary(*seen);
    }
    // A run, in place of the one that is under way.
    void begin() {
        if (!checker_.refusal().empty()) return;
        struct Begun {
            std::uint64_t round;
            std::stop_token stop;
        };
        const auto begun = state_.with([](Inside& state) -> std::optional<Begun> {
            if (state.stopped) return std::nullopt;
            state.stop.request_stop();
            state.stop = std::stop_source();
            state.phase = Phase::planning;
            state.problem.clear();
            state.waiting.clear();
            state.under_way = state.done = state.total = 0;
            return Begun{++state.round, state.stop.get_token()};
        });
        if (!begun) return;
        workers_.post(
            [self = shared_from_this(), begun = *begun] { self->plan(begun.round, begun.stop); });
    }

    void plan(std::uint64_t round, const std::stop_token& stop) {
        // Reading a long list takes its time, and nobody waits for it any more.
        if (stop.stop_requested()) return;
        const InputStamp list_stamp = stamp_of(checker_.list());
        state_.with([&](Inside& state) { state.list_stamp = list_stamp; });
        Result<Units> read = read_units(checker_.list(), checker_.reach(), options_.root);
        if (!read) {
            const bool may_not = read.error().code() == Errc::denied;
            return end(round, cat(may_not ? "off: " : "failed: ", read.error().message()));
        }
        if (const std::string why = checker_.flags_refusal(); !why.empty())
            return end(round, cat("off: ", why));
        if (::mkdir(options_.scratch.c_str(), 0700) != 0 && stamp_of(options_.scratch).size < 0)
            return end(round, cat("failed: cannot make ", options_.scratch));
        const auto units = std::make_shared<const Units>(std::move(*read));
        struct Known {
            CheckConfig config;
            std::map<std::string, std::shared_ptr<const Checked>> checks;
        };
        const Known before = state_.with([](const Inside& state) {
            return Known{state.followed.config, state.known};
        });
        const auto choice = choose(units, before.config, stop);
        if (choice == nullptr) return;
        std::deque<const Listed*> stale;
        Stamps stamps;
        for (const Listed* const each : choice->chosen) {
            const auto known = before.checks.find(each->key);
            if (known == before.checks.end() || !is_current(*known->second, stamps))
                stale.push_back(each);
        }
        const std::size_t tasks = std::min(options_.jobs, stale.size());
        const bool goes_on = state_.with([&](Inside& state) {
            if (state.round != round) return false;
            state.units = units;
            state.choice = choice;
            forget_unlisted(state);
            state.total = stale.size();
            state.waiting = std::move(stale);
            state.phase = Phase::checking;
            state.told_ms = clock_.steady_ms();
            state.told_part = 0;
            return true;
        });
        if (!goes_on) return;
        if (tasks == 0) return end(round, "");
        for (std::size_t i = 0; i < tasks; ++i) post_check(round, i);
    }

    // Results of files that left the list would stay for ever.
    static void forget_unlisted(Inside& state) {
        std::map<std::string, std::shared_ptr<const Checked>> kept;
        for (const Listed& each : state.units->listed) {
            const auto known = state.known.find(each.key);
            if (known != state.known.end()) kept.insert(*known);
        }
        state.known = std::move(kept);
    }

    void post_check(std::uint64_t round, std::size_t task) {
        workers_.post([self = shared_from_this(), round, task] { self->check_next(round, task); });
    }

    // A task does one file and posts itself again, so that the plan of a newer run gets its turn on
    // the workers.
    void check_next(std::uint64_t round, std::size_t task) {
        struct Next {
            std::shared_ptr<const Units> units;  // Holds what `listed` is in.
            const Listed* listed;
            std::stop_token stop;
        };
        const auto next = state_.with([&](Inside& state) -> std::optional<Next> {
            if (state.round != round || state.waiting.empty()) return std::nullopt;
            ++state.under_way;
            const Listed* const listed = state.waiting.front();
            state.waiting.pop_front();
            return Next{state.units, listed, state.stop.get_token()};
        });
        if (!next) return;
        // The task of a round that is over may still be at work under the same number.
        const std::string scratch = cat(options_.scratch, "/", round, "_", task, ".d");
        std::optional<Checked> checked = checker_.check(*next->listed, scratch, next->stop);
        const auto [over, tells] = state_.with([&](Inside& state) -> std::pair<bool, bool> {
            if (checked) {
                state.known[next->listed->key] =
                    std::make_shared<const Checked>(std::move(*checked));
            }
            if (state.round != round) return {false, false};
            --state.under_way;
            ++state.done;
            const std::int64_t now = clock_.steady_ms();
            // Each time is a version of the block: a long run has no more of them than a short one.
            const std::size_t part = state.done * kProgressParts / state.total;
            const bool due = now - state.told_ms >= options_.progress_ms && part > state.told_part;
            if (due) state.told_ms = now, state.told_part = part;
            return {state.waiting.empty() && state.under_way == 0, due};
        });
        if (over) return end(round, "");
        if (tells) tell();
        post_check(round, task);
    }

    void end(std::uint64_t round, std::string problem) {
        const bool ended = state_.with([&](Inside& state) {
            if (state.round != round) return false;
            state.phase = Phase::idle;
            state.problem = std::move(problem);
            state.ended_ms = clock_.wall_ms();
            return true;
        });
        if (ended) tell();
    }

    void tell() {
        const auto changed = state_.with([](const Inside& state) { return state.changed; });
        if (changed) changed();
    }

    // --- what changes on the disk ---

    void look_again() {
        workers_.post_after(options_.look_ms, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self == nullptr) return;
            if (self->state_.with([](const Inside& state) { return state.stopped; })) return;
            self->look();
            self->look_again();
        });
    }

    void look() {
        const auto watched = state_.with([](const Inside& state) -> std::optional<Checks> {
            const bool due =
                state.asked && state.followed.config.enabled && state.phase == Phase::idle;
            if (!due) return std::nullopt;
            Checks out;
            if (state.choice == nullptr) return out;
            for (const Listed* const each : state.choice->chosen) {
                const auto known = state.known.find(each->key);
                if (known != state.known.end()) out.push_back(known->second);
            }
            return out;
        });
        if (!watched || !checker_.refusal().empty()) return;
        Stamps stamps;
        std::vector<InputStamp> changed;
        for (const auto& checked : *watched) {
            for (const auto& [path, stamp] : checked->inputs) {
                if (stamps.of(path) != stamp) changed.push_back(stamps.of(path));
            }
        }
        // Two looks that agree: a build that is writing files has another set of stamps each time.
        const InputStamp list = stamps.of(checker_.list());
        const bool settled = state_.with([&](Inside& state) {
            const bool other_list = list != state.list_stamp;
            if (other_list) changed.push_back(list);
            const bool same = !changed.empty() && changed == state.seen;
            state.seen = same ? std::vector<InputStamp>() : changed;
            return same;
        });
        if (settled) begin();
    }

    const std::string name_ = "diagnostics";
    const DiagnosticsOptions options_;
    const memory::MemoryBlock block_;
    const Checker checker_;
    sched::Scheduler& workers_;
    Clock& clock_;
    sched::Guarded<Inside> state_;
};

DiagnosticsFeed::DiagnosticsFeed(DiagnosticsOptions options, sched::Scheduler& workers,
                                 Clock& clock)
    : body_(std::make_shared<Body>(std::move(options), workers, clock)) {}
DiagnosticsFeed::~DiagnosticsFeed() {
    body_->stop();
}

const std::string& DiagnosticsFeed::name() const {
    return body_->name();
}
const memory::MemoryBlock& DiagnosticsFeed::block() const {
    return body_->block();
}
ConfigAnswer DiagnosticsFeed::judge(const Value& config) {
    return body_->judge(config);
}
Value DiagnosticsFeed::feed(const Value& config) {
    return body_->feed(config);
}
void DiagnosticsFeed::attend(const Value& config) {
    body_->attend(config);
}
void DiagnosticsFeed::run(const Value& config) {
    body_->run(config);
}
void DiagnosticsFeed::start(std::function<void()> changed) {
    body_->start(std::move(changed));
}
void DiagnosticsFeed::stop() {
    body_->stop();
}
memory::Feed::State DiagnosticsFeed::state() const {
    return body_->state();
}

}  // namespace quire::diagnostics
