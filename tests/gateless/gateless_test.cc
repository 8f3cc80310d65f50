// Linked with a gate that is open: everything that the gate is tested to refuse is then written. So
// none of those tests passes without it.
#include "memory/gate_cases_for_test.h"

namespace quire::memory {
namespace {

void none_is_refused(const std::vector<GateCase>& cases) {
    std::size_t refused = 0;
    for (const GateCase& each : cases) {
        if (each.message.empty()) continue;
        ++refused;
        EXPECT_EQ(each.attempt(), "") << each.name;
    }
    EXPECT_GT(refused, 20U);
}

TEST(Gateless, NoPermissionHolds) {
    none_is_refused(permission_cases());
}

TEST(Gateless, NoSectionIsReadOnly) {
    none_is_refused(section_cases());
}

TEST(Gateless, NoFieldIsReadOnly) {
    none_is_refused(field_cases());
}

}  // namespace
}  // namespace quire::memory
