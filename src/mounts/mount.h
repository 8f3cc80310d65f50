// Mount: one [tools.mount.NAME]: another program's tools as this workspace has them.
//
// What is listed of them is what was approved, whether or not the program runs. What it lists when
// it is first run is approved by whoever wrote its command into the settings; whatever it lists
// otherwise later needs a person: a tool that is defined otherwise is refused until then, one that
// is new is not listed, one that is gone is refused.
//
// Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "base/value.h"
#include "mounts/definition.h"
#include "mounts/pin.h"
#include "mounts/server_process.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::kernel {
struct Caller;
class MountCalls;
}  // namespace quire::kernel
namespace quire::tools {
struct ToolResult;
}

namespace quire::mounts {

struct MountOptions {
    ServerOptions server;
    std::int64_t timeout_ms = 60'000;  // Of a call.
    // By tool, the argument that names its operation.
    std::map<std::string, std::string> operations = {};
};

// What all mounts of a workspace work with; it outlives them, but for the workers, whose tasks have
// ended before a mount goes.
struct MountParts {
    kernel::MountCalls& kernel;
    sched::Scheduler& scheduler;
    sched::Scheduler& workers;  // One for each mount: a program that runs holds one.
    const Clock& clock;
    std::function<void(const std::string&)> warn;  // A sentence for the operator.
};

class Mount : public std::enable_shared_from_this<Mount> {
public:
    // `pin`: what was approved of it, if anything was.
    Mount(MountOptions options, MountParts parts, std::optional<Pin> pin);
    Mount(const Mount&) = delete;
    Mount& operator=(const Mount&) = delete;
    ~Mount();

    const std::string& name() const { return options_.server.name; }
    bool has_pin() const;
    // Runs the program, if it does not run, and reads what it lists; where nothing was approved
    // yet, that is, as an act of `by`. Errors: those of ServerProcess::contact(), and of the
    // kernel.
    void contact(const kernel::Caller& by, std::int64_t timeout_ms, Reply<void> reply);
    // Remembers, where nothing was approved yet, that a program with this `key` was waited for in
    // vain, so that the next start does not wait as long.
    void note_missed(const std::string& key);
    // Takes what it lists now for approved. Errors: denied "permission_denied" for all but people;
    // conflict "outdated" {offer} where `offer` is not the whole digest of that; not_found
    // "not_contacted" where nobody has asked it yet.
    void approve(const kernel::Caller& by, const std::string& offer, Reply<void> reply);

    // The tools to be listed, in order: those that were approved and can be published under a name
    // that `is_free`. What cannot is remembered, for show(). Once, before the first call.
    std::vector<std::pair<std::string, tools::ToolInfo>> take_tools(
        const std::function<std::optional<std::string>(const std::string& name)>& taken_by);
    // `tool` by its own name, with arguments that fit what is listed.
    void call(const kernel::Caller& by, const std::string& tool, Value arguments,
              Reply<tools::ToolResult> reply);

    // {name, command, state, failed?, server?, tools: [{name, tool, description, listed}],
    // left_out:
    // [{tool, why}], changes: [{tool, change, what?, before?, now?}], offer?}: offer is what
    // approve() wants. Without `whole` no before and now.
    Value show(bool whole) const;
    void stop();

private:
    struct State {
        std::optional<Pin> pin;
        std::optional<Listing> offered;            // The last, since the kernel's start.
        ServerInfo server;                         // That gave it.
        std::set<std::string> listed;              // By their own names: since the kernel's start.
        std::vector<LeftOut> left_out;             // Of those that were approved.
        std::optional<std::int64_t> told_ms = {};  // When the operator was told of a change.
    };
    struct Attempt;
    using Amend = Function<void(Pin&)>;

    void noted(const ServerInfo& server, const Listing& offered);
    void attempt(std::shared_ptr<Attempt> call);
    void settle(std::shared_ptr<Attempt> call);
    void admit(std::shared_ptr<Attempt> call, const Definition& approved, Definition now);
    void answer(Attempt& call, const Definition& definition, Result<Value> result) const;
    Result<void> check(const Definition& definition, const Value& arguments) const;
    void keep(const kernel::Caller& by, Amend amend, Value arguments, Reply<void> reply);
    std::string argument_of(const std::string& tool) const;

    const MountOptions options_;
    const MountParts parts_;
    sched::Guarded<State> state_;
    sched::Strand pinning_;  // Pins are handed to the store in the order in which they came about.
    std::unique_ptr<ServerProcess> process_;
};

}  // namespace quire::mounts
