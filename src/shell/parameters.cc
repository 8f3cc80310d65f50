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

constexpr std::size_t kLongestTrimmed = 512;

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
        "-",      "HOSTNAME", "HOSTTYPE", "OSTYPE", "MACHTYPE", "SHELLOPTS", "SHELL", "BASHOPTS",
        "GROUPS", "COLUMNS",  "LINES",    "PS4",    "TERM",     "OPTERR",    "IFS"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Those that it sets anew while the script runs, also where the script has set them.
bool is_changed_by_bash(const std::string& name) {
    constexpr std::string_view kNames[] = {"OLDPWD",   "_",          "REPLY",         "DIRSTACK",
                                           "FUNCNAME", "PIPESTATUS", "OPTARG",        "MAPFILE",
                                           "HISTCMD",  "COPROC",     "EPOCHREALTIME", "SRANDOM"};
    return name.starts_with("BASH") || name.starts_with("COMP_") || name.starts_with("READLINE_") ||
           std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Variables that say which programs run, what they run, or which files they write.
bool is_risky_variable(std::string_view name) {
    constexpr std::string_view kNames[] = {
        "PATH",       "BASH_ENV",      "ENV",      "PAGER",          "EDITOR",    "VISUAL",
        "SHELLOPTS",  "BASHOPTS",      "PS4",      "PROMPT_COMMAND", "MANPAGER",  "LESSOPEN",
        "PYTHONPATH", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT",       "RUBYOPT",   "NODE_OPTIONS",
        "CDPATH",     "TAR_OPTIONS",   "TAPE",     "RSYNC_RSH",      "MAKEFLAGS", "BASH_FUNC",
        "TMPDIR",     "XZ_OPT",        "GZIP",     "XZ_DEFAULTS",    "BZIP",      "BZIP2",
        "ZIPOPT",     "UNZIP",         "AWKPATH",  "AWKLIBPATH",     "MAGIC",     "VERSION_CONTROL",
        "SHELL"};
    return name.starts_with("LD_") || name.starts_with("GIT_") || name.starts_with("XDG_") ||
           name == "SIMPLE_BACKUP_SUFFIX" || name == "POSIXLY_CORRECT" ||
           name == "RIPGREP_CONFIG_PATH" ||
           std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// The output of date for such a format is a word without a '/'.
bool is_plain_date(std::string_view format) {
    for (std::size_t at = 0; at < format.size(); ++at) {
        if (format[at] == ' ' || format[at] == '/') return false;
        if (format[at] != '%') continue;
        if (++at == format.size() ||
            std::string_view("YmdHMSsFTjyUVWuwaAbBNI").find(format[at]) == std::string_view::npos)
            return false;
    }
    return format.starts_with('+');
}

bool is_wild_or_blank(char c) {
    return std::string_view("*?[]\\ \t\n").find(c) != std::string_view::npos;
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

// The most bytes that all assignments of a run may have. A loop of doublings would fill the memory.
constexpr std::size_t kMostAssigned = 1 << 24;

// All assignments of texts end here, those of read, declare and loops too, so these names are seen
// in each of them.
void Run::assign(const std::string& name, Value value) {
    if (name == "IFS") state_->splits_oddly = true;
    if (name == "GLOBIGNORE") state_->globs_oddly = true;
    if (is_risky_variable(name))
        warn("unpredictable_command", name, "the variable changes what commands do");
    if (state_->fixed.contains(name)) value = either(variable(name), value);
    value.is_optional = value.is_many = false;
    for (const std::string& text : value.texts) assigned_ += text.size();
    if (assigned_ > kMostAssigned) {
        warn("too_complex", name, "its variables have too much text");
        value = Value::unknown("it is too long");
    }
    if (state_->arrays.contains(name)) return add_element(name, value);
    state_->variables[name] = std::move(value);
}

// Elements are told apart only where all of them were set at once.
void Run::add_element(const std::string& name, const Value& value) {
    const auto [at, is_new] = state_->arrays.try_emplace(name);
    Value any = either(is_new ? variable(name) : any_element(at->second), value);
    at->second = {{std::move(any)}, false};
    state_->variables.erase(name);
}

// Any of the elements, or one that is not there.
Value Run::any_element(const Elements& elements) {
    Value out = Value::of("");
    for (const Arg& element : elements.all) out = either(out, element);
    out.is_optional = out.is_many = false;
    return out;
}

// `declare NAME` leaves a variable as it is, or hides it behind an empty one in a function.
void Run::may_be_empty(const std::string& name) {
    if (state_->arrays.contains(name)) return add_element(name, Value::of(""));
    state_->variables[name] = either(variable(name), Value::of(""));
}

void Run::unset(const std::string& name) {
    assign(name, Value::of(""));
    state_->functions.erase(name);
}

// $1 is the first of the arguments. Where one of them may be missing, or may be several words, those behind
// it have other numbers.
Value Run::argument(std::size_t index) {
    const std::vector<Arg>& all = state_->positional;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < std::min(index, all.size()); ++i) {
        if (all[i].is_many) return Value::unknown("which of its arguments it is");
        missing += all[i].is_optional ? 1 : 0;
    }
    if (index > all.size()) return Value::of("");
    Value out = all[index - 1];
    for (std::size_t i = index; i < std::min(index + missing, all.size()); ++i) {
        if (all[i].is_many) return Value::unknown("which of its arguments it is");
        out = either(out, all[i]);
    }
    if (index + missing > all.size()) out = either(out, Value::of(""));
    out.is_optional = false;
    return out;
}

Value Run::variable(const std::string& name) {
    if (name.empty()) return Value::unknown("a variable without a name");
    const auto set = state_->variables.find(name);
    const bool is_set = set != state_->variables.end();
    if (is_counter(name)) return is_set ? either(set->second, a_number()) : a_number();
    if (name == "IFS" && !state_->splits_oddly) return Value::of(" \t\n");
    if (name == "PWD") {
        if (state_->cwds.empty()) return Value::unknown("$PWD");
        Value out = Value::of(state_->cwds.front());
        for (const std::string& cwd : state_->cwds) out = either(out, Value::of(cwd));
        return is_set ? either(out, set->second) : out;
    }
    if (is_digit(name.front())) {
        // Zeros in front do not count. Only six digits are read, so that the number cannot overflow.
        const std::size_t first = std::min(name.find_first_not_of('0'), name.size());
        const std::string digits = name.substr(first, 6);
        if (!digits.empty()) return argument(std::stoul(digits));
        const auto given = state_->variables.find("0");
        return given == state_->variables.end() ? Value::of("bash") : given->second;
    }
    if (name == "*" || name == "@") return joined_by_blanks(state_->positional);
    if (is_changed_by_bash(name)) return Value::unknown(cat("$", name));
    if (is_set) return set->second;
    if (const auto array = state_->arrays.find(name); array != state_->arrays.end()) {
        const Elements& elements = array->second;
        const bool is_first = elements.are_exact && !elements.all.empty() &&
                              !elements.all.front().is_optional && !elements.all.front().is_many;
        return is_first ? elements.all.front() : any_element(elements);
    }
    const auto known = situation_.environment.find(name);
    if (known != situation_.environment.end()) return Value::of(known->second);
    // Without knows_all an absent variable may come from an environment that is not known.
    if (!is_set_by_bash(name) && situation_.knows_all) return Value::of("");
    return Value::unknown(cat("$", name));
}

// A subscript is an expression, and may run a command.
void Run::subscript(const Word& word) {
    const bool is_number = std::all_of(word.source.begin(), word.source.end(), is_digit);
    if (!is_number && word.source != "@" && word.source != "*") arithmetic(word);
}

// The order is bash's: the variable, its subscript, then the operator. All elements of an array are
// taken together, because subscripts are not followed.
Value Run::parameter(const Part& part) {
    std::string operation = part.operation;
    const bool has_subscript = operation.find('[') != std::string::npos;
    if (has_subscript) subscript(part.words.front());
    if (operation.starts_with('#') && (has_subscript || part.words.empty())) return a_number();
    if (operation.starts_with('!')) {
        warn("unpredictable_command", cat("${!", part.text, "}"),
             "which variable it means is not known");
        return Value::unknown(cat("${!", part.text, "}"));
    }
    const std::string name = has_subscript ? part.words.front().source : part.text;
    const bool is_list = name == "@" || name == "*";
    Value value = variable(part.text);
    if (has_subscript) {
        const auto array = state_->arrays.find(part.text);
        if (array != state_->arrays.end())
            value = !is_list                  ? any_element(array->second)
                    : array->second.are_exact ? joined_by_blanks(array->second.all)
                                              : Value::unknown(cat("${", part.text, "[*]}"));
        operation.erase(0, 1);
    }
    if (operation.empty()) return value;
    Part plain = part;
    if (has_subscript) plain.words.erase(plain.words.begin());
    plain.operation = operation;
    value = operated(plain, std::move(value));
    // Operators work on each element of a list.
    return is_list ? Value::unknown(cat("${", part.text, operation, "…}")) : value;
}

// `part` has no subscript any more. An operand is expanded even where bash would not: its effects
// count.
Value Run::operated(const Part& part, Value value) {
    const std::string& operation = part.operation;
    const Value operand = part.words.empty() ? Value::of("") : text(part.words.front());
    const Value unknown = Value::unknown(cat("${", part.text, operation, "…}"));
    // Quotes in an operand, and lists, mean more than its text tells.
    bool has_quotes = false;
    if (!part.words.empty()) {
        for (const Part& each : part.words.front().parts)
            has_quotes = has_quotes || each.quoted || list_of(each);
    }
    const auto is_odd = [](const std::string& text) {
        return text.empty() || std::any_of(text.begin(), text.end(), is_wild_or_blank);
    };
    const bool loses_quotes =
        has_quotes && (!operand.is_known() || std::ranges::any_of(operand.texts, is_odd));
    const char last = operation.back();
    const bool is_default = last == '-' || last == '=' || last == '+' || last == '?';
    if (is_default && operation.size() <= 2 && (operation.size() == 1 || operation[0] == ':')) {
        const bool may_be_empty =
            !value.is_known() ||
            std::find(value.texts.begin(), value.texts.end(), "") != value.texts.end();
        // "${x:?}" ends the script if x is empty, so the rest sees the other values. Keeping all is
        // safe.
        if (last == '?') return value;
        const Value given = !part.quoted && loses_quotes ? unknown : operand;
        if (last == '+') return either(Value::of(""), given);
        if (!may_be_empty) return value;
        // Without a ':' an empty variable stays empty, if it is set.
        const bool may_be_set = operation.size() == 1 && (state_->variables.contains(part.text) ||
                                                          state_->arrays.contains(part.text));
        Value out = value.single() != nullptr && !may_be_set ? given : either(value, given);
        if (last == '=') assign(part.text, out);
        return out;
    }
    if (operation == "@") {
        warn("unpredictable_command", cat("${", part.text, "@…}"),
             "what it expands to is not known");
        return unknown;
    }
    // A place in a text is an expression.
    if (operation == ":" && !part.words.empty()) arithmetic(part.words.front());
    if (!value.is_known()) return value;
    const std::string* const pattern = operand.single();
    const bool trims = operation[0] == '#' || operation[0] == '%';
    const bool is_literal = pattern != nullptr && !part.words.empty() && !loses_quotes &&
                            pattern->find('\\') == std::string::npos &&
                            pattern->find(kSomeName) == std::string::npos &&
                            has_plain_sets(*pattern);
    if (trims && is_literal) {
        Value out;
        for (const std::string& each : value.texts) {
            // How much of a name that is not known the pattern takes away cannot be told. Long texts
            // would take too much time.
            const bool is_plain = std::all_of(each.begin(), each.end(), [](char c) {
                return c != kSomeName && static_cast<unsigned char>(c) < 0x80;
            });
            if (!is_plain || each.size() > kLongestTrimmed || pattern->size() > kLongestTrimmed)
                return Value::unknown(cat("$", part.text));
            const Value made =
                Value::of(without(each, *pattern, operation[0] == '%', operation.size() == 2));
            out = out.texts.empty() ? made : either(out, made);
        }
        return out;
    }
    return unknown;
}

// The output of a few commands is known.
// The script always runs in the abstract, for its effects. Its output is known if it is one simple
// command without redirections, as in "$(dirname "$0")" or "$(mktemp -d)", which scripts use to
// build paths.
Value Run::output_of(const Script& script) {
    run_apart(script.list);
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
        is_plain_date(*words[1].single()))
        return a_number();
    if (*name == "echo" || *name == "dirname" || *name == "basename") {
        Value out = Value::of("");
        for (std::size_t i = 1; i < words.size(); ++i) {
            const std::string* const word = words[i].single();
            if (word != nullptr && word->starts_with('-')) return unknown;
            if (words[i].is_optional) return unknown;
            out = joined(i == 1 ? out : joined(out, Value::of(" ")), words[i]);
        }
        if (!out.is_known()) return out;
        // The newlines at the end are lost, and other shells read escapes.
        const bool is_changed = std::ranges::any_of(out.texts, [&](const std::string& text) {
            return text.ends_with('\n') || (is_posix_ && text.find('\\') != std::string::npos);
        });
        if (is_changed) return unknown;
        if (*name == "echo") return out;
        if (words.size() != 2) return unknown;
        Value made;
        for (std::string text : out.texts) {
            while (text.size() > 1 && text.ends_with('/')) text.pop_back();
            const std::string parent = text.find('/') == std::string::npos ? "." : parent_of(text);
            const Value one = Value::of(*name == "basename" ? last_component(text) : parent);
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
