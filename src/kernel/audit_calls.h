// AuditCalls: reading the audit log, checking it, and writing down what is done otherwise than by a
// tool. For the workspace's owner; no tool reaches it.
//
// Replies come exactly once, from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.h"

namespace quire::kernel {

// All of it must hold; what is empty holds for all.
struct AuditQuery {
    std::string actor = {};   // Who called, who asked for an approval, or who answered.
    std::string tool = {};    // "context", or one operation of it: "context.set_field".
    std::string reason = {};  // Of a refusal.
    bool refused = false;     // Refused or escalated calls alone.
    std::int64_t since_ms = std::numeric_limits<std::int64_t>::min();
    std::uint64_t before = std::numeric_limits<std::uint64_t>::max();  // Entries before this one.
    std::size_t limit = 50;
};
struct AuditPage {
    struct Entry {
        std::uint64_t seq = 0;
        std::string body;  // docs/formats/audit.md
        std::string hash;  // 64 digits.
    };
    std::vector<Entry> entries;  // Newest first.
    std::uint64_t next = 0;      // The `before` to go on from; 0 at the end.
};

struct AuditVerdict {
    std::uint64_t count = 0;  // Entries from the first on that follow from each other.
    std::string head;         // The hash of the last of them, as 64 digits.
    struct Broken {
        std::uint64_t seq = 0;  // The first that does not follow.
        std::string what;
    };
    std::optional<Broken> broken = {};
    std::vector<std::string> missing = {};  // Hashes asked for that no entry has.
};

class AuditCalls {
public:
    explicit AuditCalls(Kernel& kernel);

    // What was called before this is seen. It goes back until there are enough. O(log).
    void read(const Caller& by, AuditQuery query, Reply<AuditPage> reply);
    // Walks the whole chain, a piece at a time, and looks for `heads`, hashes of entries that were
    // noted earlier. A log that is broken is a verdict and no error. O(log).
    void verify(const Caller& by, std::vector<std::string> heads, Reply<AuditVerdict> reply);

    // Writes work(reply) down as a call of `name`. It is asked for in nobody's name: what would
    // escalate is refused as before.
    template <class T, class Work>
    void log(Caller by, std::string name, Value arguments, bool reads, Reply<T> reply, Work work) {
        by.call = kernel_.called("", std::move(name), std::move(arguments), reads);
        if (Result<void> begun = begin(by); !begun) {
            end(by, CallEnd::of(begun.error()));
            return reply(Failure(std::move(begun).error()));
        }
        work(Reply<T>([self = *this, by, reply = std::move(reply)](Result<T> result) mutable {
            self.end(by, CallEnd::of(result));
            reply(std::move(result));
        }));
    }

private:
    Result<void> begin(const Caller& by);
    void end(const Caller& by, const CallEnd& how);

    Kernel& kernel_;
    std::shared_ptr<Kernel::Body> body_;
};

}  // namespace quire::kernel
