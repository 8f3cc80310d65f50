// Facts are kept by conversation and tool, and the changed ones are noted by their place, so what
// is stored is always the state of now. A change that was noted twice costs one record.
#include "policy/rule_ledger.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"

namespace quire::policy {

std::string LedgerEntry::key() const {
    return conversation ? cat("conversation ", tool, " ", *conversation) : cat("ever ", tool);
}

Value LedgerEntry::value() const {
    Map out = {{"tool", tool}};
    if (conversation) out.append("conversation", *conversation);
    out.append("calls", calls);
    out.append("succeeded", succeeded);
    out.append("last_wall_ms", last_wall_ms);
    return out;
}

// Stored records come from the disk, so every member is checked.
Result<LedgerEntry> LedgerEntry::parse(const Value& value) {
    const Value* tool = value.get("tool");
    const Value* conversation = value.get("conversation");
    const Value* calls = value.get("calls");
    const Value* succeeded = value.get("succeeded");
    const Value* last = value.get("last_wall_ms");
    const bool whole = tool != nullptr && tool->is_string() && calls != nullptr &&
                       calls->is_int() && calls->as_int() >= 0 && succeeded != nullptr &&
                       succeeded->is_bool() && last != nullptr && last->is_int() &&
                       (conversation == nullptr || conversation->is_string());
    if (!whole)
        return corrupt(
            "a stored record of an agent's calls is not in the format of the rules for tools");
    LedgerEntry out{tool->as_string(), std::nullopt, calls->as_int(), succeeded->as_bool(),
                    last->as_int()};
    if (conversation != nullptr) out.conversation = conversation->as_string();
    return out;
}

RuleLedger::RuleLedger(std::shared_ptr<const RuleSet> rules, const Clock& clock)
    : rules_(std::move(rules)),
      clock_(clock),
      ever_(rules_->catalog().size()),
      none_(rules_->catalog().size()) {}

void RuleLedger::adopt(std::shared_ptr<const RuleSet> rules) {
    CHECK(rules->catalog().begins_with(rules_->catalog()));
    rules_ = std::move(rules);
    const std::size_t tools = rules_->catalog().size();
    ever_.grow(tools);
    none_.grow(tools);
    for (auto& [name, of] : conversations_) of.grow(tools);
}

const ToolFacts& RuleLedger::find(std::string_view conversation) const {
    const auto found = conversations_.find(conversation);
    return found == conversations_.end() ? none_ : found->second;
}

// Facts of a conversation begin with its first call.
ToolFacts& RuleLedger::facts(const Place& place) {
    if (!place) return ever_;
    return conversations_.try_emplace(*place, rules_->catalog().size()).first->second;
}

void RuleLedger::note_call(const Place& place, std::size_t tool, std::int64_t now) {
    facts(place).note_call(tool, now);
    changed_.emplace(place, tool);
}

// Only the first success of a tool changes anything.
void RuleLedger::note_success(const Place& place, std::size_t tool) {
    ToolFacts& of = facts(place);
    if (of.succeeded.has(tool)) return;
    of.succeeded.add(tool);
    changed_.emplace(place, tool);
}

// Cooldowns run on the steady clock, which starts anew with the process; the wall clocks bridge the
// gap.
void RuleLedger::restore(std::span<const LedgerEntry> entries) {
    for (const LedgerEntry& entry : entries) {
        const auto tool = rules_->catalog().index_of(entry.tool);
        if (!tool) continue;
        ToolFacts& of = facts(entry.conversation);
        of.calls[*tool] = entry.calls;
        if (entry.calls > 0) of.called.add(*tool);
        if (entry.succeeded) of.succeeded.add(*tool);
        const std::int64_t passed =
            std::max<std::int64_t>(0, clock_.wall_ms() - entry.last_wall_ms);
        of.last_start[*tool] = clock_.steady_ms() - passed;
    }
}

// Last starts are stored in wall time, the only clock that outlives the process.
std::vector<LedgerEntry> RuleLedger::take_changes() {
    std::vector<LedgerEntry> out;
    for (const auto& [place, tool] : changed_) {
        const ToolFacts& of = facts(place);
        out.push_back({rules_->catalog().tools()[tool].name, place, of.calls[tool],
                       of.succeeded.has(tool),
                       clock_.wall_ms() - (clock_.steady_ms() - of.last_start[tool])});
    }
    changed_.clear();
    return out;
}

// An entry that could not be stored is simply marked as changed again.
void RuleLedger::not_kept(std::span<const LedgerEntry> entries) {
    for (const LedgerEntry& entry : entries) {
        if (const auto tool = rules_->catalog().index_of(entry.tool))
            changed_.emplace(entry.conversation, *tool);
    }
}

void RuleLedger::forget(std::string_view conversation) {
    if (const auto found = conversations_.find(conversation); found != conversations_.end())
        conversations_.erase(found);
    std::erase_if(changed_,
                  [&](const auto& each) { return each.first && *each.first == conversation; });
}

}  // namespace quire::policy
