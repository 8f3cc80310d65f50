// Commands of an abstract run. Every branch is taken; where branches meet, what differs has either
// value. A loop is run until nothing changes any more, and what still changes then is not known.
//
// The state flows through the functions by value: eval() takes the state before a command and
// returns the one after it. `state_` points to the state in which words are expanded right now, so
// each function that expands words sets it first. Effects and warnings are only ever added.
//
// Commands behind a break, continue, return or exit run in the abstract as others do. The state in which
// one of the first three stands is noted (Jumps), and is one of those after the loop or the function. No
// command sees the state in which a script or a subshell has ended, but a trap: its text runs at the end
// once more, in the union of all states that there were.
//
// Cost: at most kMostSteps, each with copies of the state. A script that needs more is
// "too_complex".
#include "shell/run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/concat.h"
#include "shell/parser.h"
#include "shell/predict.h"

namespace quire::shell {

namespace {

// A simple command takes two steps, another one. The depth counts nested commands, functions and
// wrappers.
constexpr std::size_t kMostSteps = 5'000;
constexpr int kMostDepth = 24;
// To follow a path costs a part of a step for each of its characters, and for itself as much as for so
// many of them.
constexpr std::size_t kFollowedInAStep = 1024;
constexpr std::size_t kCallOfResolve = 64;
constexpr std::size_t kMostElements = 256;  // More elements of a loop are taken together.

}  // namespace

Run::Run(const Situation& situation, const TreeView& tree) : situation_(situation), tree_(tree) {}

Prediction predict(const Script& script, const Situation& situation, const TreeView& tree) {
    return Run(situation, tree).of(script);
}

Prediction Run::of(const Script& script) {
    State state;
    state.cwds = {situation_.cwd};
    eval(script.list, std::move(state));
    run_traps();
    return {{effects_.begin(), effects_.end()}, {warnings_.begin(), warnings_.end()}};
}

bool Run::spend() {
    ++steps_;
    return can_go_on();
}

bool Run::spend_on(const std::string& path) {
    followed_ += kCallOfResolve + path.size();
    steps_ += followed_ / kFollowedInAStep;
    followed_ %= kFollowedInAStep;
    return can_go_on();
}

bool Run::can_go_on() {
    if (steps_ <= kMostSteps && depth_ <= kMostDepth) return true;
    warn("too_complex", "", "the command takes too many steps to be followed");
    return false;
}

// A command in the background runs in a shell of its own, so its state is dropped.
State Run::eval(const List& list, State state) {
    for (const AndOr& item : list.items) {
        const Jumps outer = item.background ? jumps_ : Jumps{};
        Ends ends = eval(item, item.background ? state : std::move(state));
        if (item.background) {
            jumps_ = outer;
        } else {
            state = ends.any();
        }
    }
    return state;
}

// The left side may end in two states, and the right side runs in only one of them:
//
//  a && b    ok: b ran in a's ok, and succeeded         failed: a failed, or b did
//  a || b    ok: a succeeded, or b ran in a's failed    failed: both failed
Ends Run::eval(const AndOr& chain, State state) {
    Ends ends = eval(chain.pipelines.front(), std::move(state));
    for (std::size_t i = 1; i < chain.pipelines.size(); ++i) {
        const bool if_ok = chain.joins[i - 1] == '&';
        Ends next = eval(chain.pipelines[i], if_ok ? ends.ok : ends.after_failure());
        if (if_ok) {
            State failed = either(ends.after_failure(), next.after_failure());
            ends = {std::move(next.ok), std::move(failed)};
        } else {
            State failed = next.after_failure();
            ends = {either(ends.ok, next.ok), std::move(failed)};
        }
    }
    return ends;
}

Ends Run::eval(const Pipeline& pipeline, State state) {
    if (pipeline.commands.size() == 1) {
        Ends ends = eval(pipeline.commands.front(), std::move(state), {});
        if (pipeline.negated && ends.failed) std::swap(ends.ok, *ends.failed);
        return ends;
    }
    // Each runs in a shell of its own, and all at the same time: what a later one makes or deletes, an
    // earlier one may see.
    // The second round runs only if the first has made or replaced something that it could see.
    const Jumps outer = jumps_;
    for (const bool again : {false, true}) {
        const auto before = std::pair(made_count(), has_replaced_ || replaces_);
        for (std::size_t i = 0; i < pipeline.commands.size(); ++i)
            eval(pipeline.commands[i], state, {});
        if (again || before == std::pair(made_count(), has_replaced_ || replaces_)) break;
    }
    jumps_ = outer;
    return {std::move(state)};
}

std::size_t Run::made_count() const {
    std::size_t count = made_directories_.size();
    for (const auto& [directory, names] : made_) count += names.size();
    for (const auto& [link, targets] : made_links_) count += targets.size();
    return count;
}

Ends Run::eval(const Command& command, State state, const Input& given) {
    if (!spend()) return {std::move(state)};
    ++depth_;
    // Only commands after the one that replaced something see a tree that is not certain any more.
    has_replaced_ = has_replaced_ || replaces_;
    State* const outer = std::exchange(state_, &state);
    Input input = given;
    if (command.kind != CommandKind::simple) input = redirect(command.redirects, given);
    Ends ends{{}};
    switch (command.kind) {
        case CommandKind::simple:
            ends = eval_simple(command, std::move(state), given);
            break;
        case CommandKind::group:
            ends.ok = eval(command.lists.front(), std::move(state));
            break;
        case CommandKind::subshell:
        case CommandKind::coprocess:
            run_apart(command.lists.front());
            // Its descriptors are elements of an array.
            if (command.kind == CommandKind::coprocess) {
                assign(command.name, Value::of(std::string(1, kSomeName)));
                add_element(command.name, Value::of(std::string(1, kSomeName)));
            }
            ends.ok = std::move(state);
            break;
        case CommandKind::if_: {
            State rest = std::move(state);
            std::optional<State> all;
            // The state at the end is that of any of the bodies, or of none.
            const auto add = [&](State end) { all = all ? either(*all, end) : std::move(end); };
            std::size_t i = 0;
            for (; i + 1 < command.lists.size(); i += 2) {
                // The last command of the condition decides.
                const List& condition = command.lists[i];
                for (std::size_t each = 0; each + 1 < condition.items.size(); ++each)
                    rest = eval(condition.items[each], std::move(rest)).any();
                Ends decided = eval(condition.items.back(), std::move(rest));
                add(eval(command.lists[i + 1], decided.ok));
                rest = decided.failed ? std::move(*decided.failed) : std::move(decided.ok);
            }
            add(i < command.lists.size() ? eval(command.lists[i], std::move(rest))
                                         : std::move(rest));
            ends.ok = std::move(*all);
            break;
        }
        case CommandKind::while_:
            ends.ok = repeat(&command.lists[0], command.lists[1], std::move(state));
            break;
        case CommandKind::for_:
            ends.ok = eval_for(command, std::move(state));
            break;
        case CommandKind::arith_for:
            arithmetic(command.words.front());
            ends.ok = repeat(nullptr, command.lists.front(), std::move(state));
            break;
        case CommandKind::case_: {
            // Which pattern fits is not asked. The words are expanded for the effects of their
            // substitutions.
            text(command.words.front());
            for (const CaseItem& item : command.items) {
                for (const Word& pattern : item.patterns) text(pattern);
            }
            State all = state;
            for (const CaseItem& item : command.items) {
                // A body may go on into the next one.
                all = either(std::move(all), eval(item.body, all));
            }
            ends.ok = std::move(all);
            break;
        }
        case CommandKind::function:
            state.functions[command.name] = &command.lists.front();
            ends.ok = std::move(state);
            break;
        case CommandKind::condition:
            eval_condition(command);
            ends.ok = std::move(state);
            break;
        case CommandKind::arithmetic:
            arithmetic(command.words.front());
            ends.ok = std::move(state);
            break;
    }
    state_ = outer;
    --depth_;
    if (anywhere_) anywhere_ = either(std::move(*anywhere_), ends.any());
    return ends;
}

void Run::run_apart(const List& list) {
    const Jumps outer = jumps_;
    State* const before = state_;
    eval(list, *before);
    state_ = before;
    jumps_ = outer;
}

// [[ … ]]: what -v and the operators of numbers are given is evaluated as an expression.
void Run::eval_condition(const Command& command) {
    for (const Word& word : command.words) text(word);
    for (std::size_t i = 0; i < command.words.size(); ++i) {
        const Word& word = command.words[i];
        const std::string& source = word.source;
        const bool names = source == "-v" || source == "-R";
        const bool compares =
            word.parts.size() == 1 && source.empty() && word.parts.front().text.starts_with('-');
        if ((names || compares) && i + 1 < command.words.size()) arithmetic(command.words[i + 1]);
        if (compares && i > 0) arithmetic(command.words[i - 1]);
    }
}

void Run::Jumps::add(std::optional<State>& to, const State& state) {
    to = to ? shell::either(std::move(*to), state) : state;
}

void Run::jump(bool returns, bool leaves_more) {
    if (returns) return Jumps::add(jumps_.from_function, *state_);
    Jumps::add(jumps_.from_loop, *state_);
    if (leaves_more) Jumps::add(jumps_.from_loops, *state_);
}

// Runs a body once. States in which it may be left by a jump are among those after it, and are added to
// `ended`: a break ends the loop in such a state.
State Run::round(const List& body, State state, std::optional<State>& ended) {
    std::optional<State> outer = std::exchange(jumps_.from_loop, std::nullopt);
    state = eval(body, std::move(state));
    for (const std::optional<State>& left : {jumps_.from_loop, jumps_.from_loops}) {
        if (!left) continue;
        Jumps::add(ended, *left);
        state = either(std::move(state), *left);
    }
    jumps_.from_loop = std::move(outer);
    return state;
}

// Runs a body as often as it changes what is known, and then takes what still changes as not known.
// Three rounds are enough for a set of values or directories to close. If it still grows, it would
// grow on: a counter that is part of a name, or a cd in a loop. Then a last round runs with what
// changes as unknown, so that the effects of all further rounds are among its own. A loop ends in the
// state behind its condition.
State Run::repeat(const List* condition, const List& body, State state) {
    const auto once = [&](State from) {
        std::optional<State> ended;
        if (condition == nullptr) return round(body, std::move(from), ended);
        State decided = round(*condition, std::move(from), ended);
        State next = round(body, decided, ended);
        return either(std::move(next), decided);
    };
    for (int count = 0; count < 3; ++count) {
        State next = either(state, once(state));
        if (next == state) return state;
        state = std::move(next);
    }
    State last = either(state, once(state));
    for (auto& [name, value] : last.variables) {
        const auto before = state.variables.find(name);
        if (before == state.variables.end() || before->second != value)
            value = Value::unknown(cat("$", name, ", which a loop changes"));
    }
    for (auto& [name, elements] : last.arrays) {
        const auto before = state.arrays.find(name);
        if (before == state.arrays.end() || before->second != elements)
            elements = {{Value::unknown(cat("$", name, ", which a loop changes"))}, false};
    }
    if (last.positional != state.positional)
        last.positional = {Value::many("arguments that a loop changes")};
    if (last.cwds != state.cwds) last.cwds.clear();
    return either(last, once(last));
}

State Run::eval_for(const Command& command, State state) {
    state_ = &state;
    const std::vector<Arg> elements = command.has_in ? fields(command.words) : state.positional;
    const List& body = command.lists.front();
    const bool are_known = std::ranges::all_of(
        elements, [](const Arg& each) { return each.is_known() && !each.is_many; });
    // With few elements each round has its own, so that "rm $f" deletes these files and no others.
    if (are_known && !command.selects && elements.size() <= kMostElements) {
        // An element may be one that is not there (Value::is_optional), so perhaps no round runs.
        std::optional<State> ended = state;
        for (const Arg& element : elements) {
            std::optional<State> without;
            if (element.is_optional) without = state;
            state_ = &state;
            assign(command.name, element);
            state = round(body, std::move(state), ended);
            if (without) state = either(std::move(state), *without);
        }
        return either(std::move(*ended), state);
    }
    // A person selects in any order, and how many words an unknown one is cannot be told.
    Value any =
        are_known && !elements.empty() ? elements.front() : Value::unknown(cat("$", command.name));
    for (const Arg& element : elements) any = either(any, element);
    const State before = state;
    state_ = &state;
    assign(command.name, std::move(any));
    return either(before, repeat(nullptr, body, std::move(state)));
}

// The arguments replace the positional parameters until the function returns.
State Run::call_function(const List& body, std::vector<Arg> arguments, State state) {
    State before = state;
    state.positional = std::move(arguments);
    std::optional<State> outer = std::exchange(jumps_.from_function, std::nullopt);
    state = eval(body, std::move(state));
    if (jumps_.from_function) state = either(std::move(state), *jumps_.from_function);
    jumps_.from_function = std::move(outer);
    state.positional = before.positional;
    // A variable that the function sets may be local to it.
    State* const here = std::exchange(state_, &before);
    for (auto& [name, value] : state.variables) {
        const auto was = before.variables.find(name);
        if (was == before.variables.end() || was->second != value)
            value = either(variable(name), value);
    }
    for (auto& [name, elements] : state.arrays) {
        const auto was = before.arrays.find(name);
        const bool was_array = was != before.arrays.end();
        if (was_array && was->second == elements) continue;
        elements = {
            {either(any_element(elements), was_array ? any_element(was->second) : variable(name))},
            false};
    }
    state_ = here;
    return state;
}

// --- traps -------------------------------------------------------------------------------------

// A trap runs at any time, and in a state that later commands make. So its text is followed here for
// what it would set, and at the end for its effects.
void Run::add_trap(const std::string& text, bool only_at_exit) {
    const State before = *state_;
    run_text(text, "trap");
    if (!only_at_exit && *state_ != before)
        warn("unpredictable_command", "trap", "when it sets what later commands use is not known");
    *state_ = before;
    traps_.push_back(text);
    Jumps::add(anywhere_, before);
}

void Run::run_traps() {
    if (traps_.empty()) return;
    // Twice, because one may see what another has set.
    State state = std::move(*anywhere_);
    anywhere_.reset();
    for (int count = 0; count < 2; ++count) {
        for (const std::string& text : traps_) {
            State after = state;
            state_ = &after;
            run_text(text, "trap");
            state = either(std::move(state), after);
        }
    }
    state_ = nullptr;
}

}  // namespace quire::shell
