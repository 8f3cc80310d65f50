#include "tests/model/rules_model.h"

#include <algorithm>
#include <set>

#include "base/concat.h"

namespace quire::rules_model {

using policy::Per;
using policy::RuleType;
using policy::ToolRule;

namespace {

bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::size_t kNow = static_cast<std::size_t>(-1);

}  // namespace

Rules::Rules(policy::ToolCatalog catalog, std::vector<ToolRule> common, std::vector<ToolRule> own,
             PlantedFault fault)
    : catalog_(std::move(catalog)), fault_(fault) {
    for (ToolRule& rule : common) rules_.push_back({std::move(rule), 0});
    for (ToolRule& rule : own) rules_.push_back({std::move(rule), 1});
    if (fault_ == PlantedFault::priority_ignored) return;
    std::stable_sort(rules_.begin(), rules_.end(), [](const Placed& a, const Placed& b) {
        return a.rule.priority > b.rule.priority;
    });
}

// --- which rule is about which tool ---

bool Rules::is_named(int level, RuleType type, const std::string& tool) const {
    if (fault_ == PlantedFault::wildcard_beside_named) return false;
    return std::any_of(rules_.begin(), rules_.end(), [&](const Placed& each) {
        return each.level == level && each.rule.type == type && each.rule.tool == tool;
    });
}

bool Rules::is_exit(const std::string& tool) const {
    return std::any_of(rules_.begin(), rules_.end(), [&](const Placed& each) {
        return each.rule.type == RuleType::exit_loop && is_about(each, tool);
    });
}

bool Rules::has_exits() const {
    const auto tools = catalog_.tools();
    return std::any_of(tools.begin(), tools.end(),
                       [&](const policy::KnownTool& tool) { return is_exit(tool.name); });
}

bool Rules::is_start(const std::string& tool) const {
    return std::any_of(rules_.begin(), rules_.end(), [&](const Placed& each) {
        return each.rule.type == RuleType::start_constraint && each.rule.tool == tool;
    });
}

bool Rules::is_about(const Placed& placed, const std::string& tool) const {
    const ToolRule& rule = placed.rule;
    if (rule.tool != "*") return rule.tool == tool;
    if (rule.type == RuleType::exit_loop || rule.type == RuleType::continue_loop) {
        return !is_named(placed.level, RuleType::exit_loop, tool) &&
               !is_named(placed.level, RuleType::continue_loop, tool);
    }
    if (is_named(placed.level, rule.type, tool) || has(rule.tools, tool)) return false;
    return rule.type != RuleType::requires_following_tools || !is_exit(tool);
}

bool Rules::leaves_groups(const Placed& placed, const std::string& tool) const {
    return placed.rule.tool == "*" && is_named(placed.level, RuleType::exclusive_groups, tool);
}

// --- what was called ---

std::size_t Rules::new_session() {
    loops_ended_.push_back(0);
    return loops_ended_.size() - 1;
}

void Rules::restart(Now now) {
    ++boot_;
    booted_ = now;
}

std::size_t Rules::begin(const Asked& asked, Now now) {
    Call call;
    call.session = asked.session;
    call.loop = loops_ended_[asked.session];
    call.tool = asked.tool;
    call.conversation = asked.conversation;
    call.start_ms = call.end_ms = now.steady_ms;
    call.wall_ms = now.wall_ms;
    call.boot = boot_;
    calls_.push_back(std::move(call));
    return calls_.size() - 1;
}

void Rules::note_refused(const Asked& asked, Now now) {
    if (fault_ == PlantedFault::refused_calls_count) calls_[begin(asked, now)].was_refused = true;
}

Rules::Step Rules::finish(std::size_t index, bool success, Now now) {
    Call& call = calls_[index];
    call.is_over = true;
    call.end_ms = now.steady_ms;
    if (!success) return Step::none;
    call.succeeded = ++successes_;
    if (call.loop != loops_ended_[call.session]) return Step::none;
    if (is_exit(call.tool)) {
        ++loops_ended_[call.session];
        return Step::ended;
    }
    for (const Placed& each : rules_) {
        if (each.rule.type == RuleType::continue_loop && is_about(each, call.tool))
            return Step::goes_on;
    }
    return Step::none;
}

bool Rules::within(const Call& call, Per per, const Asked& asked) const {
    const bool same_session =
        call.session == asked.session || fault_ == PlantedFault::sessions_are_one;
    switch (per) {
        case Per::session:
            return same_session;
        case Per::conversation:
            return call.conversation == asked.conversation &&
                   (!asked.conversation.empty() || same_session);
        case Per::persistent:
            return true;
    }
    return false;
}

bool Rules::counts_as_called(const Call& call) const {
    return fault_ != PlantedFault::running_is_free || call.is_over;
}

bool Rules::counts_as_done(const Call& call) const {
    return !call.was_refused &&
           (call.succeeded != 0 || (fault_ == PlantedFault::failures_satisfy && call.is_over));
}

std::int64_t Rules::passed_since(const Call& call, Now now) const {
    if (call.boot == boot_) {
        return now.steady_ms -
               (fault_ == PlantedFault::cooldown_from_end ? call.end_ms : call.start_ms);
    }
    return std::max<std::int64_t>(0, booted_.wall_ms - call.wall_ms) +
           (now.steady_ms - booted_.steady_ms);
}

// The last success of the tool in the loop that runs; 0 if there is none.
std::size_t Rules::last_success(std::size_t session, const std::string& tool) const {
    std::size_t last = 0;
    for (const Call& call : calls_) {
        const bool in_loop =
            call.loop == loops_ended_[session] || fault_ == PlantedFault::loops_are_one;
        if (call.session == session && in_loop && call.tool == tool)
            last = std::max(last, call.succeeded);
    }
    return last;
}

bool Rules::has_succeeded_in_loop(std::size_t session, const std::string& tool) const {
    return last_success(session, tool) != 0;
}

std::vector<std::string> Rules::in_order(std::vector<std::string> tools) const {
    std::vector<std::string> out;
    for (const policy::KnownTool& tool : catalog_.tools()) {
        if (has(tools, tool.name)) out.push_back(tool.name);
    }
    return out;
}

// Returns the tools that the rule still demands before the loop ends, if `ending` ("" for nothing)
// were the last to succeed. A rule may be about several tools: if something ends the loop, the
// answer is for the first of them that has something outstanding, otherwise for all of them.
std::vector<std::string> Rules::owed(const Placed& placed, std::size_t session,
                                     const std::string& ending, bool& is_owed) const {
    const ToolRule& rule = placed.rule;
    const auto when = [&](const std::string& tool) {
        return tool == ending ? kNow : last_success(session, tool);
    };
    if (rule.type == RuleType::required_before_exit) {
        is_owed = when(rule.tool) == 0;
        return is_owed ? std::vector{rule.tool} : std::vector<std::string>();
    }
    if (rule.type == RuleType::required_before_exit_if) {
        is_owed = when(rule.tool) == 0 &&
                  std::any_of(rule.tools.begin(), rule.tools.end(),
                              [&](const std::string& tool) { return when(tool) != 0; });
        return is_owed ? std::vector{rule.tool} : std::vector<std::string>();
    }
    std::vector<std::string> out;
    for (const policy::KnownTool& tool : catalog_.tools()) {
        if (!is_about(placed, tool.name) || when(tool.name) == 0) continue;
        if (tool.name == ending) {
            is_owed = true;
            return {};  // Nothing can follow what ends the loop.
        }
        for (const std::string& next : rule.tools) {
            if (when(next) <= when(tool.name)) out.push_back(next);
        }
        is_owed = !out.empty();
        if (is_owed && !ending.empty()) break;
    }
    return in_order(out);
}

std::int64_t Rules::times_called(const std::string& tool, Per per, const Asked& asked) const {
    return std::count_if(calls_.begin(), calls_.end(), [&](const Call& call) {
        return call.tool == tool && within(call, per, asked) && counts_as_called(call);
    });
}

// How long a cooldown still lasts; not above 0 where it does not.
std::int64_t Rules::wait_of(const ToolRule& rule, const Asked& asked, Now now) const {
    const Call* last = nullptr;
    for (const Call& call : calls_) {
        if (call.tool == asked.tool && within(call, rule.per, asked) && !call.was_refused &&
            counts_as_called(call))
            last = &call;
    }
    return last == nullptr ? 0 : rule.number - passed_since(*last, now);
}

// The others of the first group of which another was called.
std::vector<std::string> Rules::called_beside(const Placed& placed, const Asked& asked) const {
    for (const auto& group : placed.rule.groups) {
        if (!has(group, asked.tool) || leaves_groups(placed, asked.tool)) continue;
        std::vector<std::string> called;
        for (const std::string& other : group) {
            if (other == asked.tool || leaves_groups(placed, other)) continue;
            if (times_called(other, placed.rule.per, asked) > 0) called.push_back(other);
        }
        if (!called.empty()) return in_order(called);
    }
    return {};
}

std::optional<Answer> Rules::refusal(const Placed& placed, const Asked& asked, Now now) const {
    const ToolRule& rule = placed.rule;
    Answer out;
    out.line = rule.line;
    switch (rule.type) {
        case RuleType::allowed_operations:
            if (!is_about(placed, asked.tool) || has(rule.operations, asked.operation)) break;
            out.reason = "operation_not_allowed";
            return out;
        case RuleType::max_calls:
            if (!is_about(placed, asked.tool) ||
                times_called(asked.tool, rule.per, asked) < rule.number)
                break;
            out.reason = "max_calls_exceeded";
            return out;
        case RuleType::cooldown:
            out.retry_after_ms = is_about(placed, asked.tool) ? wait_of(rule, asked, now) : 0;
            if (out.retry_after_ms <= 0) break;
            out.reason = "cooldown_active";
            return out;
        case RuleType::requires_preceding_tools:
            if (!is_about(placed, asked.tool)) break;
            for (const std::string& before : rule.tools) {
                const bool done = std::any_of(calls_.begin(), calls_.end(), [&](const Call& call) {
                    return call.tool == before && within(call, rule.per, asked) &&
                           counts_as_done(call);
                });
                if (!done) out.missing.push_back(before);
            }
            out.missing = in_order(out.missing);
            if (out.missing.empty()) break;
            out.reason = "prerequisites_not_met";
            return out;
        case RuleType::exclusive_groups:
            out.called = called_beside(placed, asked);
            if (out.called.empty()) break;
            out.reason = "exclusive_group_violation";
            return out;
        case RuleType::start_constraint:
            if (is_start(asked.tool) || last_success(asked.session, rule.tool) != 0) break;
            for (const policy::KnownTool& tool : catalog_.tools()) {
                if (is_start(tool.name) && last_success(asked.session, tool.name) == 0)
                    out.missing.push_back(tool.name);
            }
            out.reason = "start_constraints_not_met";
            return out;
        case RuleType::requires_following_tools:
        case RuleType::required_before_exit:
        case RuleType::required_before_exit_if: {
            bool is_owed = false;
            if (!is_exit(asked.tool)) break;
            out.missing = owed(placed, asked.session, asked.tool, is_owed);
            if (!is_owed) break;
            out.reason = "ordering_violation";
            return out;
        }
        case RuleType::continue_loop:
        case RuleType::exit_loop:
        case RuleType::periodic:
        case RuleType::requires_consent:
        case RuleType::needed:
            break;
    }
    return std::nullopt;
}

Answer Rules::ask(const Asked& asked, Now now) const {
    std::optional<Answer> first;
    std::int64_t wait = 0;
    for (const Placed& each : rules_) {
        const auto refused = refusal(each, asked, now);
        if (!refused) continue;
        wait = std::max(wait, refused->retry_after_ms);
        // An operation that the agent has not is told as that, whatever else refuses it.
        const auto gates = [](const Answer& of) { return of.reason == "operation_not_allowed"; };
        if (!first || (gates(*refused) && !gates(*first))) first = refused;
    }
    if (first) {
        first->retry_after_ms = first->reason == "cooldown_active" ? wait : 0;
        return *first;
    }
    Answer out;
    for (const Placed& each : rules_) {
        const bool asks =
            each.rule.type == RuleType::requires_consent && is_about(each, asked.tool);
        if (asks && !asked.consented) out.asks.push_back(each.rule.line);
    }
    if (out.asks.empty()) return out;
    out.reason = "escalation_required";
    out.line = out.asks.front();
    return out;
}

Report Rules::report(std::size_t session, Now now) const {
    Report out;
    out.loops_ended = loops_ended_[session];
    const auto in_loop = [&](const Call& call) {
        return call.session == session && call.loop == loops_ended_[session] && !call.was_refused;
    };
    const auto first = std::find_if(calls_.begin(), calls_.end(), in_loop);
    out.running = first != calls_.end();
    for (const Placed& each : rules_) {
        const RuleType type = each.rule.type;
        if (type == RuleType::required_before_exit || type == RuleType::required_before_exit_if ||
            type == RuleType::requires_following_tools) {
            bool is_owed = false;
            std::vector<std::string> tools = owed(each, session, "", is_owed);
            if (is_owed) out.outstanding.push_back({each.rule.line, std::move(tools)});
        }
        if (type == RuleType::periodic && out.running) {
            std::int64_t since = first->start_ms;
            for (const Call& call : calls_) {
                if (in_loop(call) && call.tool == each.rule.tool) since = call.start_ms;
            }
            const std::int64_t by = now.steady_ms - since - each.rule.number;
            if (by > 0) out.overdue.emplace_back(each.rule.line, by);
        }
    }
    for (const policy::KnownTool& tool : catalog_.tools()) {
        if (is_start(tool.name) && last_success(session, tool.name) == 0)
            out.start_with.push_back(tool.name);
    }
    return out;
}

std::string Rules::state_of(std::size_t session) const {
    // More calls than any rule of a small set counts make no difference.
    constexpr std::int64_t kEnough = 4;
    std::set<std::string> conversations = {""};
    for (const Call& call : calls_) conversations.insert(call.conversation);
    std::string out;
    Asked asked;
    asked.session = session;
    std::vector<std::pair<std::size_t, std::string>> order;
    for (const policy::KnownTool& tool : catalog_.tools()) {
        const auto add = [&](Per per) {
            std::int64_t called = 0;
            bool succeeded = false;
            for (const Call& call : calls_) {
                if (call.tool != tool.name || !within(call, per, asked)) continue;
                called = std::min(called + 1, kEnough);
                succeeded = succeeded || call.succeeded != 0;
            }
            cat_to(out, cat(called, succeeded ? "+" : "-"));
        };
        add(Per::session);
        add(Per::persistent);
        for (const std::string& each : conversations) {
            asked.conversation = each;
            cat_to(out, each);
            add(Per::conversation);
        }
        if (const std::size_t last = last_success(session, tool.name); last != 0)
            order.emplace_back(last, tool.name);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [at, tool] : order) cat_to(out, cat(" ", tool));
    return out;
}

}  // namespace quire::rules_model
