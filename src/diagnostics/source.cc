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
#include "diagnostics/source.h"

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
#include "diagnostics/compile_commands.h"
#include "diagnostics/reach.h"
#include "json/json.h"
#include "memory/timestamp.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::diagnostics {
namespace {

using memory::ConfigAnswer;

constexpr std::string_view kFedSection = "diagnostics";
constexpr std::size_t kProgressParts = 20;

memory::Field fed(std::string name, memory::FieldType type, std::string description) {
    memory::Field out;
    out.name = std::move(name);
    out.type = type;
    out.description = std::move(description);
    return out;
}

memory::MemoryBlock make_block(const std::string& label) {
    using memory::FieldType;
    memory::MapSchema found{
        {fed("status", FieldType::text, "what the source is doing"),
         fed("errors", FieldType::number, "in what paths and checks choose"),
         fed("warnings", FieldType::number, "likewise"),
         fed("matching", FieldType::number, "findings that the config lets through, shown or not"),
         fed("last_run", FieldType::timestamp, "when the run ended that found this"),
         fed("findings", FieldType::list, "errors first, then by place")}};
    memory::CompositeSchema shape;
    shape.sections.push_back({.name = std::string(kFedSection),
                              .schema = memory::BlockSchema(std::move(found)),
                              .description = "written by source:diagnostics",
                              .read_only = true});
    shape.sections.push_back({.name = std::string(memory::kConfigSection),
                              .schema = memory::BlockSchema(memory::MapSchema{config_fields()}),
                              .description = "what to check and show; yours to set"});
    memory::MemoryBlock out;
    out.label = label;
    out.description =
        "What the compiler says of this workspace. Set the fields of config to choose what is "
        "checked and shown; each edit is answered applied, pending or rejected.";
    out.schema = std::move(shape);
    return out;
}

// A path in it is one from the root, wherever the tool is run.
std::string tool_of(const DiagnosticsOptions& options) {
    const std::string& tool = options.tool;
    return tool.find('/') == std::string::npos ? tool : absolute_path(options.root, tool);
}

// Why nothing can be run where that shows already; "" where it does not.
std::string refusal_of(const DiagnosticsOptions& options) {
    const CheckTool tool{options.root, tool_of(options), "", 0};
    const std::string_view list = options.compile_commands;
    if (!tool.is_tidy() || list.substr(list.rfind('/') + 1) == "compile_commands.json") return "";
    return cat("clang-tidy reads no list that is not called compile_commands.json; give ", list,
               " that name, or make a link of that name to it, and name that in quire.toml");
}

// A unit as it is chosen and remembered.
struct Listed {
    CompileUnit unit;
    std::string path;  // From the root.
    std::string key;   // Equal for the same file checked by the same command.
};
struct Units {
    std::vector<Listed> listed;
    std::size_t outside = 0;  // Entries whose files are not below the root.
    std::size_t path_bytes = 0;
};

// Which of the units a config chooses. Found once: it is as much work as there are patterns and
// paths.
struct Choice {
    std::shared_ptr<const Units> units;
    CheckConfig config;
    std::vector<const Listed*> chosen;

    bool is_of(const std::shared_ptr<const Units>& all, const CheckConfig& wanted) const {
        return units == all && config.same_files(wanted);
    }
};
// Null where it was stopped.
std::shared_ptr<const Choice> choose(std::shared_ptr<const Units> units, const CheckConfig& config,
                                     const std::stop_token& stop) {
    auto out = std::make_shared<Choice>(Choice{std::move(units), config, {}});
    for (const Listed& each : out->units->listed) {
        if (stop.stop_requested()) return nullptr;
        if (config.has_path(each.path)) out->chosen.push_back(&each);
    }
    return out;
}

std::string key_of(const CompileUnit& unit) {
    std::string out = cat(unit.directory, "\n", unit.file);
    for (const std::string& word : unit.arguments) cat_to(out, "\n"), cat_to(out, word);
    return out;
}

// The files below the root; a project may compile others, which are not the workspace's.
Result<Units> read_units(const std::string& file, const Reach& reach, const std::string& root) {
    const Result<std::string> text = read_trusted(file, reach);
    if (!text && text.error().code() != Errc::not_found) return Failure(text.error());
    if (!text) {
        return fail(
            Errc::not_found, "file_not_found",
            cat("cannot read ", file,
                "; let the build system write it (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON), "
                "or name another in quire.toml"));
    }
    const std::string base = absolute_path(file, "..");
    const std::string below = root == "/" ? root : root + "/";
    Units out;
    for (CompileUnit& unit : TRY(parse_compile_commands(*text, base))) {
        std::optional<std::string> path = reach.below_root(unit.file);
        if (!path) {
            ++out.outside;
            continue;
        }
        // Its own name, where that is one from the root: findings have it too.
        if (unit.file.starts_with(below)) path = unit.file.substr(below.size());
        std::string key = key_of(unit);
        out.path_bytes += path->size();
        out.listed.push_back({std::move(unit), std::move(*path), std::move(key)});
    }
    return out;
}

// Looks at each file once.
class Stamps {
public:
    const InputStamp& of(const std::string& path) {
        const auto [at, is_new] = known_.try_emplace(path);
        if (is_new) at->second = stamp_of(path);
        return at->second;
    }

private:
    std::map<std::string, InputStamp> known_;
};

bool is_current(const Checked& checked, Stamps& stamps) {
    return checked.problem.empty() &&
           std::all_of(checked.inputs.begin(), checked.inputs.end(),
                       [&](const auto& input) { return stamps.of(input.first) == input.second; });
}

}  // namespace

// Checks run on the workers; what is known of them is reached under a lock, for a moment.
class DiagnosticsSource::Body : public std::enable_shared_from_this<DiagnosticsSource::Body> {
public:
    Body(DiagnosticsOptions options, sched::Scheduler& workers, Clock& clock)
        : options_(std::move(options)),
          refusal_(refusal_of(options_)),
          block_(make_block(options_.label)),
          file_(absolute_path(options_.root, options_.compile_commands)),
          tool_{options_.root, tool_of(options_), absolute_path(file_, ".."), options_.timeout_ms,
                options_.writable},
          reach_(options_.root, options_.agents_write),
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
        if (!refusal().empty()) return {Kind::pending, cat("nothing is run here: ", refusal())};
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
        // Findings that were there before and are found again are not news.
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
            const bool failed = !refusal().empty() ||
                                (!running && (!state.problem.empty() || (seen && lacks(*seen))));
            return {running, failed, status(state, wanted, seen)};
        });
    }

private:
    using Checks = std::vector<std::shared_ptr<const Checked>>;
    enum class Phase { idle, planning, checking };
    struct Followed {
        CheckConfig config;
        std::string fault;  // Why it is the default instead of what is set; "" where it is that.
    };
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

    // The known checks of the files that a config chooses. No lock is held while patterns are
    // matched.
    struct Seen {
        std::shared_ptr<const Choice> choice;
        Checks checks;  // One for each chosen; never null.
    };
    // None where not all of them have been checked, and where to find them is more than a moment's
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

    static std::vector<Finding> collect(const Seen& seen) {
        std::vector<Finding> out;
        for (const auto& each : seen.checks)
            out.insert(out.end(), each->findings.begin(), each->findings.end());
        sort_findings(out);
        return out;
    }

    std::string status(const Inside& state, const Followed& wanted,
                       const std::optional<Seen>& seen) const {
        return cat(doing(state, wanted.config, seen), wanted.fault);
    }
    // Why nothing may be run; "" where it may. What agents may write may change at any time.
    std::string refusal() const {
        return refusal_.empty() && reach_.is_agents(file_) ? agents_refusal(file_, reach_)
                                                           : refusal_;
    }
    std::string doing(const Inside& state, const CheckConfig& config,
                      const std::optional<Seen>& seen) const {
        if (!refusal().empty()) return cat("off: ", refusal());
        if (!config.enabled) return "off: enabled is false in config";
        if (state.phase == Phase::planning) return "running: looking at what has changed";
        if (state.phase == Phase::checking) return cat("running ", state.done, " of ", state.total);
        if (!state.problem.empty()) return state.problem;
        if (!seen) return "not run since the kernel started";
        return summary(*seen);
    }
    // Returns true if a file could not be checked, or none was though there are entries.
    static bool lacks(const Seen& seen) {
        const Units& units = *seen.choice->units;
        const bool some_entries = !units.listed.empty() || units.outside > 0;
        return (seen.checks.empty() && some_entries) ||
               std::any_of(seen.checks.begin(), seen.checks.end(),
                           [](const auto& each) { return !each->problem.empty(); });
    }
    static std::string summary(const Seen& seen) {
        const std::size_t files = seen.checks.size();
        std::size_t failed = 0;
        std::string problem;
        for (std::size_t i = 0; i < files; ++i) {
            const std::string& why = seen.checks[i]->problem;
            if (!why.empty() && failed++ == 0)
                problem = cat(seen.choice->chosen[i]->path, ": ", why);
        }
        const std::size_t well = files - failed;
        std::string out = cat("checked ", well, well == 1 ? " file" : " files");
        if (failed > 0) out += cat("; ", failed, " could not be: ", problem);
        const std::size_t outside = seen.choice->units->outside;
        if (outside > 0) {
            out += cat("; ", outside, outside == 1 ? " entry is" : " entries are",
                       " outside the workspace");
        }
        return out;
    }

    // A run, in place of the one that is under way.
    void begin() {
        if (!refusal().empty()) return;
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
        const InputStamp list_stamp = stamp_of(file_);
        state_.with([&](Inside& state) { state.list_stamp = list_stamp; });
        Result<Units> read = read_units(file_, reach_, options_.root);
        if (!read) {
            const bool may_not = read.error().code() == Errc::denied;
            return end(round, cat(may_not ? "off: " : "failed: ", read.error().message()));
        }
        // Flags may name a plugin.
        const std::string flags = absolute_path(tool_.database, "compile_flags.txt");
        if (tool_.is_tidy() && reach_.is_agents(flags)) {
            return end(round,
                       cat("off: agents may write ", reach_.below_root(flags).value_or(flags),
                           ", which clang-tidy reads in place of compile_commands.json. A "
                           "rule with permission = \"read_only\" before the one that lets "
                           "them makes it run"));
        }
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
        const CompileUnit& unit = next->listed->unit;
        std::optional<Checked> checked = Checked{};
        if (std::string why = distrust(unit); !why.empty()) {
            checked->problem = std::move(why);
        } else {
            checked = check(*next->listed, scratch, next->stop);
        }
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

    std::optional<Checked> check(const Listed& listed, const std::string& scratch,
                                 const std::stop_token& stop) const {
        CheckTool tool = tool_;
        if (tool.is_tidy()) {
            const Result<std::string> config =
                tidy_config_of(absolute_path(options_.root, listed.path), options_.root, reach_);
            if (!config) return Checked{{}, {}, config.error().message()};
            tool.tidy_config = *config;
        }
        std::optional<Checked> out = check_unit(listed.unit, tool, scratch, clock_, stop);
        if (out) name_from_root(*out);
        return out;
    }

    // A compiler may call a file by another name of the root.
    void name_from_root(Checked& checked) const {
        std::map<std::string, std::optional<std::string>> known;
        for (Finding& each : checked.findings) {
            if (!each.path.starts_with('/')) continue;
            const auto [at, is_new] = known.try_emplace(each.path);
            if (is_new) at->second = reach_.below_root(each.path);
            if (at->second) each.path = *at->second;
        }
    }

    // Why the unit is not checked: what agents write is not run. "" where it is checked.
    std::string distrust(const CompileUnit& unit) const {
        if (!options_.agents_write) return "";
        const bool is_compiler = !tool_.program.empty() && !tool_.is_tidy();
        for (const std::string& each : {program_of(unit), tool_.program}) {
            if (each.empty() || (is_compiler && each != tool_.program)) continue;
            const std::string part = reach_.agents_part(unit, each);
            if (part == each) return cat("agents may write its compiler, ", each);
            if (!part.empty()) return cat("its command names ", part, ", which agents may write");
        }
        return "";
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
        if (!watched || !refusal().empty()) return;
        Stamps stamps;
        std::vector<InputStamp> changed;
        for (const auto& checked : *watched) {
            for (const auto& [path, stamp] : checked->inputs) {
                if (stamps.of(path) != stamp) changed.push_back(stamps.of(path));
            }
        }
        const InputStamp list = stamps.of(file_);
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
    const std::string refusal_;
    const memory::MemoryBlock block_;
    const std::string file_;
    const CheckTool tool_;
    const Reach reach_;
    sched::Scheduler& workers_;
    Clock& clock_;
    sched::Guarded<Inside> state_;
};

DiagnosticsSource::DiagnosticsSource(DiagnosticsOptions options, sched::Scheduler& workers,
                                     Clock& clock)
    : body_(std::make_shared<Body>(std::move(options), workers, clock)) {}
DiagnosticsSource::~DiagnosticsSource() {
    body_->stop();
}

const std::string& DiagnosticsSource::name() const {
    return body_->name();
}
const memory::MemoryBlock& DiagnosticsSource::block() const {
    return body_->block();
}
ConfigAnswer DiagnosticsSource::judge(const Value& config) {
    return body_->judge(config);
}
Value DiagnosticsSource::feed(const Value& config) {
    return body_->feed(config);
}
void DiagnosticsSource::attend(const Value& config) {
    body_->attend(config);
}
void DiagnosticsSource::run(const Value& config) {
    body_->run(config);
}
void DiagnosticsSource::start(std::function<void()> changed) {
    body_->start(std::move(changed));
}
void DiagnosticsSource::stop() {
    body_->stop();
}
memory::Source::State DiagnosticsSource::state() const {
    return body_->state();
}

}  // namespace quire::diagnostics
