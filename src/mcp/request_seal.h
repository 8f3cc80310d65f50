// RequestSeal: what a client carries from one round of a call to the next (`requestState`), so that
// it brings back what it was given or is refused.
//
// MCP from 2026-07-28 on keeps no session: which approval a person was asked about goes out with
// the question and comes back with the answer, through hands that are not trusted. The state is
// signed, and only good for the actor and the call that it was made for, and for a while. It says
// nothing that the client does not know. That an approval is answered once is the approval's own
// business (kernel/approvals.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace quire::mcp {

class RequestSeal {
public:
    // With a key of its own: what an earlier kernel sealed is not opened.
    explicit RequestSeal(Rng& rng);

    // Whose call it is, and which.
    struct Origin {
        std::string_view actor;
        std::string_view call;  // Its digest (policy/call_digest.h).
    };
    std::string seal(const Origin& origin, std::string_view approval_id,
                     std::int64_t until_ms) const;
    // The approval. Errors: invalid_argument "invalid_request_state", for what is not ours or was
    // changed, and "expired_request_state"; denied "foreign_request_state" for that of another
    // actor; conflict "other_request_state" for that of another call. O(state).
    Result<std::string> open(std::string_view state, const Origin& origin,
                             std::int64_t now_ms) const;

private:
    std::string key_;
};

}  // namespace quire::mcp
