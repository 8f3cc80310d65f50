// Workspace: the tool `file`, or in profile `compat` the text editor, on a real directory.
// Arguments and results are JSON, as callers see them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "fs/disk_files.h"
#include "json/json.h"
#include "kernel/core/desk_test.h"
#include "kernel/core/sources.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/file_source.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/oversight/approval_calls.h"
#include "kernel/oversight/overseer.h"
#include "kernel/oversight/rule_calls.h"
#include "sched/manual_for_test.h"
#include "tests/flows/published.h"
#include "tools/tools.h"

namespace quire {

using tools::Profile;

inline policy::PathRule rule(std::string_view pattern, policy::Permission permission,
                             policy::Operations escalated = {}) {
    return {text::Glob::compile(pattern).value(), permission, escalated, 0};
}

class Workspace {
public:
    explicit Workspace(Profile profile = Profile::full, policy::WrittenRules written = {})
        : profile_(profile), written_(std::move(written)) {
        open();
    }
    // Another kernel on what this one has stored.
    void restart() {
        close();
        open();
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace() { close(); }

    tools::EncodedResult call(std::string_view arguments, const std::string& actor = "agent:ada") {
        return call_tool(profile_ == Profile::compat ? "str_replace_based_edit_tool" : "file",
                         arguments, actor);
    }
    tools::EncodedResult call_tool(std::string_view tool, std::string_view arguments,
                                   const std::string& actor = "agent:ada") {
        tools::Session as;
        as.caller.actor = policy::Actor::parse(actor).value();
        as.caller.session = session;
        as.caller.notify = notify;
        as.profile = profile_;
        std::optional<tools::EncodedResult> answer;
        registry_->call(
            as, tool, json::parse(arguments).value(),
            [&](Result<tools::ToolResult> result) { answer = tools::encoded(std::move(*result)); });
        scheduler_.run_all();
        CHECK(answer.has_value());
        expect_published(*registry_, profile_, tool, *answer);
        last = answer->structured;
        last_meta = answer->meta;
        return std::move(*answer);
    }
    // "ok", or the reason of the refusal.
    std::string outcome(std::string_view arguments, const std::string& actor = "agent:ada") {
        const tools::EncodedResult result = call(arguments, actor);
        return result.is_error ? result.structured.get("error")->get("reason")->as_string() : "ok";
    }
    std::string content(const std::string& path) {
        const bool full = profile_ == Profile::full;
        call(cat(R"({"operation":"read",)", full ? R"("line_numbers":false,)" : "", R"("path":)",
                 json::write(Value(path)), "}"));
        const Value* text = last.get("content");
        return text != nullptr ? text->as_string() : cat("<", json::write(last), ">");
    }
    // The approval that a call asks for.
    std::string asked(std::string_view arguments) {
        EXPECT_EQ(outcome(arguments), "escalation_required") << arguments;
        return last.get("error")->get("details")->get("approval_id")->as_string();
    }
    // A person's answer: "ok", or the reason of the refusal.
    std::string resolve(const std::string& id, std::string_view decision = "approve_once",
                        std::string_view more = "", const std::string& actor = "human:tom") {
        const tools::EncodedResult result =
            call_tool("approvals",
                      cat(R"({"operation":"resolve","approval_id":")", id, R"(","decision":")",
                          decision, "\"", more, "}"),
                      actor);
        return result.is_error ? result.structured.get("error")->get("reason")->as_string() : "ok";
    }

    const tools::Registry& registry() const { return *registry_; }
    kernel::RuleCalls& rules() { return *rules_; }
    std::size_t stored_facts() { return facts().size(); }
    std::vector<store::KeyedRecord> facts() {
        return store_.records(store::Table::rule_facts).value();
    }
    void store_facts(std::vector<store::KeyedRecord> facts) {
        store::Batch batch;
        batch.records = std::move(facts);
        store_.commit(std::move(batch), [](Result<void>) {});
    }
    // A memory block of that actor's.
    void remember(const std::string& owner, kernel::MemoryCreate what) {
        std::optional<Result<kernel::MemoryVersion>> made;
        memory_->create({policy::Actor::parse(owner).value(), 0, {}}, std::move(what),
                        [&](auto result) { made = std::move(result); });
        scheduler_.run_all();
        ASSERT_TRUE(made && *made);
    }
    kernel::FileCalls& files() { return *calls_; }
    // The next batch that is handed to it finds the disk full.
    void fill_the_disk_once() { store_.fail_next(); }

    // The entries of the audit log, oldest first.
    std::vector<std::string> audit_log() {
        store_.commit({}, [](Result<void>) {});
        std::vector<std::string> out;
        for (const store::AuditEntry& entry : store_.audit_log()) out.push_back(entry.body);
        return out;
    }

    TestDirectory disk;
    ManualClock clock;
    Value last;
    Map last_meta;
    std::uint64_t session = 0;
    std::shared_ptr<const kernel::Notify> notify;  // Set for a session of MCP.

private:
    void open() {
        policy::PathRules rules(
            {rule("*.lock", policy::Permission::read_only),
             rule("ask/**", policy::Permission::human), rule("log/**", policy::Permission::append),
             rule("scratch/**", policy::Permission::admin),
             rule("**", policy::Permission::read_write, {policy::Operation::erase})});
        files_ = std::move(*fs::DiskFiles::open(disk.path(), {5, {}}));
        gate_ = std::make_unique<kernel::FileGate>(*files_, kernel::FileRules{std::move(rules)},
                                                   clock, limits_.block_bytes);
        kernel_ = std::move(
            *kernel::open_kernel({store_, scheduler_, clock, rng_, limits_, gate_.get()}));
        calls_ = std::make_unique<kernel::FileCalls>(*kernel_, *gate_);
        watch_ = std::make_unique<kernel::DiskWatch>(*kernel_, *gate_, disk.path(),
                                                     kernel::WatchSettings{.is_on = false});
        approvals_ = std::make_unique<kernel::ApprovalCalls>(*kernel_);
        memory_ = std::make_unique<kernel::MemoryCalls>(*kernel_);
        source_ = std::make_unique<kernel::FileSource>(
            kernel::FileSource::Parts{*kernel_, *gate_, *calls_, *watch_, disk.path()});
        sources_ = std::make_unique<kernel::Sources>(std::vector<kernel::Source*>{source_.get()});
        registry_ = std::make_unique<tools::Registry>(
            tools::Registry::Parts{*kernel_, calls_.get(), memory_.get(), sources_.get()});
        registry_->add(profile_,
                       profile_ == Profile::compat
                           ? tools::make_text_editor(*kernel_, *calls_)
                           : tools::make_file({*kernel_, *source_, *calls_, *watch_}, profile_));
        registry_->add(profile_, tools::make_file_history(*source_, profile_));
        registry_->add(profile_, tools::make_approvals(*approvals_));
        rules_ = std::move(*kernel::RuleCalls::open(
            *kernel_, policy::RuleBook::compile(registry_->catalog(), written_).value()));
        registry_->hold_to(*rules_);
    }
    void close() {
        kernel_->close([](Result<void>) {});
        scheduler_.run_all();
        registry_.reset();
        memory_.reset();
        rules_.reset();
        approvals_.reset();
        sources_.reset();
        source_.reset();
        watch_.reset();
        calls_.reset();
        kernel_.reset();
    }

    const Profile profile_;
    const policy::WrittenRules written_;
    kernel::TableStore store_;
    sched::ManualScheduler scheduler_;
    SeededRng rng_{3};
    kernel::Limits limits_;
    std::unique_ptr<fs::DiskFiles> files_;
    std::unique_ptr<kernel::FileGate> gate_;
    std::unique_ptr<kernel::Kernel> kernel_;
    std::unique_ptr<kernel::MemoryCalls> memory_;
    std::unique_ptr<kernel::FileCalls> calls_;
    std::unique_ptr<kernel::DiskWatch> watch_;
    std::unique_ptr<kernel::FileSource> source_;
    std::unique_ptr<kernel::Sources> sources_;
    std::unique_ptr<kernel::ApprovalCalls> approvals_;
    std::unique_ptr<kernel::RuleCalls> rules_;
    std::unique_ptr<tools::Registry> registry_;
};

}  // namespace quire
