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

// Any thread.
class DiskAuthors {
public:
    // The time after which an agent that said no more is taken to have given up.
    static constexpr std::int64_t kPatienceMs = std::int64_t{10} * 60 * 1000;
    static constexpr std::int64_t kLingerMs = 1000;
    static constexpr std::size_t kMost = 1000;

    explicit DiskAuthors(const Clock& clock) : clock_(clock) {}

    // The actor will change these paths: a path that ends in '/' stands for all below. `key` tells one
    // doing from another.
    void expect(const policy::Actor& actor, const std::string& key, std::vector<std::string> paths);
    // Those paths; none if nothing is expected.
    std::vector<std::string> expected(const policy::Actor& actor, const std::string& key) const;
    // The actor has done so, and the files are taken in. Changes below directories, of which nobody
    // knows whether they have come in, are the actor's for kLingerMs.
    void end(const policy::Actor& actor, const std::string& key);
    // The author of a change of the path now; none if nobody said so, or several did.
    std::optional<policy::Actor> author_of(const std::string& path) const;

private:
    struct Expected {
        policy::Actor actor;
        std::vector<std::string> paths;
        std::int64_t until_ms = 0;
    };
    using All = std::map<std::string, Expected>;

    const Clock& clock_;
    sched::Guarded<All> all_;
};

}  // namespace quire::kernel
