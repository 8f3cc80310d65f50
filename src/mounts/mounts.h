// Mounts: every [tools.mount.NAME] of a workspace.
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

// How long the kernel's start waits for programs that were never run, all of them together; for
// those that an earlier start has waited for in vain; and how long somebody does who asks for one.
inline constexpr std::int64_t kFirstContactMs = 7'000;
inline constexpr std::int64_t kLaterContactMs = 1'500;
inline constexpr std::int64_t kContactMs = 50'000;

class Mounts {
public:
    // Reads what was approved of them. Errors: those of kernel::MountCalls::pins().
    static Result<std::unique_ptr<Mounts>> open(std::vector<MountOptions> options,
                                                const MountParts& parts);
    Mounts(const Mounts&) = delete;
    Mounts& operator=(const Mounts&) = delete;
    ~Mounts();  // stop().

    // Runs those of which nothing was approved, and takes what they list for approved; replies when
    // each has done so, failed, or taken too long. With the sentences of those that have no tools.
    // Whoever took too long is still waited for, though not by this.
    void meet(Reply<std::vector<std::string>> reply);
    // Adds their tools in profiles model and full, under names that nobody in `taken` has.
    void add_to(tools::Registry& registry, const policy::ToolCatalog& taken);

    std::vector<std::string> names() const;
    // Of those that have told what they have.
    bool has_pin(const std::string& name) const;
    // As Mount::show(). The one of a name; errors: not_found "unknown_mount".
    Value list() const;
    Result<Value> show(const std::string& name) const;
    // Asks one what it lists now; replies with show(). Errors: unknown_mount; those of
    // Mount::contact().
    void check(const kernel::Caller& by, const std::string& name, Reply<Value> reply);
    // The same after Mount::approve().
    void approve(const kernel::Caller& by, const std::string& name, const std::string& offer,
                 Reply<Value> reply);
    // Nothing is run from here on; it returns at once.
    void stop();

private:
    explicit Mounts(std::function<void(const std::string&)> warn) : warn_(std::move(warn)) {}
    Result<std::shared_ptr<Mount>> find(const std::string& name) const;

    // What is run under the name of a mount, and whether an earlier start has waited for it in
    // vain.
    struct Program {
        std::string key = {};
        bool missed = false;
    };

    std::function<void(const std::string&)> warn_;
    std::vector<std::shared_ptr<Mount>> all_;
    std::map<std::string, Program> programs_;
};

}  // namespace quire::mounts
