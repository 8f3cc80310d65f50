// Random rules and random clients: the automaton says what the naive model says, at every step.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "crdt/undo/random_script_for_test.h"
#include "json/json.h"
#include "policy/rule_automaton.h"
#include "tests/model/random_rules.h"
#include "tests/model/rules_model.h"

namespace quire {
namespace {

using crdt::Draws;
using crdt::Move;
using crdt::Played;
using crdt::Script;
using crdt::Tape;
using rules_model::PlantedFault;

// The two clocks of a machine apart, as after a restart.
class TwoClocks final : public Clock {
public:
    std::int64_t wall_ms() const override { return wall_; }
    std::int64_t steady_ms() const override { return steady_; }
    void advance(std::int64_t ms) { wall_ += ms, steady_ += ms; }
    void boot(std::int64_t steady, std::int64_t wall_by) { steady_ = steady, wall_ += wall_by; }
    rules_model::Now now() const { return {steady_, wall_}; }

private:
    std::int64_t wall_ = 1'700'000'000'000;
    std::int64_t steady_ = 5'000;
};

template <class Names>
std::string words(const Names& names) {
    std::string out;
    for (const auto& name : names) cat_to(out, cat(" ", name));
    return out;
}

std::string words(const Value* list) {
    std::string out;
    for (const Value& each : list == nullptr ? List() : list->as_list())
        cat_to(out, cat(" ", each.as_string()));
    return out;
}

// One agent with its sessions, and the model beside it.
class Client {
public:
    Client(std::vector<policy::ToolRule> common, std::vector<policy::ToolRule> own,
           PlantedFault fault)
        : rules_(std::make_shared<const policy::RuleSet>(
              std::make_shared<const policy::ToolCatalog>(rules_model::few_tools()), common, own)),
          model_(rules_model::few_tools(), std::move(common), std::move(own), fault) {
        boot();
    }

    // Returns the difference; "" if there is none.
    std::string step(Tape& tape, std::vector<std::string>& told) {
        clock_.advance(std::vector<std::int64_t>{0, 1, 4, 30}[tape.pick(4)]);
        const std::size_t what = tape.pick(16);
        if (what == 0) return restart(tape, told);
        if (what == 1 || sessions_.empty()) {
            told.emplace_back("a new session");
            sessions_.push_back({policy::RuleAutomaton(*ledger_), model_.new_session()});
        }
        if (what <= 6 && !running_.empty()) return finish(tape, told);
        return call(tape, told);
    }

private:
    struct Session {
        policy::RuleAutomaton automaton;
        std::size_t in_model;
    };
    struct Running {
        std::size_t session;
        policy::Ticket ticket;
        std::size_t in_model;
        std::string tool;
    };

    void boot() { ledger_ = std::make_unique<policy::RuleLedger>(rules_, clock_); }

    std::string restart(Tape& tape, std::vector<std::string>& told) {
        told.emplace_back("a restart");
        keep();
        running_.clear();
        sessions_.clear();
        clock_.boot(static_cast<std::int64_t>(tape.pick(100)),
                    static_cast<std::int64_t>(tape.pick(60)) - 20);
        boot();
        std::vector<policy::LedgerEntry> entries;
        for (const auto& [key, text] : kept_) {
            const auto entry = policy::LedgerEntry::parse(*json::parse(text));
            if (!entry || entry->key() != key) return "a kept entry does not read back";
            entries.push_back(*entry);
        }
        ledger_->restore(entries);
        model_.restart(clock_.now());
        return "";
    }

    void keep() {
        for (const policy::LedgerEntry& entry : ledger_->take_changes())
            kept_[entry.key()] = json::write(entry.value());
    }

    std::string finish(Tape& tape, std::vector<std::string>& told) {
        const std::size_t which = tape.pick(running_.size());
        Running done = std::move(running_[which]);
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
        const bool success = tape.pick(4) != 3;
        told.push_back(cat(done.tool, success ? " succeeds" : " fails"));
        const auto step = sessions_[done.session].automaton.finish(std::move(done.ticket), success);
        const auto expected = model_.finish(done.in_model, success, clock_.now());
        if (static_cast<int>(step) != static_cast<int>(expected)) return "another step of the loop";
        return compare_reports(done.session);
    }

    std::string call(Tape& tape, std::vector<std::string>& told) {
        const std::size_t session = tape.pick(sessions_.size());
        const auto tools = rules_->catalog().tools();
        const policy::KnownTool& tool = tools[tape.pick(tools.size())];
        rules_model::Asked asked;
        asked.session = sessions_[session].in_model;
        asked.tool = tool.name;
        if (!tool.operations.empty())
            asked.operation = tool.operations[tape.pick(tool.operations.size())];
        asked.conversation = std::vector{"", "x", "y"}[tape.pick(3)];
        asked.consented = tape.pick(2) == 0;
        told.push_back(cat("session ", session, " calls ", asked.tool, " ", asked.operation,
                           " in '", asked.conversation, "'",
                           asked.consented ? " with consent" : ""));

        policy::RuleAutomaton& automaton = sessions_[session].automaton;
        const policy::ToolCall call{asked.tool, asked.operation, asked.conversation,
                                    asked.consented};
        const rules_model::Answer expected = model_.ask(asked, clock_.now());
        if (std::string wrong = look(automaton, call); !wrong.empty()) return wrong;
        policy::Admission admission = automaton.admit(call);
        std::string wrong = compare(admission.decision, expected);
        if (!wrong.empty()) return wrong;
        if (admission.ticket) {
            running_.push_back({session, std::move(*admission.ticket),
                                model_.begin(asked, clock_.now()), asked.tool});
        } else {
            model_.note_refused(asked, clock_.now());
        }
        if (tape.pick(3) == 0) keep();
        return compare_reports(session);
    }

    std::string compare(const policy::CallDecision& decision,
                        const rules_model::Answer& expected) const {
        const std::string reason = decision.error ? decision.error->reason() : "";
        const auto line = [&](std::size_t rule) { return rules_->rule(rule).line; };
        if (reason != expected.reason)
            return cat("'", reason, "' where the model says '", expected.reason, "'");
        if (decision.rule.has_value() != expected.line.has_value() ||
            (decision.rule && line(*decision.rule) != *expected.line))
            return "another rule refuses";
        std::vector<std::size_t> asks;
        for (const std::size_t rule : decision.asks) asks.push_back(line(rule));
        if (asks != expected.asks) return "other rules ask";
        if (!decision.error) return "";
        const Map& details = decision.error->details();
        if (words(details.find("missing")) != words(expected.missing)) return "other tools miss";
        if (words(details.find("called")) != words(expected.called))
            return "other tools were called";
        const Value* retry = details.find("retry_after_ms");
        if ((retry == nullptr ? 0 : retry->as_int()) != expected.retry_after_ms)
            return "another time to wait";
        return "";
    }

    // explain() says what admit() does, and why; the next call that a refusal names is admitted.
    std::string look(const policy::RuleAutomaton& automaton, const policy::ToolCall& call) const {
        const policy::CallDecision seen = automaton.explain(call);
        // A refusal of an operation that the tool does not have comes before one about the moment.
        const auto first_refusing = [&](bool gating) {
            return std::find_if(
                seen.trace.begin(), seen.trace.end(), [&](const policy::RuleLook& look) {
                    const auto type = rules_->rule(look.rule).type;
                    return look.outcome == policy::RuleLook::Outcome::refuses &&
                           (!gating || type == policy::RuleType::allowed_operations);
                });
        };
        const auto gates = first_refusing(true);
        const auto refuses = gates != seen.trace.end() ? gates : first_refusing(false);
        if ((refuses != seen.trace.end()) != (seen.verdict == policy::Verdict::deny))
            return "the trace refuses what is not refused, or the other way round";
        if (refuses != seen.trace.end() && refuses->rule != seen.rule)
            return "the trace has another rule refuse first";
        const Value* next = seen.error && seen.error->details().contains("next")
                                ? seen.error->details().find("next")
                                : nullptr;
        if (next == nullptr) return "";
        const policy::KnownTool* tool = rules_->catalog().find(next->as_string());
        std::vector<std::string> operations = tool->operations;
        if (operations.empty()) operations.emplace_back();
        const bool any = std::any_of(operations.begin(), operations.end(), [&](const auto& word) {
            return automaton.decide({tool->name, word, call.conversation, false}).verdict !=
                   policy::Verdict::deny;
        });
        return any ? "" : cat("it names ", tool->name, " as the next call, and that is refused");
    }

    std::string compare_reports(std::size_t session) const {
        const policy::LoopReport seen = sessions_[session].automaton.report();
        const rules_model::Report expected =
            model_.report(sessions_[session].in_model, clock_.now());
        if (seen.running != expected.running || seen.loops_ended != expected.loops_ended)
            return "another loop";
        if (seen.may_exit != expected.outstanding.empty()) return "may_exit differs";
        std::vector<rules_model::Outstanding> outstanding;
        for (const auto& each : seen.outstanding)
            outstanding.push_back({rules_->rule(each.rule).line, each.tools});
        if (outstanding != expected.outstanding) return "something else is outstanding";
        if (seen.start_with != expected.start_with) return "another beginning";
        std::vector<std::pair<std::size_t, std::int64_t>> overdue;
        for (const auto& each : seen.overdue)
            overdue.emplace_back(rules_->rule(each.rule).line, each.by_ms);
        return overdue == expected.overdue ? "" : "something else is overdue";
    }

    TwoClocks clock_;
    std::shared_ptr<const policy::RuleSet> rules_;
    rules_model::Rules model_;
    std::unique_ptr<policy::RuleLedger> ledger_;
    std::vector<Session> sessions_;
    std::vector<Running> running_;
    std::map<std::string, std::string> kept_;
};

// The edits of the first move are the rules.
Played play(Tape& tape, Script& script, PlantedFault fault) {
    Played out;
    if (script.empty()) return out;
    tape.turn_to(script[0].choice);
    if (tape.is_random()) script[0].edits.resize(tape.pick(14));
    // Fewer types of rules are drawn here, so that several rules are about one tool.
    const bool demanding = tape.pick(3) == 1;
    auto rules = rules_model::random_rules(tape, script[0].edits, {.demanding = demanding});
    for (const auto* level : {&rules.common, &rules.own}) {
        for (const policy::ToolRule& rule : *level) {
            out.told.push_back(
                cat(level == &rules.own ? "own " : "common ", json::write(policy::as_value(rule))));
        }
    }
    Client client(std::move(rules.common), std::move(rules.own), fault);
    out.failure = crdt::first_failure(script, [&](Move& move) {
        tape.turn_to(move.between);
        return client.step(tape, out.told);
    });
    return out;
}

TEST(RulesModel, TheAutomatonDecidesAsTheDefinitionsDo) {
    crdt::play_seeds(
        1, 60, [](Tape& tape, Script& script) { return play(tape, script, PlantedFault::none); });
}

TEST(RulesModel, APlantedFaultInTheModelIsFound) {
    for (const PlantedFault fault : rules_model::kFaults) {
        bool found = false;
        for (unsigned seed = 1; !found && seed <= 1'000; ++seed) {
            Script script(60);
            Tape tape(seed);
            found = play(tape, script, fault).failure.has_value();
        }
        EXPECT_TRUE(found) << "fault " << static_cast<int>(fault);
    }
}

// The list shows exactly the operations of a tool that may be called.
TEST(RulesModel, NoListedOperationIsRefusedForGatingAndNoUnlistedOneRuns) {
    crdt::play_seeds(1, 1, [](Tape& tape, Script& script) {
        Played out;
        if (script.empty()) return out;
        tape.turn_to(script[0].choice);
        if (tape.is_random()) script[0].edits.resize(tape.pick(12));
        auto drawn = rules_model::random_rules(tape, script[0].edits, {.gating = true});
        const auto rules = std::make_shared<const policy::RuleSet>(
            std::make_shared<const policy::ToolCatalog>(rules_model::few_tools()),
            std::move(drawn.common), std::move(drawn.own));
        const ManualClock clock;
        policy::RuleLedger ledger(rules, clock);
        const policy::RuleAutomaton automaton(ledger);
        for (const policy::KnownTool& tool : rules->catalog().tools()) {
            const auto listed = rules->allowed_operations(tool.name);
            std::vector<std::string> operations = tool.operations;
            operations.emplace_back("");
            operations.emplace_back("nonsense");
            for (const std::string& word : operations) {
                const bool is_listed =
                    !listed || std::find(listed->begin(), listed->end(), word) != listed->end();
                const auto decision = automaton.decide({tool.name, word, "", true});
                const bool gated =
                    decision.error && decision.error->reason() == "operation_not_allowed";
                if (is_listed ? gated : decision.verdict == policy::Verdict::allow)
                    out.failure = cat(tool.name, " ", word);
            }
            if (rules->is_listed(tool.name) != (!listed || !listed->empty()))
                out.failure = cat(tool.name, " is listed with nothing to do");
        }
        return out;
    });
}

}  // namespace
}  // namespace quire
