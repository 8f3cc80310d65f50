#include "policy/call_digest.h"

#include <gtest/gtest.h>

namespace quire::policy {
namespace {

// The examples of FIPS 180-2, appendix B, the empty text, and lengths about the end of a block.
TEST(Sha256, MatchesTheStandardsExamples) {
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(sha256_hex(std::string(55, 'a')),
              "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    EXPECT_EQ(sha256_hex(std::string(56, 'a')),
              "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    EXPECT_EQ(sha256_hex(std::string(64, 'a')),
              "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

// The test cases of RFC 4231: short keys, a key of less than a block, and one of more.
TEST(HmacSha256, MatchesTheStandardsExamples) {
    EXPECT_EQ(hmac_sha256_hex(std::string(20, '\x0b'), "Hi There"),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hmac_sha256_hex("Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hmac_sha256_hex(std::string(20, '\xaa'), std::string(50, '\xdd')),
              "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    EXPECT_EQ(hmac_sha256_hex(std::string(131, '\xaa'),
                              "Test Using Larger Than Block-Size Key - Hash Key First"),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

// Any program can compute it of the JSON: sha256sum of {"a":1.0,"b":["x"]}.
TEST(ValueDigest, IsTheDigestOfTheJsonWithSortedMembers) {
    const std::string json = R"({"a":1.0,"b":["x"]})";
    EXPECT_EQ(value_digest(Map{{"b", List{"x"}}, {"a", 1.0}}), sha256_hex(json));
    EXPECT_NE(value_digest(Map{{"b", List{"x"}}, {"a", 1}}), sha256_hex(json));
}

TEST(CallDigest, IsTheSameInAnyOrderOfTheMembers) {
    const Value one = Map{{"operation", "append"}, {"value", Map{{"a", 1}, {"b", List{1, 2}}}}};
    const Value other = Map{{"value", Map{{"b", List{1, 2}}, {"a", 1}}}, {"operation", "append"}};
    EXPECT_EQ(call_digest("model", "context", one), call_digest("model", "context", other));
}

TEST(CallDigest, ChangesWithEverythingElse) {
    const Value call = Map{{"line", 1}, {"items", List{1, 2}}};
    const std::string digest = call_digest("model", "file", call);
    EXPECT_NE(digest, call_digest("full", "file", call));  // The line differs.
    EXPECT_NE(digest, call_digest("model", "context", call));
    EXPECT_NE(digest, call_digest("model", "file", Map{{"line", 1}, {"items", List{2, 1}}}));
    EXPECT_NE(digest, call_digest("model", "file", Map{{"line", 1.0}, {"items", List{1, 2}}}));
    EXPECT_NE(digest, call_digest("model", "file", Map{{"line", "1"}, {"items", List{1, 2}}}));
    EXPECT_NE(digest, call_digest("model", "file", Map{{"line", 1}}));
}

}  // namespace
}  // namespace quire::policy
