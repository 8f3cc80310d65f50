// Parameters of an abstract run: what $NAME, ${…}, $(…) and $((…)) may be.
//
// A value is a set of texts. Numbers that nobody can foresee, such as $RANDOM or a counter, are
// kSomeName: a name that may be anything without a '/', so that it stays in its directory. Other
// operators than defaults and trims give a value that is not known, and so do indirect names.
#include <algorithm>

#include "base/concat.h"
#include "shell/parser_body.h"
#include "shell/pattern.h"
#include "shell/run.h"

namespace quire::shell {

namespace {

Value a_number() {
    return Value::of(std::string(1, kSomeName));
}

// Parameters whose value is a number.
bool is_counter(const std::string& name) {
    constexpr std::string_view kNames[] = {
        "?",      "$",    "!",    "#",      "RANDOM",       "SECONDS",
        "UID",    "EUID", "PPID", "LINENO", "EPOCHSECONDS", "BASHPID",
        "OPTIND", "SHLVL"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Variables that bash itself sets, and whose values are not followed.
bool is_set_by_bash(const std::string& name) {
    constexpr std::string_view kNames[] = {
        "PWD",       "OLDPWD", "-",        "_",        "REPLY",    "HOSTNAME",
        "HOSTTYPE",  "OSTYPE", "MACHTYPE", "DIRSTACK", "FUNCNAME", "PIPESTATUS",
        "SHELLOPTS", "SHELL",  "BASHOPTS", "OPTARG",   "MAPFILE",  "GROUPS",
        "HISTCMD",   "COPROC", "COLUMNS",  "LINES",    "PS4",      "EPOCHREALTIME",
        "SRANDOM",   "TERM",   "OPTERR",   "IFS"};
    return name.starts_with("BASH") || name.starts_with("COMP_") || name.starts_with("READLINE_") ||
           std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// The text without the shortest or longest beginning, or end, that fits.
std::string without(const std::string& text, const std::string& pattern, bool from_end,
                    bool longest) {
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const std::size_t size = longest ? text.size() - i : i;
        const std::string_view piece = from_end ? std::string_view(text).substr(text.size() - size)
                                                : std::string_view(text).substr(0, size);
        if (!fits(pattern, piece)) continue;
        return from_end ? text.substr(0, text.size() - size) : text.substr(size);
    }
    return text;
}

}  // namespace

// All assignments of texts end here, those of read, declare and loops too, so these names are seen
// in each of them.
void Run::assign(const std::string& name, Value value) {
    if (name == "IFS") state_->splits_oddly = true;
    if (name == "GLOBIGNORE") state_->globs_oddly = true;
    if (name == "PATH")
        warn("unpredictable_command", name, "the names of commands may mean other programs");
    state_->arrays.erase(name);
    state_->variables[name] = std::move(value);
}

// `declare NAME` leaves a variable as it is, or hides it behind an empty one in a function.
void Run::may_be_empty(const std::string& name) {
    state_->arrays.erase(name);
    state_->variables[name] = either(variable(name), Value::of(""));
}

Value Run::variable(const std::string& name) {
    if (is_counter(name)) return a_number();
    if (name == "IFS" && !state_->splits_oddly) return Value::of(" \t\n");
    if (name == "0") {
        const auto given = state_->variables.find(name);
        return given == state_->variables.end() ? Value::of("bash") : given->second;
    }
    if (name == "PWD" && !state_->cwds.empty()) {
        Value out = Value::of(state_->cwds.front());
        for (const std::string& cwd : state_->cwds) out = either(out, Value::of(cwd));
        return out;
    }
    // Only six digits are read, so that the number cannot overflow.
    if (is_digit(name.front())) {
        const std::size_t index = std::min<std::size_t>(std::stoul(name.substr(0, 6)), 100'000);
        return index <= state_->positional.size() ? state_->positional[index - 1] : Value::of("");
    }
    if (name == "*" || name == "@") {
        Value out = Value::of("");
        for (std::size_t i = 0; i < state_->positional.size(); ++i)
            out = joined(i == 0 ? out : joined(out, Value::of(" ")), state_->positional[i]);
        return out;
    }
    if (const auto set = state_->variables.find(name); set != state_->variables.end())
        return set->second;
    if (const auto array = state_->arrays.find(name); array != state_->arrays.end())
        return array->second.empty() ? Value::of("") : array->second.front();
    const auto known = situation_.environment.find(name);
    if (known != situation_.environment.end()) return Value::of(known->second);
    // Without knows_all an absent variable may come from an environment that is not known.
    if (!is_set_by_bash(name) && situation_.knows_all) return Value::of("");
    return Value::unknown(cat("$", name));
}

// The order is bash's: the variable, its subscript, then the operator. All elements of an array are
// taken together, because subscripts are not followed.
Value Run::parameter(const Part& part) {
    std::string operation = part.operation;
    if (operation == "#" && part.words.empty()) return a_number();
    if (operation.starts_with('!')) {
        warn("unpredictable_command", cat("${!", part.text, "}"),
             "which variable it means is not known");
        return Value::unknown(cat("${!", part.text, "}"));
    }
    Value value = variable(part.text);
    if (operation.starts_with('[')) {
        const Value index = text(part.words.front());
        const auto array = state_->arrays.find(part.text);
        if (array != state_->arrays.end()) {
            value = Value::of("");
            for (const Arg& element : array->second) value = either(value, element);
        }
        if (!index.is_known() || part.words.front().source.find('$') != std::string::npos)
            arithmetic(part.words.front());
        operation.erase(0, 1);
    }
    if (operation.empty()) return value;
    Part plain = part;
    if (part.operation.starts_with('[')) plain.words.erase(plain.words.begin());
    plain.operation = operation;
    return operated(plain, std::move(value));
}

// `part` has no subscript any more. An operand is expanded even where bash would not: its effects
// count.
Value Run::operated(const Part& part, Value value) {
    const std::string& operation = part.operation;
    const Value operand = part.words.empty() ? Value::of("") : text(part.words.front());
    const char last = operation.back();
    const bool is_default = last == '-' || last == '=' || last == '+' || last == '?';
    if (is_default && operation.size() <= 2 && (operation.size() == 1 || operation[0] == ':')) {
        const bool may_be_empty =
            !value.is_known() ||
            std::find(value.texts.begin(), value.texts.end(), "") != value.texts.end();
        // "${x:?}" ends the script if x is empty, so the rest sees the other values. Keeping all is
        // safe.
        if (last == '?') return value;
        if (last == '+') return either(Value::of(""), operand);
        if (!may_be_empty) return value;
        Value out = value.single() != nullptr ? operand : either(value, operand);
        if (last == '=') assign(part.text, out);
        return out;
    }
    if (operation == "@") {
        warn("unpredictable_command", cat("${", part.text, "@…}"),
             "what it expands to is not known");
        return Value::unknown(cat("${", part.text, "@…}"));
    }
    if (!value.is_known()) return value;
    const std::string* const pattern = operand.single();
    const bool trims = operation[0] == '#' || operation[0] == '%';
    const bool is_literal =
        pattern != nullptr && !part.words.empty() && pattern->find('\\') == std::string::npos;
    if (trims && is_literal) {
        Value out;
        for (const std::string& each : value.texts) {
            // How much of a name that is not known the pattern takes away cannot be told.
            if (each.find(kSomeName) != std::string::npos)
                return Value::unknown(cat("$", part.text));
            const Value made =
                Value::of(without(each, *pattern, operation[0] == '%', operation.size() == 2));
            out = out.texts.empty() ? made : either(out, made);
        }
        return out;
    }
    return Value::unknown(cat("${", part.text, operation, "…}"));
}

// The output of a few commands is known.
// The script always runs in the abstract, for its effects. Its output is known if it is one simple
// command without redirections, as in "$(dirname "$0")" or "$(mktemp -d)", which scripts use to
// build paths.
Value Run::output_of(const Script& script) {
    State* const before = state_;
    const State outer = *state_;
    eval(script.list, outer);
    state_ = before;
    const Value unknown = Value::unknown("the output of a command");
    if (script.list.items.size() != 1 || script.list.items[0].pipelines.size() != 1) return unknown;
    const Pipeline& pipeline = script.list.items[0].pipelines[0];
    if (pipeline.commands.size() != 1 || pipeline.commands[0].kind != CommandKind::simple ||
        !pipeline.commands[0].redirects.empty())
        return unknown;
    const std::vector<Arg> words = fields(pipeline.commands[0].words);
    const std::string* const name = words.empty() ? nullptr : words.front().single();
    if (name == nullptr || state_->functions.contains(*name)) return unknown;
    if (*name == "pwd" && words.size() == 1) return variable("PWD");
    if (*name == "nproc") return a_number();
    const bool is_plain_mktemp =
        *name == "mktemp" &&
        (words.size() == 1 || (words.size() == 2 && words[1] == Value::of("-d")));
    if (is_plain_mktemp) {
        const auto tmp = situation_.environment.find("TMPDIR");
        return Value::of(cat(tmp == situation_.environment.end() ? "/tmp" : tmp->second, "/tmp.",
                             std::string(1, kSomeName)));
    }
    if (*name == "date" && words.size() == 2 && words[1].single() != nullptr &&
        words[1].single()->find_first_of(" /") == std::string::npos)
        return a_number();
    if (*name == "echo" || *name == "dirname" || *name == "basename") {
        Value out = Value::of("");
        for (std::size_t i = 1; i < words.size(); ++i) {
            const std::string* const word = words[i].single();
            if (word != nullptr && word->starts_with('-')) return unknown;
            out = joined(i == 1 ? out : joined(out, Value::of(" ")), words[i]);
        }
        if (*name == "echo" || !out.is_known()) return out;
        if (words.size() != 2) return unknown;
        Value made;
        for (const std::string& text : out.texts) {
            const std::string parent = text.find('/') == std::string::npos ? "." : parent_of(text);
            const Value one = Value::of(*name == "basename"   ? last_component(text)
                                        : text.ends_with('/') ? cat(text, "..")
                                                              : parent);
            made = made.texts.empty() ? one : either(made, one);
        }
        return made;
    }
    return unknown;
}

// A variable in an expression is evaluated as an expression, and may run a command in a subscript.
Value Run::arithmetic(const Word& expression) {
    for (const Part& part : expression.parts) {
        if (part.kind == PartKind::literal) {
            // Quotes do not keep an expression from being evaluated.
            if (part.quoted && part.text.find_first_of("$`") != std::string::npos)
                warn("unpredictable_command", part.text, "an expression may run what it is given");
            continue;
        }
        const Value value = value_of(part);
        const bool is_plain =
            value.is_known() &&
            std::all_of(value.texts.begin(), value.texts.end(),
                        [](const auto& t) { return t.find('[') == std::string::npos; });
        if (!is_plain)
            warn("unpredictable_command", expression.source,
                 "an expression may run what it is given");
    }
    const std::string& source = expression.source;
    const bool assigns = source.find('=') != std::string::npos ||
                         source.find("++") != std::string::npos ||
                         source.find("--") != std::string::npos;
    for (std::size_t at = 0; at < source.size();) {
        if (!is_name_start(source[at]) || (at > 0 && is_digit(source[at - 1]))) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < source.size() && is_name_char(source[end])) ++end;
        const std::string name = source.substr(at, end - at);
        const bool is_parameter = at > 0 && (source[at - 1] == '$' || source[at - 1] == '{');
        at = end;
        if (is_parameter) continue;
        const Value value = variable(name);
        const bool is_plain =
            value.is_known() &&
            std::all_of(value.texts.begin(), value.texts.end(), [](const auto& t) {
                return std::all_of(t.begin(), t.end(), [](char c) {
                    return is_digit(c) || c == '-' || c == kSomeName;
                });
            });
        if (!is_plain)
            warn("unpredictable_command", name, "an expression may run what the variable holds");
        if (assigns) assign(name, a_number());
    }
    return a_number();
}

}  // namespace quire::shell
