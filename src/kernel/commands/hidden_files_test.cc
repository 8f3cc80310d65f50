#include "kernel/commands/hidden_files.h"

#include "fs/memory_files_for_test.h"
#include "kernel/commands/commands_test.h"

namespace quire::kernel {
namespace {

const policy::Actor kAda{policy::ActorKind::agent, "ada"};

// A gate over files in memory, where agents may not read `secret`.
struct Hidden {
    Hidden() {
        files.put("a.c", "int a;\n");
        files.put("secret/key", "hidden\n");
        files.put("secret/map", "hidden\n");
        FileRules rules;
        rules.paths = policy::PathRules(
            {rule("secret/**", policy::Permission::read_write, {policy::Operation::read})});
        gate = std::make_unique<FileGate>(files, std::move(rules), clock, 1U << 20);
    }

    fs::MemoryFiles files;
    ManualClock clock;
    std::unique_ptr<FileGate> gate;
};

TEST(HiddenFiles, AreThoseThatARuleHidesFromTheActor) {
    const Hidden all;
    EXPECT_EQ(*files_hidden_from(*all.gate, kAda, false),
              (std::vector<std::string>{"secret/key", "secret/map"}));
}

TEST(HiddenFiles, MayHaveNamesThatAreNotUtf8) {
    Hidden all;
    all.files.put("secret/\xFF", "hidden\n");
    all.files.put("secret\xFF/key", "seen\n");
    EXPECT_EQ(*files_hidden_from(*all.gate, kAda, false),
              (std::vector<std::string>{"secret/key", "secret/map", "secret/\xFF"}));
}

TEST(HiddenFiles, OfAWorkspaceThatIsNotListedAsAWholeAreUnknown) {
    const Hidden all;
    const auto hidden = files_hidden_from(*all.gate, kAda, false, 2);
    ASSERT_FALSE(hidden);
    EXPECT_EQ(hidden.error().reason(), "too_large");
}

TEST(HiddenFiles, OfAWorkspaceThatCannotBeListedAreUnknown) {
    Hidden all;
    all.files.fail_lists();
    EXPECT_FALSE(files_hidden_from(*all.gate, kAda, false));
}

}  // namespace
}  // namespace quire::kernel
