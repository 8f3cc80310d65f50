#include "kernel/oversight/approvals.h"

#include <algorithm>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "kernel/memory/memory_study_test.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/approval_calls.h"

namespace quire::kernel {
namespace {

using policy::Answer;
using policy::Approval;
using policy::ApprovalStatus;

constexpr const char* kEve = "agent:eve";
constexpr const char* kTom = "human:tom";

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

Deed written(const std::string& label, Map arguments, MemoryWrite what) {
    arguments.set("label", label);
    return {std::move(arguments), [label, what](MemoryCalls& calls, const Caller& by, auto reply) {
                calls.write(by, label, what, without_result<MemoryWritten>(std::move(reply)));
            }};
}
Deed set_status(const std::string& label, const std::string& value) {
    return written(label, {{"operation", "set_field"}, {"value", value}},
                   SetField{{"", "status"}, value});
}
Deed add_tag(const std::string& label, const std::string& tag) {
    return written(label, {{"operation", "append_to_list"}, {"item", tag}},
                   AppendToList{{"", "tags"}, tag});
}
Deed erased(const std::string& label) {
    return {{{"operation", "delete"}, {"label", label}},
            [label](MemoryCalls& calls, const Caller& by, auto reply) {
                calls.erase(by, label, without_result<MemoryVersion>(std::move(reply)));
            }};
}

// A kernel whose agents ask, and whose people answer.
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

// --- every cell, and every operation ---

struct Way {
    const char* name;
    policy::Operation operation;
    std::function<Deed(const std::string& label)> deed;
    MemoryType type = MemoryType::working;
};

std::vector<Way> ways() {
    using policy::Operation;
    std::vector<Way> all;
    const auto add = [&](const char* name, Operation operation, auto deed) {
        all.push_back({name, operation, std::move(deed)});
    };
    add("set_field", Operation::overwrite,
        [](const std::string& label) { return set_status(label, "done"); });
    add("append_to_list", Operation::append,
        [](const std::string& label) { return add_tag(label, "new"); });
    add("remove_from_list", Operation::overwrite, [](const std::string& label) {
        return written(label, {{"operation", "remove_from_list"}}, RemoveFromList{{"", "tags"}, 0});
    });
    add("increment_counter", Operation::overwrite, [](const std::string& label) {
        return written(label, {{"operation", "increment_counter"}},
                       IncrementCounter{{"", "visits"}, 2});
    });
    add("undo", Operation::overwrite, [](const std::string& label) {
        return Deed{{{"operation", "undo"}, {"label", label}},
                    [label](MemoryCalls& calls, const Caller& by, auto reply) {
                        calls.undo(by, label, false,
                                   without_result<MemoryUndone>(std::move(reply)));
                    }};
    });
    add("rollback", Operation::overwrite, [](const std::string& label) {
        return Deed{{{"operation", "rollback"}, {"label", label}},
                    [label](MemoryCalls& calls, const Caller& by, auto reply) {
                        calls.rollback(by, label, "1",
                                       without_result<MemoryVersion>(std::move(reply)));
                    }};
    });
    add("convert", Operation::overwrite, [](const std::string& label) {
        return Deed{{{"operation", "convert"}, {"label", label}},
                    [label](MemoryCalls& calls, const Caller& by, auto reply) {
                        calls.convert(by, label,
                                      {json::parse(R"({"Map": {"fields": [
                            {"name": "status", "field_type": "Text"},
                            {"name": "origin", "field_type": "Text", "read_only": true}]}})")
                                           .value(),
                                       {},
                                       false,
                                       true},
                                      without_result<MemoryConverted>(std::move(reply)));
                    }};
    });
    add("archive", Operation::erase, [](const std::string& label) {
        return Deed{{{"operation", "archive"}, {"label", label}},
                    [label](MemoryCalls& calls, const Caller& by, auto reply) {
                        calls.archive(by, label, {}, without_result<MemoryMoved>(std::move(reply)));
                    }};
    });
    add("load", Operation::overwrite, [](const std::string& label) {
        return Deed{{{"operation", "load"}, {"label", label}},
                    [label](MemoryCalls& calls, const Caller& by, auto reply) {
                        calls.load(by, label, {}, without_result<MemoryVersion>(std::move(reply)));
                    }};
    });
    all.back().type = MemoryType::archival;
    add("delete", Operation::erase, erased);
    return all;
}

// A block with something in it that Eve did, so that each way has what it is for.
void furnish(Office& office, const std::string& label, Permission permission, MemoryType type) {
    ASSERT_TRUE(office.study.create(label, kStatus, permission, kEve, type));
    for (const char* value : {"begun", "going"}) {
        const Deed deed = set_status(label, value);
        const std::string reason = office.told(deed);
        if (reason != "escalation_required") continue;
        office.approve(office.call(deed).approval_id);
        ASSERT_EQ(office.told(deed), "fine");
    }
    const Deed tagged = add_tag(label, "old");
    if (office.told(tagged) == "escalation_required") {
        office.approve(office.call(tagged).approval_id);
        ASSERT_EQ(office.told(tagged), "fine");
    }
}

TEST(Approvals, EveryWayToWriteUnderEveryPermissionAsksWhereTheMatrixSaysSo) {
    for (const Permission permission : kEvery<policy::Permission>) {
        for (const Way& way : ways()) {
            Office office;
            furnish(office, "plan", permission, way.type);
            const std::string before = office.study.value("plan");
            const std::size_t waiting = office.list().size();
            ASSERT_EQ(waiting, 0U);
            const Deed deed = way.deed("plan");
            const std::string where = cat(way.name, " under ", name_of(permission));

            const Outcome outcome = office.call(deed);

            switch (policy::verdict(permission, way.operation, policy::Deleting::owner)) {
                case policy::Verdict::allow:
                    // A change that furnish() was not allowed to make cannot be undone, so only
                    // these reasons are excluded.
                    EXPECT_NE(outcome.reason, "escalation_required") << where;
                    EXPECT_NE(outcome.reason, "permission_denied") << where;
                    EXPECT_TRUE(office.list().empty()) << where;
                    continue;
                case policy::Verdict::deny:
                    EXPECT_EQ(outcome.reason, "permission_denied") << where;
                    EXPECT_TRUE(office.list().empty()) << where;
                    continue;
                case policy::Verdict::escalate:
                    break;
            }
            EXPECT_EQ(outcome.code, Errc::escalation_required) << where;
            EXPECT_EQ(outcome.message, cat("Requires ", name_of(permission), " approval to ",
                                           name_of(way.operation)))
                << where;
            EXPECT_EQ(office.study.value("plan"), before) << where;
            ASSERT_EQ(office.list().size(), 1U) << where;
            const Approval approval = office.list()[0];
            EXPECT_EQ(approval.id, outcome.approval_id) << where;
            EXPECT_EQ(approval.ask.operation, way.operation) << where;
            EXPECT_EQ(approval.ask.actor.str(), kEve) << where;
            EXPECT_EQ(approval.ask.target.name, "plan") << where;
            EXPECT_EQ(approval.permission, permission) << where;
            EXPECT_NE(approval.description.find(deed.arguments.find("operation")->as_string()),
                      std::string::npos)
                << approval.description;

            EXPECT_EQ(office.asked(deed), approval.id) << where;  // No second one.
            EXPECT_EQ(office.list().size(), 1U) << where;
            EXPECT_EQ(office.approve(approval.id), "fine") << where;
            EXPECT_EQ(office.told(deed), "fine") << where;
            EXPECT_EQ(office.status(approval.id), "used") << where;
            const Outcome again = office.call(deed);
            EXPECT_NE(again.reason, "fine") << where;
            EXPECT_NE(again.approval_id, approval.id) << where;
        }
    }
}

TEST(Approvals, AnAgentThatABlockIsSharedWithAsksToo) {
    for (const Permission level : {Permission::partner, Permission::human}) {
        Office office;
        office.make("plan", Permission::read_write);
        ASSERT_TRUE(office.study.share("plan", "agent:bob", level, kEve));
        const std::string id = office.asked(set_status("plan", "done"), "agent:bob");
        EXPECT_EQ(office.told(erased("plan"), "agent:bob"), "permission_denied");
        EXPECT_EQ(office.approve(id), "fine");
        EXPECT_EQ(office.told(set_status("plan", "done"), "agent:bob"), "fine");
    }
}

TEST(Approvals, ASwapAsksForEachBlockOfItAndThenPasses) {
    Office office;
    office.make("plan");
    ASSERT_TRUE(office.study.create("old", kStatus, Permission::human, kEve, MemoryType::archival));
    const Deed swap{{{"operation", "swap"}, {"label", "plan"}, {"archival_label", "old"}},
                    [](MemoryCalls& calls, const Caller& by, auto reply) {
                        calls.swap(by, "plan", "old",
                                   without_result<MemoryMoved>(std::move(reply)));
                    }};
    const std::string first = office.asked(swap);
    EXPECT_EQ(office.approve(first), "fine");
    const std::string second = office.asked(swap);
    EXPECT_NE(first, second);
    EXPECT_EQ(office.status(first), "approved");  // The refused call gave it back.
    EXPECT_EQ(office.approve(second), "fine");
    EXPECT_EQ(office.told(swap), "fine");
    EXPECT_EQ(office.status(first), "used");
    EXPECT_EQ(office.status(second), "used");
}

// --- not a hair more ---

TEST(Approvals, OnceIsForThatCallAndNoOther) {
    Office office;
    office.make("plan");
    office.make("other");
    EXPECT_EQ(office.approve(office.asked(set_status("plan", "done"))), "fine");

    EXPECT_EQ(office.told(set_status("plan", "gone")), "escalation_required");
    EXPECT_EQ(office.told(set_status("other", "done")), "escalation_required");
    EXPECT_EQ(office.told(add_tag("plan", "done")), "escalation_required");
    EXPECT_EQ(office.told(erased("plan")), "escalation_required");
    EXPECT_EQ(office.told(set_status("plan", "done"), "agent:bob"), "invalid_reference");
    EXPECT_EQ(office.told(set_status("plan", "done")), "fine");
    EXPECT_EQ(office.told(set_status("plan", "done")), "escalation_required");
}

TEST(Approvals, OneApprovedCallMadeTwiceAtOnceIsDoneOnce) {
    Office office;
    office.make("plan");
    const Deed deed = add_tag("plan", "x");
    EXPECT_EQ(office.approve(office.asked(deed)), "fine");
    office.study.desk.store.hold(true);
    const auto first = office.start(deed);
    const auto second = office.start(deed);
    office.study.desk.store.hold(false);
    for (int i = 0; i < 4; ++i) {
        office.study.desk.store.flush();
        office.study.desk.scheduler.run_all();
    }
    EXPECT_EQ(Office::outcome_of(**first).reason, "fine");
    EXPECT_EQ(Office::outcome_of(**second).reason, "escalation_required");
    EXPECT_NE(office.study.value("plan").find(R"("tags":["x"])"), std::string::npos);
}

TEST(Approvals, ARefusedCallGivesItBack) {
    Office office;
    office.make("plan", Permission::human, "\"Text\"");
    const Deed replaced =
        written("plan", {{"operation", "replace"}, {"find", "one"}}, ReplaceText{"", "one", "1"});
    const std::string id = office.asked(replaced);
    EXPECT_EQ(office.approve(id), "fine");
    EXPECT_EQ(office.told(replaced), "no_match");
    EXPECT_EQ(office.status(id), "approved");
    office.study.crash();
    EXPECT_EQ(office.status(id), "approved");
    ASSERT_TRUE(office.study.write("plan", AppendContent{"", "one"}, "human:tom"));
    EXPECT_EQ(office.told(replaced), "fine");
    EXPECT_EQ(office.status(id), "used");
}

TEST(Approvals, AnApprovalForATimeAllowsThatOperationThereUntilItEnds) {
    Office office;
    office.make("plan");
    office.make("other");
    const std::string id = office.asked(set_status("plan", "a"));
    EXPECT_EQ(office.approve(id, {Answer::approve_for, 60}), "fine");

    EXPECT_EQ(office.told(set_status("plan", "a")), "fine");
    EXPECT_EQ(office.told(set_status("plan", "b")), "fine");
    EXPECT_EQ(office.told(set_status("other", "b")), "escalation_required");
    EXPECT_EQ(office.told(add_tag("plan", "b")), "escalation_required");
    EXPECT_EQ(office.told(erased("plan")), "escalation_required");
    office.study.desk.advance(59'999);
    EXPECT_EQ(office.told(set_status("plan", "c")), "fine");
    office.study.desk.advance(1);
    EXPECT_EQ(office.told(set_status("plan", "d")), "escalation_required");
    EXPECT_NE(office.asked(set_status("plan", "d")), id);
    EXPECT_NE(office.study.value("plan").find(R"("status":"c")"), std::string::npos);
}

TEST(Approvals, AScopeIsForTheLabelsInIt) {
    Office office;
    for (const char* label : {"notes/a", "notes/b", "plan"}) office.make(label);
    EXPECT_EQ(office.approve(office.asked(set_status("notes/a", "x")),
                             {Answer::approve_scope, {}, "notes/*"}),
              "fine");

    EXPECT_EQ(office.told(set_status("notes/a", "y")), "fine");
    EXPECT_EQ(office.told(set_status("notes/b", "y")), "fine");
    EXPECT_EQ(office.told(add_tag("notes/b", "y")), "escalation_required");
    EXPECT_EQ(office.told(set_status("plan", "y")), "escalation_required");
    office.study.desk.advance(std::int64_t{1000} * 60 * 60 * 24 * 365);
    EXPECT_EQ(office.told(set_status("notes/b", "z")), "fine");
    // A block outside the scope is not brought in under a name that is inside.
    const Deed renamed{{{"operation", "archive"}, {"label", "plan"}},
                       [](MemoryCalls& calls, const Caller& by, auto reply) {
                           calls.archive(by, "plan", "notes/c",
                                         without_result<MemoryMoved>(std::move(reply)));
                       }};
    EXPECT_EQ(office.told(renamed), "escalation_required");
}

TEST(Approvals, WithoutAScopeItIsForTheBlockAlone) {
    Office office;
    office.make("plan");
    office.make("other");
    EXPECT_EQ(office.approve(office.asked(set_status("plan", "x")), {Answer::approve_scope}),
              "fine");
    EXPECT_EQ(office.told(set_status("plan", "y")), "fine");
    EXPECT_EQ(office.told(set_status("other", "y")), "escalation_required");
    ASSERT_TRUE(office.study.erase("plan", kTom));
    office.make("plan");  // Another block of that name.
    EXPECT_EQ(office.told(set_status("plan", "z")), "escalation_required");
}

TEST(Approvals, AnAnswerIsTakenBack) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    EXPECT_EQ(office.approve(id, {Answer::approve_scope}), "fine");
    EXPECT_EQ(office.told(set_status("plan", "x")), "fine");
    EXPECT_EQ(office.approve(id, {Answer::revoke}), "fine");
    EXPECT_EQ(office.told(set_status("plan", "y")), "escalation_required");
    office.study.crash();
    EXPECT_EQ(office.told(set_status("plan", "y")), "escalation_required");
}

TEST(Approvals, ADenialSaysByWhomAsOftenAsItIsTried) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    EXPECT_EQ(office.approve(id, {Answer::deny}), "fine");
    for (int i = 0; i < 2; ++i) {
        const Outcome outcome = office.call(set_status("plan", "x"));
        EXPECT_EQ(outcome.code, Errc::denied);
        EXPECT_EQ(outcome.reason, "approval_denied");
        EXPECT_EQ(outcome.approval_id, id);
        EXPECT_EQ(outcome.message, cat("human:tom denied this call (approval ", id,
                                       "). Do something else, or ask them"));
        office.study.crash();
    }
    EXPECT_TRUE(office.list().empty());
    // It is that call which was denied.
    EXPECT_EQ(office.told(set_status("plan", "y")), "escalation_required");
    // Taken back, it may be asked for again.
    EXPECT_EQ(office.approve(id, {Answer::revoke}), "fine");
    EXPECT_NE(office.asked(set_status("plan", "x")), id);
}

// --- who answers ---

TEST(Approvals, OnlyPeopleListAndResolve) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    for (const char* by : {kEve, "agent:bob", "source:lsp", "system:quire"}) {
        for (const Answer answer : kEvery<policy::Answer>) {
            const auto refused = office.resolve(id, {answer}, by);
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().code(), Errc::denied);
            EXPECT_EQ(refused.error().message(),
                      cat("Only people answer approvals: ", by,
                          " may not list or resolve them. Ask a person (human:NAME)"));
        }
        EXPECT_EQ(reason(office.listed(false, by)), "permission_denied");
    }
    EXPECT_EQ(office.status(id), "pending");
    EXPECT_EQ(office.told(set_status("plan", "x")), "escalation_required");
}

TEST(Approvals, APersonNeedsNone) {
    Office office;
    office.make("plan");
    EXPECT_EQ(office.told(set_status("plan", "x"), kTom), "fine");
    EXPECT_TRUE(office.list(true).empty());
}

TEST(Approvals, AnUnknownIdIsNotFound) {
    Office office;
    EXPECT_EQ(office.approve("ap_nothing"), "invalid_reference");
}

TEST(Approvals, OnlyOneOfTwoAnswersAtOnceHolds) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    office.study.desk.store.hold(true);
    const auto answer = [&](const char* by, Answer with) {
        return office.study.desk.start_call<Approval>([&](auto reply) {
            ApprovalCalls(*office.study.desk.kernel)
                .resolve(Study::as(by), id, {with}, std::move(reply));
        });
    };
    const auto first = answer("human:tom", Answer::deny);
    const auto second = answer("human:ann", Answer::approve_once);
    ASSERT_TRUE(second->has_value());
    EXPECT_EQ((*second)->error().reason(), "already_resolved");
    EXPECT_EQ((*second)->error().code(), Errc::conflict);
    // Nothing holds before it is stored.
    EXPECT_FALSE(first->has_value());
    office.study.desk.store.hold(false);
    office.study.desk.store.flush();
    office.study.desk.scheduler.run_all();
    EXPECT_TRUE((*first)->has_value());
    EXPECT_EQ(office.told(set_status("plan", "x")), "approval_denied");
    EXPECT_EQ(reason(office.resolve(id, {Answer::approve_once}, "human:ann")), "already_resolved");
}

// --- what changes meanwhile ---

// Changes that a person makes to the block between the request and the answer.
const std::function<void(Study&)> kChanges[] = {
    [](Study& study) { ASSERT_TRUE(study.erase("plan", kTom)); },
    [](Study& study) {
        ASSERT_TRUE(study.erase("plan", kTom));
        ASSERT_TRUE(study.create("plan", kStatus, Permission::human, kEve));
    },
    [](Study& study) {
        ASSERT_TRUE(study.archive("plan", "put_away", kTom));
        ASSERT_TRUE(study.create("plan", kStatus, Permission::human, kEve));
    },
    [](Study& study) {
        ASSERT_TRUE(study.convert("plan", R"({"Map": {"fields": [
            {"name": "status", "field_type": "Text"},
            {"name": "origin", "field_type": "Text", "read_only": true}]}})",
                                  "{}", false, kTom, true));
    },
};

TEST(Approvals, AnApprovalIsRefusedIfTheTargetChangedSinceTheRequest) {
    for (const auto& change : kChanges) {
        for (const bool restarted : {false, true}) {
            Office office;
            office.make("plan");
            const std::string id = office.asked(set_status("plan", "x"));
            change(office.study);
            if (restarted) office.study.restart();
            for (const Answer answer :
                 {Answer::approve_once, Answer::approve_for, Answer::approve_scope}) {
                const auto refused = office.resolve(id, {answer});
                ASSERT_FALSE(refused);
                EXPECT_EQ(refused.error().code(), Errc::conflict);
                EXPECT_EQ(refused.error().reason(), "outdated");
            }
            EXPECT_EQ(office.status(id), "outdated");
            EXPECT_NE(office.told(set_status("plan", "x")), "fine");
        }
    }
}

TEST(Approvals, ATargetThatChangedSinceItsApprovalNeedsAnother) {
    for (const auto& change : kChanges) {
        for (const Answer answer :
             {Answer::approve_once, Answer::approve_for, Answer::approve_scope}) {
            Office office;
            office.make("plan");
            const std::string id = office.asked(set_status("plan", "x"));
            EXPECT_EQ(office.approve(id, {answer}), "fine");
            change(office.study);
            const Outcome outcome = office.call(set_status("plan", "x"));
            EXPECT_NE(outcome.reason, "fine");
            EXPECT_NE(outcome.approval_id, id);
        }
    }
}

TEST(Approvals, ADenialNeedsNothingToBeThere) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    ASSERT_TRUE(office.study.erase("plan", kTom));
    EXPECT_EQ(office.approve(id, {Answer::deny}), "fine");
}

// --- the store ---

TEST(Approvals, OutliveTheKernelAtEachStep) {
    Office office;
    office.make("plan");
    const Deed deed = set_status("plan", "x");
    const std::string id = office.asked(deed);
    office.study.crash();
    EXPECT_EQ(office.asked(deed), id);
    EXPECT_EQ(office.list().size(), 1U);
    EXPECT_EQ(office.approve(id), "fine");
    office.study.crash();
    EXPECT_EQ(office.status(id), "approved");
    EXPECT_EQ(office.told(deed), "fine");
    office.study.crash();
    EXPECT_EQ(office.status(id), "used");
    EXPECT_EQ(office.told(deed), "escalation_required");
    const std::vector<Approval> all = office.list(true);
    const auto used =
        std::find_if(all.begin(), all.end(), [&](const Approval& each) { return each.id == id; });
    ASSERT_NE(used, all.end());
    EXPECT_EQ(used->resolved->by.str(), kTom);
}

TEST(Approvals, TheSessionInWhichAPersonWasAskedIsKept) {
    Office office;
    office.make("plan");
    const std::string elicited = office.asked(add_tag("plan", "x"));
    const std::string by_themselves = office.asked(add_tag("plan", "y"));
    EXPECT_EQ(office.approve(elicited, {.answer = Answer::deny, .elicited_in = 3}), "fine");
    EXPECT_EQ(office.approve(by_themselves, {.answer = Answer::deny}), "fine");
    office.study.crash();
    for (const Approval& each : office.list(true))
        EXPECT_EQ(each.resolved->elicited_in, each.id == elicited ? 3U : 0U);
}

TEST(Approvals, ATimeGoesOnWhileNoKernelRuns) {
    Office office;
    office.make("plan");
    EXPECT_EQ(office.approve(office.asked(set_status("plan", "x")), {Answer::approve_for, 60}),
              "fine");
    office.study.crash();
    EXPECT_EQ(office.told(set_status("plan", "y")), "fine");
    office.study.desk.clock.advance(60'000);
    office.study.crash();
    EXPECT_EQ(office.told(set_status("plan", "z")), "escalation_required");
}

TEST(Approvals, ACallThatACrashCutShortHasSpentItsApproval) {
    Office office;
    office.make("plan");
    const Deed deed = add_tag("plan", "x");
    const std::string id = office.asked(deed);
    EXPECT_EQ(office.approve(id), "fine");
    office.study.desk.store.hold(true);
    static_cast<void>(office.start(deed));
    office.study.desk.store.hold(false);
    office.study.desk.store.flush();  // It was spent, and the write is not stored yet.
    office.study.crash();
    EXPECT_EQ(office.status(id), "used");
    EXPECT_EQ(office.told(deed), "escalation_required");
}

TEST(Approvals, AnApprovalThatIsNotStoredIsNotReported) {
    Office office;
    office.make("plan");
    office.study.desk.store.fail_next();
    EXPECT_EQ(office.told(set_status("plan", "x")), "disk_full");
    EXPECT_TRUE(office.list(true).empty());
    const std::string id = office.asked(set_status("plan", "x"));
    office.study.desk.store.fail_next();
    EXPECT_EQ(office.approve(id), "disk_full");
    EXPECT_EQ(office.told(set_status("plan", "x")), "escalation_required");
    EXPECT_EQ(office.approve(id), "fine");
    office.study.desk.store.fail_next();  // Spending it.
    EXPECT_EQ(office.told(set_status("plan", "x")), "disk_full");
    EXPECT_EQ(office.told(set_status("plan", "x")), "fine");
}

TEST(Approvals, ADamagedOneIsNotGuessedAt) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    for (const char* body : {"", "{}", "[1]", R"({"format":2})"}) {
        const std::string text = body;
        Desk desk;
        store::Batch batch;
        batch.keep({.table = store::Table::approvals, .key = id}, text);
        desk.store.commit(std::move(batch), [](Result<void>) {});
        const auto opened = open_kernel({desk.store, desk.scheduler, desk.clock, desk.rng, {}});
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code(), Errc::corrupt);
    }
}

// --- how many ---

TEST(Approvals, AHostileAgentFillsItsOwnShareAndNoMore) {
    Office office;
    office.make("plan");
    ASSERT_TRUE(office.study.create("mine", kStatus, Permission::human, "agent:ada"));
    std::set<std::string> ids;
    std::size_t refused = 0;
    for (int i = 0; i < 10'000; ++i) {
        const Outcome outcome = office.call(set_status("plan", cat("x", i)));
        if (outcome.reason == "escalation_required") {
            ids.insert(outcome.approval_id);
            continue;
        }
        ++refused;
        ASSERT_EQ(outcome.code, Errc::unavailable);
        ASSERT_EQ(outcome.reason, "too_many_approvals");
        ASSERT_EQ(outcome.message,
                  "agent:eve has 50 approvals that wait for a person, and may not ask for more "
                  "until some are answered");
    }
    EXPECT_EQ(ids.size(), Approvals::kPendingOfOne);
    EXPECT_EQ(refused, 10'000 - Approvals::kPendingOfOne);
    EXPECT_EQ(office.list().size(), Approvals::kPendingOfOne);
    // Others still ask, and what was asked is still known.
    office.asked(set_status("mine", "x"), "agent:ada");
    EXPECT_TRUE(ids.contains(office.asked(set_status("plan", "x0"))));
    EXPECT_EQ(office.approve(*ids.begin(), {Answer::deny}), "fine");
    EXPECT_EQ(office.told(set_status("plan", "one more")), "escalation_required");
    EXPECT_EQ(office.told(set_status("plan", "and one")), "too_many_approvals");
}

TEST(Approvals, ManyAgentsTogetherFillTheWorkspacesShare) {
    Office office;
    office.make("plan");
    std::size_t asked = 0;
    for (std::size_t agent = 0; agent <= Approvals::kPending / Approvals::kPendingOfOne; ++agent) {
        const std::string name = cat("agent:eve", agent);
        ASSERT_TRUE(office.study.share("plan", name, Permission::human, kEve));
        for (std::size_t i = 0; i < Approvals::kPendingOfOne; ++i) {
            const Outcome outcome = office.call(set_status("plan", cat(i)), name);
            if (outcome.reason == "escalation_required") {
                ++asked;
            } else {
                ASSERT_EQ(outcome.reason, "too_many_approvals");
            }
        }
    }
    EXPECT_EQ(asked, Approvals::kPending);
}

TEST(Approvals, SettledApprovalsAreForgottenTheOldestFirst) {
    Office office;
    office.make("plan");
    std::string first;
    for (std::size_t i = 0; i <= Approvals::kKept + 5; ++i) {
        const std::string id = office.asked(set_status("plan", cat("x", i)));
        if (first.empty()) first = id;
        ASSERT_EQ(office.approve(id, {Answer::deny}), "fine");
        office.study.desk.clock.advance(1);
    }
    EXPECT_LE(office.list(true).size(), Approvals::kKept);
    EXPECT_EQ(office.status(first), "gone");
    office.study.crash();
    EXPECT_LE(office.list(true).size(), Approvals::kKept);
}

TEST(Approvals, ALongCallIsShownCutAndWithNothingHidden) {
    Office office;
    office.make("plan");
    office.asked(set_status("plan", cat("\xe2\x80\xae", std::string(5000, 'a'))));
    const std::string text = office.list()[0].description;
    EXPECT_LT(text.size(), 700U);
    EXPECT_NE(text.find("\\u{202e}"), std::string::npos);
    EXPECT_NE(text.find(" … (cut; the call has "), std::string::npos) << text;
}

}  // namespace
}  // namespace quire::kernel
