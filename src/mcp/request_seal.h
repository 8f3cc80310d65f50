// RequestSeal: signs the `requestState` that a client carries from one round of a call to the next.
//
// MCP from 2026-07-28 on keeps no session: the id of the approval goes out with the question and
// comes back with the answer, through a client that is not trusted. The state is signed, and valid
// only for its actor, its call and a limited time. It holds nothing that the client does not know.
// That an approval is resolved only once is ensured by kernel/oversight/approvals.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace quire::mcp {

class RequestSeal {
public:
    // Makes a new key: states of an earlier kernel are not valid.
    explicit RequestSeal(Rng& rng);

    // The actor who makes the call, and the call. A state is valid for this pair alone, so that a
    // client cannot use the answer to one question for another call.
    struct Origin {
        std::string_view actor;
        std::string_view call;  // Its digest (policy/call_digest.h).
    };
    std::string seal(const Origin& origin, std::string_view approval_id,
                     std::int64_t until_ms) const;
    // The approval's id. Errors: invalid_argument "invalid_request_state" when the state is not
    // ours or was changed, and "expired_request_state"; denied "foreign_request_state" when it
    // belongs to another actor; conflict "other_request_state" when it belongs to another call.
    // O(state).
    Result<std::string> open(std::string_view state, const Origin& origin,
                             std::int64_t now_ms) const;

private:
    std::string key_;
};

}  // namespace quire::mcp
