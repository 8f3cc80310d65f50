#include "kernel/oversight/approvals.h"

#include <functional>

#include <gtest/gtest.h>

#include "kernel/oversight/approvals_office_for_test.h"

namespace quire::kernel {
namespace {

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

TEST(Approvals, EveryKindOfWriteAsksUnderEveryPermissionAsTheMatrixSays) {
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

TEST(Approvals, AnAgentWithASharedBlockAsksForApprovalToo) {
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

TEST(Approvals, ASwapNeedsAnApprovalForEachOfItsBlocks) {
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

TEST(Approvals, AnApprovalForOnceAllowsThatCallAndNoOther) {
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

TEST(Approvals, ARefusedCallGivesItsApprovalBack) {
    Office office;
    office.make("plan", Permission::human, "\"Text\"");
    const Deed replaced =
        written("plan", {{"operation", "replace"}, {"find", "one"}}, ReplaceText{"", "one", "1"});
    ASSERT_TRUE(office.study.write("plan", AppendContent{"", "one"}, "human:tom"));
    const std::string id = office.asked(replaced);
    EXPECT_EQ(office.approve(id), "fine");
    ASSERT_TRUE(office.study.write("plan", ReplaceText{"", "one", "two"}, "human:tom"));
    EXPECT_EQ(office.told(replaced), "no_match");
    EXPECT_EQ(office.status(id), "approved");
    office.study.crash();
    EXPECT_EQ(office.status(id), "approved");
    ASSERT_TRUE(office.study.write("plan", AppendContent{"", "one"}, "human:tom"));
    EXPECT_EQ(office.told(replaced), "fine");
    EXPECT_EQ(office.status(id), "used");
}

TEST(Approvals, NobodyIsAskedForAWriteThatWouldFail) {
    Office office;
    office.make("plan", Permission::human, "\"Text\"");
    const Deed replaced =
        written("plan", {{"operation", "replace"}, {"find", "one"}}, ReplaceText{"", "one", "1"});
    const Deed undone{{{"operation", "undo"}, {"label", "plan"}},
                      [](MemoryCalls& calls, const Caller& by, auto reply) {
                          calls.undo(by, "plan", false,
                                     without_result<MemoryUndone>(std::move(reply)));
                      }};

    EXPECT_EQ(office.told(replaced), "no_match");
    EXPECT_EQ(office.told(undone), "nothing_to_undo");
    EXPECT_TRUE(office.list().empty());
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

TEST(Approvals, AnApprovalWithAScopeIsForTheLabelsInIt) {
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

TEST(Approvals, AnApprovalWithoutAScopeIsForItsBlockAlone) {
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

TEST(Approvals, ARevokedApprovalAllowsNothing) {
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

TEST(Approvals, EachRepeatedCallIsToldWhoDeniedIt) {
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

}  // namespace
}  // namespace quire::kernel
