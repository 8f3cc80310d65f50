// Entries of the audit log after calls that are made as the registry of tools makes them.
#include "kernel/oversight/audit.h"

#include <functional>

#include <gtest/gtest.h>

#include "kernel/memory/memory_study_test.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/approval_calls.h"
#include "kernel/oversight/audit_calls.h"
#include "policy/call_digest.h"

namespace quire::kernel {
namespace {

constexpr const char* kAsker = "agent:eve";
constexpr const char* kAnswerer = "human:tom";

// A kernel whose calls are written down.
class Ledger {
public:
    using Work = std::function<void(const Caller&, Reply<Touched>)>;

    static CallFacts facts(const std::string& tool, Map arguments, bool reads) {
        return {.profile = "model",
                .name = tool,
                .arguments = std::move(arguments),
                .reads = reads,
                .asks = true};
    }
    // One call; its answer, which is there without time passing.
    Result<Touched> call(CallFacts what, Work work, const std::string& actor = kAsker) {
        Caller by = Study::as(actor);
        by.session = 4;
        const Admission admission(*study.desk.kernel);
        return study.desk.ask<Touched>([&](Reply<Touched> reply) {
            admission.begin(
                by, std::move(what),
                [admission, work = std::move(work),
                 reply = std::move(reply)](Result<AdmittedCall> admitted) mutable {
                    if (!admitted) return reply(Failure(std::move(admitted).error()));
                    const Caller as = admitted->by;
                    work(as, [admission, call = std::move(*admitted),
                              reply = std::move(reply)](Result<Touched> result) mutable {
                        admission.end(std::move(call), result ? CallEnd{.touched = *result}
                                                              : CallEnd::of(result.error()));
                        reply(std::move(result));
                    });
                });
        });
    }
    static CallFacts set_status_to(const std::string& label, const std::string& value) {
        return facts("context", {{"operation", "set_field"}, {"label", label}, {"value", value}},
                     false);
    }
    Result<Touched> set_status(const std::string& label, const std::string& value,
                               const std::string& by = kAsker) {
        return call(
            set_status_to(label, value),
            [&, label, value](const Caller& as, Reply<Touched> reply) {
                study.calls().write(as, label, SetField{{"", "status"}, value},
                                    answer<MemoryWritten>(std::move(reply)));
            },
            by);
    }
    Result<Touched> view(const std::string& label, const std::string& by = kAsker) {
        return call(
            facts("context", {{"operation", "view"}, {"label", label}}, true),
            [&, label](const Caller& as, Reply<Touched> reply) {
                study.calls().view(as, label, {}, answer<MemoryView>(std::move(reply)));
            },
            by);
    }
    Result<policy::Approval> resolve(const std::string& id, policy::Answer with,
                                     std::uint64_t elicited_in = 0) {
        return study.desk.ask<policy::Approval>([&](auto reply) {
            ApprovalCalls(*study.desk.kernel)
                .resolve(Study::as(kAnswerer), id, {.answer = with, .elicited_in = elicited_in},
                         std::move(reply));
        });
    }

    AuditPage read(AuditQuery query = {}) {
        return *study.desk.ask<AuditPage>([&](auto reply) {
            AuditCalls(*study.desk.kernel).read(Study::as(kAnswerer), query, std::move(reply));
        });
    }
    AuditVerdict verify(std::vector<std::string> heads = {}) {
        return *study.desk.ask<AuditVerdict>([&](auto reply) {
            AuditCalls(*study.desk.kernel)
                .verify(Study::as(kAnswerer), std::move(heads), std::move(reply));
        });
    }
    // The entries from `from` on, the oldest first.
    std::vector<Value> entries(std::uint64_t from = 1) {
        std::vector<Value> out;
        for (const AuditPage::Entry& entry : read({.limit = 10'000}).entries) {
            if (entry.seq >= from) out.insert(out.begin(), json::parse(entry.body).value());
        }
        return out;
    }
    std::uint64_t next() { return verify().count + 1; }
    // "call context.set_field; end context.set_field done 2; …" of those from `from` on.
    std::string told(std::uint64_t from) {
        std::string out;
        for (const Value& entry : entries(from)) {
            if (!out.empty()) out += "; ";
            out += word(entry, "event");
            for (const char* member : {"tool", "change", "outcome", "reason"}) {
                if (entry.get(member) != nullptr) cat_to(out, cat(" ", word(entry, member)));
            }
        }
        return out;
    }
    static std::string word(const Value& of, std::string_view member) {
        const Value* value = of.get(member);
        return value != nullptr && value->is_string() ? value->as_string() : "";
    }

    Study study;

private:
    static Touched answer_of(const MemoryVersion& block) {
        return {block.block_id, static_cast<std::int64_t>(block.version)};
    }
    static Touched answer_of(const MemoryWritten& written) { return answer_of(written.block); }
    static Touched answer_of(const MemoryView& view) { return answer_of(view.row.block); }
    template <class T>
    static Reply<T> answer(Reply<Touched> reply) {
        return [reply = std::move(reply)](Result<T> result) mutable {
            if (!result) return reply(Failure(std::move(result).error()));
            reply(answer_of(*result));
        };
    }
};

TEST(AuditLog, TheLogBeginsAndEndsWithTheKernel) {
    Ledger ledger;
    EXPECT_EQ(ledger.told(1), "start");
    ledger.study.restart();
    EXPECT_EQ(ledger.told(1), "start; stop; start");
    EXPECT_FALSE(ledger.verify().broken);
}

TEST(AuditLog, AReadIsOneEntryAndAChangeIsTwo) {
    Ledger ledger;
    ASSERT_TRUE(ledger.study.create("plan", kStatus, Permission::read_write, kAsker));
    const std::uint64_t from = ledger.next();

    ASSERT_TRUE(ledger.set_status("plan", "done"));
    ASSERT_TRUE(ledger.view("plan"));

    EXPECT_EQ(ledger.told(from), "call context; end context done; read context done");
    const std::vector<Value> entries = ledger.entries(from);
    const Value& call = entries[0];
    EXPECT_EQ(call.get("at")->as_int(), ledger.study.desk.clock.wall_ms());
    EXPECT_EQ(call.get("session")->as_int(), 4);
    EXPECT_EQ(Ledger::word(call, "actor"), kAsker);
    EXPECT_EQ(Ledger::word(call, "profile"), "model");
    EXPECT_EQ(Ledger::word(call, "operation"), "set_field");
    EXPECT_EQ(Ledger::word(call, "target"), "plan");
    EXPECT_EQ(Ledger::word(call, "arguments"),
              R"({"label":"plan","operation":"set_field","value":"done"})");
    EXPECT_EQ(
        Ledger::word(call, "digest"),
        policy::call_digest("model", "context",
                            Map{{"value", "done"}, {"operation", "set_field"}, {"label", "plan"}}));
    const Value& end = entries[1];
    EXPECT_EQ(*end.get("call"), *call.get("call"));
    EXPECT_EQ(end.get("version")->as_int(), 2);
    EXPECT_FALSE(Ledger::word(end, "block_id").empty());
    EXPECT_EQ(end.get("arguments"), nullptr);
    const Value& read = entries[2];
    EXPECT_EQ(read.get("call")->as_int(), call.get("call")->as_int() + 1);
    EXPECT_EQ(Ledger::word(read, "target"), "plan");
    EXPECT_EQ(Ledger::word(read, "digest").size(), 64U);
}

TEST(AuditLog, ARefusedCallSaysWhy) {
    Ledger ledger;
    ASSERT_TRUE(ledger.study.create("plan", kStatus, Permission::read_only, kAsker));
    const std::uint64_t from = ledger.next();

    EXPECT_EQ(reason(ledger.set_status("plan", "done")), "permission_denied");
    EXPECT_EQ(reason(ledger.view("nothing")), "invalid_reference");

    EXPECT_EQ(ledger.told(from),
              "call context; end context refused permission_denied; read context refused "
              "invalid_reference");
    EXPECT_EQ(Ledger::word(ledger.entries(from)[1], "code"), "denied");
}

TEST(AuditLog, AnEscalatedCallItsApprovalAndTheSecondCallStandInTheirOrder) {
    Ledger ledger;
    ASSERT_TRUE(ledger.study.create("plan", kStatus, Permission::human, kAsker));
    const std::uint64_t from = ledger.next();

    const Result<Touched> asked = ledger.set_status("plan", "done");
    ASSERT_EQ(reason(asked), "escalation_required");
    const std::string id = asked.error().details().find("approval_id")->as_string();
    ASSERT_TRUE(ledger.resolve(id, policy::Answer::approve_once));
    ASSERT_TRUE(ledger.set_status("plan", "done"));

    EXPECT_EQ(ledger.told(from),
              "call context; approval asked; end context escalated escalation_required; "
              "approval approved; call context; approval used; end context done");
    const std::vector<Value> entries = ledger.entries(from);
    EXPECT_EQ(Ledger::word(entries[2], "approval_id"), id);
    EXPECT_EQ(Ledger::word(entries[1], "by"), kAsker);
    EXPECT_EQ(Ledger::word(entries[1], "asks"), "overwrite");
    EXPECT_EQ(Ledger::word(entries[1], "target"), "plan");
    EXPECT_EQ(entries[1].get("decision"), nullptr);
    EXPECT_EQ(Ledger::word(entries[3], "by"), kAnswerer);
    EXPECT_EQ(Ledger::word(entries[3], "actor"), kAsker);
    EXPECT_EQ(Ledger::word(entries[3], "decision"), "approve_once");
    for (const std::size_t approval : {1U, 3U, 5U}) {
        EXPECT_EQ(Ledger::word(entries[approval], "approval_id"), id);
        EXPECT_EQ(Ledger::word(entries[approval], "digest"), Ledger::word(entries[0], "digest"));
    }
}

TEST(AuditLog, RevokedAndDeniedAnswersAreLogged) {
    Ledger ledger;
    ASSERT_TRUE(ledger.study.create("plan", kStatus, Permission::human, kAsker));
    const auto ask = [&](const char* value) {
        return ledger.set_status("plan", value).error().details().find("approval_id")->as_string();
    };
    const std::string one = ask("one");
    const std::string two = ask("two");
    const std::uint64_t from = ledger.next();
    ASSERT_TRUE(ledger.resolve(one, policy::Answer::approve_scope));
    ASSERT_TRUE(ledger.resolve(one, policy::Answer::revoke));
    ASSERT_TRUE(ledger.resolve(two, policy::Answer::deny));
    EXPECT_EQ(ledger.told(from), "approval approved; approval revoked; approval denied");
}

TEST(AuditLog, AnAnswerGivenInAClientNamesTheClient) {
    Ledger ledger;
    ASSERT_TRUE(ledger.study.create("plan", kStatus, Permission::human, kAsker));
    const auto ask = [&](const char* value) {
        return ledger.set_status("plan", value).error().details().find("approval_id")->as_string();
    };
    const std::string one = ask("one");
    const std::string two = ask("two");
    const std::uint64_t from = ledger.next();
    ASSERT_TRUE(ledger.resolve(one, policy::Answer::approve_once, 4));
    ASSERT_TRUE(ledger.resolve(two, policy::Answer::approve_once));
    const std::vector<Value> entries = ledger.entries(from);
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(*entries[0].get("elicited_in"), Value(4));
    EXPECT_EQ(Ledger::word(entries[0], "by"), kAnswerer);
    EXPECT_EQ(entries[1].get("elicited_in"), nullptr);
}

TEST(AuditLog, AnApprovalThatItsCallDidNotUseIsGivenBack) {
    Ledger ledger;
    ASSERT_TRUE(ledger.study.create("plan", kStatus, Permission::human, kAsker));
    const Result<Touched> asked = ledger.set_status("plan", "done");
    const std::string id = asked.error().details().find("approval_id")->as_string();
    ASSERT_TRUE(ledger.resolve(id, policy::Answer::approve_once));
    const std::uint64_t from = ledger.next();
    const auto failing = [](const Caller&, Reply<Touched> reply) {
        reply(fail(Errc::conflict, "content_mismatch", "it is not what it was"));
    };
    EXPECT_FALSE(ledger.call(Ledger::set_status_to("plan", "done"), failing));
    EXPECT_EQ(ledger.told(from),
              "call context; approval used; end context refused content_mismatch; approval "
              "returned");
}

TEST(AuditLog, AChangeIsNotDurableWithoutItsEntry) {
    Ledger ledger;
    ASSERT_TRUE(ledger.study.create("plan", kStatus, Permission::read_write, kAsker));
    const std::uint64_t from = ledger.next();
    TableStore& store = ledger.study.desk.store;
    store.fail_next();
    EXPECT_EQ(reason(ledger.set_status("plan", "lost")), "disk_full");
    EXPECT_EQ(ledger.told(from), "call context; end context refused disk_full");
}

TEST(AuditLog, ACallWhoseEntryCannotEvenWaitChangesNothingAndOneThatReadsIsAnswered) {
    Ledger ledger;
    ASSERT_TRUE(ledger.study.create("plan", kStatus, Permission::read_write, kAsker));
    ASSERT_TRUE(ledger.set_status("plan", "before"));
    const std::uint64_t from = ledger.next();
    ledger.study.desk.store.fill_log(true);

    EXPECT_EQ(reason(ledger.set_status("plan", "lost")), "disk_full");
    EXPECT_TRUE(ledger.view("plan"));
    ledger.study.desk.store.fill_log(false);

    EXPECT_NE(ledger.study.value("plan").find("before"), std::string::npos);
    EXPECT_TRUE(ledger.set_status("plan", "after"));
    EXPECT_EQ(ledger.told(from), "lost; call context; end context done");
    EXPECT_EQ(ledger.entries(from)[0].get("entries")->as_int(), 2);
}

TEST(AuditLog, LongAndHostileArgumentsAreCutAndShownAsTheyAre) {
    Ledger ledger;
    const std::uint64_t from = ledger.next();
    const std::string hostile = "\x1b[2J\u202e" + std::string(100'000, 'x');
    static_cast<void>(ledger.call(Ledger::facts("block_append", {{"text", hostile}}, false),
                                  [](const Caller&, Reply<Touched> reply) { reply(Touched{}); }));
    const Value call = ledger.entries(from)[0];
    const std::string shown = Ledger::word(call, "arguments");
    EXPECT_LT(shown.size(), 260U);
    EXPECT_TRUE(shown.ends_with("…")) << shown;
    EXPECT_NE(shown.find("\\u{202e}"), std::string::npos) << shown;
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
}

TEST(AuditLog, TheLogIsFilteredAndReadInPages) {
    Ledger ledger;
    ASSERT_TRUE(ledger.study.create("plan", kStatus, Permission::read_write, kAsker));
    ASSERT_TRUE(ledger.set_status("plan", "one"));
    ASSERT_TRUE(ledger.view("plan", kAnswerer));
    EXPECT_FALSE(ledger.view("nothing", kAnswerer));
    ledger.study.desk.advance(60'000);
    const std::int64_t later = ledger.study.desk.clock.wall_ms();
    for (int i = 0; i < 1200; ++i) ASSERT_TRUE(ledger.view("plan", "human:bo"));

    const auto count = [&](AuditQuery query) {
        query.limit = 100'000;
        return ledger.read(std::move(query)).entries.size();
    };
    EXPECT_EQ(count({.actor = kAnswerer}), 2U);
    EXPECT_EQ(count({.actor = kAsker}), 2U);
    EXPECT_EQ(count({.tool = "context.set_field"}), 2U);
    EXPECT_EQ(count({.tool = "context"}), 1204U);
    EXPECT_EQ(count({.tool = "con.text"}), 0U);
    EXPECT_EQ(count({.tool = "block_append"}), 0U);
    EXPECT_EQ(count({.refused = true}), 1U);
    EXPECT_EQ(count({.reason = "invalid_reference"}), 1U);
    EXPECT_EQ(count({.since_ms = later}), 1200U);
    EXPECT_EQ(count({.actor = "human:bo", .refused = true}), 0U);

    AuditQuery query{.actor = "human:bo", .limit = 700};
    AuditPage page = ledger.read(query);
    ASSERT_EQ(page.entries.size(), 700U);
    const std::uint64_t newest = page.entries.front().seq;
    EXPECT_EQ(page.entries.back().seq, newest - 699);
    query.before = page.next;
    page = ledger.read(query);
    ASSERT_EQ(page.entries.size(), 500U);
    EXPECT_EQ(page.entries.front().seq, newest - 700);
    EXPECT_EQ(page.next, 0U);
}

TEST(AuditLog, TamperingIsFoundAndATruncationByANotedHash) {
    Ledger ledger;
    for (int i = 0; i < 1000; ++i) static_cast<void>(ledger.view("nothing"));
    const AuditVerdict whole = ledger.verify();
    EXPECT_FALSE(whole.broken);
    EXPECT_EQ(whole.count, 1001U);
    EXPECT_TRUE(ledger.verify({whole.head}).missing.empty());

    std::vector<store::AuditEntry>& log = ledger.study.desk.store.audit_log();
    const std::vector<store::AuditEntry> before = log;
    log[700].body[20] ^= 1;
    ASSERT_TRUE(ledger.verify().broken);
    EXPECT_EQ(ledger.verify().broken->seq, 701U);
    EXPECT_EQ(ledger.verify().count, 700U);

    // Nobody sees what somebody put before the first.
    log = before;
    log.insert(log.begin(), store::AuditEntry{0, R"({"at":1,"event":"forged"})", {}});
    ASSERT_TRUE(ledger.verify().broken);
    EXPECT_EQ(ledger.verify().broken->seq, 0U);
    EXPECT_EQ(ledger.verify().count, 1001U);
    EXPECT_EQ(ledger.read({.limit = 10'000}).entries.size(), 1001U);
    EXPECT_EQ(ledger.read({.limit = 10'000}).next, 0U);

    log = before;
    log.resize(900);
    EXPECT_FALSE(ledger.verify().broken);
    EXPECT_EQ(ledger.verify({whole.head}).missing, (std::vector<std::string>{whole.head}));
    // Also when it has grown again.
    for (int i = 0; i < 200; ++i) static_cast<void>(ledger.view("nothing"));
    EXPECT_FALSE(ledger.verify().broken);
    EXPECT_EQ(ledger.verify({whole.head}).missing, (std::vector<std::string>{whole.head}));
}

TEST(AuditLog, CallsOtherThanToolCallsAreLogged) {
    Ledger ledger;
    const std::uint64_t from = ledger.next();
    const auto done = ledger.study.desk.ask<void>([&](Reply<void> reply) {
        Admission(*ledger.study.desk.kernel)
            .run<void>(Study::as(kAnswerer),
                       {.name = "run_source", .arguments = Map{{"name", "diagnostics"}}},
                       std::move(reply), [](const Caller&, Reply<void> ran) { ran({}); });
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(ledger.told(from), "call run_source; end run_source done");
}

}  // namespace
}  // namespace quire::kernel
