// Simple commands of an abstract run: assignments, redirections, directories, and the way from a name to
// a function or a model.
//
// An assignment before a command holds for that command alone, and its old value comes back after it. A
// text that a command runs as a script (eval, bash -c) is parsed and followed like the script around it.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/concat.h"
#include "shell/models.h"
#include "shell/parser.h"
#include "shell/parser_body.h"
#include "shell/run.h"

namespace quire::shell {

namespace {

constexpr std::size_t kLongestArray = 256;  // An array of more is not followed.

}  // namespace

void Run::assign(const Assignment& assignment) {
    const std::string& name = assignment.name;
    for (const Word& each : assignment.subscript) subscript(each);
    if (assignment.is_array) return assign_array(assignment);
    Value value = text(assignment.values.front());
    if (assignment.appends) value = joined(variable(name), value);
    if (assignment.subscript.empty()) return assign(name, std::move(value));
    add_element(name, value);
}

// An element with a subscript, as in ([1]=x), may be anywhere in the array.
void Run::assign_array(const Assignment& assignment) {
    bool are_exact = true;
    for (const Word& each : assignment.values) {
        if (!each.source.starts_with('[') || each.source.find("]=") == std::string::npos) continue;
        are_exact = false;
        const std::string inner = each.source.substr(1, each.source.find("]=") - 1);
        if (std::ranges::all_of(inner, is_digit)) continue;
        const bool is_name =
            std::ranges::all_of(inner, is_name_char) && variable(inner) == Value::of("");
        if (!is_name)
            warn("unpredictable_command", each.source, "an expression may run what it is given");
    }
    Elements made{fields(assignment.values), are_exact};
    if (!are_exact) made.all = {Value::unknown("elements with subscripts")};
    const std::string& name = assignment.name;
    const auto at = state_->arrays.find(name);
    if (assignment.appends && at != state_->arrays.end()) {
        made.all.insert(made.all.begin(), at->second.all.begin(), at->second.all.end());
        made.are_exact = made.are_exact && at->second.are_exact;
    } else if (assignment.appends && variable(name) != Value::of("")) {
        made.all.push_back(variable(name));
        made.are_exact = false;
    }
    assigned_ += made.all.size();
    if (made.all.size() > kLongestArray) made = {{Value::many("an array of many elements")}, false};
    if (!made.are_exact) made.all = {any_element(made)};
    state_->arrays[name] = std::move(made);
    state_->variables.erase(name);
}

// From left to right, so the last input counts. Effects of outputs hold even if the command then
// fails: the shell opens its redirections first.
Input Run::redirect(const std::vector<Redirect>& redirects, Input input) {
    for (const Redirect& each : redirects) {
        if (!each.variable.empty()) assign(each.variable, Value::of(std::string(1, kSomeName)));
        if (each.kind == RedirectKind::here_doc || each.kind == RedirectKind::here_string) {
            const Value given = text(*each.target);
            const std::string* const single = given.single();
            input = {single == nullptr ? std::nullopt : std::optional(*single)};
            continue;
        }
        const std::vector<Arg> targets = fields(*each.target);
        for (const Arg& target : targets) {
            const std::string* const name = target.single();
            const bool is_descriptor = each.kind == RedirectKind::duplicate && name != nullptr &&
                                       name->find_first_not_of("0123456789-") == std::string::npos;
            if (is_descriptor) continue;
            if (each.kind == RedirectKind::read) {
                effect(Effect::read, target);
                input = {};
            } else if (each.kind == RedirectKind::append ||
                       each.kind == RedirectKind::append_both) {
                append(target);
            } else {
                write(target);
            }
        }
    }
    return input;
}

namespace {

// A builtin of POSIX, before which an assignment stays in other shells than bash.
bool declares_variables(std::string_view name) {
    constexpr std::string_view kNames[] = {"export", "declare", "local", "readonly", "typeset"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// The names that a command makes read-only.
void fix_names(const Command& command, const std::vector<Arg>& words, State& state) {
    bool fixes = words.front() == Value::of("readonly");
    for (const Arg& word : words) {
        const std::string* const text = word.single();
        fixes = fixes ||
                (text != nullptr && text->starts_with('-') && text->find('r') != std::string::npos);
    }
    if (!fixes) return;
    for (const Assignment& each : command.assignments) state.fixed.insert(each.name);
    for (const Arg& word : words) state.fixed.insert(word.texts.begin(), word.texts.end());
}

}  // namespace

// bash expands the words, then the redirections, and then the assignments in front of the command, which
// hold for it alone. Without a command the assignments come first. Other shells have orders of their own,
// and keep what stands before a special builtin.
Ends Run::eval_simple(const Command& command, State state, const Input& given) {
    state_ = &state;
    const std::vector<Arg> words = fields(command.words);
    const std::string* const name = words.empty() ? nullptr : words.front().single();
    const bool declares = name != nullptr && declares_variables(*name);
    const Input input = redirect(command.redirects, given);
    struct Before {
        std::string name;
        std::optional<Value> value;
        std::optional<Elements> elements;
    };
    std::vector<Before> before;
    const bool split_before = state.splits_oddly;
    for (const Assignment& each : command.assignments) {
        if (words.empty() || (declares && each.is_argument)) {
            assign(each);
            continue;
        }
        const auto value = state.variables.find(each.name);
        const auto elements = state.arrays.find(each.name);
        before.push_back(
            {each.name,
             value == state.variables.end() ? std::nullopt : std::optional(value->second),
             elements == state.arrays.end() ? std::nullopt : std::optional(elements->second)});
        assign(each);
    }
    if (!command.assignments.empty() && (words.empty() || is_posix_))
        redirect(command.redirects, given);
    if (words.empty()) return {std::move(state)};
    if (declares) fix_names(command, words, state);
    Ends ends{{}};
    const bool moves = name != nullptr && (*name == "cd" || *name == "pushd" || *name == "popd") &&
                       !state.functions.contains(*name);
    if (moves) {
        ends = change_directory(words);
    } else {
        dispatch(words, input);
        ends.ok = std::move(state);
    }
    if (before.empty()) return ends;
    const bool keeps = declares || is_posix_;
    for (State* const after : {&ends.ok, ends.failed ? &*ends.failed : nullptr}) {
        if (after == nullptr) continue;
        state_ = after;
        if (!keeps) after->splits_oddly = split_before;
        for (auto each = before.rbegin(); each != before.rend(); ++each) {
            const Value now = variable(each->name);
            after->variables.erase(each->name);
            after->arrays.erase(each->name);
            if (each->elements) after->arrays[each->name] = *each->elements;
            if (each->value) after->variables[each->name] = *each->value;
            if (keeps && each->elements) add_element(each->name, now);
            if (keeps && !each->elements)
                after->variables[each->name] = either(variable(each->name), now);
        }
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
    // The stack of directories, "cd -" and CDPATH are not followed: the directory is not known
    // afterwards.
    const auto is_mark = [](const std::string& text) {
        return text.starts_with('-') || text.starts_with('+');
    };
    const bool is_odd = name == "popd" || operands.size() > 1 ||
                        std::ranges::any_of(target.texts, is_mark) ||
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
    const State before = command.texts.size() > 1 ? *state_ : State{};
    std::optional<State> ended;
    for (const std::string& name : command.texts) {
        if (command.texts.size() > 1) {
            if (ended) *ended = either(std::move(*ended), *state_);
            if (!ended) ended = before;
            *state_ = before;
        }
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
    if (ended) *state_ = either(std::move(*ended), *state_);
}

void Run::run_command(const std::vector<Arg>& arguments, const Input& input) {
    ++depth_;
    // Functions are not seen by programs that run commands.
    const auto functions = std::exchange(state_->functions, {});
    dispatch(arguments, input);
    state_->functions = functions;
    --depth_;
}

namespace {

// Returns true if other shells than bash may read the text in another way, so that it has other effects. The
// text alone is looked at, so that a mark in quotes counts too.
bool is_read_otherwise(std::string_view text) {
    for (const std::string_view mark : {"[[", "$'", "$\"", "+=", "&>", "[^", "function", "declare",
                                        "typeset", "let ", "set -o", "set +o"}) {
        if (text.find(mark) != std::string_view::npos) return true;
    }
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_open = at == 0 || text[at - 1] != '$';
        if (text[at] == '(' && is_open && at + 1 < text.size() && text[at + 1] == '(') return true;
        if (text[at] != '{' || !is_open) continue;
        const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
        const std::string_view word = text.substr(at, end - at);
        if (word.find(',') != word.npos || word.find("..") != word.npos) return true;
    }
    return false;
}

}  // namespace

// The parsed script is kept until the run ends, because functions that it defines point into it.
void Run::run_text(const std::string& script, const std::string& as) {
    if (is_posix_ && is_read_otherwise(script))
        warn("unpredictable_command", as, "another shell than bash reads it in another way");
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

// Its variables are its own, but what it is given is known.
void Run::run_shell(const std::string& script, const std::string& name,
                    std::vector<Arg> arguments) {
    const State before = *state_;
    const Jumps outer = jumps_;
    const bool was_posix = std::exchange(is_posix_, name != "bash");
    state_->variables["0"] = arguments.empty() ? Value::of(name) : arguments.front();
    if (!arguments.empty()) arguments.erase(arguments.begin());
    state_->positional = std::move(arguments);
    state_->functions.clear();
    state_->fixed.clear();
    run_text(script, name);
    is_posix_ = was_posix;
    jumps_ = outer;
    *state_ = before;
}

}  // namespace quire::shell
