// A call goes through up to four steps, each on whichever thread has its answer:
//
//     attempt: send with the approved digest ──> answered
//        │ definition_differs
//     settle: look at the server's listing ──> gone: refused; as approved: attempt again
//        │ another definition
//     admit: do the arguments fit? ask for an approval ──> refused, or waits for a person
//        │ approved
//     keep: pin the definition ──> attempt again
//
// So the digest in the pin decides, and a definition that changes between two steps only leads to
// another attempt, kMostLooks times at most. Listing and showing read the pin and start no program.
#include "mounts/mount.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "json/json.h"
#include "json/schema/schema.h"
#include "kernel/oversight/mount_calls.h"
#include "mounts/answer.h"
#include "policy/approval.h"
#include "text/ecma_pattern.h"
#include "tools/tool.h"

namespace quire::mounts {
namespace {

// Lengths of what a person is shown, in code points: a description in a list; and in a question a
// change, a call and a command, which together fit the question of a client.
constexpr std::size_t kShownPart = 500;
constexpr std::size_t kShownChange = 600;
constexpr std::size_t kShownCall = 200;
constexpr std::size_t kShownCommand = 100;
// How long the kernel's start may compile the schemas of one mount: a kernel that is not ready
// within ten seconds is given up.
constexpr std::int64_t kReadyMs = 2'000;
// The least time between two warnings about a listing that differs from the pin.
constexpr std::int64_t kWarnAgainMs = 60'000;
// How often a call is attempted again because the definition of its tool has changed meanwhile.
constexpr int kMostLooks = 3;

std::string count_of(std::size_t count, std::string_view noun) {
    return cat(count, " ", noun, count == 1 ? "" : "s");
}

std::string described(const Definition& definition) {
    const Value* const words = definition.value.get("description");
    return words != nullptr && words->is_string() ? in_a_line(words->as_string(), kShownPart) : "";
}

Map shown(const Change& change, const Definition* before, const Definition* now) {
    Map out{{"tool", in_a_line(change.tool, kLongestName)}, {"change", name_of(change.kind)}};
    if (!change.what.empty()) out.append("what", change.what);
    if (before != nullptr) out.append("before", before->value);
    if (now != nullptr) out.append("now", now->value);
    return out;
}

}  // namespace

// An open call.
struct Mount::Attempt {
    kernel::Caller by;
    std::string tool;
    Value arguments;
    Reply<tools::ToolResult> reply;
    int looks = 0;

    void refuse(const Error& error) { reply(tools::refused(error)); }
};

Mount::Mount(MountOptions options, MountParts parts, std::optional<Pin> pin)
    : options_(std::move(options)), parts_(std::move(parts)), pinning_(parts_.scheduler) {
    state_.with([&](State& state) { state.pin = std::move(pin); });
    process_ = std::make_unique<ServerProcess>(
        options_.server, parts_.workers, parts_.clock,
        [this](const ServerInfo& server, const Listing& offered) { on_listing(server, offered); });
}
Mount::~Mount() = default;

bool Mount::has_pin() const {
    return state_.with([](const State& state) { return state.pin.has_value(); });
}

std::string Mount::argument_of(const std::string& tool) const {
    const auto at = options_.operations.find(tool);
    return at == options_.operations.end() ? "" : at->second;
}

// Warns the operator when the listing differs from the pin, but not at every listing.
void Mount::on_listing(const ServerInfo& server, const Listing& offered) {
    std::vector<Change> found;
    const bool is_new = state_.with([&](State& state) {
        const bool same =
            state.offered && digest_of(state.offered->tools) == digest_of(offered.tools);
        state.offered = offered;
        state.server = server;
        if (same || !state.pin) return false;
        found = changes(*state.pin, offered);
        if (found.empty()) return false;
        // A server that changes its list all the time must not fill the log.
        const std::int64_t now = parts_.clock.steady_ms();
        if (state.warned_ms && now - *state.warned_ms < kWarnAgainMs) return false;
        state.warned_ms = now;
        return true;
    });
    if (!is_new) return;
    parts_.warn(cat("the mounted server '", name(), "' does not list what was approved (",
                    count_of(found.size(), "change"), "); quire mounts show ", name(),
                    " has them"));
}

// --- approvals ---

// Changes the pin in memory at once and stores it. All of it runs on one strand, because two pins
// have to reach the store in the order in which they were made: the later one contains the earlier.
void Mount::keep(const kernel::Caller& by, Amend amend, Value arguments, Reply<void> reply) {
    pinning_.post([self = shared_from_this(), by, amend = std::move(amend),
                   arguments = std::move(arguments), reply = std::move(reply)]() mutable {
        std::optional<Pin> before;
        Pin next;
        self->state_.with([&](State& state) {
            before = state.pin;
            if (!state.pin) state.pin.emplace();
            amend(*state.pin);
            state.pin->at_ms = self->parts_.clock.wall_ms();
            next = *state.pin;
        });
        kernel::MountPin pin{self->name(), to_value(next)};
        self->parts_.kernel.pin(by, std::move(pin), std::move(arguments),
                                [self, before = std::move(before), digest = digest_of(next.tools),
                                 reply = std::move(reply)](Result<void> stored) mutable {
                                    // A pin that was not stored does not hold, unless it has
                                    // changed again since.
                                    if (!stored) {
                                        self->state_.with([&](State& state) {
                                            if (state.pin && digest_of(state.pin->tools) == digest)
                                                state.pin = std::move(before);
                                        });
                                    }
                                    reply(std::move(stored));
                                });
    });
}

void Mount::contact(const kernel::Caller& by, std::int64_t timeout_ms, Reply<void> reply) {
    process_->contact(timeout_ms, [self = shared_from_this(), by,
                                   reply = std::move(reply)](Result<Listing> offered) mutable {
        if (!offered) return reply(Failure(std::move(offered).error()));
        // A pin is made once without a person: by whoever wrote the command into quire.toml. A
        // later list only shows its differences.
        if (self->has_pin()) return reply({});
        const ServerInfo server =
            self->state_.with([](const State& state) { return state.server; });
        Map facts{{"mount", self->name()},
                  {"tools", offered->tools.size()},
                  {"digest", digest_of(offered->tools)}};
        self->keep(
            by,
            [server, tools = std::move(offered->tools)](Pin& pin) mutable {
                pin.tools = std::move(tools);
                pin.server = server;
            },
            std::move(facts), std::move(reply));
    });
}

void Mount::note_missed(const std::string& key) {
    // On the strand of the pins: a pin that was made meanwhile stays.
    pinning_.post([self = shared_from_this(), key] {
        if (self->has_pin()) return;
        self->parts_.kernel.note({self->name(), Map{{std::string(kMissed), key}}},
                                 [](const Result<void>&) {});
    });
}

void Mount::approve(const kernel::Caller& by, const std::string& offer, Reply<void> reply) {
    // An agent must not approve tools, its own least of all.
    if (const auto person = policy::check_person(by.actor); !person)
        return reply(Failure(person.error()));
    std::optional<Listing> offered;
    ServerInfo server;
    state_.with([&](const State& state) {
        offered = state.offered;
        server = state.server;
    });
    if (!offered) {
        return reply(fail(
            Errc::not_found, "not_contacted",
            cat("the list of the mounted server '", name(),
                "' has not been read since the kernel started; run quire mounts check ", name())));
    }
    const std::string digest = digest_of(offered->tools);
    // The whole digest: listings whose digests begin alike are found quickly.
    if (offer != digest) {
        return reply(
            fail(Errc::conflict, "outdated",
                 cat("what the mounted server '", name(), "' lists now is ", digest, ", and not '",
                     in_a_line(offer, digest.size()), "'; quire mounts show ", name(), " has it"),
                 {{"offer", digest}}));
    }
    Map facts{{"mount", name()}, {"tools", offered->tools.size()}, {"digest", digest}};
    keep(
        by,
        [server, tools = std::move(offered->tools)](Pin& pin) mutable {
            pin.tools = std::move(tools);
            pin.server = server;
        },
        std::move(facts), std::move(reply));
}

// --- calls ---

void Mount::call(const kernel::Caller& by, const std::string& tool, Value arguments,
                 Reply<tools::ToolResult> reply) {
    attempt(std::make_shared<Attempt>(Attempt{by, tool, std::move(arguments), std::move(reply)}));
}

void Mount::attempt(std::shared_ptr<Attempt> call) {
    const auto approved = state_.with([&](const State& state) -> std::optional<Definition> {
        const Definition* const known = state.pin ? state.pin->find(call->tool) : nullptr;
        return known == nullptr ? std::nullopt : std::optional(*known);
    });
    if (!approved) {
        return call->refuse({Errc::unavailable,
                             "tool_gone",
                             cat("the mounted server '", name(), "' has no tool ", call->tool,
                                 " any more, and that was approved; it is listed until the "
                                 "kernel starts again"),
                             {{"mount", name()}, {"tool", call->tool}}});
    }
    // The digest goes with the call, and the process compares it with the list of its run: nothing
    // is sent to a tool that was not approved as it is.
    ServerProcess::Call what{call->tool, approved->digest, call->arguments, options_.timeout_ms,
                             call->by.cancelled};
    process_->call(std::move(what),
                   [self = shared_from_this(), call, definition = *approved](Result<Value> result) {
                       if (!result && result.error().reason() == "definition_differs")
                           return self->settle(call);
                       self->answer(*call, definition, std::move(result));
                   });
}

// Decides about a tool whose definition differs from the pin.
void Mount::settle(std::shared_ptr<Attempt> call) {
    std::optional<Definition> approved;
    std::optional<Definition> now;
    state_.with([&](const State& state) {
        const auto of = [&](const Definition* found) {
            return found == nullptr ? std::nullopt : std::optional(*found);
        };
        if (state.pin) approved = of(state.pin->find(call->tool));
        if (state.offered) now = of(state.offered->find(call->tool));
    });
    if (!now) {
        return call->refuse({Errc::unavailable,
                             "tool_gone",
                             cat("the mounted server '", name(), "' does not list ", call->tool,
                                 " any more; quire mounts show ", name(), " says what it has"),
                             {{"mount", name()}, {"tool", call->tool}}});
    }
    if (++call->looks > kMostLooks) {
        return call->refuse({Errc::unavailable,
                             "mount_unavailable",
                             cat("the mounted server '", name(), "' defines ", call->tool,
                                 " otherwise each time it is asked"),
                             {{"mount", name()}, {"tool", call->tool}}});
    }
    if (approved && approved->digest == now->digest) return attempt(std::move(call));
    // The pin has lost the tool meanwhile, by an approval of a list without it. The attempt refuses
    // that.
    if (!approved) return attempt(std::move(call));
    admit(std::move(call), *approved, std::move(*now));
}

// Checks that the arguments of a call fit the tool as it is now.
Result<void> Mount::check(const Definition& definition, const Value& arguments) const {
    const Result<tools::ToolInfo> info =
        published(name(), definition, argument_of(definition.name));
    if (!info) {
        return fail(Errc::unavailable, "tool_changed",
                    cat("the mounted server '", name(), "' has changed ", definition.name,
                        ", and it cannot be used as it is now: ", info.error().message()),
                    {{"mount", name()}, {"tool", definition.name}});
    }
    // The caller wrote its arguments for the tool as it is listed. A person should not be asked
    // about a call that the server would refuse.
    const auto schema = json::Schema::compile(info->input_schema, {.patterns = text::ecma_pattern});
    if (!schema) return Failure(schema.error());
    if (const Result<void> fits = schema->check(arguments); !fits) {
        return fail(Errc::unavailable, "tool_changed",
                    cat("the mounted server '", name(), "' has changed ", definition.name,
                        ", and these arguments do not fit it any more: ", fits.error().message(),
                        ". quire mounts show ", name(),
                        " has what it is now; a person takes it with quire mounts approve"),
                    {{"mount", name()}, {"tool", definition.name}});
    }
    return {};
}

void Mount::admit(std::shared_ptr<Attempt> call, const Definition& approved, Definition now) {
    if (const Result<void> fits = check(now, call->arguments); !fits)
        return call->refuse(fits.error());
    const std::string tool = published_name(name(), call->tool);
    const std::string what = difference(approved, now);
    kernel::MountCalls::Changed changed{
        .tool = tool,
        .digest = now.digest,
        .description =
            cat("the tool ", call->tool, " of the mounted server '", name(),
                "' is not what was approved. Approving takes it as it is now for good, for every "
                "agent; quire mounts show ",
                name(), " has all of it. Changed: ", difference_shown(approved, now, kShownChange),
                ". The call: ", in_a_line(json::write(call->arguments), kShownCall),
                ". The program: ", in_a_line(joined(options_.server.command, " "), kShownCommand)),
        .message = cat("the tool ", tool, " is not what was approved of it: ", what,
                       " changed in the mounted server '", name(), "'. quire mounts show ", name(),
                       " has both. Once a person has approved it the call is made with it as it is "
                       "now; the list of tools has that from the next start of the kernel")};
    parts_.kernel.admit(
        call->by, std::move(changed),
        [self = shared_from_this(), call, now = std::move(now)](Result<void> may) mutable {
            if (!may) return call->refuse(may.error());
            Map facts{{"mount", self->name()}, {"tool", now.name}, {"digest", now.digest}};
            kernel::Caller by = call->by;
            by.call = nullptr;  // The pin gets its own entry in the audit log.
            self->keep(
                by, [now](Pin& pin) mutable { pin.set(std::move(now)); }, std::move(facts),
                [self, call](const Result<void>& kept) {
                    if (!kept) return call->refuse(kept.error());
                    self->attempt(call);
                });
        });
}

void Mount::answer(Attempt& call, const Definition& definition, Result<Value> result) const {
    if (!result) {
        const Error& given = result.error();
        if (given.reason() == "mount_error") {
            return call.refuse(
                {given.code(), given.reason(),
                 cat("the mounted server '", name(), "' answered with an error: ", given.message()),
                 Map{{"mount", name()}, {"tool", call.tool}}});
        }
        // Repeating such a call does no harm if the server's word is true.
        if (given.reason() == "fate_unknown" && definition.only_reads()) {
            return call.refuse({given.code(), given.reason(),
                                cat(given.message(), ". The tool says that it only reads"),
                                given.details()});
        }
        return call.refuse(given);
    }
    Result<tools::ToolResult> answered = answer_of(std::move(*result), name(), definition);
    if (!answered) return call.refuse(answered.error());
    call.reply(std::move(*answered));
}

// --- lists ---

std::vector<std::pair<std::string, tools::ToolInfo>> Mount::take_tools(
    const std::function<std::optional<std::string>(const std::string& name)>& taken_by) {
    std::vector<std::pair<std::string, tools::ToolInfo>> out;
    state_.with([&](State& state) {
        if (!state.pin) return;
        // Schemas are a stranger's, and some take long to compile. Tools that are late are left
        // out, and the kernel starts.
        const std::int64_t until = parts_.clock.steady_ms() + kReadyMs;
        for (const Definition& each : state.pin->tools) {
            const std::string shown_name = in_a_line(each.name, kLongestName);
            if (parts_.clock.steady_ms() > until) {
                state.left_out.push_back(
                    {shown_name, cat("the schemas of the tools before it took more than ",
                                     kReadyMs / 1000, " s to be made ready")});
                continue;
            }
            Result<tools::ToolInfo> info = published(name(), each, argument_of(each.name));
            if (!info) {
                state.left_out.push_back({shown_name, info.error().message()});
                continue;
            }
            auto other = taken_by(info->name);
            const bool twice = std::any_of(out.begin(), out.end(), [&](const auto& entry) {
                return entry.second.name == info->name;
            });
            if (twice) other = cat("another tool of '", name(), "'");
            if (other) {
                state.left_out.push_back(
                    {shown_name, cat("its name ", info->name, " is that of ", *other)});
                continue;
            }
            state.listed.insert(each.name);
            out.emplace_back(each.name, std::move(*info));
        }
        for (const auto& [tool, argument] : options_.operations) {
            if (state.pin->find(tool) != nullptr) continue;
            state.left_out.push_back(
                {tool, "quire.toml names it in operations, and there is no such tool"});
        }
    });
    for (const LeftOut& each : state_.with([](const State& state) { return state.left_out; })) {
        parts_.warn(cat("the tool ", each.tool, " of the mounted server '", name(),
                        "' is left out: ", each.why));
    }
    return out;
}

Value Mount::show(bool whole) const {
    // Two looks, one after the other: the row may be of two moments, which is good enough for
    // people.
    const ServerProcess::State now = process_->state();
    const State state = state_.with([](const State& known) { return known; });
    List tools;
    for (const Definition& each : state.pin ? state.pin->tools : std::vector<Definition>()) {
        Map row{{"name", published_name(name(), each.name)},
                {"tool", in_a_line(each.name, kLongestName)},
                {"listed", state.listed.contains(each.name)}};
        if (whole) row.append("description", described(each));
        tools.push_back(std::move(row));
    }
    List left_out;
    const auto leave_out = [&](const std::vector<LeftOut>& all) {
        for (const LeftOut& each : all)
            left_out.push_back(Map{{"tool", each.tool}, {"why", each.why}});
    };
    leave_out(state.left_out);
    if (state.offered) leave_out(state.offered->left_out);
    List different;
    if (state.pin && state.offered) {
        for (const Change& each : changes(*state.pin, *state.offered)) {
            different.push_back(shown(each, whole ? state.pin->find(each.tool) : nullptr,
                                      whole ? state.offered->find(each.tool) : nullptr));
        }
    }
    std::string words = now.starts ? "starting" : now.runs ? "running" : "not running";
    if (!state.pin) {
        words += ", nothing approved yet";
    } else if (!state.offered) {
        words += ", not asked since the kernel's start";
    }
    Map out{{"name", name()},
            {"command", joined(options_.server.command, " ")},
            {"state", std::move(words)},
            {"tools", std::move(tools)},
            {"left_out", std::move(left_out)},
            {"changes", std::move(different)}};
    if (!now.failed.empty()) out.append("failed", now.failed);
    const ServerInfo& server = state.offered ? state.server
                               : state.pin   ? state.pin->server
                                             : state.server;
    if (!server.name.empty()) out.append("server", cat(server.name, " ", server.version));
    if (state.offered) out.append("offer", digest_of(state.offered->tools));
    return out;
}

void Mount::stop() {
    process_->stop();
}

}  // namespace quire::mounts
