// Office: a kernel whose agents ask for approvals and whose people answer, for the tests of approvals.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/memory/memory_study_test.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/approval_calls.h"

namespace quire::kernel {

using policy::Answer;
using policy::Approval;
using policy::ApprovalStatus;

inline constexpr const char* kEve = "agent:eve";
inline constexpr const char* kTom = "human:tom";

// The outcome of one tool call: "fine" or the reason of the refusal, and the approval it names.
struct Outcome {
    std::string reason;
    std::string approval_id;
    std::string message;
    Errc code = Errc::unavailable;
};

// One call of the tool `context`, as the registry makes it.
struct Deed {
    Map arguments;
    std::function<void(MemoryCalls&, const Caller&, Reply<Value>)> work;
};

template <class T>
Reply<T> without_result(Reply<Value> reply) {
    return [reply = std::move(reply)](Result<T> result) mutable {
        if (!result) return reply(Failure(std::move(result).error()));
        reply(Value(true));
    };
}

inline Deed written(const std::string& label, Map arguments, MemoryWrite what) {
    arguments.set("label", label);
    return {std::move(arguments), [label, what](MemoryCalls& calls, const Caller& by, auto reply) {
                calls.write(by, label, what, without_result<MemoryWritten>(std::move(reply)));
            }};
}
inline Deed set_status(const std::string& label, const std::string& value) {
    return written(label, {{"operation", "set_field"}, {"value", value}},
                   SetField{{"", "status"}, value});
}
inline Deed add_tag(const std::string& label, const std::string& tag) {
    return written(label, {{"operation", "append_to_list"}, {"item", tag}},
                   AppendToList{{"", "tags"}, tag});
}
inline Deed erased(const std::string& label) {
    return {{{"operation", "delete"}, {"label", label}},
            [label](MemoryCalls& calls, const Caller& by, auto reply) {
                calls.erase(by, label, without_result<MemoryVersion>(std::move(reply)));
            }};
}

// A kernel whose agents ask, and whose people answer.
// Calls wait for their answers, but for start(). The kernel is that of `study`.
class Office {
public:
    // Starts a call and gives where its outcome will be.
    std::shared_ptr<std::optional<Result<Value>>> start(const Deed& deed,
                                                        const std::string& by = kEve) {
        return study.desk.start_call<Value>([&](auto reply) {
            Admission(*study.desk.kernel)
                .run<Value>(Study::as(by),
                            {.profile = "model",
                             .name = "context",
                             .arguments = deed.arguments,
                             .asks = true},
                            std::move(reply), [this, deed](const Caller& as, Reply<Value> ended) {
                                deed.work(study.calls(), as, std::move(ended));
                            });
        });
    }
    static Outcome outcome_of(const Result<Value>& result) {
        if (result) return {"fine", "", "", Errc::unavailable};
        const Value* id = result.error().details().find("approval_id");
        return {result.error().reason(), id != nullptr ? id->as_string() : "",
                result.error().message(), result.error().code()};
    }
    Outcome call(const Deed& deed, const std::string& by = kEve) {
        return outcome_of(**start(deed, by));
    }
    std::string told(const Deed& deed, const std::string& by = kEve) {
        return call(deed, by).reason;
    }
    // The approval that the call asks for.
    std::string asked(const Deed& deed, const std::string& by = kEve) {
        const Outcome outcome = call(deed, by);
        EXPECT_EQ(outcome.reason, "escalation_required");
        EXPECT_FALSE(outcome.approval_id.empty());
        return outcome.approval_id;
    }

    Result<Approval> resolve(const std::string& id, const policy::Resolution& with,
                             const std::string& by = kTom) {
        return study.desk.ask<Approval>([&](auto reply) {
            ApprovalCalls(*study.desk.kernel).resolve(Study::as(by), id, with, std::move(reply));
        });
    }
    std::string approve(const std::string& id,
                        const policy::Resolution& with = {Answer::approve_once}) {
        return reason(resolve(id, with));
    }
    Result<ApprovalList> listed(bool all = false, const std::string& by = kTom) {
        return study.desk.ask<ApprovalList>([&](auto reply) {
            ApprovalCalls(*study.desk.kernel).list(Study::as(by), all, std::move(reply));
        });
    }
    std::vector<Approval> list(bool all = false) { return listed(all)->approvals; }
    std::string status(const std::string& id) {
        for (const Approval& each : list(true)) {
            if (each.id == id) return std::string(name_of(each.status));
        }
        return "gone";
    }
    // A block of Eve's that a person has to approve writes to.
    void make(const std::string& label, Permission permission = Permission::human,
              std::string_view schema = kStatus) {
        ASSERT_TRUE(study.create(label, schema, permission, kEve));
    }

    Study study;
};

}  // namespace quire::kernel
