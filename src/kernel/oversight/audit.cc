// Entries of the audit log: JSON bodies, written by hand in the order that docs/formats/audit.md
// gives, so that their bytes are the same for ever. The store chains them.
//
// The entry of an approval is written with the batch of its change, and that of a command which
// changed something in a batch of its own. All others are notes, which wait in the store for the
// next batch. A note that the store cannot take is counted, and the next one that it takes says
// first how many are missing. So each gap in the log is named.
#include "kernel/oversight/audit.h"

#include <future>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/command_record.h"
#include "policy/approval.h"
#include "policy/call_digest.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

// The moment stands first, where a reader finds it without reading the rest.
Map entry(const Clock& clock, std::string_view event) {
    return Map{{"at", clock.wall_ms()}, {"event", event}};
}

// The log is read in terminals and its size is bounded, so texts are cut and hidden characters
// shown.
std::string shown(std::string_view text) {
    const std::string_view begin = utf8::prefix(text, AuditLog::kShown);
    std::string out = text::escape_hidden(begin);
    if (begin.size() < text.size()) out += "…";
    return out;
}

void add(Map& to, std::string_view member, std::string_view text) {
    if (!text.empty()) to.append(std::string(member), text);
}

// The block, file or label that the arguments name.
std::string target_in(const Value& arguments) {
    for (const std::string_view member : {"block_id", "label", "path"}) {
        const Value* value = arguments.get(member);
        if (value != nullptr && value->is_string()) return shown(value->as_string());
    }
    return {};
}

// The members of every entry of a call, so that each can be found by itself.
void add_names(Map& to, const Caller& by) {
    const Call& call = *by.call;
    to.append("call", static_cast<std::int64_t>(call.number));
    to.append("session", static_cast<std::int64_t>(by.session));
    to.append("actor", by.actor.str());
    to.append("tool", shown(call.tool));
    for (const std::string_view member : {"operation", "command"}) {
        const Value* word = call.arguments.get(member);
        if (word != nullptr && word->is_string()) {
            to.append("operation", shown(word->as_string()));
            break;
        }
    }
}

// The arguments are cut, and the digest is of all of them, so an approval can be matched with its
// call.
void add_arguments(Map& to, const Call& call) {
    const std::string text = policy::canonical(call.arguments);
    add(to, "profile", call.profile);
    add(to, "target", target_in(call.arguments));
    to.append("arguments", shown(text));
    to.append("digest", policy::canonical_call_digest(call.profile, call.tool, text));
}

List blocks_value(const std::vector<ChangedBlock>& blocks) {
    List out;
    for (const ChangedBlock& each : blocks) {
        Map block{{"block_id", each.block_id},
                  {"version", static_cast<std::int64_t>(each.version)}};
        add(block, "path", each.path);
        out.push_back(std::move(block));
    }
    return out;
}

void add_end(Map& to, const CallEnd& how, std::int64_t took_ms) {
    const bool escalated = how.code == name_of(Errc::escalation_required);
    to.append("outcome", !how.is_refused() ? "done" : escalated ? "escalated" : "refused");
    add(to, "code", how.code);
    add(to, "reason", how.reason);
    add(to, "approval_id", how.approval_id);
    add(to, "block_id", how.touched.block_id);
    add(to, "path", how.touched.path);
    add(to, "label", how.touched.label);
    if (how.touched.version) to.append("version", *how.touched.version);
    if (!how.touched.all.empty()) to.append("blocks", blocks_value(how.touched.all));
    to.append("ms", took_ms);
}

}  // namespace

void AuditLog::started(std::string_view version) {
    Map body = entry(clock_, "start");
    body.append("version", version);
    note(json::write(body));
}

std::uint64_t AuditLog::number() {
    return state_.with([](State& state) { return ++state.calls; });
}

// A call without its entry must not change anything, so a log that is full refuses it. A read is
// logged at its end alone, in one entry.
Result<void> AuditLog::begin(const Caller& by) {
    if (by.call == nullptr || by.call->number == 0 || by.call->reads) return {};
    Map body = entry(clock_, "call");
    add_names(body, by);
    add_arguments(body, *by.call);
    const bool taken = state_.with(
        [&](State& state) { return say_what_is_lost(state) && store_.note(json::write(body)); });
    if (taken) return {};
    return fail(Errc::unavailable, "disk_full",
                "nothing was changed: the disk has no room left for the log of what is called. "
                "Free some, then try again");
}

// It is too late to refuse here, so an entry that the store cannot take is counted as lost.
void AuditLog::end(const Caller& by, const CallEnd& how) {
    if (by.call == nullptr || by.call->number == 0) return;
    Map body = entry(clock_, by.call->reads ? "read" : "end");
    add_names(body, by);
    if (by.call->reads) add_arguments(body, *by.call);
    add_end(body, how, clock_.steady_ms() - by.call->begun_ms);
    note(json::write(body));
}

void AuditLog::ran(const Caller& by, const CommandRecord& what) {
    if (by.call == nullptr || by.call->number == 0) return;
    Map body = entry(clock_, "command");
    add_names(body, by);
    static_cast<void>(keep_command(std::move(body), what));
}

bool AuditLog::completed(const Caller& by, const CommandRecord& what) {
    Map body = entry(clock_, "command");
    body.append("actor", by.actor.str());
    body.append("tool", shown(by.call->tool));
    body.append("completed", true);
    return keep_command(std::move(body), what);
}

// Blocks lead to the versions that an undo needs, so they are all there; paths are only for
// reading.
bool AuditLog::keep_command(Map body, const CommandRecord& what) {
    body.append("shell", shown(what.ran.command));
    body.append("decision", what.ran.decision);
    body.append("tier", what.ran.tier);
    body.append("exit_code", what.ran.exit_code);
    body.append("outcome", what.outcome);
    const auto add_paths = [&](std::string_view member, const std::vector<std::string>& paths) {
        if (paths.empty()) return;
        List list;
        for (const std::string& path : paths) {
            if (list.size() == kMostPaths) break;
            list.push_back(shown(path));
        }
        body.append(std::string(member), std::move(list));
        if (paths.size() > kMostPaths) body.append(cat(member, "_more"), paths.size() - kMostPaths);
    };
    add_paths("predicted", what.ran.predicted);
    if (!what.blocks.empty()) body.append("blocks", blocks_value(what.blocks));
    add_paths("without_history", what.without_history);
    add_paths("left_out", what.left_out);
    add_paths("missed", what.ran.missed);
    add(body, "past", what.past);
    std::string text = json::write(body);
    if (!what.changes()) {
        note(std::move(text));
        return true;
    }
    static_cast<void>(state_.with([&](State& state) { return say_what_is_lost(state); }));
    store::Batch batch;
    batch.audit.push_back(text);
    std::promise<Result<void>> stored;
    store_.commit(std::move(batch), [&](Result<void> done) { stored.set_value(std::move(done)); });
    // Waits, because the journal of the commit is removed next: the log must have the command
    // before.
    const bool is_durable = stored.get_future().get().has_value();
    if (!is_durable) note(std::move(text));
    return is_durable;
}

// Under the lock, so that no other entry comes between this one and the next.
bool AuditLog::say_what_is_lost(State& state) {
    if (state.lost == 0) return true;
    Map body = entry(clock_, "lost");
    body.append("entries", state.lost);
    if (!store_.note(json::write(body))) return false;
    state.lost = 0;
    return true;
}

void AuditLog::note(std::string body) {
    state_.with([&](State& state) {
        if (!say_what_is_lost(state) || !store_.note(std::move(body))) ++state.lost;
    });
}

std::string stopped_entry(const Clock& clock) {
    return json::write(entry(clock, "stop"));
}

std::string approval_entry(const policy::Approval& approval, ApprovalChange change,
                           const policy::Actor& by, const Clock& clock) {
    const policy::Ask& ask = approval.ask;
    Map body = entry(clock, "approval");
    body.append("change", name_of(change));
    body.append("approval_id", approval.id);
    body.append("by", by.str());
    body.append("actor", ask.actor.str());
    body.append("asks", name_of(ask.operation));
    add(body, "target", shown(ask.target.name));
    add(body, "block_id", ask.target.block_id);
    body.append("digest", ask.call);
    if (const auto& answer = approval.resolved;
        answer && change != ApprovalChange::asked && change != ApprovalChange::outdated) {
        body.append("decision", name_of(answer->answer));
        if (answer->answer == policy::Answer::approve_for) body.append("until", answer->until_ms);
        add(body, "scope", shown(answer->scope));
        if (answer->elicited_in != 0)
            body.append("elicited_in", static_cast<std::int64_t>(answer->elicited_in));
    }
    return json::write(body);
}

}  // namespace quire::kernel
