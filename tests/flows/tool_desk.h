// ToolDesk: the tools on a kernel on a table. Arguments and results are JSON, as callers see them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/check.h"
#include "json/json.h"
#include "kernel/core/desk_test.h"
#include "tests/flows/published.h"
#include "tools/tool.h"

namespace quire {

inline Value parsed(std::string_view text) {
    Result<Value> value = json::parse(text);
    EXPECT_TRUE(value) << text;
    return value ? std::move(*value) : Value();
}

class ToolDesk {
public:
    explicit ToolDesk(tools::Profile profile) : profile_(profile) {}

    // "ada" calls unless `by` says otherwise.
    tools::EncodedResult call(std::string_view tool, Value arguments,
                              const std::string& by = "ada") {
        auto answer = start(tool, std::move(arguments), by);
        desk.scheduler.run_all();
        CHECK(answer->has_value() && (*answer)->has_value());
        expect_published(*registry_, profile_, tool, ***answer);
        return std::move(***answer);
    }
    // Starts a call and leaves it to the scheduler.
    std::shared_ptr<std::optional<Result<tools::EncodedResult>>> start(
        std::string_view tool, Value arguments, const std::string& by = "ada") {
        auto answer = std::make_shared<std::optional<Result<tools::EncodedResult>>>();
        registry_->call(
            {kernel::Desk::as(by), profile_}, tool, std::move(arguments),
            [answer](Result<tools::ToolResult> result) { *answer = encoded(std::move(result)); });
        return answer;
    }
    // The structured result of a call that must succeed.
    Value ok(std::string_view tool, Value arguments, const std::string& by = "ada") {
        tools::EncodedResult result = call(tool, std::move(arguments), by);
        EXPECT_FALSE(result.is_error) << tool << ": " << result.text;
        return std::move(result.structured);
    }
    // The error of a call that must be refused, and must have changed nothing.
    Map refused(std::string_view tool, Value arguments, const std::string& by = "ada") {
        tools::EncodedResult result = call(tool, std::move(arguments), by);
        EXPECT_TRUE(result.is_error) << tool << " was not refused: " << result.text;
        EXPECT_TRUE(result.text.starts_with("Nothing was changed: ")) << result.text;
        const Value* error = result.structured.get("error");
        if (error == nullptr) return {};
        for (const char* member : {"code", "reason", "message", "details"})
            EXPECT_TRUE(error->get(member)) << member;
        return error->as_map();
    }
    std::string reason(std::string_view tool, Value arguments, const std::string& by = "ada") {
        const Map error = refused(tool, std::move(arguments), by);
        const Value* reason = error.find("reason");
        return reason == nullptr ? "" : reason->as_string();
    }
    Value details(std::string_view tool, Value arguments) {
        const Map error = refused(tool, std::move(arguments));
        const Value* details = error.find("details");
        return details == nullptr ? Value() : *details;
    }

    // A block with this content.
    std::string block(std::string_view content, const std::string& by = "ada") {
        const Value made =
            ok("block_create", Map{{"role", "user"}, {"kind", "text"}, {"content", content}}, by);
        return made.get("block_id")->as_string();
    }
    std::string text(const std::string& id) { return desk.text(id); }
    std::int64_t version(const std::string& id) {
        return static_cast<std::int64_t>(desk.version(id));
    }

    const tools::Registry& registry() const { return *registry_; }

    kernel::Desk desk;

private:
    tools::Profile profile_;
    std::unique_ptr<tools::Registry> registry_ =
        std::make_unique<tools::Registry>(tools::Registry::Parts{*desk.kernel});
};

}  // namespace quire
