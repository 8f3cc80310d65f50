// The fault of settings and their rules, for tests.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "cli/settings/config.h"
#include "cli/settings/tool_rules.h"
#include "policy/rule_book.h"

namespace quire::cli {

// The fault of the settings; "accepted" where there is none.
inline std::string message(std::string_view toml) {
    const auto settings = parse_config(toml);
    const auto rules = settings ? load_rules(*settings, known_tools())
                                : Result<policy::RuleBook>(Failure(settings.error()));
    if (rules) return "accepted";
    EXPECT_EQ(rules.error().reason(), "invalid_config");
    return rules.error().message();
}

}  // namespace quire::cli
