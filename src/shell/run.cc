// Commands of an abstract run. Every branch is taken; where branches meet, what differs has either
// value. A loop is run until nothing changes any more, and what still changes then is not known.
//
// The state flows through the functions by value: eval() takes the state before a command and
// returns the one after it. `state_` points to the state in which words are expanded right now, so
// each function that expands words sets it first. Effects and warnings are only ever added. Jumps
// (break, continue, return, exit) are not followed: commands behind them run in the abstract as
// others do.
//
// Cost: at most kMostSteps, each with copies of the state. A script that needs more is
// "too_complex".
#include "shell/run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/concat.h"
#include "shell/models.h"
#include "shell/parser.h"
#include "shell/predict.h"

namespace quire::shell {

namespace {

// A simple command takes two steps, another one. The depth counts nested commands, functions and
// wrappers.
constexpr std::size_t kMostSteps = 5'000;
constexpr int kMostDepth = 24;
constexpr std::size_t kMostElements = 256;  // More elements of a loop are taken together.

// Variables that say which programs run, or what they run.
bool is_risky_variable(std::string_view name) {
    constexpr std::string_view kNames[] = {
        "PATH",       "BASH_ENV",      "ENV",       "PAGER",          "EDITOR",   "VISUAL",
        "SHELLOPTS",  "BASHOPTS",      "PS4",       "PROMPT_COMMAND", "MANPAGER", "LESSOPEN",
        "PYTHONPATH", "PYTHONSTARTUP", "PERL5LIB",  "PERL5OPT",       "RUBYOPT",  "NODE_OPTIONS",
        "CDPATH",     "TAR_OPTIONS",   "RSYNC_RSH", "MAKEFLAGS",      "BASH_FUNC"};
    return name.starts_with("LD_") || name.starts_with("GIT_") ||
           std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

Run::Run(const Situation& situation, const TreeView& tree) : situation_(situation), tree_(tree) {}

Prediction predict(const Script& script, const Situation& situation, const TreeView& tree) {
    return Run(situation, tree).of(script);
}

Prediction Run::of(const Script& script) {
    State state;
    state.cwds = {situation_.cwd};
    eval(script.list, std::move(state));
    return {{effects_.begin(), effects_.end()}, {warnings_.begin(), warnings_.end()}};
}

bool Run::spend() {
    if (++steps_ <= kMostSteps && depth_ <= kMostDepth) return true;
    warn("too_complex", "", "the command takes too many steps to be followed");
    return false;
}

// A command in the background runs in a shell of its own, so its state is dropped.
State Run::eval(const List& list, State state) {
    for (const AndOr& item : list.items) {
        Ends ends = eval(item, item.background ? state : std::move(state));
        if (!item.background) state = ends.any();
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
    for (const bool again : {false, true}) {
        const auto before = std::pair(made_count(), has_replaced_ || replaces_);
        for (std::size_t i = 0; i < pipeline.commands.size(); ++i)
            eval(pipeline.commands[i], state, Input{i > 0, {}});
        if (again || before == std::pair(made_count(), has_replaced_ || replaces_)) break;
    }
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
            eval(command.lists.front(), state);
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
            State all = state;
            for (const CaseItem& item : command.items) {
                state_ = &state;
                for (const Word& pattern : item.patterns) text(pattern);
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
    return ends;
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

// Runs a body as often as it changes what is known, and then takes what still changes as not known.
// Three rounds are enough for a set of values or directories to close. If it still grows, it would
// grow on: a counter that is part of a name, or a cd in a loop. Then a last round runs with what
// changes as unknown, so that the effects of all further rounds are among its own.
State Run::repeat(const List* condition, const List& body, State state) {
    const auto once = [&](State from) {
        return eval(body,
                    condition == nullptr ? std::move(from) : eval(*condition, std::move(from)));
    };
    for (int round = 0; round < 3; ++round) {
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
    if (last.cwds != state.cwds) last.cwds.clear();
    return either(last, once(last));
}

State Run::eval_for(const Command& command, State state) {
    state_ = &state;
    const std::vector<Arg> elements = command.has_in ? fields(command.words) : state.positional;
    const List& body = command.lists.front();
    // With few elements each round has its own, so that "rm $f" deletes these files and no others.
    // select is followed in the same way.
    if (elements.size() <= kMostElements) {
        const State before = state;
        for (const Arg& element : elements) {
            state_ = &state;
            assign(command.name, element);
            state = eval(body, std::move(state));
        }
        // An element may be one that is not there (Value::is_optional), so perhaps no round runs.
        return either(before, state);
    }
    assign(command.name, Value::unknown(cat("$", command.name)));
    return repeat(nullptr, body, std::move(state));
}

// The arguments replace the positional parameters until the function returns.
State Run::call_function(const List& body, std::vector<Arg> arguments, State state) {
    State before = state;
    state.positional = std::move(arguments);
    state = eval(body, std::move(state));
    state.positional = before.positional;
    // A variable that the function sets may be local to it.
    State* const here = std::exchange(state_, &before);
    for (auto& [name, value] : state.variables) {
        const auto was = before.variables.find(name);
        if (was == before.variables.end() || was->second != value)
            value = either(variable(name), value);
    }
    state_ = here;
    return state;
}

// --- simple commands ---------------------------------------------------------------------------

// `is_for_command`: the assignment stands before a command and reaches the program that it runs.
// PATH is left to the other assign(), which warns whoever sets it.
void Run::assign(const Assignment& assignment, bool is_for_command) {
    if (is_for_command && is_risky_variable(assignment.name))
        warn("unpredictable_command", assignment.name, "the variable changes what commands do");
    for (const Word& subscript : assignment.subscript) {
        if (subscript.source.find_first_of("$`") != std::string::npos) arithmetic(subscript);
    }
    if (assignment.is_array) {
        std::vector<Arg> elements = fields(assignment.values);
        std::vector<Arg>& array = state_->arrays[assignment.name];
        if (!assignment.appends) array.clear();
        array.insert(array.end(), elements.begin(), elements.end());
        state_->variables.erase(assignment.name);
        return;
    }
    Value value = text(assignment.values.front());
    if (assignment.appends) value = joined(variable(assignment.name), value);
    if (!assignment.subscript.empty()) {
        state_->arrays[assignment.name].push_back(std::move(value));
        return;
    }
    if (is_risky_variable(assignment.name) && assignment.name != "PATH" && !is_for_command)
        warn("unpredictable_command", assignment.name, "the variable changes what commands do");
    assign(assignment.name, std::move(value));
}

// From left to right, so the last input counts. Effects of outputs hold even if the command then
// fails: the shell opens its redirections first.
Input Run::redirect(const std::vector<Redirect>& redirects, Input input) {
    for (const Redirect& each : redirects) {
        if (each.kind == RedirectKind::here_doc || each.kind == RedirectKind::here_string) {
            const Value given = text(*each.target);
            const std::string* const single = given.single();
            input = {false, single == nullptr ? std::nullopt : std::optional(*single)};
            input.is_piped = single == nullptr;
            continue;
        }
        const std::vector<Arg> targets = fields(*each.target);
        for (const Arg& target : targets) {
            const std::string* const name = target.single();
            const bool is_descriptor = each.kind == RedirectKind::duplicate && name != nullptr &&
                                       name->find_first_not_of("0123456789-") == std::string::npos;
            if (is_descriptor) continue;
            switch (each.kind) {
                case RedirectKind::read:
                    effect(Effect::read, target);
                    input = {true, {}};
                    break;
                case RedirectKind::append:
                case RedirectKind::append_both:
                    append(target);
                    break;
                default:
                    write(target);
            }
        }
    }
    return input;
}

// Words are expanded before the assignments in front of them take effect, as in bash.
Ends Run::eval_simple(const Command& command, State state, const Input& given) {
    state_ = &state;
    const std::vector<Arg> words = fields(command.words);
    const std::string* const name = words.empty() ? nullptr : words.front().single();
    const bool declares =
        name != nullptr && (*name == "export" || *name == "declare" || *name == "local" ||
                            *name == "readonly" || *name == "typeset");
    if (words.empty() || declares) {
        for (const Assignment& each : command.assignments) assign(each, false);
        redirect(command.redirects, given);
        if (words.empty()) return {std::move(state)};
    }
    // The assignments before a command hold for it alone.
    const bool assigns = !declares && !command.assignments.empty();
    std::map<std::string, Value> before;
    const bool split_before = state.splits_oddly;
    if (assigns) {
        before = state.variables;
        for (const Assignment& each : command.assignments) assign(each, true);
    }
    const Input input = redirect(command.redirects, given);
    Ends ends{{}};
    const bool moves = name != nullptr && (*name == "cd" || *name == "pushd" || *name == "popd") &&
                       !state.functions.contains(*name);
    if (moves) {
        ends = change_directory(words);
    } else {
        dispatch(words, input);
        ends.ok = std::move(state);
    }
    if (assigns) {
        ends.ok.variables = std::move(before);
        ends.ok.splits_oddly = split_before;
    }
    return ends;
}

// A cd may fail, and then the directory is the one before.
Ends Run::change_directory(const std::vector<Arg>& words) {
    State before = *state_;
    State after = *state_;
    std::vector<Arg> operands;
    bool physical = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string* const word = words[i].single();
        if (word != nullptr && (*word == "-P" || *word == "-L" || *word == "--" || *word == "-e")) {
            physical = *word == "-P";
            continue;
        }
        operands.push_back(words[i]);
    }
    const std::string& name = *words.front().single();
    Value target = operands.empty() ? variable("HOME") : operands.front();
    const std::string* const single = target.single();
    // The stack of directories, "cd -" and CDPATH are not followed: the directory is not known
    // afterwards.
    const bool is_odd = name == "popd" || operands.size() > 1 ||
                        (single != nullptr && (*single == "-" || single->starts_with('+'))) ||
                        (name == "pushd" && operands.empty()) || !target.is_known() ||
                        before.cwds.empty() || state_->variables.contains("CDPATH");
    if (is_odd) {
        after.cwds.clear();
        return {std::move(after), std::move(before)};
    }
    std::set<std::string> cwds;
    for (const std::string& text : target.texts) {
        for (const std::string& cwd : before.cwds) {
            std::string path = text.starts_with('/') ? text : cat(cwd, "/", text);
            // A directory whose name is not known would make every relative path after it
            // uncertain.
            if (path.find(kSomeName) != std::string::npos) {
                after.cwds.clear();
                return {std::move(after), std::move(before)};
            }
            if (physical) {
                std::vector<std::string> found;
                resolved_ = 0;
                resolve(path, LastLink::followed, 0, found);
                cwds.insert(found.begin(), found.end());
                continue;
            }
            // A logical directory keeps its links: "dir/.." is where dir is named.
            std::vector<std::string> parts;
            for (std::size_t at = 0; at < path.size();) {
                const std::size_t end = std::min(path.find('/', at), path.size());
                const std::string part = path.substr(at, end - at);
                at = end + 1;
                if (part == "..") {
                    if (!parts.empty()) parts.pop_back();
                } else if (!part.empty() && part != ".") {
                    parts.push_back(part);
                }
            }
            std::string logical;
            for (const std::string& part : parts) logical += "/" + part;
            cwds.insert(logical.empty() ? "/" : logical);
        }
    }
    after.cwds.assign(cwds.begin(), cwds.end());
    if (after.cwds.size() > kMostDirectories) after.cwds.clear();
    return {std::move(after), std::move(before)};
}

// Runs a command as each of the names that it may have. A function comes before a program, as in
// bash.
void Run::dispatch(const std::vector<Arg>& words, const Input& input) {
    if (!spend()) return;
    const Arg& command = words.front();
    if (!command.is_known())
        return warn("unpredictable_command", command.why, "which command runs is not known");
    const std::vector<Arg> arguments(words.begin() + 1, words.end());
    for (const std::string& name : command.texts) {
        if (name.empty()) {
            warn("unpredictable_command", "''", "it is no command");
            continue;
        }
        const auto function = state_->functions.find(name);
        if (function != state_->functions.end()) {
            if (function->second == nullptr) {
                warn("unpredictable_command", name, "the function is defined in a branch");
                continue;
            }
            State* const here = state_;
            ++depth_;
            State after = call_function(*function->second, arguments, *here);
            --depth_;
            state_ = here;
            *here = std::move(after);
            continue;
        }
        run_model({*this, name, arguments, input});
    }
}

void Run::run_command(const std::vector<Arg>& arguments, const Input& input) {
    ++depth_;
    // Functions are not seen by programs that run commands.
    const auto functions = std::exchange(state_->functions, {});
    dispatch(arguments, input);
    state_->functions = functions;
    --depth_;
}

// The parsed script is kept until the run ends, because functions that it defines point into it.
void Run::run_text(const std::string& script, const std::string& as) {
    Result<Script> parsed = parse(script);
    if (!parsed) return warn("unpredictable_command", as, parsed.error().message());
    scripts_.push_back(std::make_unique<Script>(std::move(*parsed)));
    State* const here = state_;
    ++depth_;
    State after = eval(scripts_.back()->list, *here);
    --depth_;
    state_ = here;
    *here = std::move(after);
}

}  // namespace quire::shell
