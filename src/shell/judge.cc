// Decides every predicted effect by the rules for files, as the gate decides the real change after
// the run. The judgement is only a forecast: it refuses early what the gate would refuse, and says
// why before anything has run.
//
//  what is found                                     decision
//  a forbidden effect, "privilege", "too_complex"    block
//  an effect that needs an approval, "network",      require_escalation
//    "unresolved_destructive", too many files
//  any other warning                                 allow_with_warning
#include "shell/judge.h"

#include <algorithm>
#include <functional>

#include "base/concat.h"

namespace quire::shell {

namespace {

// Files that are looked at for one effect on a directory. With more of them a person is asked.
constexpr std::size_t kMostFiles = 4'000;

policy::Operation operation_of(Effect effect) {
    switch (effect) {
        case Effect::write:
            return policy::Operation::overwrite;
        case Effect::append:
            return policy::Operation::append;
        case Effect::create:
            return policy::Operation::create;
        case Effect::erase:
            return policy::Operation::erase;
        // A file that is run needs what a file that is read needs.
        case Effect::read:
        case Effect::execute:
            break;
    }
    return policy::Operation::read;
}

class Judge {
public:
    Judge(const Situation& situation, const TreeView& tree, const policy::PathRules& rules,
          const policy::Actor& by)
        : situation_(situation), tree_(tree), rules_(rules), by_(by) {}

    void effect(const Predicted& each) {
        const bool is_read = each.effect == Effect::read || each.effect == Effect::execute;
        if (each.path.starts_with('/')) {
            const bool is_own =
                std::ranges::any_of(situation_.own_places, [&](const std::string& place) {
                    return each.path == place || each.path.starts_with(cat(place, "/"));
                });
            if (is_read || is_own) return;
            judgement_.violations.push_back(
                {each.path, each.effect, "read_only", "the path is outside of the workspace"});
            return;
        }
        if (!each.path.ends_with('/')) return decide(each.path, each);
        // A stage shows only what may be read.
        if (is_read) return;
        std::size_t left = kMostFiles;
        below(each.path == "./" ? "" : each.path, each, left);
    }

    void warning(const Warning& warning) {
        const bool blocks = warning.kind == "privilege" || warning.kind == "too_complex";
        const bool asks = warning.kind == "network" || warning.kind == "unresolved_destructive";
        raise(blocks ? Decision::block
              : asks ? Decision::require_escalation
                     : Decision::allow_with_warning);
    }

    Judgement finish() {
        if (!judgement_.escalations.empty()) raise(Decision::require_escalation);
        if (!judgement_.violations.empty()) raise(Decision::block);
        return std::move(judgement_);
    }

private:
    // The strictest that was raised holds.
    void raise(Decision to) {
        const auto rank = [](Decision decision) {
            return decision == Decision::block                ? 3
                   : decision == Decision::require_escalation ? 2
                   : decision == Decision::allow_with_warning ? 1
                                                              : 0;
        };
        if (rank(to) > rank(judgement_.decision)) judgement_.decision = to;
    }

    void decide(const std::string& path, const Predicted& each) {
        if (path.empty()) return;
        const policy::Operation operation = operation_of(each.effect);
        policy::Decision decision = rules_.decide(path, operation, by_);
        // A directory may be created where a file may be created in it.
        if (each.effect == Effect::create && decision.verdict != policy::Verdict::allow) {
            policy::Decision in_it = rules_.decide(cat(path, "/x"), operation, by_);
            if (in_it.verdict < decision.verdict) decision = std::move(in_it);
        }
        if (decision.verdict == policy::Verdict::allow) return;
        // Directories have no rules: their files do.
        if (tree_.look(cat(situation_.root, "/", path)).kind == TreeView::Kind::directory) return;
        auto& list = decision.verdict == policy::Verdict::deny ? judgement_.violations
                                                               : judgement_.escalations;
        Objection objection{path, each.effect, std::string(name_of(decision.permission)),
                            std::move(decision.why)};
        list.push_back(std::move(objection));
    }

    void below(const std::string& directory, const Predicted& each, std::size_t& left) {
        for (const std::string& name : tree_.list(cat(situation_.root, "/", directory))) {
            const std::string path = cat(directory, name);
            if (policy::is_hidden(path) || left == 0) continue;
            --left;
            const TreeView::Kind kind = tree_.look(cat(situation_.root, "/", path)).kind;
            if (kind == TreeView::Kind::directory) {
                below(cat(path, "/"), each, left);
            } else if (each.effect != Effect::create) {
                decide(path, each);
            }
        }
        if (left == 0) raise(Decision::require_escalation);
    }

    const Situation& situation_;
    const TreeView& tree_;
    const policy::PathRules& rules_;
    const policy::Actor& by_;
    Judgement judgement_;
};

}  // namespace

Decision under(Enforcement level, Decision decision) {
    if (level == Enforcement::strict) return decision;
    if (level != Enforcement::warned) return Decision::allow;
    return decision == Decision::allow ? decision : Decision::allow_with_warning;
}

Judgement judge(const Prediction& prediction, const Situation& situation, const TreeView& tree,
                const policy::PathRules& rules, const policy::Actor& by) {
    Judge judge(situation, tree, rules, by);
    for (const Predicted& each : prediction.effects) judge.effect(each);
    for (const Warning& each : prediction.warnings) judge.warning(each);
    return judge.finish();
}

}  // namespace quire::shell
