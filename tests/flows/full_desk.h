// Full: a desk of the tools of profile `full`, for the tests of their contract.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/flows/tool_desk.h"

namespace quire {

class Full : public testing::Test, protected ToolDesk {
protected:
    Full() : ToolDesk(tools::Profile::full) {}

    Value edit(const std::string& id, std::string_view operations, Map more = {}) {
        more.set("block_id", id);
        more.set("operations", parsed(operations));
        return more;
    }
};

}  // namespace quire
