// Models of the commands that run others: wrappers, shells, find and xargs.
// The command that is run goes through the same dispatch as if it stood in the script, so wrappers
// nest. A script in a text is parsed and followed; one in a file or on a pipe is not read, and is a
// warning.
#include <algorithm>

#include "base/concat.h"
#include "shell/models.h"

namespace quire::shell {

namespace {

std::vector<Arg> from(const std::vector<Arg>& arguments, std::size_t first) {
    if (first >= arguments.size()) return {};
    return {arguments.begin() + static_cast<std::ptrdiff_t>(first), arguments.end()};
}

// A command that takes some options, `skipped` operands, and then the command that it runs.
// The lists are those of read_options(). timeout, for one, skips its duration.
struct Wrapper {
    std::string_view name;
    std::string_view letters;
    std::string_view names = "";
    std::size_t skipped = 0;
};
constexpr Wrapper kWrappers[] = {
    {"command", "pvV"},
    {"builtin", ""},
    {"nice", "n:", "adjustment=:n"},
    {"ionice", "c:n:t", "class=:c classdata=:n"},
    {"nohup", ""},
    {"setsid", "cfw", "ctty:c fork:f wait:w"},
    {"stdbuf", "e:i:o:", "error=:e input=:i output=:o"},
    {"timeout", "k:s:v", "foreground kill-after=:k preserve-status signal=:s verbose:v", 1},
    {"chrt", "abfimop:rRT:P:D:v", "", 1},
    {"taskset", "ac", "cpu-list:c", 1},
    {"time", "apvqf:o:"},
    {"busybox", ""},
    {"exec", "a:cl"},
};

void wrapper_model(const Call& call) {
    const auto at = std::find_if(std::begin(kWrappers), std::end(kWrappers),
                                 [&](const Wrapper& each) { return each.name == call.name; });
    Options options;
    if (!read_options(call, at->letters, at->names, options, true)) return;
    if (call.name == "command" && (options.has("v") || options.has("V"))) return;
    if (call.name == "time" && options.value("o") != nullptr) call.run.write(*options.value("o"));
    if (call.name == "nohup") call.run.append(Value::of("nohup.out"));
    if (options.operands.size() <= at->skipped) return;
    const std::vector<Arg> command = from(options.operands, at->skipped);
    // command and builtin pass over functions; so do programs.
    call.run.run_command(command, call.input);
}

// A variable may change what a program does (LD_PRELOAD, GIT_DIR, PATH …). Only those of language
// and time are passed over.
void env_model(const Call& call) {
    Options options;
    if (!read_options(call, "0C:iu:v", "chdir=:C ignore-environment:i null:0 unset=:u", options,
                      true))
        return;
    if (options.has("C")) return call.unpredictable("it changes the working directory");
    std::size_t first = 0;
    for (; first < options.operands.size(); ++first) {
        const std::string* const word = options.operands[first].single();
        if (word == nullptr || word->find('=') == std::string::npos) break;
        const std::string name = word->substr(0, word->find('='));
        const bool is_plain = name == "LANG" || name.starts_with("LC_") || name == "TZ";
        if (!is_plain) call.unpredictable(cat("the variable ", name, " may change what it runs"));
    }
    if (first < options.operands.size())
        call.run.run_command(from(options.operands, first), call.input);
}

void shell_model(const Call& call) {
    Options options;
    if (!read_options(call, "ceuxvnilo:O:s", "norc noprofile posix login rcfile=", options, true))
        return;
    if (options.has("rcfile") || options.has("l") || options.has("i") || options.has("login"))
        return call.unpredictable("it reads files of its own");
    // -n reads the script and runs nothing.
    if (options.has("n")) return;
    if (options.has("c")) {
        const std::string* const script =
            options.operands.empty() ? nullptr : options.operands.front().single();
        if (script == nullptr || script->find(kSomeName) != std::string::npos)
            return call.unpredictable("its script is not known");
        return call.run.run_shell(*script, call.name, from(options.operands, 1));
    }
    if (!options.operands.empty()) {
        call.run.effect(Effect::read, options.operands.front());
        return call.unpredictable("what the script does is not known");
    }
    if (!call.input.text) return call.unpredictable("the script that it is given is not known");
    call.run.run_shell(*call.input.text, call.name, {});
}

// The words are joined by blanks and parsed again, in this shell: its variables and directory
// change.
void eval_model(const Call& call) {
    Value script = Value::of("");
    for (const Arg& each : call.arguments) script = joined(joined(script, each), Value::of(" "));
    const std::string* const text = script.single();
    if (text == nullptr || text->find(kSomeName) != std::string::npos)
        return call.unpredictable("what it evaluates is not known");
    call.run.run_text(*text, "eval");
}

// The file may do all that the script could, so not even the directory is known afterwards.
void source_model(const Call& call) {
    if (!call.arguments.empty()) call.run.effect(Effect::read, call.arguments.front());
    call.unpredictable("what the script does is not known");
    call.run.state().cwds.clear();
}

void trap_model(const Call& call) {
    if (call.arguments.size() < 2) return;
    const std::string* const text = call.arguments.front().single();
    if (text == nullptr) return call.unpredictable("what it will run is not known");
    if (*text == "-" || text->empty() || *text == "-l" || *text == "-p") return;
    const bool only_at_exit = std::all_of(
        call.arguments.begin() + 1, call.arguments.end(),
        [](const Arg& each) { return each == Value::of("EXIT") || each == Value::of("0"); });
    call.run.add_trap(*text, only_at_exit);
}

// --- find and xargs ----------------------------------------------------------------------------

// The command of -exec runs with its {} as an unknown file; the few that are common are told more exactly.
// With -execdir it runs in the directory of the file, which is not known.
void run_for_found(const Call& call, const std::vector<Arg>& starts, std::vector<Arg> command,
                   bool in_its_directory) {
    if (command.empty()) return;
    const std::string* const name = command.front().single();
    const bool deletes = name != nullptr && (*name == "rm" || *name == "rmdir");
    constexpr std::string_view kReaders[] = {"grep", "cat",  "ls",   "wc",
                                             "head", "echo", "stat", "file"};
    const bool only_reads = name != nullptr && std::find(std::begin(kReaders), std::end(kReaders),
                                                         *name) != std::end(kReaders);
    std::vector<Arg> rest;
    bool names_files = false;
    for (const Arg& part : command) {
        const std::string* const text = part.single();
        if (text == nullptr || text->find("{}") == std::string::npos) {
            rest.push_back(part);
        } else if (*text == "{}" && (deletes || only_reads)) {
            names_files = true;
        } else if (!only_reads) {
            // A name within a word may lead anywhere: "{}/..".
            rest.push_back(Value::unknown("a file that find names"));
        }
    }
    // These effects are those on anything below the starts, beside those of the other operands.
    for (const Arg& start : starts) {
        if (names_files && deletes) call.run.effect_below(Effect::erase, start, LastLink::itself);
    }
    const std::vector<std::string> cwds = call.run.state().cwds;
    if (in_its_directory) call.run.state().cwds.clear();
    call.run.run_command(rest, {});
    if (in_its_directory) call.run.state().cwds = cwds;
}

// Which files the tests choose is not asked: an action is on all below the starting points.
void find_model(const Call& call) {
    std::vector<Arg> starts;
    bool follows = false;  // Links may lead to files that are not below the starts.
    std::size_t i = 0;
    const auto word_at = [&](std::size_t at) {
        return at < call.arguments.size() ? call.arguments[at].single() : nullptr;
    };
    for (; i < call.arguments.size(); ++i) {
        const std::string* const word = word_at(i);
        if (word != nullptr && (*word == "-L" || *word == "-H" || *word == "-P")) {
            follows = follows || *word != "-P";
            continue;
        }
        if (word != nullptr && (word->starts_with('-') || *word == "(" || *word == "!")) break;
        starts.push_back(call.arguments[i]);
    }
    if (starts.empty()) starts.push_back(Value::of("."));
    for (const Arg& start : starts) call.run.effect_below(Effect::read, start);
    // Tests with one operand, and below words without any. None of them changes a file.
    constexpr std::string_view kTests[] = {
        "-name",     "-iname",    "-path",  "-ipath", "-wholename", "-regex",  "-iregex",
        "-type",     "-size",     "-mtime", "-mmin",  "-atime",     "-amin",   "-ctime",
        "-cmin",     "-newer",    "-perm",  "-user",  "-group",     "-uid",    "-gid",
        "-maxdepth", "-mindepth", "-links", "-inum",  "-samefile",  "-printf", "-regextype",
        "-newermt",  "-fstype",   "-xtype", "-lname"};
    constexpr std::string_view kPlain[] = {
        "(",        ")",         "!",           ",",         "-a",        "-o",
        "-and",     "-or",       "-not",        "-print",    "-print0",   "-prune",
        "-quit",    "-empty",    "-depth",      "-mount",    "-xdev",     "-true",
        "-false",   "-ls",       "-executable", "-readable", "-writable", "-nouser",
        "-nogroup", "-daystart", "-follow",     "-noleaf",   "-d"};
    const auto is_in = [](const auto& names, const std::string& word) {
        return std::find(std::begin(names), std::end(names), word) != std::end(names);
    };
    for (; i < call.arguments.size(); ++i) {
        const std::string* const word = word_at(i);
        if (word == nullptr) return call.unpredictable("its expression is not known");
        follows = follows || *word == "-follow";
        if (is_in(kPlain, *word)) continue;
        const bool acts =
            *word == "-delete" || word->starts_with("-exec") || word->starts_with("-ok");
        if (follows && acts) call.unpredictable("the links that it follows may lead anywhere");
        if (is_in(kTests, *word)) {
            ++i;
        } else if (*word == "-delete") {
            for (const Arg& start : starts)
                call.run.effect_below(Effect::erase, start, LastLink::itself);
        } else if (word->starts_with("-fprint") || *word == "-fls") {
            if (i + 1 < call.arguments.size()) call.run.write(call.arguments[i + 1]);
            i += *word == "-fprintf" ? 2 : 1;
        } else if (*word == "-exec" || *word == "-execdir" || *word == "-ok" || *word == "-okdir") {
            std::vector<Arg> command;
            for (++i; i < call.arguments.size(); ++i) {
                const std::string* const part = word_at(i);
                if (part != nullptr && (*part == ";" || *part == "+")) break;
                command.push_back(call.arguments[i]);
            }
            run_for_found(call, starts, std::move(command), word->ends_with("dir"));
        } else {
            return call.unpredictable(cat("what ", *word, " does is not known"));
        }
    }
}

// The words that arrive on the pipe are one unknown operand at the end. For commands that only read
// it makes no difference.
void xargs_model(const Call& call) {
    Options options;
    if (!read_options(
            call, "0a:d:E:e::I:i::L:l::n:oP:prs:tx",
            "arg-file=:a delimiter=:d eof?:E exit:x interactive:p max-args=:n max-chars=:s "
            "max-lines?:L max-procs=:P no-run-if-empty:r null:0 replace?:I verbose:t",
            options, true))
        return;
    if (const Arg* const file = options.value("a")) call.run.effect(Effect::read, *file);
    std::vector<Arg> command = options.operands;
    if (command.empty()) return;
    const std::string* const name = command.front().single();
    constexpr std::string_view kReaders[] = {
        "echo", "grep",     "cat",     "ls",     "wc", "head",   "tail",      "stat", "file",
        "test", "basename", "dirname", "printf", "du", "md5sum", "sha256sum", "cut"};
    if (name != nullptr &&
        std::find(std::begin(kReaders), std::end(kReaders), *name) != std::end(kReaders))
        return;
    command.push_back(Value::unknown("what xargs is given"));
    call.run.run_command(command, {});
}

// Such a command is not looked into: judge() blocks it whatever it would run.
void privilege_model(const Call& call) {
    call.run.warn("privilege", call.name, "it runs with other rights, or changes the system");
}

}  // namespace

Model running_model(std::string_view name) {
    struct Row {
        std::string_view name;
        Model model;
    };
    constexpr Row kRows[] = {{"env", env_model},    {"bash", shell_model}, {"sh", shell_model},
                             {"dash", shell_model}, {"eval", eval_model},  {"source", source_model},
                             {".", source_model},   {"trap", trap_model},  {"find", find_model},
                             {"xargs", xargs_model}};
    for (const Row& row : kRows) {
        if (row.name == name) return row.model;
    }
    constexpr std::string_view kPrivileged[] = {
        "sudo",      "su",      "doas",        "pkexec",   "chroot",   "unshare",
        "nsenter",   "mount",   "umount",      "docker",   "podman",   "runuser",
        "systemctl", "crontab", "at",          "batch",    "service",  "useradd",
        "usermod",   "passwd",  "insmod",      "modprobe", "iptables", "reboot",
        "shutdown",  "setcap",  "systemd-run", "loginctl", "visudo"};
    if (std::find(std::begin(kPrivileged), std::end(kPrivileged), name) != std::end(kPrivileged))
        return privilege_model;
    const bool wraps = std::any_of(std::begin(kWrappers), std::end(kWrappers),
                                   [&](const Wrapper& each) { return each.name == name; });
    return wraps ? wrapper_model : nullptr;
}

}  // namespace quire::shell
