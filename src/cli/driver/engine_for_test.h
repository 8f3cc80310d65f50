// EngineFixture: a session of `quire engine` and requests as lines.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "cli/driver/session.h"
#include "json/json.h"

namespace quire::cli {

class EngineFixture : public testing::Test {
protected:
    Value ask(std::string_view line) { return json::parse(session.answer(line)).value(); }
    Value ok(std::string_view line) {
        const Value reply = ask(line);
        EXPECT_NE(reply.get("ok"), nullptr) << line << json::write(reply);
        return reply.get("ok") != nullptr ? *reply.get("ok") : Value();
    }
    // The result as it stands in the reply.
    std::string text_of(std::string_view line) { return json::write(ok(line)); }
    std::string error(std::string_view line) {
        const Value reply = ask(line);
        const Value* error = reply.get("error");
        return error != nullptr ? error->get("code")->as_string() : json::write(reply);
    }

    ManualClock clock;
    SeededRng rng{1};
    EngineSession session{clock, rng};
};

}  // namespace quire::cli
