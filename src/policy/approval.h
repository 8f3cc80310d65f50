// Approval: a person's answer to an operation that needs one.
//
// An agent asks for one operation on one block or file, by one call. Only a person answers: yes to
// exactly this call, once; yes to the operation on this target for a time; yes to it within a
// scope; or no. An answer can be taken back. It covers what was asked for and nothing else. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_words.h"
#include "base/result.h"
#include "policy/actor.h"
#include "policy/permission.h"

namespace quire::policy {

// The object of an operation. A memory block is identified by its id, its label and its schema as
// they were when the question was asked: if one of them changes, it is another target. A file is
// its path. A tool is its name, or the scope of the rule that requires consent. "mount" is a tool
// of another program whose description is not the approved one, with its digest. A command is its text.
struct Target {
    std::string kind = {};      // "memory", "file", "tool", "command" …
    std::string name = {};      // Label, path or name.
    std::string block_id = {};  // Set for "memory", else "".
    std::string schema = {};    // Digest; set for "memory" and "mount", else "".

    friend bool operator==(const Target&, const Target&) = default;
};

// One question: this actor, this operation, this target, this call.
struct Ask {
    Actor actor = {};
    Operation operation = Operation::overwrite;
    Target target = {};
    std::string call = {};  // Digest of the call (call_digest.h).

    friend bool operator==(const Ask&, const Ask&) = default;
};

// The life of an approval.
enum class ApprovalStatus : std::uint8_t {
    pending,
    approved,
    denied,
    used,      // The approved call was made; the approval was for one call.
    revoked,   // The answer was taken back.
    outdated,  // The target is gone or has changed since.
};
constexpr auto words_of(ApprovalStatus) {
    return word_table("pending", "approved", "denied", "used", "revoked", "outdated");
}

// The answers that a person can give; revoke takes an earlier one back.
enum class Answer : std::uint8_t { approve_once, approve_for, approve_scope, deny, revoke };
constexpr auto words_of(Answer) {
    return word_table("approve_once", "approve_for", "approve_scope", "deny", "revoke");
}

// The duration of approve_for if none is given, and the longest allowed.
inline constexpr std::int64_t kUsualDurationS = std::int64_t{15} * 60;
inline constexpr std::int64_t kLongestDurationS = std::int64_t{30} * 24 * 60 * 60;

// A person's answer, with its terms.
struct Resolution {
    Answer answer = Answer::deny;
    std::optional<std::int64_t> duration_s = {};  // For approve_for; absent means kUsualDurationS.
    // For approve_scope: a glob (text/glob.h) over labels or paths. It must match the target
    // itself. Absent means the target alone.
    std::optional<std::string> scope = {};
    // The session whose client showed the question to the person; 0 if no client did.
    std::uint64_t elicited_in = 0;
};

// A question with its present status and answer.
struct Approval {
    std::string id = {};
    Ask ask = {};
    Permission permission = Permission::human;  // The permission that made the approval necessary.
    std::string description = {};               // A description of the call, for people.
    std::string diff = {};                      // A unified diff, escaped; "" where none is known.
    std::int64_t asked_ms = 0;
    ApprovalStatus status = ApprovalStatus::pending;

    // The answer, with the person and the time.
    struct Resolved {
        Actor by = {};
        std::int64_t at_ms = 0;
        Answer answer = Answer::deny;
        std::int64_t until_ms = 0;      // Set for approve_for.
        std::string scope = {};         // Set for approve_scope; "" means the target alone.
        std::uint64_t elicited_in = 0;  // See Resolution; counted since the kernel's start.
        friend bool operator==(const Resolved&, const Resolved&) = default;
    };
    std::optional<Resolved> resolved = {};  // The first answer; revoking keeps it.

    friend bool operator==(const Approval&, const Approval&) = default;
};

// Returns true if the approval is still in force: approved, not expired, and not dated in the future (which
// happens when the machine's clock was set back).
bool stands(const Approval& approval, std::int64_t now_ms);
// Returns true if the approval is for the operation that `ask` describes. approve_once is for exactly one
// call.
bool covers(const Approval& approval, const Ask& ask);

// Errors: denied "permission_denied" {actor}: "Only people answer approvals: …", unless `by` is a
// person.
Result<void> check_person(const Actor& by);
// Returns the approval with the answer in it.
//
// Errors: those of check_person() and outdated(); conflict "already_resolved" {approval_id, status,
// decision, by} if it has an answer already, or if the revoked answer is no longer in force;
// conflict "not_resolved" if there is no answer to revoke; invalid_argument "invalid_argument" for
// a duration or a scope that the answer does not take, or a duration out of range; "invalid_glob";
// "scope_mismatch" {scope, name} if the scope does not match the target.
Result<Approval> resolve(Approval approval, const Resolution& with, const Actor& by,
                         std::int64_t now_ms);

// The conflict "outdated" {approval_id}: the target has changed since the question was asked.
Failure outdated(const Approval& approval);

// The error for an ask that was denied: denied "approval_denied" {approval_id, by, at}.
Error denial(const Approval& approval);

}  // namespace quire::policy
