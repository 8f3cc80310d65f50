// AuditCalls: reading and checking the audit log. For the workspace's owner; no tool reaches it.
//
// Replies come exactly once, from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "kernel/core/caller.h"

namespace quire::kernel {

class Core;
class Kernel;

// A request for entries. All conditions must hold; empty ones hold for every entry.
// `limit` counts entries that fit; a query with rare ones may read the whole log for a page.
struct AuditQuery {
    std::string actor = {};   // The actor who called, asked for an approval, or answered.
    std::string tool = {};    // "context", or one operation of it: "context.set_field".
    std::string reason = {};  // A refusal's.
    bool refused = false;     // Refused or escalated calls alone.
    bool missed = false;      // Only commands with changes that were not predicted.
    std::int64_t since_ms = std::numeric_limits<std::int64_t>::min();
    std::optional<std::uint64_t> before = {};  // Entries before this one.
    std::size_t limit = 50;
};
// A page of entries.
struct AuditPage {
    struct Entry {
        std::uint64_t seq = 0;
        std::string body;  // docs/formats/audit.md
        std::string hash;  // 64 digits.
    };
    std::vector<Entry> entries;  // Newest first.
    std::uint64_t next = 0;      // The `before` to go on from; 0 at the end.
};

// The result of checking the chain.
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
    // Keeps the kernel's core alive. Errors of both calls: those of the store; unavailable
    // "kernel_ending" or "cancelled".
    explicit AuditCalls(Kernel& kernel);

    // Searches backwards until `limit` entries match. Sees every call that was made before this
    // one. O(log).
    void read(const Caller& by, AuditQuery query, Reply<AuditPage> reply);
    // Checks the whole chain in pieces, and looks for `heads`, hashes that somebody noted
    // earlier. A broken log is a verdict, not an error. O(log).
    void verify(const Caller& by, std::vector<std::string> heads, Reply<AuditVerdict> reply);

private:
    std::shared_ptr<Core> core_;
};

}  // namespace quire::kernel
