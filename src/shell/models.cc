// Options, the shell's own builtins, and the way from a name to its model.
// run_model() asks in this order: commands that touch no file, builtins, and then the families. A
// command that nobody knows is one warning, and so is an option that is not in its list: an option
// may turn any command into one that writes files. The name alone says which program runs, so
// Run::assign() warns where PATH is set.
#include "shell/models.h"

#include <algorithm>

#include "base/concat.h"
#include "shell/parser_body.h"

namespace quire::shell {

void Call::unpredictable(std::string why) const {
    run.warn("unpredictable_command", name, std::move(why));
}

const Arg* Options::value(std::string_view name) const {
    const Arg* out = nullptr;
    const auto [first, last] = given.equal_range(std::string(name));
    for (auto at = first; at != last; ++at) out = at->second ? &*at->second : out;
    return out;
}

Arg within(const Arg& directory, const std::string& name) {
    return joined(directory, Value::of("/" + name));
}

Arg with_suffix(const Arg& operand, std::string_view suffix) {
    return joined(operand, Value::of(std::string(suffix)));
}

namespace {

// A long option's name, what its value is (' ' none, '=' one, '?' perhaps), and its letter.
struct LongName {
    std::string_view name;
    char value = ' ';
    std::string_view letter;
};

// Splits a list of long names as read_options() in models.h takes it. O(list) for each call.
std::vector<LongName> long_names(std::string_view names) {
    std::vector<LongName> out;
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(' '), names.size());
        std::string_view row = names.substr(0, end);
        names.remove_prefix(std::min(end + 1, names.size()));
        LongName name;
        if (const std::size_t colon = row.find(':'); colon != std::string_view::npos) {
            name.letter = row.substr(colon + 1);
            row = row.substr(0, colon);
        }
        if (row.ends_with('=') || row.ends_with('?')) {
            name.value = row.back();
            row.remove_suffix(1);
        }
        name.name = row;
        out.push_back(name);
    }
    return out;
}

bool may_be_option(const Arg& argument) {
    return std::any_of(argument.texts.begin(), argument.texts.end(), [](const std::string& text) {
        return text.starts_with('-') && text != "-";
    });
}

bool unknown_option(const Call& call, const std::string& option) {
    call.unpredictable(cat("what the option ", option, " does is not known"));
    return false;
}

}  // namespace

// Options may stand behind operands, as GNU programs allow, and long names may be cut as far as one
// name alone begins so. An argument that is not known counts as an operand: the effect on it warns.
bool read_options(const Call& call, std::string_view letters, std::string_view names, Options& out,
                  bool stops) {
    const std::vector<LongName> known = long_names(names);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const Arg& argument = call.arguments[i];
        if (!argument.is_known() || !may_be_option(argument)) {
            if (stops) {
                out.operands.insert(out.operands.end(),
                                    call.arguments.begin() + static_cast<std::ptrdiff_t>(i),
                                    call.arguments.end());
                return true;
            }
            out.operands.push_back(argument);
            continue;
        }
        const std::string* const text = argument.single();
        // It has several values, and at least one of them is an option.
        if (text == nullptr) return unknown_option(call, argument.texts.front());
        if (*text == "--") {
            out.operands.insert(out.operands.end(),
                                call.arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                call.arguments.end());
            return true;
        }
        if (text->starts_with("--")) {
            const std::size_t equals = text->find('=');
            const std::string_view word = std::string_view(*text).substr(
                2, equals == std::string::npos ? equals : equals - 2);
            const LongName* found = nullptr;
            std::size_t fitting = 0;
            for (const LongName& each : known) {
                if (!each.name.starts_with(word)) continue;
                ++fitting;
                if (found == nullptr || each.name == word) found = &each;
            }
            if (found == nullptr || (fitting > 1 && found->name != word))
                return unknown_option(call, *text);
            std::optional<Arg> value;
            if (equals != std::string::npos) {
                value = Value::of(text->substr(equals + 1));
            } else if (found->value == '=') {
                if (++i >= call.arguments.size()) return unknown_option(call, *text);
                value = call.arguments[i];
            }
            const std::string_view key = found->letter.empty() ? found->name : found->letter;
            out.given.emplace(std::string(key), std::move(value));
            continue;
        }
        // Several letters in one word; the first that takes a value takes the rest of the word.
        for (std::size_t at = 1; at < text->size(); ++at) {
            const char letter = (*text)[at];
            const std::size_t place = letter == ':' ? std::string_view::npos : letters.find(letter);
            if (place == std::string_view::npos) return unknown_option(call, *text);
            const bool takes = place + 1 < letters.size() && letters[place + 1] == ':';
            const bool may_take = takes && place + 2 < letters.size() && letters[place + 2] == ':';
            std::optional<Arg> value;
            if (takes && at + 1 < text->size()) {
                value = Value::of(text->substr(at + 1));
                at = text->size();
            } else if (takes && !may_take) {
                if (++i >= call.arguments.size()) return unknown_option(call, *text);
                value = call.arguments[i];
            }
            out.given.emplace(std::string(1, letter), std::move(value));
        }
    }
    return true;
}

// --- builtins, and programs without effects ----------------------------------------------------

namespace {

// These neither touch a file nor change what a later command means, whatever their operands are.
bool is_harmless_command(std::string_view name) {
    constexpr std::string_view kNames[] = {
        ":",        "true",   "false",    "echo",     "pwd",     "exit",   "jobs",   "times",
        "umask",    "ulimit", "type",     "which",    "dirs",    "caller", "kill",   "disown",
        "date",     "sleep",  "seq",      "basename", "dirname", "id",     "whoami", "uname",
        "hostname", "expr",   "printenv", "locale",   "tty",     "nproc",  "arch",   "groups",
        "logname",  "users",  "uptime",   "free",     "ps",      "cal",    "factor", "pathchk",
        "tput",     "clear",  "getconf",  "who",      "yes",     "pgrep",  "lscpu",  "fg",
        "bg",       "usleep", "sync"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// bash evaluates the subscript of a name as an expression, and a $(…) in it runs. An argument that
// is not known may have one.
bool has_subscript(const Arg& argument) {
    return !argument.is_known() ||
           std::any_of(argument.texts.begin(), argument.texts.end(),
                       [](const std::string& text) { return text.find('[') != std::string::npos; });
}

// declare and its kin. Attributes that change what an assignment means are not followed, and a name
// without a value may be empty from now on.
void declare_model(const Call& call) {
    for (const Arg& argument : call.arguments) {
        const std::string* const word = argument.single();
        if (word == nullptr) return call.unpredictable("what it declares is not known");
        if (word->starts_with('-') || word->starts_with('+')) {
            if (word->find_first_not_of("-+aAgrxpfFt") != std::string::npos)
                call.unpredictable(cat("the attribute ", *word, " changes what a value means"));
            const bool exports = call.name == "export" || word->find('x') != std::string::npos;
            if (exports && word->starts_with('-') && word->find('f') != std::string::npos)
                call.unpredictable("shells that it starts have the functions that it exports");
            continue;
        }
        const std::size_t equals = word->find('=');
        if (has_subscript(argument)) return call.unpredictable("a subscript may run a command");
        if (equals != std::string::npos) {
            call.run.assign(word->substr(0, equals), Value::unknown(cat("$", *word)));
        } else {
            call.run.may_be_empty(*word);
        }
    }
}

// hash -p says which program a name means.
void hash_model(const Call& call) {
    for (const Arg& argument : call.arguments) {
        const std::string* const word = argument.single();
        if (word == nullptr || word->find('p') != std::string::npos)
            return call.unpredictable("the names of commands may mean other programs");
    }
}

void getopts_model(const Call& call) {
    for (std::size_t i = 1; i < call.arguments.size(); ++i) {
        for (const std::string& name : call.arguments[i].texts)
            call.run.assign(name, Value::unknown(cat("$", name, ", which is read")));
    }
    call.run.assign("OPTARG", Value::unknown("$OPTARG"));
}

// The variable gets a text that comes from outside.
void set_unknown(const Call& call, const Arg& name) {
    if (has_subscript(name)) return call.unpredictable("a subscript may run a command");
    for (const std::string& each : name.texts)
        call.run.assign(each, Value::unknown(cat("$", each, ", which is read")));
}

void printf_model(const Call& call) {
    if (call.arguments.empty()) return;
    const std::string* const first = call.arguments.front().single();
    if (first == nullptr) {
        const auto& texts = call.arguments.front().texts;
        const bool may_set =
            texts.empty() || std::any_of(texts.begin(), texts.end(),
                                         [](auto& each) { return each.starts_with("-v"); });
        if (may_set) call.unpredictable("which variable it sets is not known");
        return;
    }
    if (!first->starts_with("-v")) return;
    const Arg name = first->size() > 2           ? Value::of(first->substr(2))
                     : call.arguments.size() > 1 ? call.arguments[1]
                                                 : Value::of("_");
    set_unknown(call, name);
}

void read_model(const Call& call) {
    Options options;
    if (!read_options(call, "a:d:ei:n:N:p:rst:u:", "", options)) return;
    if (const Arg* const array = options.value("a")) set_unknown(call, *array);
    for (const Arg& name : options.operands) set_unknown(call, name);
    if (options.operands.empty()) set_unknown(call, Value::of("REPLY"));
}

void mapfile_model(const Call& call) {
    Options options;
    if (!read_options(call, "d:n:O:s:tu:C:c:", "", options)) return;
    if (options.has("C")) return call.unpredictable("it runs a command for each line");
    const Arg name = options.operands.empty() ? Value::of("MAPFILE") : options.operands.front();
    set_unknown(call, name);
    for (const std::string& each : name.texts)
        call.run.state().arrays[each] = {{Value::unknown(cat("${", each, "[@]}"))}, false};
}

// [ and test evaluate the subscript of what -v and -R are given.
void test_model(const Call& call) {
    for (std::size_t i = 0; i + 1 < call.arguments.size(); ++i) {
        const std::string* const word = call.arguments[i].single();
        const bool names = word != nullptr && (*word == "-v" || *word == "-R");
        const bool may_name = word == nullptr && call.arguments[i + 1].is_known();
        if ((names || may_name) && has_subscript(call.arguments[i + 1]))
            call.unpredictable("a subscript may run a command");
    }
}

// Operands replace $1 and the rest. -f and noglob change what patterns do; -e only ends the script
// earlier.
void set_model(const Call& call) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const std::string* const word = call.arguments[i].single();
        if (word == nullptr) return call.unpredictable("its arguments are not known");
        if (*word == "--" || !(word->starts_with('-') || word->starts_with('+'))) {
            const std::size_t from = i + (*word == "--" ? 1 : 0);
            std::vector<Arg>& positional = call.run.state().positional;
            positional.assign(call.arguments.begin() + static_cast<std::ptrdiff_t>(from),
                              call.arguments.end());
            // Every command has a copy of them.
            if (positional.size() > 256) positional = {Value::many("one of many arguments")};
            return;
        }
        // -B and -P change what braces and cd do; the others of these end the script earlier, or
        // tell more.
        if (word->find_first_not_of("-+abCeEfhkmnotTuvx") != std::string::npos)
            call.unpredictable("the option changes how the shell reads commands");
        if (word->find('f') != std::string::npos) call.run.state().globs_oddly = true;
        if (word->find('o') != std::string::npos) {
            const std::string* const name =
                i + 1 < call.arguments.size() ? call.arguments[++i].single() : nullptr;
            if (name != nullptr && *name == "noglob") call.run.state().globs_oddly = true;
            constexpr std::string_view kPlain[] = {
                "pipefail",  "errexit", "nounset", "xtrace", "verbose",  "noclobber",
                "allexport", "monitor", "notify",  "noglob", "errtrace", "functrace"};
            if (name == nullptr ||
                std::find(std::begin(kPlain), std::end(kPlain), *name) == std::end(kPlain))
                call.unpredictable("the option changes how the shell reads commands");
        }
    }
}

// Most options of shopt are about globs, so each is taken for one of these.
void shopt_model(const Call& call) {
    call.run.state().globs_oddly = true;
    for (const Arg& argument : call.arguments) {
        const std::string* const word = argument.single();
        const bool changes_grammar = word == nullptr || *word == "expand_aliases" ||
                                     *word == "extglob" || *word == "lastpipe" ||
                                     *word == "xpg_echo" || word->starts_with("cd") ||
                                     word->starts_with("compat");
        if (changes_grammar) call.unpredictable("the option changes how the shell reads commands");
    }
}

void unset_model(const Call& call) {
    for (const Arg& argument : call.arguments) {
        if (!argument.is_known()) return call.unpredictable("what it unsets is not known");
        if (has_subscript(argument)) return call.unpredictable("a subscript may run a command");
        for (const std::string& name : argument.texts) {
            if (name.starts_with('-')) continue;
            call.run.unset(name);
        }
    }
}

// Only a shift by one of known arguments is followed.
void shift_model(const Call& call) {
    std::vector<Arg>& positional = call.run.state().positional;
    if (call.arguments.empty() && positional.empty()) return;
    const bool is_one = call.arguments.empty() && !positional.front().is_optional &&
                        !positional.front().is_many &&
                        (positional.size() == 1 || !positional[1].is_optional);
    if (is_one) {
        positional.erase(positional.begin());
    } else {
        positional = {Value::many("an argument after shift")};
    }
}

// The commands behind them are followed too, as if they were not there.
void jump_model(const Call& call) {
    const bool returns = call.name == "return";
    call.run.jump(returns, !call.arguments.empty());
}

// -p gives a variable the number of a process.
void wait_model(const Call& call) {
    for (const Arg& each : call.arguments) {
        const std::string* const word = each.single();
        if (word == nullptr || word->starts_with("-p") || word->starts_with("-np"))
            call.unpredictable("which variable it sets is not known");
    }
}

// Runs each argument as ((…)), which has the same rules.
void let_model(const Call& call) {
    for (const Arg& argument : call.arguments) {
        const std::string* const text = argument.single();
        if (text == nullptr) return call.unpredictable("an expression may run what it is given");
        call.run.run_text(cat("(( ", *text, " ))"), "let");
    }
}

void alias_model(const Call& call) {
    call.unpredictable("it may change what later commands are");
}

Model builtin_model(std::string_view name) {
    struct Row {
        std::string_view name;
        Model model;
    };
    constexpr Row kRows[] = {
        {"printf", printf_model},     {"read", read_model},       {"mapfile", mapfile_model},
        {"readarray", mapfile_model}, {"[", test_model},          {"test", test_model},
        {"set", set_model},           {"shopt", shopt_model},     {"unset", unset_model},
        {"shift", shift_model},       {"let", let_model},         {"alias", alias_model},
        {"unalias", alias_model},     {"enable", alias_model},    {"getopts", getopts_model},
        {"declare", declare_model},   {"typeset", declare_model}, {"local", declare_model},
        {"readonly", declare_model},  {"export", declare_model},  {"hash", hash_model},
        {"break", jump_model},        {"continue", jump_model},   {"return", jump_model},
        {"wait", wait_model}};
    for (const Row& row : kRows) {
        if (row.name == name) return row.model;
    }
    return nullptr;
}

}  // namespace

void run_model(const Call& call) {
    std::string_view name = call.name;
    // A program that is named by its path is the one that is known, only where the system keeps it.
    for (const std::string_view place : {"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"}) {
        if (name.starts_with(place)) name.remove_prefix(place.size());
    }
    if (name.find('/') != std::string_view::npos) {
        call.run.effect(Effect::execute, Value::of(call.name));
        return call.unpredictable("what the program does is not known");
    }
    if (is_harmless_command(name)) return;
    for (const auto find : {builtin_model, file_model, text_model, running_model, tool_model}) {
        const Model model = find(name);
        if (model == nullptr) continue;
        const std::string plain(name);
        return model({call.run, plain, call.arguments, call.input});
    }
    call.unpredictable("what the program does is not known");
}

}  // namespace quire::shell
