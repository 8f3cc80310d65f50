#include "mcp/request_seal.h"

#include <gtest/gtest.h>

#include "base/concat.h"

namespace quire::mcp {
namespace {

constexpr RequestSeal::Origin kAdas = {"agent:ada", "c0ffee"};

std::string why_not(const Result<std::string>& opened) {
    return opened ? cat("it is open: ", *opened) : opened.error().reason();
}

TEST(RequestSeal, OpensASealOnlyForItsActorItsCallAndItsTime) {
    SeededRng rng(1);
    const RequestSeal seal(rng);
    const std::string state = seal.seal(kAdas, "ap_1", 100);

    EXPECT_EQ(seal.open(state, kAdas, 99).value(), "ap_1");
    EXPECT_EQ(why_not(seal.open(state, kAdas, 100)), "expired_request_state");
    EXPECT_EQ(why_not(seal.open(state, {"agent:eve", kAdas.call}, 0)), "foreign_request_state");
    EXPECT_EQ(why_not(seal.open(state, {kAdas.actor, "beef"}, 0)), "other_request_state");
}

TEST(RequestSeal, OpensNothingThatWasChanged) {
    SeededRng rng(1);
    const RequestSeal seal(rng);
    const std::string state = seal.seal(kAdas, "ap_1", 100);

    for (std::size_t at = 0; at < state.size(); ++at) {
        for (const char other : {'0', '1', ';', 'x', '\0', '\xff'}) {
            std::string changed = state;
            if (changed[at] == other) continue;
            changed[at] = other;
            EXPECT_EQ(why_not(seal.open(changed, kAdas, 0)), "invalid_request_state") << at;
        }
        EXPECT_FALSE(seal.open(state.substr(0, at), kAdas, 0));
        EXPECT_FALSE(seal.open(state.substr(at + 1), kAdas, 0));
    }
    for (const std::string& none : {std::string(), std::string(";;;;"), cat(state, "0"),
                                    cat(state, ";"), std::string(1 << 20, ';')})
        EXPECT_EQ(why_not(seal.open(none, kAdas, 0)), "invalid_request_state");
    // Text that is moved from one part to the next makes another state.
    const std::string moved = seal.seal({"1", "c"}, "ap", 9);
    EXPECT_FALSE(seal.open(cat("9;a;p1", moved.substr(6)), {"p1", "c"}, 0));
}

TEST(RequestSeal, AnotherKernelHasAnotherKey) {
    SeededRng rng(1);
    const RequestSeal before(rng), after(rng);

    EXPECT_EQ(why_not(after.open(before.seal(kAdas, "ap_1", 100), kAdas, 0)),
              "invalid_request_state");
}

}  // namespace
}  // namespace quire::mcp
