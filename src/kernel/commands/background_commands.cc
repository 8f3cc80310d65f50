// Each command has one worker for its whole life: it stages, runs, judges and ends there. Callers
// meet it only in two locked places, the table of processes and each process's `now`, and neither
// is held while something waits or replies.
//
// A process exists for callers from the moment when the program has begun, which the callback
// `began` says. Before that an error is the answer to spawn(); afterwards it is the state of an
// ended process.
#include "kernel/commands/background_commands.h"

#include <algorithm>
#include <csignal>
#include <deque>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "kernel/commands/output_block.h"
#include "kernel/commands/output_tail.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/kernel.h"
#include "process/following.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::kernel {
namespace {

constexpr std::int64_t kKillWaitMs = 2000;

Failure no_process(const std::string& process_id) {
    return fail(Errc::not_found, "invalid_reference",
                cat("there is no process ", process_id, "; `status` lists those that there are"),
                {{"process_id", process_id}});
}

}  // namespace

// One command. `now` is shared under its lock; `block` is used only by the worker that runs the command.
struct BackgroundCommands::Process {
    struct Now {
        BackgroundState state;
        OutputTail tail = OutputTail(OutputBlock::kMostKept);
        int signal = 0;  // The worker sends it next; 0 for none.
        std::vector<std::shared_ptr<Reply<BackgroundState>>> waiting = {};
    };

    Process(policy::Actor its_actor, std::string its_key)
        : actor(std::move(its_actor)), key(std::move(its_key)) {}

    const policy::Actor actor;
    const std::string key;  // CommandRunner::key_of()
    sched::Guarded<std::stop_source> killing;
    std::optional<OutputBlock> block;
    sched::Guarded<Now> now;

    BackgroundState state() const {
        return now.with([](const Now& all) { return all.state; });
    }
    bool is_seen_by(const policy::Actor& by) const {
        return by.kind == policy::ActorKind::human || by == actor;
    }
    // Returns true if the command has ended and its changes wait for a person.
    bool waits() const {
        const BackgroundState seen = state();
        return !seen.running && seen.ended != nullptr && *seen.ended &&
               (*seen.ended)->gate.failure.has_value() &&
               (*seen.ended)->gate.failure->code() == Errc::escalation_required;
    }
};

struct BackgroundCommands::Body {
    explicit Body(Parts taken) : parts(taken) {}

    const Parts parts;
    struct Table {
        std::deque<std::shared_ptr<Process>> all;  // Oldest first.
        std::size_t running = 0;                   // Counts also those that are just starting.
        // One worker for each running command, and one for timers. Made with the first command.
        std::unique_ptr<sched::Pool> workers = {};
        bool is_over = false;

        Result<void> take_worker() {
            if (is_over) return Failure(kernel_ending());
            if (running >= kMostRunning) {
                return fail(Errc::unavailable, "in_flight_limit",
                            cat(kMostRunning,
                                " commands run in the background, and no more may: "
                                "`kill` one, or wait until one has ended"),
                            {{"limit", kMostRunning}});
            }
            if (workers == nullptr)
                workers = std::make_unique<sched::Pool>(static_cast<unsigned>(kMostRunning) + 1);
            ++running;
            return {};
        }
    };
    sched::Guarded<Table> table;

    std::shared_ptr<Process> find(const std::string& process_id) const;
    void run(Caller by, const CommandOrder& what, Reply<BackgroundState> reply);
    void list(const std::shared_ptr<Process>& process);
    void forget_oldest(Table& now) const;
    void end(Process& process, Result<CommandRun> ended);
};

BackgroundCommands::BackgroundCommands(Parts parts) : body_(std::make_shared<Body>(parts)) {}
BackgroundCommands::~BackgroundCommands() {
    wait();
}

// The workers are joined outside of the lock, because their commands take it.
void BackgroundCommands::wait() {
    const auto workers = body_->table.with([](Body::Table& now) {
        now.is_over = true;
        return std::move(now.workers);
    });
}

std::size_t BackgroundCommands::running() const {
    return body_->table.with([](const auto& now) { return now.running; });
}

std::shared_ptr<BackgroundCommands::Process> BackgroundCommands::Body::find(
    const std::string& process_id) const {
    return table.with([&](const Table& now) -> std::shared_ptr<Process> {
        for (const auto& each : now.all) {
            if (each->state().process_id == process_id) return each;
        }
        return nullptr;
    });
}

void BackgroundCommands::spawn(Caller by, CommandOrder what, Reply<BackgroundState> reply) {
    what.in_background = true;
    // The command outlives the call that starts it.
    by.cancelled = {};
    by.notify = nullptr;
    // The task is posted under the lock, so that wait() cannot take the workers away in between.
    const Result<void> begun = body_->table.with([&](Body::Table& now) -> Result<void> {
        TRY(now.take_worker());
        now.workers->post([body = body_, by = std::move(by), what = std::move(what),
                           reply = std::move(reply)]() mutable {
            if (body->parts.runner.is_stopped()) {
                reply(Failure(kernel_ending()));
            } else {
                body->run(std::move(by), what, std::move(reply));
            }
            body->table.with([](auto& all) { --all.running; });
        });
        return {};
    });
    if (!begun) reply(Failure(begun.error()));
}

// Ended commands that are forgotten can still be read in their blocks. Commands that run always
// stay.
void BackgroundCommands::Body::forget_oldest(Table& now) const {
    std::size_t ended = 0;
    for (const auto& each : now.all) ended += each->state().running ? 0U : 1U;
    if (ended <= kMostEnded) return;
    const auto oldest = std::find_if(now.all.begin(), now.all.end(),
                                     [](const auto& each) { return !each->state().running; });
    now.all.erase(oldest);
}

void BackgroundCommands::Body::list(const std::shared_ptr<Process>& process) {
    table.with([&](Table& now) {
        now.all.push_back(process);
        forget_oldest(now);
    });
}

// Answers when the command has begun. If it does not begin, the answer is the error, or the state of the
// earlier run whose changes were committed.
void BackgroundCommands::Body::run(Caller by, const CommandOrder& what,
                                   Reply<BackgroundState> reply) {
    const std::string key = CommandRunner::key_of(by, what);
    std::shared_ptr<Process> process =
        table.with([&](const Table& now) -> std::shared_ptr<Process> {
            for (const auto& each : now.all) {
                if (each->key == key && each->waits()) return each;
            }
            return nullptr;
        });
    bool is_answered = false;
    std::stop_source killing;
    process::Following following;
    following.began = [&] {
        const bool is_new = process == nullptr;
        if (is_new) {
            process = std::make_shared<Process>(by.actor, key);
            Result<OutputBlock> made = OutputBlock::make(parts.kernel, parts.clock, by, what);
            // Without its block nobody could see the output, so the command is ended again.
            if (!made) {
                killing.request_stop();
                is_answered = true;
                process = nullptr;
                return reply(Failure(made.error()));
            }
            process->block = std::move(*made);
        } else {
            // A stage that waited was outdated, so the command runs anew, as the same process.
            process->block->resume();
        }
        process->killing.with([&](auto& its) { its = killing; });
        process->now.with([&](auto& now) {
            now.state = {process->block->id(), utf8::repaired(what.command), parts.clock.wall_ms(),
                         true};
        });
        if (is_new) list(process);
        is_answered = true;
        reply(process->state());
    };
    following.wrote = [&](std::string_view bytes) {
        if (process == nullptr) return;
        process->now.with([&](auto& now) { now.tail.add(bytes); });
        process->block->add(bytes);
    };
    following.turn = [&] {
        if (process == nullptr) return 0;
        process->block->turn();
        return process->now.with([](auto& now) { return std::exchange(now.signal, 0); });
    };
    // KILL stops the run like a caller that gives up; the runner then discards the changes.
    by.cancelled = killing.get_token();
    Result<CommandRun> ended = parts.runner.run(by, what, &following);
    if (process != nullptr && (is_answered || ended)) {
        end(*process, std::move(ended));
        if (!is_answered) reply(process->state());
        return;
    }
    if (is_answered) return;
    if (!ended) return reply(Failure(ended.error()));
    // The changes of an earlier run were committed, but its process is no longer remembered.
    reply(BackgroundState{"", utf8::repaired(what.command), parts.clock.wall_ms(), false,
                          ended->outcome.exit_code,
                          std::make_shared<const Result<CommandRun>>(std::move(ended))});
}

// The block gets its end first, so a reader who is told of the end finds the whole output.
void BackgroundCommands::Body::end(Process& process, Result<CommandRun> ended) {
    const auto shared = std::make_shared<const Result<CommandRun>>(std::move(ended));
    const bool went_well = *shared && (*shared)->outcome.exit_code == 0 && !(*shared)->is_refused;
    process.block->end(process.now.with([](auto& now) { return now.tail.text(); }), went_well);
    BackgroundState state;
    auto waiting = process.now.with([&](auto& now) {
        now.state.running = false;
        if (*shared) now.state.exit_code = (*shared)->outcome.exit_code;
        now.state.ended = shared;
        state = now.state;
        return std::exchange(now.waiting, {});
    });
    for (const auto& reply : waiting) (*reply)(state);
}

void BackgroundCommands::output(Caller by, std::string process_id,
                                std::optional<std::size_t> from_line,
                                Reply<BackgroundOutput> reply) {
    // A line that is dropped already is answered from the first that is kept.
    const auto read = [from_line](BackgroundState state, const OutputTail& tail) {
        const std::size_t first = std::max(from_line.value_or(0), tail.first_line());
        return BackgroundOutput{std::move(state), utf8::repaired(tail.from(first)), first,
                                tail.line_count()};
    };
    if (const auto process = body_->find(process_id)) {
        return reply(
            process->now.with([&](const Process::Now& now) { return read(now.state, now.tail); }));
    }
    Kernel& kernel = body_->parts.kernel;
    if (kernel.place_of(process_id).conversation != OutputBlock::kConversation)
        return reply(no_process(process_id));
    kernel.text(std::move(by), process_id,
                [read, process_id, reply = std::move(reply)](Result<WholeText> whole) mutable {
                    if (!whole) return reply(Failure(whole.error()));
                    OutputTail tail(whole->text.size() + 1);
                    tail.add(whole->text);
                    BackgroundState state;
                    state.process_id = process_id;
                    reply(read(std::move(state), tail));
                });
}

void BackgroundCommands::kill(Caller by, std::string process_id, EndSignal signal,
                              Reply<BackgroundState> reply) {
    const auto process = body_->find(process_id);
    if (process == nullptr || !process->is_seen_by(by.actor)) return reply(no_process(process_id));
    const auto waits = std::make_shared<Reply<BackgroundState>>(std::move(reply));
    const bool running = process->now.with([&](Process::Now& now) {
        if (!now.state.running) return false;
        if (signal != EndSignal::kill) now.signal = signal == EndSignal::term ? SIGTERM : SIGINT;
        now.waiting.push_back(waits);
        return true;
    });
    if (!running) return (*waits)(process->state());
    if (signal == EndSignal::kill)
        process->killing.with([](std::stop_source& its) { its.request_stop(); });
    body_->table.with([&](Body::Table& now) {
        // Without workers the kernel is ending, and end() will answer.
        if (now.workers == nullptr) return;
        // The one that takes the reply out of `waiting` first, the end or this timer, calls it. So
        // it is called once.
        now.workers->post_after(kKillWaitMs, [process, waits] {
            const bool still = process->now.with(
                [&](Process::Now& state) { return std::erase(state.waiting, waits) != 0; });
            if (still) (*waits)(process->state());
        });
    });
}

Result<std::vector<BackgroundState>> BackgroundCommands::status(
    const Caller& by, const std::optional<std::string>& process_id) const {
    std::vector<BackgroundState> out;
    body_->table.with([&](const auto& now) {
        for (const auto& each : now.all) {
            BackgroundState state = each->state();
            if (each->is_seen_by(by.actor) &&
                process_id.value_or(state.process_id) == state.process_id)
                out.push_back(std::move(state));
        }
    });
    if (process_id && out.empty()) return no_process(*process_id);
    return out;
}

}  // namespace quire::kernel
