#include "memory/gate.h"

#include "memory/gate_cases_for_test.h"

namespace quire::memory {
namespace {

void each_is_told(const std::vector<GateCase>& cases) {
    for (const GateCase& each : cases) EXPECT_EQ(each.attempt(), each.message) << each.name;
}

TEST(Gate, EveryWriteKeepsToTheBlocksPermission) {
    each_is_told(permission_cases());
}

TEST(Gate, EveryWriteKeepsOutOfAReadOnlySection) {
    each_is_told(section_cases());
}

TEST(Gate, EveryWriteKeepsOffAReadOnlyField) {
    each_is_told(field_cases());
}

TEST(Gate, ItsRefusalsHaveTheirCodesAndDetails) {
    const Writer ada = writer("agent:ada");
    const std::vector<std::string> status = {"status"};
    const auto field = admit(ada, {.shape = Shape::map, .fields = status}, gated_map());
    ASSERT_FALSE(field);
    EXPECT_EQ(field.error().code(), Errc::denied);
    EXPECT_EQ(field.error().reason(), "read_only_field");
    EXPECT_EQ(field.error().details(), (Map{{"field", "status"}}));
    const auto section =
        admit(ada, {.section = "outer/inner", .shape = Shape::map}, in_section(gated_map(), true));
    ASSERT_FALSE(section);
    EXPECT_EQ(section.error().code(), Errc::denied);
    EXPECT_EQ(section.error().reason(), "read_only_section");
    EXPECT_EQ(section.error().details(), (Map{{"section", "inner"}}));
}

TEST(Gate, PermissionComesBeforeSectionBeforeFieldBeforeType) {
    const BlockSchema closed = in_section(gated_map(), true);
    const BlockSchema open = in_section(gated_map(), false);
    const auto reason_of = [](const BlockSchema& schema, policy::Permission permission) {
        MemoryDesk desk(schema);
        // A read-only field of the wrong type.
        return reason(
            desk.edit(writer("agent:ada", permission)).set_field({"outer/inner", "errors"}, 5));
    };
    EXPECT_EQ(reason_of(closed, policy::Permission::append), "permission_denied");
    // A person is asked only for what nothing else refuses.
    EXPECT_EQ(reason_of(closed, policy::Permission::human), "read_only_section");
    EXPECT_EQ(reason_of(open, policy::Permission::human), "read_only_field");
    EXPECT_EQ(reason_of(closed, policy::Permission::admin), "read_only_section");
    EXPECT_EQ(reason_of(open, policy::Permission::admin), "read_only_field");
    MemoryDesk desk(open);
    EXPECT_EQ(reason(desk.edit("source:lsp").set_field({"outer/inner", "errors"}, 5)),
              "schema_mismatch");
}

TEST(Gate, OnlySourcesAndTheSystemWriteReadOnlyParts) {
    const auto reason_of = [](std::string_view actor) {
        MemoryDesk desk(in_section(gated_map(), true));
        desk.block.permission = policy::Permission::read_only;
        return reason(desk.edit(actor).set_field({"outer/inner", "status"}, "x"));
    };
    EXPECT_EQ(reason_of("source:lsp"), "fine");
    EXPECT_EQ(reason_of("system:kernel"), "fine");
    EXPECT_EQ(reason_of("human:tom"), "read_only_section");
    EXPECT_EQ(reason_of("agent:ada"), "read_only_section");
}

TEST(Gate, AnApprovedWriteIsMade) {
    MemoryDesk desk{BlockSchema()};
    Writer ada = writer("agent:ada", policy::Permission::human);
    EXPECT_EQ(reason(desk.edit(ada).set_text("", "x")), "escalation_required");
    ada.rights.approved = policy::Operations::all();
    EXPECT_EQ(reason(desk.edit(ada).set_text("", "x")), "fine");
}

TEST(Gate, AWriteForAnotherShapeIsAMismatch) {
    const auto told = [](const Result<const BlockSchema*>& result) {
        return result ? "fine" : result.error().message();
    };
    const Writer ada = writer("agent:ada");
    EXPECT_EQ(told(admit(ada, {.shape = Shape::map}, BlockSchema())),
              "Schema mismatch: expected Map, got Text");
    EXPECT_EQ(told(admit(ada, {.shape = Shape::text}, gated_list())),
              "Schema mismatch: expected Text, got List");
    EXPECT_EQ(told(admit(ada, {.shape = Shape::list}, gated_log())),
              "Schema mismatch: expected List, got Log");
    EXPECT_EQ(told(admit(ada, {.shape = Shape::log}, gated_map())),
              "Schema mismatch: expected Log, got Map");
    EXPECT_EQ(told(admit(ada, {.section = "s"}, gated_map())),
              "Section 's' not found; there are no sections");
    EXPECT_EQ(told(admit(ada, {}, in_section(gated_map(), false))),
              "Say which section; the sections are: outer");
    EXPECT_EQ(told(admit(ada, {.section = "outer/nowhere"}, in_section(gated_map(), false))),
              "Section 'nowhere' not found; the sections are: inner");
}

}  // namespace
}  // namespace quire::memory
