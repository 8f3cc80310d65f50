// Mount: one [tools.mount.NAME]: another program's tools as this workspace has them.
//
// The tools that are listed are those of the pin, the approved definitions, whether or not the
// program runs. Whoever wrote the command into the settings has approved what the program lists
// when it is first run. Later differences need a person: until then a tool with another definition
// is refused, a new tool is not listed, and a tool that is gone is refused.
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

// The settings of one mount.
struct MountOptions {
    ServerOptions server;
    std::int64_t timeout_ms = 60'000;  // For one call.
    // For each tool with operations, the argument that names the operation.
    std::map<std::string, std::string> operations = {};
};

// The parts that all mounts of a workspace share. They outlive the mounts, except the workers,
// whose tasks have ended before a mount is destroyed.
struct MountParts {
    kernel::MountCalls& kernel;
    sched::Scheduler& scheduler;
    sched::Scheduler& workers;  // At least one per mount: a running program occupies one.
    const Clock& clock;
    std::function<void(const std::string&)> warn;  // A sentence for the operator.
};

// One mount. It lives as long as the kernel; its program may start and end many times.
class Mount : public std::enable_shared_from_this<Mount> {
public:
    // `pin`: the approved definitions, if any were approved.
    Mount(MountOptions options, MountParts parts, std::optional<Pin> pin);
    Mount(const Mount&) = delete;
    Mount& operator=(const Mount&) = delete;
    ~Mount();

    const std::string& name() const { return options_.server.name; }
    // Returns true if definitions are approved.
    bool has_pin() const;
    // Asks the program for its list, and starts it when it does not run. Without a pin the list is
    // pinned, as an act of `by`. Errors: those of ServerProcess::contact(), and of the kernel.
    void contact(const kernel::Caller& by, std::int64_t timeout_ms, Reply<void> reply);
    // Records, while there is no pin, that a program with this `key` was waited for in vain. The
    // next start then waits for a shorter time.
    void note_missed(const std::string& key);
    // Pins what it lists now. Errors: denied "permission_denied" unless `by` is a person; conflict
    // "outdated" {offer} when `offer` is not the whole digest of that list; not_found
    // "not_contacted" when nobody has asked for the list yet.
    void approve(const kernel::Caller& by, const std::string& offer, Reply<void> reply);

    // The tools to be listed, in order: those of the pin that can be published, under names for
    // which `taken_by` names nobody. show() has the others, with reasons. Called once, before the
    // first call().
    std::vector<std::pair<std::string, tools::ToolInfo>> take_tools(
        const std::function<std::optional<std::string>(const std::string& name)>& taken_by);
    // Calls `tool`, by its own name, with arguments that fit the listed schema.
    void call(const kernel::Caller& by, const std::string& tool, Value arguments,
              Reply<tools::ToolResult> reply);

    // The mount as JSON:
    // {name, command, state, failed?, server?, tools: [{name, tool, description, listed}],
    //  left_out: [{tool, why}], changes: [{tool, change, what?, before?, now?}], offer?}
    // `offer` is the digest for approve(). Without `whole`, descriptions, before and now are left
    // out.
    Value show(bool whole) const;
    // Ends the program and runs it no more. Returns at once.
    void stop();

private:
    struct State {
        std::optional<Pin> pin;
        std::optional<Listing> offered;  // The program's last listing since the kernel's start.
        ServerInfo server;               // The server that gave it.
        std::set<std::string> listed;    // The own names of the tools that take_tools() returned.
        std::vector<LeftOut> left_out;   // Tools of the pin that are not listed.
        std::optional<std::int64_t> warned_ms = {};  // When the operator was last warned.
    };
    struct Attempt;
    using Amend = Function<void(Pin&)>;

    void on_listing(const ServerInfo& server, const Listing& offered);
    // Sends the call with the approved digest.
    void attempt(std::shared_ptr<Attempt> call);
    // The server defines the tool otherwise: decides what becomes of the call.
    void settle(std::shared_ptr<Attempt> call);
    void admit(std::shared_ptr<Attempt> call, const Definition& approved, Definition now);
    void answer(Attempt& call, const Definition& definition, Result<Value> result) const;
    Result<void> check(const Definition& definition, const Value& arguments) const;
    // Changes the pin by `amend`, and replies once that is stored; `arguments` are for the audit
    // log. If the store refuses it, the pin is again what it was.
    void keep(const kernel::Caller& by, Amend amend, Value arguments, Reply<void> reply);
    std::string argument_of(const std::string& tool) const;

    const MountOptions options_;
    const MountParts parts_;
    sched::Guarded<State> state_;
    sched::Strand pinning_;  // Hands pins to the store in the order in which they were made.
    std::unique_ptr<ServerProcess> process_;
};

}  // namespace quire::mounts
