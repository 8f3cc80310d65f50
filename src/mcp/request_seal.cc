// A state is five parts joined by ';': until when it is valid, the approval, the actor, the digest
// of the call, and the HMAC-SHA-256 of the four. The signature is checked before anything in it is
// believed. The key is made when the kernel starts and never stored.
#include "mcp/request_seal.h"

#include <array>
#include <charconv>

#include "base/concat.h"
#include "policy/call_digest.h"

namespace quire::mcp {

namespace {

// Occurs in none of the parts: an actor, an approval's id, a digest and a number.
constexpr char kBetween = ';';
constexpr std::size_t kParts = 5;  // Until when, approval, actor, call; and the signature.
constexpr std::size_t kLongestState = 1024;

// Signed with the state, so that no signature of other text is valid for a state.
constexpr std::string_view kWhatFor = "quire request state 1\n";

Failure no_state(std::string reason, std::string_view why, Errc code = Errc::invalid_argument) {
    return fail(code, std::move(reason),
                cat("nothing was done: requestState ", why,
                    ". Make the call without requestState "
                    "and inputResponses: then it is asked for anew"));
}

// Takes the same time wherever the texts differ: the time tells nothing about a guessed signature.
bool is_same(std::string_view one, std::string_view other) {
    if (one.size() != other.size()) return false;
    unsigned difference = 0;
    for (std::size_t at = 0; at < one.size(); ++at)
        difference |= static_cast<unsigned char>(one[at]) ^ static_cast<unsigned char>(other[at]);
    return difference == 0;
}

}  // namespace

RequestSeal::RequestSeal(Rng& rng) {
    for (int i = 0; i < 4; ++i) {
        std::uint64_t number = rng.next();
        for (int byte = 0; byte < 8; ++byte, number >>= 8U)
            key_ += static_cast<char>(static_cast<unsigned char>(number & 0xFFU));
    }
}

std::string RequestSeal::seal(const Origin& origin, std::string_view approval_id,
                              std::int64_t until_ms) const {
    std::string out = cat(until_ms, kBetween, approval_id, kBetween, origin.actor, kBetween,
                          origin.call, kBetween);
    out += policy::hmac_sha256_hex(key_, cat(kWhatFor, out));
    return out;
}

Result<std::string> RequestSeal::open(std::string_view state, const Origin& origin,
                                      std::int64_t now_ms) const {
    const auto not_ours = [] {
        return no_state("invalid_request_state",
                        "is not as this server gave it, or is from before it was started");
    };
    if (state.size() > kLongestState) return not_ours();
    std::array<std::string_view, kParts> parts;
    std::string_view rest = state;
    for (std::size_t at = 0; at + 1 < kParts; ++at) {
        const std::size_t end = rest.find(kBetween);
        if (end == std::string_view::npos) return not_ours();
        parts[at] = rest.substr(0, end);
        rest.remove_prefix(end + 1);
    }
    const auto& [until, approval_id, actor, call, unused] = parts;
    const std::string_view sealed = state.substr(0, state.size() - rest.size());
    if (!is_same(rest, policy::hmac_sha256_hex(key_, cat(kWhatFor, sealed)))) return not_ours();

    std::int64_t until_ms = 0;
    std::from_chars(until.data(), until.data() + until.size(), until_ms);
    if (actor != origin.actor) {
        return no_state("foreign_request_state",
                        cat("was given to ", actor, ", not to ", origin.actor), Errc::denied);
    }
    if (call != origin.call) {
        return no_state("other_request_state",
                        "was given for a call of another tool or with other arguments",
                        Errc::conflict);
    }
    // The time is checked last, so that a state of another actor or call is called that, also when
    // it is old.
    if (now_ms >= until_ms)
        return no_state("expired_request_state", "has expired, and the question with it");
    return std::string(approval_id);
}

}  // namespace quire::mcp
