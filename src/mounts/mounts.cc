// The mounts of a workspace meet once, at the kernel's start: those without a pin are run, all at
// the same time and for a bounded time, and the start goes on without those that are late. After
// that each mount lives by itself; this only finds it by its name.
#include "mounts/mounts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/concat.h"
#include "json/members.h"
#include "kernel/oversight/mount_calls.h"
#include "policy/call_digest.h"
#include "policy/tool_catalog.h"
#include "sched/guarded.h"
#include "tools/tool.h"

namespace quire::mounts {
namespace {

// A tool of a mount as the registry holds it.
class MountedTool final : public tools::Tool {
public:
    MountedTool(tools::ToolInfo info, std::shared_ptr<Mount> mount, std::string tool)
        : Tool(std::move(info)), mount_(std::move(mount)), tool_(std::move(tool)) {}

    void call(const tools::Session& session, Value arguments,
              Reply<tools::ToolResult> reply) const override {
        mount_->call(session.caller, tool_, std::move(arguments), std::move(reply));
    }

private:
    const std::shared_ptr<Mount> mount_;
    const std::string tool_;
};

// The actor of what the kernel does by itself.
kernel::Caller kernel_actor() {
    return {{policy::ActorKind::system, "quire"}, 0, {}};
}

// A digest of the command and its directory: tells whether a mount's program is still the same.
std::string key_of(const ServerOptions& server) {
    List words;
    for (const std::string& word : server.command) words.emplace_back(word);
    words.emplace_back(server.directory);
    return policy::value_digest(words);
}

// Keeps waiting for a mount that was late at the start: `npx` may be downloading it.
void wait_for(const std::shared_ptr<Mount>& mount, std::function<void(const std::string&)> warn) {
    mount->contact(kernel_actor(), kContactMs,
                   [name = mount->name(), warn = std::move(warn)](const Result<void>& met) {
                       if (!met) return;
                       warn(cat("mount ", name,
                                " has been reached now; its tools are listed from the next start "
                                "of the kernel"));
                   });
}

}  // namespace

Result<std::unique_ptr<Mounts>> Mounts::open(std::vector<MountOptions> options,
                                             const MountParts& parts) {
    // A record is either a pin or the note that a program was waited for in vain.
    std::map<std::string, Pin> pins;
    std::map<std::string, std::string> missed;
    for (const kernel::MountPin& each : TRY(parts.kernel.pins())) {
        if (!each.damaged && each.body.get(kMissed) != nullptr) {
            missed.emplace(each.mount, json::text_in(each.body, kMissed));
            continue;
        }
        Result<Pin> pin = each.damaged ? Result<Pin>(Pin()) : pin_of(each.body);
        // A pin without tools stands for the one that cannot be read. Without any pin the mount would
        // count as new, and what its program lists now would be approved by nobody.
        if (each.damaged || !pin) {
            parts.warn(
                cat("what was approved of the mount ", each.mount,
                    " is damaged in the store, so none of its tools are listed; look at what "
                    "it offers with quire mounts check ",
                    each.mount, ", and approve it again"));
        }
        pins.emplace(each.mount, pin ? std::move(*pin) : Pin());
    }
    std::unique_ptr<Mounts> made(new Mounts(parts.warn));
    for (MountOptions& each : options) {
        // A note about another command says nothing of this one, which is waited for in full again.
        Program program{key_of(each.server)};
        const auto known = missed.find(each.server.name);
        program.missed = known != missed.end() && known->second == program.key;
        made->programs_.emplace(each.server.name, std::move(program));
        const auto pin = pins.find(each.server.name);
        made->all_.push_back(std::make_shared<Mount>(
            std::move(each), parts,
            pin == pins.end() ? std::nullopt : std::optional(std::move(pin->second))));
    }
    return made;
}

Mounts::~Mounts() {
    stop();
}

void Mounts::stop() {
    for (const auto& each : all_) each->stop();
}

void Mounts::meet(Reply<std::vector<std::string>> reply) {
    struct Meeting {
        sched::Guarded<std::pair<std::size_t, std::vector<std::string>>> left;
        Reply<std::vector<std::string>> reply;
    };
    // One more than there are mounts, so that the reply comes after the loop below even when all
    // settle at once.
    const auto meeting = std::make_shared<Meeting>();
    meeting->reply = std::move(reply);
    meeting->left.with([&](auto& left) { left.first = all_.size() + 1; });
    const auto settle_one = [meeting](std::string why) {
        const auto settled = meeting->left.with([&](auto& left) {
            if (!why.empty()) left.second.push_back(std::move(why));
            return std::pair(--left.first == 0, left.second);
        });
        if (settled.first) meeting->reply(settled.second);
    };
    for (const auto& each : all_) {
        if (each->has_pin()) {
            settle_one("");
            continue;
        }
        const Program& program = programs_.at(each->name());
        each->contact(
            kernel_actor(), program.missed ? kLaterContactMs : kFirstContactMs,
            [settle_one, each, program, warn = warn_](const Result<void>& met) {
                if (met) return settle_one("");
                // The start goes on without it, and the wait goes on behind: what it lists then is
                // pinned for the next start.
                settle_one(cat("mount ", each->name(),
                               " has no tools in this run of the kernel: ", met.error().message(),
                               ". quire mounts check ", each->name(), " tries again"));
                if (!program.missed) each->note_missed(program.key);
                wait_for(each, warn);
            });
    }
    settle_one("");
}

void Mounts::add_to(tools::Registry& registry, const policy::ToolCatalog& taken) {
    // The first in quire.toml gets a name that two mounts would publish. Names of quire's own tools
    // are never given to a stranger.
    std::map<std::string, std::string> others;  // The mount of each published name.
    for (const auto& mount : all_) {
        auto tools = mount->take_tools([&](const std::string& name) -> std::optional<std::string> {
            if (const auto other = others.find(name); other != others.end())
                return cat("a tool of '", other->second, "'");
            if (taken.find(name) != nullptr) return "a tool of quire";
            // A call may be written with a dot: file.read.
            for (const policy::KnownTool& known : taken.tools()) {
                for (const std::string& word : known.operations) {
                    if (name == cat(known.name, "_", word))
                        return cat("the operation ", word, " of quire's tool ", known.name);
                }
            }
            return std::nullopt;
        });
        for (auto& [tool, info] : tools) {
            others.emplace(info.name, mount->name());
            // `compat` has only the tools that models have learnt.
            for (const tools::Profile profile : {tools::Profile::model, tools::Profile::full})
                registry.add(profile, std::make_unique<MountedTool>(info, mount, tool));
        }
    }
}

std::vector<std::string> Mounts::names() const {
    std::vector<std::string> out;
    for (const auto& each : all_) out.push_back(each->name());
    return out;
}

bool Mounts::has_pin(const std::string& name) const {
    const auto mount = find(name);
    return mount && (*mount)->has_pin();
}

Result<std::shared_ptr<Mount>> Mounts::find(const std::string& name) const {
    const auto at = std::find_if(all_.begin(), all_.end(),
                                 [&](const auto& each) { return each->name() == name; });
    if (at != all_.end()) return *at;
    return fail(Errc::not_found, "unknown_mount",
                cat("there is no mount '", in_a_line(name, kLongestName),
                    "'; quire mounts lists those that quire.toml has as "
                    "[tools.mount.NAME]"));
}

Value Mounts::list() const {
    List rows;
    for (const auto& each : all_) rows.push_back(each->show(false));
    return Map{{"mounts", std::move(rows)}};
}

Result<Value> Mounts::show(const std::string& name) const {
    return TRY(find(name))->show(true);
}

void Mounts::check(const kernel::Caller& by, const std::string& name, Reply<Value> reply) {
    const auto mount = find(name);
    if (!mount) return reply(Failure(mount.error()));
    (*mount)->contact(by, kContactMs,
                      [mount = *mount, reply = std::move(reply)](const Result<void>& met) mutable {
                          if (!met) return reply(Failure(met.error()));
                          reply(mount->show(true));
                      });
}

void Mounts::approve(const kernel::Caller& by, const std::string& name, const std::string& offer,
                     Reply<Value> reply) {
    const auto mount = find(name);
    if (!mount) return reply(Failure(mount.error()));
    (*mount)->approve(by, offer,
                      [mount = *mount, reply = std::move(reply)](const Result<void>& done) mutable {
                          if (!done) return reply(Failure(done.error()));
                          reply(mount->show(true));
                      });
}

}  // namespace quire::mounts
