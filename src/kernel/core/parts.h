// Parts: the objects that a kernel is built from, and its limits. All of them outlive the kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace quire {

class Clock;
class Rng;
namespace sched {
class Scheduler;
}
namespace store {
class Store;
}

}  // namespace quire

namespace quire::kernel {

class BlockFeed;
class Gate;
class Residence;

// Bounds on texts and answers, from quire.toml. Errors name the bound that was met: out_of_range
// "too_large" {limit}. Reads are cut instead, and their notes say where to go on.
struct Limits {
    // The most bytes of one block's text.
    std::size_t block_bytes = 16U << 20;
    // The most bytes that one call may insert.
    std::size_t operation_bytes = 1U << 20;
    // The most lines that one read returns.
    std::size_t read_lines = 2000;
    std::size_t read_columns = 2000;  // Code points of one line.
    // The bytes that documents in memory may take together, as they estimate it, and that the process
    // may grow by. Those that were not used lately leave first; what is being changed, and what
    // somebody subscribed to, stays.
    std::size_t resident_bytes = 256U << 20;
    friend bool operator==(const Limits&, const Limits&) = default;
};

// A copy is given to each document.
struct Parts {
    store::Store& store;
    sched::Scheduler& scheduler;
    Clock& clock;
    Rng& rng;
    Limits limits;
    Gate* gate = nullptr;      // The gate for documents of kind "file"; null for none.
    std::string version = {};  // The program's, for the audit log.
    // Returns the resident size of the process, for Residence; null where only estimates count.
    std::size_t (*resident_size)() = nullptr;
    // The kernel sets these, for its documents.
    BlockFeed* feed = nullptr;
    std::shared_ptr<Residence> residence = {};
};

}  // namespace quire::kernel
