#include "policy/attribution.h"

#include <gtest/gtest.h>

namespace quire::policy {
namespace {

using policy::Actor;
using policy::ActorKind;

TEST(Attribution, EveryPartReadsBackWhateverItContains) {
    const Attribution odd{{ActorKind::agent, "ada"}, "set:field%", "a:b%3A"};

    EXPECT_EQ(parse_message(message_of(odd)), odd);
    EXPECT_EQ(message_of(odd), "agent:ada:set%3Afield%25:a%3Ab%253A");
}

TEST(Attribution, ASystemActorKeepsItsName) {
    const Attribution trim{{ActorKind::system, "log_trim"}, "trim", ""};
    EXPECT_EQ(message_of(trim), "system:log_trim:trim");
    EXPECT_EQ(parse_message("system:log_trim:trim"), trim);
    const Attribution detailed{{ActorKind::system, "kernel"}, "trim", "notes"};
    EXPECT_EQ(message_of(detailed), "system:kernel:trim:notes");
    EXPECT_EQ(parse_message(message_of(detailed)), detailed);
}

TEST(Attribution, TheKernelsNameMayBeLeftOut) {
    EXPECT_EQ(message_of({{ActorKind::system, "kernel"}, "interrupt", ""}), "system:interrupt");
    EXPECT_EQ(parse_message("system:interrupt")->operation, "interrupt");
}

TEST(Attribution, AForeignMessageIsNobodys) {
    EXPECT_FALSE(parse_message(""));
    EXPECT_FALSE(parse_message("fix the tests"));
    EXPECT_FALSE(parse_message("agent:ada"));
    EXPECT_FALSE(parse_message("agent:ada:edit%zz"));
}

}  // namespace
}  // namespace quire::policy
