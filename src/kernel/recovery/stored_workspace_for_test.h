// StoredWorkspace: a kernel with memory on a database in a directory, for tests of what becomes of it
// when the database is damaged.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/concat.h"
#include "base/test_directory.h"
#include "json/json.h"
#include "kernel/core/core.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/oversight/overseer.h"
#include "sched/scheduler.h"
#include "store/store.h"
#include "store/test_disk.h"

namespace quire::kernel {

// A kernel on the database at `path`. CHECKs that it starts, unless is_open() is asked.
class StoredWorkspace {
public:
    explicit StoredWorkspace(const std::string& path) {
        Result<store::Opened> opened = store::open_sqlite(path);
        if (!opened) {
            refusal_ = opened.error().message();
            return;
        }
        store_ = std::move(opened->store);
        Result<std::unique_ptr<Kernel>> kernel = open_kernel({*store_, pool_, clock_, rng_, {}});
        if (!kernel) {
            refusal_ = kernel.error().message();
            return;
        }
        kernel_ = std::move(*kernel);
        memory_ = std::make_unique<MemoryCalls>(*kernel_, std::vector<memory::Feed*>());
    }
    StoredWorkspace(const StoredWorkspace&) = delete;
    StoredWorkspace& operator=(const StoredWorkspace&) = delete;
    ~StoredWorkspace() {
        if (kernel_ == nullptr) return;
        std::promise<void> closed;
        kernel_->close([&](const Result<void>&) { closed.set_value(); });
        closed.get_future().wait();
    }

    bool is_open() const { return kernel_ != nullptr; }
    const std::string& refusal() const { return refusal_; }  // Why it is not.
    store::Store& store() { return *store_; }
    Kernel& kernel() { return *kernel_; }
    MemoryCalls& memory() { return *memory_; }

    static Caller as(std::string_view actor) {
        return {policy::Actor::parse(actor).value(), 0, {}};
    }
    template <class T, class Call>
    Result<T> ask(Call call) {
        const auto answer = std::make_shared<std::promise<Result<T>>>();
        call(Reply<T>([answer](Result<T> result) { answer->set_value(std::move(result)); }));
        return answer->get_future().get();
    }

    // The id of a new block in a conversation.
    std::string say(const std::string& conversation, const std::string& content) {
        BlockCreate what;
        what.conversation = conversation;
        what.content = content;
        return ask<BlockVersion>(
                   [&](auto reply) { kernel_->create(as("agent:ada"), what, std::move(reply)); })
            ->block_id;
    }
    Result<WholeText> text(const std::string& block_id) {
        return ask<WholeText>(
            [&](auto reply) { kernel_->text(as("agent:ada"), block_id, std::move(reply)); });
    }
    // The id of a new Text block of memory.
    std::string remember(const std::string& label, const std::string& content) {
        MemoryCreate what;
        what.label = label;
        what.schema = json::parse(R"("Text")").value();
        what.content = content;
        return ask<MemoryVersion>(
                   [&](auto reply) { memory_->create(as("agent:ada"), what, std::move(reply)); })
            ->block_id;
    }
    Result<MemoryView> view(const std::string& label) {
        return ask<MemoryView>(
            [&](auto reply) { memory_->view(as("agent:ada"), label, {}, std::move(reply)); });
    }
    Result<MemoryFound> search(const std::string& query) {
        return ask<MemoryFound>([&](auto reply) {
            memory_->search(as("agent:ada"), {query, {}, 20}, std::move(reply));
        });
    }

private:
    SystemClock clock_;
    SeededRng rng_{7};
    std::string refusal_;
    std::unique_ptr<store::Store> store_;
    sched::Pool pool_{1};
    std::unique_ptr<Kernel> kernel_;
    std::unique_ptr<MemoryCalls> memory_;
};

}  // namespace quire::kernel
