// Agents' calls, held to the rules for tools.
//
// Every agent has a ledger of what is counted over its sessions, and every session an automaton that
// admits calls. Both are under one lock, and facts go to the store in the order in which they came
// about. What the store refuses is handed over again with the agent's next call.
#include "kernel/oversight/rule_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/concat.h"
#include "json/json.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/oversight/overseer.h"
#include "sched/guarded.h"

namespace quire::kernel {
namespace {

constexpr std::string_view kToolKind = "tool";

store::RecordKey record_key(const std::string& agent, std::string fact) {
    return {.table = store::Table::rule_facts, .key = std::move(fact), .owner = agent};
}

// Reads a stored fact. Errors: corrupt, naming the agent.
Result<policy::LedgerEntry> entry_of(const store::KeyedRecord& record) {
    const Result<Value> form = json::parse(as_text(record.body));
    if (!form) {
        return corrupt(cat("what the rules counted of the calls of ", record.key.owner,
                           " is damaged in the store"));
    }
    return policy::LedgerEntry::parse(*form);
}

Failure damaged_count(const policy::Actor& actor) {
    return fail(
        Errc::corrupt, "corrupt",
        cat("nothing was done: a part of what the rules counted of the calls of ", actor.str(),
            " is damaged in the store, and counts as none from now on. Make the call again; "
            "quire fsck names the damage"),
        {{"actor", actor.str()}});
}

// The target that a person is asked to allow: a scope that rules share, or the tool.
policy::Target target_for(const policy::ToolRule& rule, const std::string& tool) {
    return {.kind = std::string(kToolKind), .name = rule.scope.empty() ? tool : rule.scope};
}

}  // namespace

// The state behind RuleCalls. Calls under way keep it alive.
struct RuleCalls::Desk : std::enable_shared_from_this<Desk> {
    // A session stays until its last call has ended, even if its client has left.
    struct Session {
        explicit Session(policy::RuleLedger& ledger) : automaton(ledger) {}
        policy::RuleAutomaton automaton;
        std::size_t under_way = 0;
        bool closed = false;
    };
    // The counts of one agent, over all its sessions.
    struct Agent {
        Agent(std::shared_ptr<const policy::RuleSet> rules, const Clock& clock)
            : ledger(std::move(rules), clock) {}
        policy::RuleLedger ledger;
        std::map<std::uint64_t, Session> sessions = {};
        // Conversations that were not there when a call in them was admitted, with how many such
        // calls are under way. What they count is not stored before they are there.
        std::map<std::string, std::size_t, std::less<>> awaited = {};

        // Returns true if nothing is remembered of the agent beyond its sessions.
        bool is_forgotten() const {
            return sessions.empty() && ledger.rules().remembered(policy::Per::persistent).empty() &&
                   ledger.rules().remembered(policy::Per::conversation).empty();
        }
    };
    struct State {
        std::map<std::string, Agent, std::less<>> agents;
        // Facts that the store had, until the agent comes.
        std::map<std::string, std::vector<policy::LedgerEntry>, std::less<>> stored;
        // Agents of whom a stored fact is damaged, until they are told.
        std::set<std::string, std::less<>> damaged;
    };

    // For each agent, the facts that the store refused.
    using Refused = std::map<std::string, std::vector<policy::LedgerEntry>, std::less<>>;

    Desk(Kernel& kernel, policy::RuleBook rules)
        : core(kernel.core()),
          overseer(Overseer::of(kernel)),
          held_book(std::make_shared<const policy::RuleBook>(std::move(rules))) {}

    // The rules that hold now.
    std::shared_ptr<const policy::RuleBook> book() const {
        return held_book.with([](const auto& held) { return held; });
    }

    // The agent's state. Its stored facts are restored at its first call.
    Agent& agent(State& all, const policy::Actor& actor) const {
        const auto at = all.agents.find(actor.name);
        if (at != all.agents.end()) return at->second;
        Agent& made =
            all.agents.try_emplace(actor.name, book()->rules_for(actor.name), core->parts().clock)
                .first->second;
        if (const auto known = all.stored.find(actor.name); known != all.stored.end()) {
            made.ledger.restore(known->second);
            all.stored.erase(known);
        }
        return made;
    }
    Session& session(State& all, const Caller& by) const {
        Agent& of = agent(all, by.actor);
        return of.sessions.try_emplace(by.session, of.ledger).first->second;
    }
    // Stores the facts that changed. Called under the lock, so the store gets them in the order
    // in which they arose. Facts about a conversation that does not exist yet wait for it.
    void keep(Agent& of, const std::string& name) {
        refused.with([&](Refused& all) {
            if (const auto mine = all.extract(name)) of.ledger.not_kept(mine.mapped());
        });
        if (!of.ledger.has_changes()) return;
        std::vector<policy::LedgerEntry> changes = of.ledger.take_changes();
        const auto waits = std::stable_partition(
            changes.begin(), changes.end(), [&](const policy::LedgerEntry& entry) {
                return !entry.conversation || !of.awaited.contains(*entry.conversation);
            });
        of.ledger.not_kept(std::span(waits, changes.end()));
        changes.erase(waits, changes.end());
        if (changes.empty()) return;
        store::Batch batch;
        for (const policy::LedgerEntry& entry : changes)
            batch.keep(record_key(name, entry.key()), json::write(entry.value()));
        // The call's own changes are stored after this, or not at all. Facts that a full disk
        // refused go with the agent's next call.
        core->parts().store.commit(
            std::move(batch),
            [desk = weak_from_this(), name, changes = std::move(changes)](Result<void> stored) {
                const auto self = stored ? nullptr : desk.lock();
                if (self == nullptr) return;
                self->refused.with([&](Refused& all) {
                    auto& mine = all[name];
                    mine.insert(mine.end(), changes.begin(), changes.end());
                });
            });
    }

    bool is_there(const std::string& conversation) const {
        return core->catalog().is_taken({kConversationKind, conversation});
    }
    // Called when a call in the conversation has ended. The last of the calls that awaited the
    // conversation decides: if it still does not exist, its counts are forgotten. Earlier ones
    // cannot, because the others may still create it.
    void settle(Agent& of, const std::string& conversation) const {
        const auto waits = of.awaited.find(conversation);
        if (waits == of.awaited.end() || --waits->second != 0) return;
        of.awaited.erase(waits);
        if (!is_there(conversation)) of.ledger.forget(conversation);
    }
    // The conversation in which a call counts; "" for none.
    std::string conversation_of(const Facts& facts) const {
        std::string name = facts.conversation;
        if (name.empty()) name = core->conversation_of(facts.block_id);
        if (name.empty() && facts.block_id.empty()) {
            const auto rules = book();
            if (const policy::KnownTool* const tool = rules->catalog().find(facts.tool))
                name = tool->conversation;
        }
        return is_conversation_name(name) ? name : "";
    }

    // Admits the call and stores what that changed, in one step under the lock.
    policy::Admission admit(const Caller& by, const policy::ToolCall& call) {
        return state.with([&](State& all) {
            Session& at = session(all, by);
            policy::Admission admission = at.automaton.admit(call);
            Agent& of = agent(all, by.actor);
            if (admission.ticket) {
                ++at.under_way;
                const std::string& in = admission.ticket->conversation();
                if (!in.empty() && (of.awaited.contains(in) || !is_there(in))) ++of.awaited[in];
            }
            keep(of, by.actor.name);
            return admission;
        });
    }

    const std::shared_ptr<Core> core;
    Overseer& overseer;
    sched::Guarded<std::shared_ptr<const policy::RuleBook>> held_book;
    sched::Guarded<State> state;
    // With a lock of its own: a store may answer where it is asked, which is under the other.
    sched::Guarded<Refused> refused;
};

RuleCalls::RuleCalls(Kernel& kernel, policy::RuleBook book)
    : desk_(std::make_shared<Desk>(kernel, std::move(book))) {}
RuleCalls::~RuleCalls() = default;

// Drops the facts of conversations that no longer exist.
Result<std::unique_ptr<RuleCalls>> RuleCalls::open(Kernel& kernel, policy::RuleBook book) {
    std::unique_ptr<RuleCalls> made(new RuleCalls(kernel, std::move(book)));
    store::Batch vanished;
    store::Store& store = kernel.core()->parts().store;
    for (const store::KeyedRecord& record : TRY(store.records(store::Table::rule_facts))) {
        if (record.damaged) {
            made->desk_->state.with(
                [&](Desk::State& state) { state.damaged.insert(record.key.owner); });
            continue;
        }
        policy::LedgerEntry entry = TRY(entry_of(record));
        if (entry.conversation && !made->desk_->is_there(*entry.conversation)) {
            vanished.drop(record.key);
            continue;
        }
        made->desk_->state.with([&](Desk::State& state) {
            state.stored[record.key.owner].push_back(std::move(entry));
        });
    }
    // Facts that the store refuses to forget now are forgotten at another start.
    if (!vanished.records.empty()) store.commit(std::move(vanished), [](const Result<void>&) {});
    return made;
}

std::shared_ptr<const policy::RuleSet> RuleCalls::rules_of(const policy::Actor& actor) const {
    return policy::is_governed(actor) ? desk_->book()->rules_for(actor.name) : nullptr;
}

std::vector<std::shared_ptr<const policy::RuleSet>> RuleCalls::all() const {
    return desk_->book()->all();
}

policy::ToolCatalog RuleCalls::catalog() const {
    return desk_->book()->catalog();
}

void RuleCalls::replace(policy::RuleBook book) {
    auto next = std::make_shared<const policy::RuleBook>(std::move(book));
    desk_->state.with([&](Desk::State& state) {
        for (auto& [name, agent] : state.agents) {
            agent.ledger.adopt(next->rules_for(name));
            for (auto& [number, session] : agent.sessions) session.automaton.follow_ledger();
        }
        desk_->held_book.with([&](auto& held) { held = std::move(next); });
    });
}

std::optional<Error> RuleCalls::refusal(const Caller& by, const Facts& facts) {
    if (!policy::is_governed(by.actor)) return std::nullopt;
    const std::string conversation = desk_->conversation_of(facts);
    return desk_->state.with([&](Desk::State& state) {
        return desk_->session(state, by)
            .automaton.decide({facts.tool, facts.operation, conversation})
            .error;
    });
}

// A rule that requires consent makes the first decision an escalation. If a person has approved
// every target, the call is decided again as consented; the other rules still apply to it.
void RuleCalls::admit(const Caller& by, const Facts& facts, Reply<Admitted> reply) {
    if (!policy::is_governed(by.actor)) return reply(Admitted());
    if (desk_->state.with([&](Desk::State& state) { return state.damaged.erase(by.actor.name); }) >
        0)
        return reply(Failure(damaged_count(by.actor)));
    const std::string conversation = desk_->conversation_of(facts);
    policy::ToolCall call{facts.tool, facts.operation, conversation};
    policy::Admission admission = desk_->admit(by, call);
    if (admission.decision.verdict == policy::Verdict::escalate) {
        const auto rules = desk_->book()->rules_for(by.actor.name);
        for (const std::size_t each : admission.decision.asks) {
            policy::Target target = target_for(rules->rule(each), facts.tool);
            if (desk_->overseer.approved(by, target).has(policy::Operation::execute)) continue;
            return desk_->overseer.ask(
                by,
                Approvals::Wanted{policy::Operation::execute, policy::Permission::human,
                                  std::move(target)},
                std::move(*admission.decision.error),
                [reply = std::move(reply)](Error told) mutable {
                    reply(Failure(std::move(told)));
                });
        }
        call.consented = true;
        admission = desk_->admit(by, call);
    }
    if (!admission.ticket) return reply(Failure(std::move(*admission.decision.error)));
    reply(std::move(admission.ticket));
}

policy::LoopStep RuleCalls::end(const Caller& by, Admitted admitted, bool success) {
    if (!admitted) return policy::LoopStep::none;
    return desk_->state.with([&](Desk::State& state) {
        Desk::Agent& agent = desk_->agent(state, by.actor);
        Desk::Session& session = desk_->session(state, by);
        const std::string conversation = admitted->conversation();
        const policy::LoopStep step = session.automaton.finish(std::move(*admitted), success);
        desk_->settle(agent, conversation);
        desk_->keep(agent, by.actor.name);
        if (--session.under_way == 0 && session.closed) agent.sessions.erase(by.session);
        if (agent.is_forgotten()) state.agents.erase(by.actor.name);
        return step;
    });
}

std::optional<policy::LoopReport> RuleCalls::report(const Caller& by) {
    if (!policy::is_governed(by.actor)) return std::nullopt;
    return desk_->state.with([&](Desk::State& state) -> std::optional<policy::LoopReport> {
        const auto agent = state.agents.find(by.actor.name);
        if (agent == state.agents.end()) return std::nullopt;
        const auto session = agent->second.sessions.find(by.session);
        if (session == agent->second.sessions.end()) return std::nullopt;
        return session->second.automaton.report();
    });
}

void RuleCalls::close_session(const Caller& by) {
    desk_->state.with([&](Desk::State& state) {
        const auto agent = state.agents.find(by.actor.name);
        if (agent == state.agents.end() || !policy::is_governed(by.actor)) return;
        const auto session = agent->second.sessions.find(by.session);
        if (session == agent->second.sessions.end()) return;
        session->second.closed = true;
        if (session->second.under_way == 0) agent->second.sessions.erase(session);
        if (agent->second.is_forgotten()) state.agents.erase(agent);
    });
}

}  // namespace quire::kernel
