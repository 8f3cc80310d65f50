// The ledger of approvals: in memory under one lock, and in the store behind it.
//
// A request, an answer and the use of an approval are each one batch with the approval's record
// and its entry in the audit log. A change is shown once it is stored. Only the use of an
// approval counts before, so that two calls never spend the same one. A request costs
// O(approvals), because it searches for an equal one; everything else is a look-up.
#include "kernel/oversight/approvals.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "json/json.h"
#include "kernel/oversight/approval_record.h"
#include "kernel/oversight/audit.h"
#include "policy/call_digest.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

using policy::Answer;
using policy::Approval;
using policy::ApprovalStatus;

// How much of a call a person is shown, in code points.
constexpr std::size_t kDescribed = 500;
constexpr int kIdDigits = 12;

std::string digest_of(const Caller& by) {
    return policy::call_digest(by.call->profile, by.call->tool, by.call->arguments);
}

// The call as a person sees it, with hidden characters made visible, because an agent chose them.
std::string description_of(const Call& call) {
    const std::string text = cat(call.tool, " ", json::write(call.arguments));
    std::string out = text::escape_hidden(utf8::prefix(text, kDescribed));
    if (utf8::count_code_points(text) > kDescribed)
        out += cat(" … (cut; the call has ", text.size(), " bytes)");
    return out;
}

bool is_once(const Approval& approval) {
    return approval.resolved->answer == Answer::approve_once;
}

// Returns true if the approval is settled and no longer in force.
bool is_over(const Approval& approval, std::int64_t now_ms) {
    return approval.status != ApprovalStatus::pending && !policy::stands(approval, now_ms);
}

Failure damaged_approval(const std::string& id) {
    return fail(Errc::corrupt, "corrupt",
                cat("what is stored of the approval ", text::escape_hidden(id),
                    " is damaged, so it allows nothing. Make the call again: it asks anew"),
                {{"approval_id", id}});
}

Failure no_such_approval(const std::string& id) {
    return fail(Errc::not_found, "invalid_reference",
                cat("there is no approval '", text::escape_hidden(utf8::prefix(id, 80)),
                    "'; approvals list shows those there are"),
                {{"approval_id", id}});
}

Failure too_many(const policy::Actor& actor, std::size_t limit, bool of_all) {
    return fail(Errc::unavailable, "too_many_approvals",
                cat(of_all ? "this workspace" : actor.str(), " has ", limit,
                    " approvals that wait for a person, and may not ask for more until some are "
                    "answered"),
                {{"limit", limit}, {"actor", actor.str()}});
}

// Adds the approval's record to the batch, with the audit entry for this change.
void add_to(store::Batch& batch, const Approval& approval, ApprovalChange change,
            const policy::Actor& by, const Clock& clock) {
    batch.keep(record_key(approval.id), encode(approval));
    batch.audit.push_back(approval_entry(approval, change, by, clock));
}

store::Batch batch_of(const Approval& approval, ApprovalChange change, const policy::Actor& by,
                      const Clock& clock) {
    store::Batch batch;
    add_to(batch, approval, change, by, clock);
    return batch;
}

// Returns true if `earlier` is about a mounted tool as it was before it changed to what `now` is
// about. Such requests are dropped; otherwise a tool that changes each time would fill its agent's
// quota of requests.
bool is_of_before(const policy::Ask& earlier, const policy::Ask& now) {
    return now.target.kind == "mount" && earlier.target.kind == now.target.kind &&
           earlier.actor == now.actor && earlier.target.name == now.target.name &&
           earlier.target.schema != now.target.schema;
}

ApprovalChange answer_of(const Approval& approval) {
    switch (approval.status) {
        case ApprovalStatus::approved:
            return ApprovalChange::approved;
        case ApprovalStatus::denied:
            return ApprovalChange::denied;
        case ApprovalStatus::revoked:
            return ApprovalChange::revoked;
        case ApprovalStatus::used:
            return ApprovalChange::used;
        case ApprovalStatus::pending:
        case ApprovalStatus::outdated:
            break;
    }
    return ApprovalChange::outdated;
}

}  // namespace

// `granted` makes the check of a call without approvals one look-up.
void Approvals::State::set(Entry& entry, Approval approval) {
    entry.approval = std::move(approval);
    const Approval& now = entry.approval;
    if (now.status == ApprovalStatus::approved) {
        granted[now.ask.actor].insert(now.id);
        return;
    }
    const auto at = granted.find(now.ask.actor);
    if (at == granted.end()) return;
    at->second.erase(now.id);
    if (at->second.empty()) granted.erase(at);
}

Result<std::shared_ptr<Approvals>> Approvals::open(const Parts& parts) {
    const std::shared_ptr<Approvals> ledger(new Approvals(parts));
    std::vector<Approval> known;
    std::set<std::string> damaged;
    for (const store::KeyedRecord& record : TRY(parts.store.records(store::Table::approvals))) {
        if (record.damaged) {
            damaged.insert(record.key.key);
        } else {
            known.push_back(TRY(decode_approval(record)));
        }
    }
    ledger->state_.with([&](State& state) {
        state.damaged = std::move(damaged);
        for (Approval& approval : known) {
            Entry& entry = state.all[approval.id];
            entry.stored = true;
            state.set(entry, std::move(approval));
        }
    });
    return ledger;
}

// --- calls ---

bool Approvals::any_for(const Caller& by) const {
    return state_.with([&](const State& state) {
        return state.granted.contains(by.actor) || state.held.contains(by.call);
    });
}

// The approval leaves `granted` under the lock, so no other call finds it, and the call starts
// only once this is stored. If the store refuses, end() puts it back.
void Approvals::begin(const Caller& by, Reply<void> then) {
    if (by.call == nullptr || !any_for(by)) return then({});
    const std::string digest = digest_of(by);
    store::Batch batch;
    std::vector<std::string> taken;
    state_.with([&](State& state) {
        const auto granted = state.granted.find(by.actor);
        if (granted == state.granted.end()) return;
        for (const std::string& id : granted->second) {
            const Entry& entry = state.all.at(id);
            // One that is being taken back is nobody's any more.
            if (is_once(entry.approval) && entry.approval.ask.call == digest && !entry.answering)
                taken.push_back(id);
        }
        for (const std::string& id : taken) {
            Entry& entry = state.all.at(id);
            Approval used = entry.approval;
            used.status = ApprovalStatus::used;
            add_to(batch, used, ApprovalChange::used, by.actor, parts_.clock);
            state.set(entry, std::move(used));
            state.held[by.call].push_back({id, false});
        }
    });
    if (taken.empty()) return then({});
    parts_.store.commit(std::move(batch), [self = shared_from_this(), by,
                                           then = std::move(then)](Result<void> stored) mutable {
        if (!stored) self->end(by, true);
        then(std::move(stored));
    });
}

// An approval of a call that succeeded without using it is given back as well.
void Approvals::end(const Caller& by, bool refused) {
    if (by.call == nullptr) return;
    store::Batch batch;
    state_.with([&](State& state) {
        const auto call = state.held.find(by.call);
        if (call == state.held.end()) return;
        for (const Held& held : call->second) {
            if (held.used && !refused) continue;
            Entry& entry = state.all.at(held.id);
            Approval approval = entry.approval;
            approval.status = ApprovalStatus::approved;
            add_to(batch, approval, ApprovalChange::returned, by.actor, parts_.clock);
            state.set(entry, std::move(approval));
        }
        state.held.erase(call);
    });
    // Until it is stored a crash takes it away, and none gives one more.
    if (!batch.records.empty()) parts_.store.commit(std::move(batch), [](Result<void>) {});
}

// Approvals for a time or a scope are compared with the target. An approval for one call was
// taken by begin(), and counts as used when it is asked for here.
policy::Operations Approvals::of(const Caller& by, const policy::Target& target) {
    const std::int64_t now = parts_.clock.wall_ms();
    return state_.with([&](State& state) {
        policy::Operations out;
        const auto granted = state.granted.find(by.actor);
        if (granted != state.granted.end()) {
            for (const std::string& id : granted->second) {
                const Approval& approval = state.all.at(id).approval;
                if (is_once(approval) || !policy::stands(approval, now)) continue;
                const policy::Operation operation = approval.ask.operation;
                if (policy::covers(approval, {by.actor, operation, target, ""})) out.add(operation);
            }
        }
        if (by.call == nullptr) return out;
        const auto held = state.held.find(by.call);
        if (held == state.held.end()) return out;
        for (Held& each : held->second) {
            const Approval& approval = state.all.at(each.id).approval;
            if (approval.ask.actor != by.actor || approval.ask.target != target) continue;
            out.add(approval.ask.operation);
            each.used = true;
        }
        return out;
    });
}

// --- asking ---

struct Approvals::Asked {
    Result<Approval> approval;
    bool is_stored = false;
    store::Batch batch = {};
};

// No two requests have the same time, so lists keep the order in which they were made.
std::int64_t Approvals::free_moment(const State& state, std::int64_t now_ms) {
    const auto is_taken = [&] {
        return std::any_of(state.all.begin(), state.all.end(), [&](const auto& known) {
            return known.second.approval.asked_ms == now_ms;
        });
    };
    while (is_taken()) ++now_ms;
    return now_ms;
}

// People type ids, so they are short. 48 random bits, and a look whether one is taken.
std::string Approvals::new_id(const State& state) {
    while (true) {
        std::uint64_t number = parts_.rng.next();
        std::string id = "ap_";
        for (int i = 0; i < kIdDigits; ++i, number >>= 4U) id += kLowerHex[number & 15U];
        if (!state.all.contains(id)) return id;
    }
}

// Settled approvals are kept for a while, so that people can see the decisions. One approval is
// forgotten for each that is added, unless a call still holds it.
void Approvals::forget_oldest(State& state, store::Batch& batch) const {
    const std::int64_t now = parts_.clock.wall_ms();
    std::vector<std::pair<std::int64_t, std::string>> over;
    for (const auto& [id, entry] : state.all) {
        if (is_over(entry.approval, now) && !entry.answering)
            over.emplace_back(entry.approval.asked_ms, id);
    }
    if (over.size() < kKept) return;
    const std::string oldest = std::min_element(over.begin(), over.end())->second;
    const bool is_held = std::any_of(state.held.begin(), state.held.end(), [&](const auto& call) {
        return std::any_of(call.second.begin(), call.second.end(),
                           [&](const Held& held) { return held.id == oldest; });
    });
    if (is_held) return;
    Entry& entry = state.all.at(oldest);
    Approval gone = entry.approval;
    gone.status = ApprovalStatus::outdated;
    state.set(entry, std::move(gone));
    state.all.erase(oldest);
    batch.drop(record_key(oldest));
}

// An equal request that waits is returned as it is; if its record is not stored yet, it is stored
// again, so that nobody is told of an approval that a crash could lose. An equal request that was
// denied is refused.
Approvals::Asked Approvals::take_ask(State& state, const Caller& by, policy::Ask&& ask,
                                     Wanted&& what) {
    std::size_t pending = 0;
    std::size_t of_actor = 0;
    std::vector<std::string> earlier;
    for (auto& [id, entry] : state.all) {
        const Approval& known = entry.approval;
        const bool is_pending = known.status == ApprovalStatus::pending;
        if (known.ask == ask && is_pending && entry.stored && !entry.answering &&
            known.diff != what.diff) {
            // The text has changed since: the person sees what the call would do now.
            entry.approval.diff = std::move(what.diff);
            store::Batch batch;
            batch.keep(record_key(id), encode(entry.approval));
            return {entry.approval, false, std::move(batch)};
        }
        if (known.ask == ask && is_pending)
            return {known, entry.stored,
                    entry.stored ? store::Batch()
                                 : batch_of(known, ApprovalChange::asked, by.actor, parts_.clock)};
        if (known.ask == ask && known.status == ApprovalStatus::denied)
            return {Failure(policy::denial(known))};
        if (!is_pending) continue;
        if (entry.stored && !entry.answering && is_of_before(known.ask, ask)) {
            earlier.push_back(id);
            continue;
        }
        ++pending;
        if (known.ask.actor == ask.actor) ++of_actor;
    }
    if (of_actor >= kPendingOfOne) return {too_many(ask.actor, of_actor, false)};
    if (pending >= kPending) return {too_many(ask.actor, pending, true)};

    Approval approval;
    approval.id = new_id(state);
    approval.ask = std::move(ask);
    approval.permission = what.permission;
    approval.description =
        what.description.empty() ? description_of(*by.call) : std::move(what.description);
    approval.diff = std::move(what.diff);
    approval.asked_ms = free_moment(state, parts_.clock.wall_ms());
    store::Batch batch = batch_of(approval, ApprovalChange::asked, by.actor, parts_.clock);
    for (const std::string& id : earlier) {
        Entry& entry = state.all.at(id);
        Approval over = entry.approval;
        over.status = ApprovalStatus::outdated;
        add_to(batch, over, ApprovalChange::outdated, {policy::ActorKind::system, "quire"},
               parts_.clock);
        state.set(entry, std::move(over));
    }
    forget_oldest(state, batch);
    state.all[approval.id].approval = approval;
    return {std::move(approval), false, std::move(batch)};
}

void Approvals::ask(const Caller& by, Wanted what, Reply<Approval> reply) {
    policy::Ask ask{by.actor, what.operation, std::move(what.target), digest_of(by)};
    Asked asked = state_.with(
        [&](State& state) { return take_ask(state, by, std::move(ask), std::move(what)); });
    if (!asked.approval || asked.is_stored) return reply(std::move(asked.approval));
    parts_.store.commit(std::move(asked.batch),
                        [self = shared_from_this(), approval = std::move(*asked.approval),
                         reply = std::move(reply)](Result<void> stored) mutable {
                            self->state_.with([&](State& state) {
                                const auto at = state.all.find(approval.id);
                                if (at == state.all.end()) return;
                                if (stored) {
                                    at->second.stored = true;
                                } else if (!at->second.stored && !at->second.answering) {
                                    state.all.erase(at);
                                }
                            });
                            if (!stored) return reply(Failure(std::move(stored).error()));
                            reply(std::move(approval));
                        });
}

// --- people ---

std::vector<Approval> Approvals::list(bool all) const {
    const std::int64_t now = parts_.clock.wall_ms();
    std::vector<Approval> out;
    state_.with([&](const State& state) {
        for (const auto& [id, entry] : state.all) {
            if (entry.stored && (all || !is_over(entry.approval, now)))
                out.push_back(entry.approval);
        }
    });
    std::sort(out.begin(), out.end(),
              [](const Approval& a, const Approval& b) { return a.asked_ms < b.asked_ms; });
    return out;
}

std::vector<std::string> Approvals::damaged() const {
    return state_.with([](const State& state) {
        return std::vector<std::string>(state.damaged.begin(), state.damaged.end());
    });
}

Result<Approval> Approvals::find(const std::string& id) const {
    return state_.with([&](const State& state) -> Result<Approval> {
        const auto at = state.all.find(id);
        if (state.damaged.contains(id)) return damaged_approval(id);
        if (at == state.all.end() || !at->second.stored) return no_such_approval(id);
        return at->second.approval;
    });
}

Result<Approval> Approvals::take_answer(State& state, const std::string& id,
                                        const policy::Actor& by, const Change& change) {
    const auto at = state.all.find(id);
    if (at == state.all.end() || !at->second.stored) return no_such_approval(id);
    Entry& entry = at->second;
    if (entry.answering) {
        return fail(Errc::conflict, "already_resolved",
                    cat(entry.answering->str(), " answers approval ", id, " just now"),
                    {{"approval_id", id}, {"by", entry.answering->str()}});
    }
    Approval answered = TRY(change(entry.approval));
    entry.answering = by;
    return answered;
}

// An answer holds from when it is stored.
void Approvals::answer(const std::string& id, const policy::Actor& by, const Change& change,
                       Reply<Approval> reply) {
    Result<Approval> answered =
        state_.with([&](State& state) { return take_answer(state, id, by, change); });
    if (!answered) return reply(std::move(answered));
    store::Batch batch = batch_of(*answered, answer_of(*answered), by, parts_.clock);
    parts_.store.commit(std::move(batch),
                        [self = shared_from_this(), approval = std::move(*answered),
                         reply = std::move(reply)](Result<void> stored) mutable {
                            Listener told;
                            self->state_.with([&](State& state) {
                                Entry& entry = state.all.at(approval.id);
                                entry.answering.reset();
                                if (stored) state.set(entry, approval);
                                told = state.told;
                            });
                            if (!stored) return reply(Failure(std::move(stored).error()));
                            if (told) told(approval);
                            reply(std::move(approval));
                        });
}

void Approvals::on_answer(Listener told) {
    state_.with([&](State& state) { state.told = std::move(told); });
}

void Approvals::before_yes(Check check) {
    state_.with([&](State& state) { state.check = std::move(check); });
}

void Approvals::check(const Approval& asked, Reply<bool> reply) const {
    const Check check = state_.with([](const State& state) { return state.check; });
    if (!check) return reply(true);
    check(asked, std::move(reply));
}

void Approvals::resolve(const std::string& id, const policy::Resolution& with,
                        const policy::Actor& by, Reply<Approval> reply) {
    const std::int64_t now = parts_.clock.wall_ms();
    answer(
        id, by, [&](const Approval& approval) { return policy::resolve(approval, with, by, now); },
        std::move(reply));
}

void Approvals::outdate(const std::string& id, Reply<Approval> reply) {
    answer(
        id, {policy::ActorKind::system, "quire"},
        [](Approval approval) -> Result<Approval> {
            if (approval.status == ApprovalStatus::pending)
                approval.status = ApprovalStatus::outdated;
            return approval;
        },
        std::move(reply));
}

}  // namespace quire::kernel
