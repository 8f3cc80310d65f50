#include "mounts/answer.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"

namespace quire::mounts {
namespace {

Definition tool(std::string_view json = R"({"name":"t"})") {
    return definition_of(json::parse(json).value()).value();
}

Result<tools::EncodedResult> answered(std::string_view result, const Definition& of = tool()) {
    Result<tools::ToolResult> answer = answer_of(json::parse(result).value(), "m", of);
    if (!answer) return Failure(std::move(answer).error());
    return tools::encoded(std::move(*answer));
}
tools::EncodedResult failed(Error error) {
    return tools::encoded(tools::refused(std::move(error)));
}

TEST(MountAnswer, ContentThatClientsUnderstandPassesUnchanged) {
    const std::string_view content =
        R"([{"type":"text","text":"a","annotations":{"priority":1}},{"type":"image","data":"AA==","mimeType":"image/png"},)"
        R"({"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"resource_link","uri":"x:y","name":"n"},)"
        R"({"type":"resource","resource":{"uri":"x:z","text":"b"}}])";
    const auto result =
        answered(cat(R"({"content":)", content,
                     R"(,"structuredContent":{"error":{"code":"x"}},"_meta":{"a":1}})"));
    EXPECT_EQ(json::write(*result->content), content);
    EXPECT_EQ(json::write(result->structured), R"({"error":{"code":"x"}})");
    EXPECT_TRUE(result->meta.empty());
    EXPECT_FALSE(result->is_error);
    EXPECT_EQ(result->text,
              "a\n[image: image/png, 4 bytes as base64]\n[audio: audio/wav, 4 bytes as base64]\n"
              "[link: x:y]\nb");
}

TEST(MountAnswer, ABlockThatClientsWouldRefuseIsNamed) {
    const auto result =
        answered(R"({"content":[{"type":"hologram","x":1},{"type":"image","data":"AA=="}]})");
    EXPECT_EQ(json::write(*result->content),
              R"([{"type":"text","text":"[content of type 'hologram' was left out]"},)"
              R"({"type":"text","text":"[content of type 'image' was left out]"}])");
    EXPECT_TRUE(result->structured.is_null());
}

TEST(MountAnswer, AnErrorOfTheToolIsPassedOn) {
    const auto result = answered(R"({"content":[{"type":"text","text":"no"}],"isError":true})");
    EXPECT_TRUE(result->is_error);
    EXPECT_EQ(result->text, "no");
}

TEST(MountAnswer, StructuredContentIsHeldToItsOwnSchema) {
    const Definition of = tool(
        R"({"name":"t","outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}})");
    EXPECT_EQ(json::write(*answered(R"({"structuredContent":{"n":1}})", of)->content),
              R"([{"type":"text","text":"{\"n\":1}"}])");
    for (const std::string_view bad :
         {R"({"content":[],"structuredContent":{"n":"1"}})", R"({"content":[]})"}) {
        const auto result = answered(bad, of);
        ASSERT_FALSE(result) << bad;
        EXPECT_EQ(result.error().reason(), "mount_error");
    }
    EXPECT_TRUE(answered(R"({"content":[],"isError":true})", of));
}

TEST(MountAnswer, AnAnswerThatIsNoResultIsAnErrorOfTheServer) {
    for (const std::string_view bad : {"{}", R"({"content":7})", R"({"content":[7]})"})
        EXPECT_EQ(answered(bad).error().reason(), "mount_error") << bad;
}

TEST(MountAnswer, AFailureSaysThatNothingWasChangedIfThatIsKnown) {
    EXPECT_TRUE(failed(Error(Errc::unavailable, "mount_unavailable", "m"))
                    .text.starts_with("Nothing was changed"));
    EXPECT_EQ(failed(Error(Errc::unavailable, "fate_unknown", "m")).text, "m");
}

}  // namespace
}  // namespace quire::mounts
