// DiskAuthors: agents that are about to change files on the disk with tools of their own. A change of
// the disk that comes in meanwhile is theirs, and not source:disk's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/actor.h"
#include "sched/guarded.h"

namespace quire {
class Clock;
}

namespace quire::kernel {

// A change that an agent will make.
struct ExpectedChange {
    // A path that ends in '/' stands for all below.
    std::string path;
    // The hash of the bytes that the file will have, 32 digits; "" if that is not known. Other bytes are
    // somebody else's: a person may have said no to the agent and changed the file by hand.
    std::string hash = {};
};

// Any thread.
class DiskAuthors {
public:
    // The time after which an agent that said no more is taken to have given up.
    static constexpr std::int64_t kPatienceMs = std::int64_t{2} * 60 * 1000;
    static constexpr std::int64_t kLingerMs = 1000;
    static constexpr std::size_t kMost = 1000;

    explicit DiskAuthors(const Clock& clock) : clock_(clock) {}

    // The actor will make these changes. `key` tells one doing from another.
    void expect(const policy::Actor& actor, const std::string& key,
                std::vector<ExpectedChange> changes);
    // Their paths; none if nothing is expected.
    std::vector<std::string> expected(const policy::Actor& actor, const std::string& key) const;
    // The actor has done so, and the files are taken in. Changes below directories, of which nobody
    // knows whether they have come in, are the actor's for kLingerMs.
    void end(const policy::Actor& actor, const std::string& key);
    // The author of a change of the path now, to bytes of this hash; none if nobody said so, or several
    // did.
    std::optional<policy::Actor> author_of(const std::string& path, const std::string& hash) const;

private:
    struct Expected {
        policy::Actor actor;
        std::vector<ExpectedChange> changes;
        std::int64_t until_ms = 0;
    };
    using All = std::map<std::string, Expected>;

    const Clock& clock_;
    sched::Guarded<All> all_;
};

}  // namespace quire::kernel
