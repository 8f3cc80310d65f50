// Desk: a kernel on a table, for its tests: a store in memory that acknowledges when told, a
// scheduler and a clock that move when told.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/kernel.h"
#include "kernel/core/table_store_test.h"
#include "kernel/oversight/overseer.h"
#include "sched/manual_for_test.h"

namespace quire::kernel {

class Desk {
public:
    explicit Desk(const Limits& limits = {}) : limits_(limits) { start(); }
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;
    ~Desk() { stop(); }

    // Ends the kernel and opens another on what the store has.
    void restart() {
        stop();
        start();
    }

    // The kernel is killed: another opens what the store has, and this one is heard of no more.
    void crash() {
        killed_.push_back(std::move(kernel));
        start();
    }

    // The answer of call(reply), which must come without time passing.
    template <class T, class Call>
    Result<T> ask(Call call) {
        auto answer = std::make_shared<std::optional<Result<T>>>();
        call(Reply<T>([answer](Result<T> result) { *answer = std::move(result); }));
        scheduler.run_all();
        CHECK(answer->has_value());
        return std::move(**answer);
    }
    // Starts call(reply) and gives where its answer will be.
    template <class T, class Call>
    std::shared_ptr<std::optional<Result<T>>> start_call(Call call) {
        auto answer = std::make_shared<std::optional<Result<T>>>();
        call(Reply<T>([answer](Result<T> result) { *answer = std::move(result); }));
        scheduler.run_all();
        return answer;
    }
    void advance(std::int64_t ms) {
        clock.advance(ms);
        scheduler.advance(ms);
        scheduler.run_all();
    }

    static Caller as(const std::string& name) { return {{policy::ActorKind::agent, name}, 0, {}}; }

    std::string create(const std::string& content, const std::string& by = "ada",
                       std::optional<std::string> parent = {},
                       std::optional<std::string> after = {}) {
        BlockCreate what;
        what.content = content;
        what.parent_id = std::move(parent);
        what.after = std::move(after);
        return ask<BlockVersion>(
                   [&](auto reply) { kernel->create(as(by), what, std::move(reply)); })
            ->block_id;
    }
    Result<Appended> append(const std::string& id, const std::string& text,
                            const std::string& by = "ada", Ack ack = Ack::durable) {
        return ask<Appended>(
            [&](auto reply) { kernel->append(as(by), id, text, ack, std::move(reply)); });
    }
    // Replaces `erase` bytes at `at`.
    Result<Edited> splice(const std::string& id, std::size_t at, std::size_t erase,
                          const std::string& insert, const std::string& by = "ada") {
        return ask<Edited>([&](auto reply) {
            kernel->edit(
                as(by), id, "splice",
                [=](const seq::Rope&, std::uint64_t) {
                    return Result<edits::Planned>(edits::Planned{{{{at}, {erase}, insert}}, {}});
                },
                std::move(reply));
        });
    }
    Result<BlockText> read(const std::string& id) {
        return ask<BlockText>(
            [&](auto reply) { kernel->read(as("reader"), id, {}, std::move(reply)); });
    }
    std::string text(const std::string& id) {
        const Result<BlockText> block = read(id);
        if (!block) return block.error().reason();
        std::string all;
        for (const std::string& line : block->lines) all += line;
        return all;
    }
    Result<Undone> undo(const std::string& id, const std::string& by = "ada", bool redo = false,
                        UndoScope scope = UndoScope::own) {
        return ask<Undone>(
            [&](auto reply) { kernel->undo(as(by), id, scope, redo, std::move(reply)); });
    }
    Result<BlockVersion> set_status(const std::string& id, conversation::Status status) {
        return ask<BlockVersion>(
            [&](auto reply) { kernel->set_status(as("ada"), id, status, std::move(reply)); });
    }
    std::uint64_t version(const std::string& id) { return read(id)->info.version; }

    TableStore store;
    sched::ManualScheduler scheduler;
    ManualClock clock;
    SeededRng rng{7};
    std::unique_ptr<Kernel> kernel;

private:
    const Limits limits_;
    std::vector<std::unique_ptr<Kernel>> killed_;
    void start() { kernel = std::move(*open_kernel({store, scheduler, clock, rng, limits_})); }
    void stop() {
        kernel->close([](Result<void>) {});
        scheduler.run_all();
        kernel.reset();
    }
};

}  // namespace quire::kernel
