// DiskAuthors: remembers which agents are about to change files on the disk with tools of their own. A
// change on the disk that was announced here is attributed to the agent; any other to source:disk.
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
    // The hash of the file's future bytes, 32 digits; "" if it is unknown. If the file gets other bytes,
    // the change is not the agent's: a person may have refused it and changed the file by hand.
    std::string hash = {};
};

// Any thread.
class DiskAuthors {
public:
    // An announcement expires after this time if the agent does not report that it is done.
    static constexpr std::int64_t kPatienceMs = std::int64_t{2} * 60 * 1000;
    static constexpr std::int64_t kLingerMs = 1000;
    // Further announcements are dropped until some have expired.
    static constexpr std::size_t kMost = 1000;

    explicit DiskAuthors(const Clock& clock) : clock_(clock) {}

    // Announces changes by the actor. `key` identifies one tool call of the actor.
    void expect(const policy::Actor& actor, const std::string& key,
                std::vector<ExpectedChange> changes);
    // Returns the announced paths of a call; none if the call is unknown.
    std::vector<std::string> expected(const policy::Actor& actor, const std::string& key) const;
    // Ends the announcement: the tool has run, and the named files are taken in. Changes below announced
    // directories may still arrive, so they count as the actor's for kLingerMs more.
    void end(const policy::Actor& actor, const std::string& key);
    // The author of a change that gives the file bytes of this hash. None if no agent announced it, or
    // if several did.
    std::optional<policy::Actor> author_of(const std::string& path, const std::string& hash) const;

private:
    // One tool call's announcement, and when it expires by the steady clock.
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
