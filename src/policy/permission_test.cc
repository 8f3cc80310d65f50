#include "policy/permission.h"

#include <gtest/gtest.h>

namespace quire::policy {
namespace {

constexpr Permission kPermissions[] = {Permission::read_only,  Permission::partner,
                                       Permission::human,      Permission::append,
                                       Permission::read_write, Permission::admin};

// One row an operation, one letter a permission from read_only to admin: Allow, Escalate, Deny.
std::string row(Operation operation, Deleting deleting) {
    std::string out;
    for (const Permission each : kPermissions) {
        switch (verdict(each, operation, deleting)) {
            case Verdict::allow:
                out += 'A';
                break;
            case Verdict::escalate:
                out += 'E';
                break;
            case Verdict::deny:
                out += 'D';
                break;
        }
    }
    return out;
}

TEST(Permission, EveryCellOfTheMatrixMatchesTheDesign) {
    for (const Deleting deleting : {Deleting::admin_only, Deleting::owner}) {
        EXPECT_EQ(row(Operation::read, deleting), "AAAAAA");
        EXPECT_EQ(row(Operation::create, deleting), "DEEAAA");
        EXPECT_EQ(row(Operation::append, deleting), "DEEAAA");
        EXPECT_EQ(row(Operation::overwrite, deleting), "DEEDAA");
    }
    EXPECT_EQ(row(Operation::erase, Deleting::admin_only), "DDDDDA");
    EXPECT_EQ(row(Operation::erase, Deleting::owner), "DEEDAA");
}

TEST(Permission, ItsWordReadsBackInAnyCase) {
    for (const Permission each : kPermissions)
        EXPECT_EQ(parse_permission(name_of(each)).value(), each);
    EXPECT_EQ(parse_permission("Read-Write").value(), Permission::read_write);
    EXPECT_EQ(parse_permission("READONLY").value(), Permission::read_only);
    EXPECT_EQ(parse_permission("readwrite").value(), Permission::read_write);
}

TEST(Permission, AnUnknownWordListsTheKnownOnes) {
    const auto wrong = parse_permission("write");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().reason(), "unknown_permission");
    EXPECT_EQ(wrong.error().message(),
              "unknown permission 'write', expected: read_only, partner, human, append, "
              "read_write, admin");
}

TEST(Operation, ItsWordReadsBackAndWriteIsTwo) {
    for (const Operation each : kOperations)
        EXPECT_EQ(parse_operations(name_of(each)).value(), Operations{each});
    EXPECT_EQ(parse_operations("write").value(),
              (Operations{Operation::append, Operation::overwrite}));
    EXPECT_EQ(parse_operations("remove").error().reason(), "unknown_operation");
}

}  // namespace
}  // namespace quire::policy
