// Mounts: every [tools.mount.NAME] of a workspace. What they list is known from the pins, so a
// program that has one runs only when somebody asks something of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "base/value.h"
#include "mounts/mount.h"

namespace quire::policy {
class ToolCatalog;
}
namespace quire::tools {
class Registry;
}

namespace quire::mounts {

// How long the kernel's start waits for programs that were never reached, all of them together, and
// for those that an earlier start has waited for in vain; how long a person waits who asks for one.
inline constexpr std::int64_t kFirstContactMs = 7'000;
inline constexpr std::int64_t kLaterContactMs = 1'500;
inline constexpr std::int64_t kContactMs = 50'000;

class Mounts {
public:
    // Reads the pins. Errors: those of kernel::MountCalls::pins().
    static Result<std::unique_ptr<Mounts>> open(std::vector<MountOptions> options,
                                                const MountParts& parts);
    Mounts(const Mounts&) = delete;
    Mounts& operator=(const Mounts&) = delete;
    ~Mounts();  // stop().

    // Runs the mounts without a pin and pins what they list. Replies when each has listed, failed
    // or taken too long, with a sentence for each mount that has no tools. A mount that takes too
    // long is still pinned when it lists later.
    void meet(Reply<std::vector<std::string>> reply);
    // Adds their tools to the profiles model and full, except those whose names are in `taken`.
    void add_to(tools::Registry& registry, const policy::ToolCatalog& taken);

    // In the order of quire.toml.
    std::vector<std::string> names() const;
    // Returns true if the mount exists and has approved definitions.
    bool has_pin(const std::string& name) const;
    // {mounts: [row]}, the rows as Mount::show() has them.
    Value list() const;
    // The whole row of one mount. Errors: not_found "unknown_mount".
    Result<Value> show(const std::string& name) const;
    // Asks one for its list and replies with show(). Errors: not_found "unknown_mount"; those of
    // Mount::contact().
    void check(const kernel::Caller& by, const std::string& name, Reply<Value> reply);
    // Approves that list (Mount::approve()) and replies with show().
    void approve(const kernel::Caller& by, const std::string& name, const std::string& offer,
                 Reply<Value> reply);
    // Ends all programs and runs none any more. Returns at once.
    void stop();

private:
    explicit Mounts(std::function<void(const std::string&)> warn) : warn_(std::move(warn)) {}
    // Errors: not_found "unknown_mount".
    Result<std::shared_ptr<Mount>> find(const std::string& name) const;

    // The program behind a mount's name, and whether an earlier start has waited for it in vain.
    struct Program {
        std::string key = {};
        bool missed = false;
    };

    std::function<void(const std::string&)> warn_;
    std::vector<std::shared_ptr<Mount>> all_;
    std::map<std::string, Program> programs_;
};

}  // namespace quire::mounts
