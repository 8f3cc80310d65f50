// Approval: a person's answer to an operation that may not be done without one.
//
// An agent asks for one operation on one block or file, by one call. Only a person answers: yes to
// this very call, once; yes to the operation there for a time; yes to it within a scope; or no. An
// answer can be taken back. It holds for what was asked and for nothing beside it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/actor.h"
#include "policy/permission.h"

namespace quire::policy {

// What may be asked for.
inline constexpr Operation kAskedOperations[] = {Operation::read,   Operation::create,
                                                 Operation::append, Operation::overwrite,
                                                 Operation::erase,  Operation::execute};

// What an operation is done to. A memory block is the one that had this id, this label and this
// schema when it was asked for; with any of them changed it is another target. A file is its path,
// a tool its name or the scope of the rule that wants a person's consent; "mount" is a tool of
// another program's that is not what was approved of it, with the digest of what it is now.
struct Target {
    std::string kind = {};      // "memory", "file", "tool" or "mount".
    std::string name = {};      // Its label, its path, or its name.
    std::string block_id = {};  // Of memory; else "".
    std::string schema = {};    // A digest, of memory and of a mount; else "".

    friend bool operator==(const Target&, const Target&) = default;
};

struct Ask {
    Actor actor = {};
    Operation operation = Operation::overwrite;
    Target target = {};
    std::string call = {};  // Its digest (call_digest.h).

    friend bool operator==(const Ask&, const Ask&) = default;
};

enum class ApprovalStatus : std::uint8_t {
    pending,
    approved,
    denied,
    used,      // It was for one call, which was made.
    revoked,   // The answer was taken back.
    outdated,  // What it was asked for is gone, or is not what it was.
};
inline constexpr ApprovalStatus kApprovalStatuses[] = {
    ApprovalStatus::pending, ApprovalStatus::approved, ApprovalStatus::denied,
    ApprovalStatus::used,    ApprovalStatus::revoked,  ApprovalStatus::outdated};
std::string_view name_of(ApprovalStatus status);

enum class Answer : std::uint8_t { approve_once, approve_for, approve_scope, deny, revoke };
inline constexpr Answer kAnswers[] = {Answer::approve_once, Answer::approve_for,
                                      Answer::approve_scope, Answer::deny, Answer::revoke};
std::string_view name_of(Answer answer);  // The same words.

inline constexpr std::int64_t kUsualDurationS = std::int64_t{15} * 60;
inline constexpr std::int64_t kLongestDurationS = std::int64_t{30} * 24 * 60 * 60;

// What a person says.
struct Resolution {
    Answer answer = Answer::deny;
    std::optional<std::int64_t> duration_s = {};  // Of approve_for; absent: kUsualDurationS.
    // Of approve_scope: a glob (text/glob.h) over the labels or paths for which it holds, that of
    // the target among them. Absent: the target alone.
    std::optional<std::string> scope = {};
    // The session whose client put the question to the person; 0 where nobody did.
    std::uint64_t elicited_in = 0;
};

struct Approval {
    std::string id = {};
    Ask ask = {};
    Permission permission = Permission::human;  // Because of which it was asked for.
    std::string description = {};               // The call, for a person to read.
    std::int64_t asked_ms = 0;
    ApprovalStatus status = ApprovalStatus::pending;

    struct Resolved {
        Actor by = {};
        std::int64_t at_ms = 0;
        Answer answer = Answer::deny;
        std::int64_t until_ms = 0;      // Of approve_for.
        std::string scope = {};         // Of approve_scope; "" for the target alone.
        std::uint64_t elicited_in = 0;  // As in Resolution; counted from the kernel's start.
        friend bool operator==(const Resolved&, const Resolved&) = default;
    };
    std::optional<Resolved> resolved = {};  // The first answer; taking it back leaves it here.

    friend bool operator==(const Approval&, const Approval&) = default;
};

// Whether it is an approval that still holds: not one whose time is over, or has not come, as
// where the machine's clock was set back.
bool stands(const Approval& approval, std::int64_t now_ms);
// Whether what was approved is this operation there. approve_once: by this very call.
bool covers(const Approval& approval, const Ask& ask);

// Errors: denied "permission_denied" {actor}: "Only people answer approvals: …", for anybody else.
Result<void> check_person(const Actor& by);
// The approval with the answer. Errors: those of check_person() and outdated(); conflict
// "already_resolved" {approval_id, status, decision, by} for an answer to what has one, and for
// taking back what does not hold any more; conflict "not_resolved" for taking back none;
// invalid_argument "invalid_argument" for a duration or a scope that the answer does not take, or
// no such time; "invalid_glob"; "scope_mismatch" {scope, name} for a scope that the target is not
// in.
Result<Approval> resolve(Approval approval, const Resolution& with, const Actor& by,
                         std::int64_t now_ms);

// conflict "outdated" {approval_id}: what it was asked for is not what it was.
Failure outdated(const Approval& approval);

// The error for an ask that was denied: denied "approval_denied" {approval_id, by, at}.
Error denial(const Approval& approval);

}  // namespace quire::policy
