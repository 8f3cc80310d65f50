#include "policy/rights.h"

#include <gtest/gtest.h>

#include "base/concat.h"

namespace quire::policy {
namespace {

const Actor kOwner{ActorKind::agent, "ada"};
const Actor kOther{ActorKind::agent, "bob"};

// "fine", or the message.
std::string told(const Rights& rights, Operation operation) {
    const auto permitted = permit(rights, operation);
    return permitted ? "fine" : permitted.error().message();
}

TEST(Rights, EveryRefusalNamesTheRequiredAndTheActualPermission) {
    const struct {
        Operation operation;
        const char* required;
        const char* verdicts;  // From read_only to admin.
    } rows[] = {{Operation::read, "", "AAAAAA"},
                {Operation::append, "append", "DEEAAA"},
                {Operation::overwrite, "read_write", "DEEDAA"},
                {Operation::erase, "admin", "DDDDDA"}};
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < std::size(kEvery<Permission>); ++i) {
            const std::string_view has = name_of(kEvery<Permission>[i]);
            const std::string_view name = name_of(row.operation);
            std::string expected = "fine";
            if (row.verdicts[i] == 'D') {
                expected = cat("Permission denied: ", name, " requires ", row.required,
                               " permission, but block has ", has);
            } else if (row.verdicts[i] == 'E') {
                expected = cat("Requires ", has, " approval to ", name);
            }
            EXPECT_EQ(told({kEvery<Permission>[i]}, row.operation), expected);
        }
    }
}

TEST(Rights, ARefusalIsACodeAndAReasonAndTheFacts) {
    const auto denied = permit({Permission::append}, Operation::overwrite);
    EXPECT_EQ(denied.error().code(), Errc::denied);
    EXPECT_EQ(denied.error().reason(), "permission_denied");
    EXPECT_EQ(denied.error().details(),
              (Map{{"operation", "overwrite"},
                   {"required", "read_write"},
                   {"permission", "append"},
                   {"why", "Insufficient permission (append-only or read-only) for overwrite"}}));
    const auto asked = permit({Permission::partner}, Operation::append);
    EXPECT_EQ(asked.error().code(), Errc::escalation_required);
    EXPECT_EQ(asked.error().reason(), "escalation_required");
    EXPECT_EQ(asked.error().details(),
              (Map{{"operation", "append"}, {"permission", "partner"}, {"approver", "partner"}}));
}

TEST(Rights, AnApprovalAdmitsOnlyWhatWouldEscalate) {
    const Operations all = Operations::all();
    for (const Permission each : {Permission::partner, Permission::human}) {
        for (const Operation approved : kOperations) {
            for (const Operation tried :
                 {Operation::append, Operation::overwrite, Operation::erase}) {
                EXPECT_EQ(told({each, Deleting::owner, {approved}}, tried) == "fine",
                          approved == tried);
            }
        }
        EXPECT_NE(told({each, Deleting::admin_only, all}, Operation::erase), "fine");
    }
    EXPECT_NE(told({Permission::read_only, Deleting::owner, all}, Operation::append), "fine");
    EXPECT_NE(told({Permission::append, Deleting::owner, all}, Operation::overwrite), "fine");
}

TEST(Rights, AnOwnerDeletesUnderReadWrite) {
    EXPECT_EQ(told({Permission::read_write, Deleting::owner}, Operation::erase), "fine");
    EXPECT_EQ(told({Permission::append, Deleting::owner}, Operation::erase),
              "Permission denied: delete requires read_write permission, but block has append");
}

TEST(Rights, AnAgentSeesItsOwnAndSharedBlocks) {
    const Share shares[] = {{kOther, Permission::append}};
    const Holding block{kOwner, Permission::read_write, shares};
    EXPECT_EQ(rights_of(kOwner, block), (Rights{Permission::read_write, Deleting::owner}));
    EXPECT_EQ(rights_of(kOther, block), (Rights{Permission::append, Deleting::admin_only}));
    EXPECT_EQ(rights_of({ActorKind::agent, "eve"}, block), std::nullopt);
    EXPECT_EQ(rights_of({ActorKind::source, "lsp"}, block),
              (Rights{Permission::admin, Deleting::owner}));
    EXPECT_EQ(rights_of({ActorKind::system, "kernel"}, block),
              (Rights{Permission::admin, Deleting::owner}));
    EXPECT_EQ(rights_of({ActorKind::human, "tom"}, block),
              (Rights{Permission::read_write, Deleting::owner, Operations::all()}));
}

TEST(Rights, EveryAgentSeesASourcesBlockUnderItsPermission) {
    const Actor lint{ActorKind::source, "lint"};
    EXPECT_EQ(rights_of(kOwner, Holding{lint, Permission::read_write}),
              (Rights{Permission::read_write, Deleting::admin_only}));
    EXPECT_EQ(rights_of(kOwner, Holding{lint, Permission::read_only}),
              (Rights{Permission::read_only, Deleting::admin_only}));
    const Share shares[] = {{kOther, Permission::append}};
    EXPECT_EQ(rights_of(kOther, Holding{lint, Permission::read_write, shares}),
              (Rights{Permission::append, Deleting::admin_only}));
}

TEST(Rights, AShareNeverExceedsTheOwnersPermission) {
    for (const Permission own : kEvery<Permission>) {
        for (const Permission given : kEvery<Permission>) {
            const Share shares[] = {{kOther, given}};
            const Rights rights = rights_of(kOther, Holding{kOwner, own, shares}).value();
            EXPECT_EQ(rights.permission,
                      own >= Permission::read_write ? given : std::min(own, given));
            EXPECT_EQ(rights.deleting, Deleting::admin_only);
        }
    }
}

}  // namespace
}  // namespace quire::policy
