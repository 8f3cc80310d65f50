// Workspace: the tool `file`, or in profile `compat` the text editor, on a real directory.
// Arguments and results are JSON, as callers see them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/cat.h"
#include "base/test_directory.h"
#include "fs/disk_files.h"
#include "json/json.h"
#include "kernel/approval_calls.h"
#include "kernel/desk_test.h"
#include "kernel/file_calls.h"
#include "tools/files.h"
#include "tools/memories.h"

namespace quire {

using tools::Profile;

inline policy::PathRule rule(std::string_view pattern, policy::Permission permission,
                             policy::Operations escalated = {}) {
    return {text::Glob::compile(pattern).value(), permission, escalated, 0};
}

class Workspace {
public:
    explicit Workspace(Profile profile = Profile::full) : profile_(profile) {
        policy::PathRules rules(
            {rule("*.lock", policy::Permission::read_only),
             rule("ask/**", policy::Permission::human), rule("log/**", policy::Permission::append),
             rule("scratch/**", policy::Permission::admin),
             rule("**", policy::Permission::read_write, {policy::Operation::erase})});
        files_ = std::move(*fs::DiskFiles::open(disk.path(), {5, {}}));
        gate_ = std::make_unique<kernel::FileGate>(*files_, std::move(rules), clock_,
                                                   limits_.block_bytes);
        kernel_ = std::move(
            *kernel::Kernel::open({store_, scheduler_, clock_, rng_, limits_, gate_.get()}));
        calls_ = std::make_unique<kernel::FileCalls>(*kernel_, *gate_);
        approvals_ = std::make_unique<kernel::ApprovalCalls>(*kernel_);
        registry_ = std::make_unique<tools::Registry>(*kernel_);
        registry_->add(profile, profile == Profile::compat
                                    ? tools::make_text_editor(*kernel_, *calls_)
                                    : tools::make_file(*kernel_, *calls_, profile));
        registry_->add(profile, tools::make_approvals(*approvals_));
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace() {
        kernel_->close([](Result<void>) {});
        scheduler_.run_all();
    }

    tools::ToolResult call(std::string_view arguments, const std::string& actor = "agent:ada") {
        return call_tool(profile_ == Profile::compat ? "str_replace_based_edit_tool" : "file",
                         arguments, actor);
    }
    tools::ToolResult call_tool(std::string_view tool, std::string_view arguments,
                                const std::string& actor = "agent:ada") {
        tools::Session session;
        session.caller.actor = policy::Actor::parse(actor).value();
        session.profile = profile_;
        std::optional<tools::ToolResult> answer;
        registry_->call(session, tool, json::parse(arguments).value(),
                        [&](Result<tools::ToolResult> result) { answer = std::move(*result); });
        scheduler_.run_all();
        CHECK(answer.has_value());
        last = answer->structured;
        return std::move(*answer);
    }
    // "ok", or the reason of the refusal.
    std::string outcome(std::string_view arguments, const std::string& actor = "agent:ada") {
        const tools::ToolResult result = call(arguments, actor);
        return result.is_error ? result.structured.get("error")->get("reason")->as_string() : "ok";
    }
    std::string content(const std::string& path) {
        const bool full = profile_ == Profile::full;
        call(cat(R"({"operation":"read",)", full ? R"("line_numbers":false,)" : "", R"("path":)",
                 json::write(Value(path)), "}"));
        const Value* text = last.get("content");
        return text != nullptr ? text->as_string() : cat("<", json::write(last), ">");
    }
    const tools::ToolInfo& info() const {
        return registry_->list(profile_, policy::ActorKind::agent).back();
    }
    // The approval that a call asks for.
    std::string asked(std::string_view arguments) {
        EXPECT_EQ(outcome(arguments), "escalation_required") << arguments;
        return last.get("error")->get("details")->get("approval_id")->as_string();
    }
    // A person's answer: "ok", or the reason of the refusal.
    std::string resolve(const std::string& id, std::string_view decision = "approve_once",
                        std::string_view more = "", const std::string& actor = "human:tom") {
        const tools::ToolResult result =
            call_tool("approvals",
                      cat(R"({"operation":"resolve","approval_id":")", id, R"(","decision":")",
                          decision, "\"", more, "}"),
                      actor);
        return result.is_error ? result.structured.get("error")->get("reason")->as_string() : "ok";
    }

    TestDirectory disk;
    Value last;

private:
    const Profile profile_;
    kernel::TableStore store_;
    sched::ManualScheduler scheduler_;
    ManualClock clock_;
    SeededRng rng_{3};
    kernel::Limits limits_;
    std::unique_ptr<fs::DiskFiles> files_;
    std::unique_ptr<kernel::FileGate> gate_;
    std::unique_ptr<kernel::Kernel> kernel_;
    std::unique_ptr<kernel::FileCalls> calls_;
    std::unique_ptr<kernel::ApprovalCalls> approvals_;
    std::unique_ptr<tools::Registry> registry_;
};

}  // namespace quire
