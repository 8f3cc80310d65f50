// An approval is a small state machine, and every transition is a pure function that returns the
// next value:
//
// pending --approve_*--> approved --the call is made (approve_once)--> used
//    |                     |   `----target changes------------------> outdated
//    `--deny--> denied --revoke--+--> revoked
//
// The kernel stores the result; nothing here reads a clock or keeps state.

#include "policy/approval.h"

#include "base/concat.h"
#include "text/escape_hidden.h"
#include "text/glob.h"

namespace quire::policy {
namespace {

constexpr std::int64_t kSecond = 1000;

// The error for a second answer; it repeats the first one.
Failure already_resolved(const Approval& approval) {
    const Approval::Resolved& first = *approval.resolved;
    return fail(Errc::conflict, "already_resolved",
                cat("approval ", approval.id, " is ", name_of(approval.status), ": ",
                    first.by.str(), " answered ", name_of(first.answer)),
                {{"approval_id", approval.id},
                 {"status", name_of(approval.status)},
                 {"decision", name_of(first.answer)},
                 {"by", first.by.str()}});
}

Failure not_taken(std::string_view what, Answer answer) {
    return invalid("invalid_argument", cat(name_of(answer), " takes no ", what));
}

// Refuses a duration or scope that the chosen answer does not take.
Result<void> check_arguments(const Resolution& with) {
    if (with.duration_s && with.answer != Answer::approve_for)
        return not_taken("duration_s", with.answer);
    if (with.scope && with.answer != Answer::approve_scope) return not_taken("scope", with.answer);
    if (with.duration_s && (*with.duration_s < 1 || *with.duration_s > kLongestDurationS)) {
        return invalid("invalid_argument",
                       cat("duration_s is 1 to ", kLongestDurationS, " (30 days)"));
    }
    return {};
}

// The scope must contain the target itself; otherwise the answer would be for something else.
Result<void> check_scope(const std::string& scope, const std::string& name) {
    const text::Glob glob = TRY(text::Glob::compile(scope));
    if (glob.matches(name)) return {};
    return invalid("scope_mismatch",
                   cat("the scope '", text::escape_hidden(scope), "' does not contain '",
                       text::escape_hidden(name), "', which the approval is for"),
                   {{"scope", scope}, {"name", name}});
}

// Takes an answer back. A denial can be revoked too: the question is then simply closed.
Result<Approval> revoked(Approval approval, std::int64_t now_ms) {
    if (approval.status == ApprovalStatus::pending) {
        return fail(Errc::conflict, "not_resolved",
                    cat("approval ", approval.id, " has no answer to take back; deny it"),
                    {{"approval_id", approval.id}});
    }
    if (!stands(approval, now_ms) && approval.status != ApprovalStatus::denied)
        return already_resolved(approval);
    approval.status = ApprovalStatus::revoked;
    return approval;
}

}  // namespace

// An answer for a time is also void before its beginning, which shows a clock that was set back.
bool stands(const Approval& approval, std::int64_t now_ms) {
    if (approval.status != ApprovalStatus::approved) return false;
    const Approval::Resolved& answer = *approval.resolved;
    return answer.answer != Answer::approve_for ||
           (answer.at_ms <= now_ms && now_ms < answer.until_ms);
}

// Each kind of answer covers more than the one before: the call, the target, the names in a scope.
bool covers(const Approval& approval, const Ask& ask) {
    if (!approval.resolved) return false;
    const Ask& asked = approval.ask;
    if (asked.actor != ask.actor || asked.operation != ask.operation) return false;
    switch (approval.resolved->answer) {
        case Answer::approve_once:
            return asked == ask;
        case Answer::approve_for:
            return asked.target == ask.target;
        case Answer::approve_scope: {
            const std::string& scope = approval.resolved->scope;
            if (scope.empty()) return asked.target == ask.target;
            if (asked.target.kind != ask.target.kind) return false;
            const Result<text::Glob> glob = text::Glob::compile(scope);
            return glob && glob->matches(ask.target.name);
        }
        case Answer::deny:
        case Answer::revoke:
            break;
    }
    return false;
}

Result<void> check_person(const Actor& by) {
    if (by.kind == ActorKind::human) return {};
    return fail(Errc::denied, "permission_denied",
                cat("Only people answer approvals: ", by.str(),
                    " may not list or resolve them. Ask a person (human:NAME)"),
                {{"actor", by.str()}});
}

Failure outdated(const Approval& approval) {
    return fail(Errc::conflict, "outdated",
                cat("'", text::escape_hidden(approval.ask.target.name),
                    "' was deleted, moved or given another schema after ", approval.ask.actor.str(),
                    " asked (approval ", approval.id,
                    "). Nothing was approved; make the call again if it is still needed"),
                {{"approval_id", approval.id}});
}

// Every check comes before the first change, so a refused answer leaves the approval as it was.
Result<Approval> resolve(Approval approval, const Resolution& with, const Actor& by,
                         std::int64_t now_ms) {
    TRY(check_person(by));
    TRY(check_arguments(with));
    if (approval.status == ApprovalStatus::outdated) return outdated(approval);
    if (with.answer == Answer::revoke) return revoked(std::move(approval), now_ms);
    if (approval.resolved) return already_resolved(approval);
    if (with.scope) TRY(check_scope(*with.scope, approval.ask.target.name));

    Approval::Resolved answer{
        by, now_ms, with.answer, 0, with.scope.value_or(""), with.elicited_in};
    if (with.answer == Answer::approve_for)
        answer.until_ms = now_ms + with.duration_s.value_or(kUsualDurationS) * kSecond;
    approval.status =
        with.answer == Answer::deny ? ApprovalStatus::denied : ApprovalStatus::approved;
    approval.resolved = std::move(answer);
    return approval;
}

// The answer that denied is quoted, so the agent knows whom to ask.
Error denial(const Approval& approval) {
    const Approval::Resolved& answer = *approval.resolved;
    return {Errc::denied,
            "approval_denied",
            cat(answer.by.str(), " denied this call (approval ", approval.id,
                "). Do something else, or ask them"),
            {{"approval_id", approval.id},
             {"operation", name_of(approval.ask.operation)},
             {"by", answer.by.str()},
             {"at", answer.at_ms}}};
}

}  // namespace quire::policy
