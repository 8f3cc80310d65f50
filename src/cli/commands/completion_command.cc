// quire completion: completions for bash, zsh and fish.
//
// The parser already knows every command and option. What a value may be is in the name of its
// type, as --help prints it: FILE and PATH are files, DIR is a directory, and {a,b} are words.
#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_list.h"
#include "cli/commands/completion.h"
#include "cli/commands/terminal.h"

namespace quire::cli {
namespace {

std::string spaced(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += cat(line.empty() ? "" : " ", word);
    return line;
}

std::vector<std::string> long_names(const CompletedCommand& command) {
    std::vector<std::string> names;
    for (const CompletedOption& option : command.options)
        if (option.names.back().starts_with("--")) names.push_back(option.names.back());
    return names;
}

// The words that may follow the command's name.
std::string words_after(const CompletedCommand& command) {
    std::vector<std::string> words = command.subcommands;
    for (std::string& name : long_names(command)) words.push_back(std::move(name));
    return spaced(words);
}

// The values of all commands' options by the names of the option, "-w|--workspace".
std::map<std::string, CompletedValue> option_values(const std::vector<CompletedCommand>& commands) {
    std::map<std::string, CompletedValue> values;
    for (const CompletedCommand& command : commands) {
        for (const CompletedOption& option : command.options) {
            const CompletedValue& value = option.value;
            if (!value.files && !value.directories && value.words.empty()) continue;
            std::string names;
            for (const std::string& name : option.names)
                cat_to(names, cat(names.empty() ? "" : "|", name));
            values.emplace(std::move(names), value);
        }
    }
    return values;
}

std::string bash_reply(const CompletedValue& value) {
    const std::string source = value.directories ? "-d"
                               : value.files     ? "-f"
                                                 : cat("-W \"", spaced(value.words), "\"");
    return cat("mapfile -t COMPREPLY < <(compgen ", source, " -- \"$current\"); return");
}

std::string bash_script(const std::vector<CompletedCommand>& commands) {
    std::vector<std::string> names;
    std::string values;
    std::string cases;
    for (const auto& [option, value] : option_values(commands))
        values += cat("        ", option, ") ", bash_reply(value), " ;;\n");
    for (const CompletedCommand& command : commands) {
        const CompletedValue& argument = command.argument;
        names.push_back(command.name);
        cases += cat("        ", command.name, ")");
        if (argument.files || !argument.words.empty())
            cases += cat(" if [[ $current != -* ]]; then ", bash_reply(argument), "; fi;");
        cases += cat(" words=\"", words_after(command), "\" ;;\n");
    }
    return cat(
        "_quire() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= "
        "word words\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case $word in -*) ;; *) command=$word; break ;; esac\n"
        "    done\n"
        "    case $previous in\n",
        values,
        "    esac\n"
        "    case $command in\n",
        cases, "        *) words=\"", spaced(names),
        " --help --version\" ;;\n"
        "    esac\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
        "}\n"
        "complete -F _quire quire\n");
}

// In single quotes; `quote` is how the shell writes one of those.
std::string single_quoted(std::string_view text, std::string_view quote) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out.append(quote);
        } else {
            out.push_back(c);
        }
    }
    return cat("'", out, "'");
}

std::string zsh_reply(const CompletedValue& value) {
    return value.directories ? "_files -/"
           : value.files     ? "_files"
                             : cat("compadd ", spaced(value.words));
}

std::string zsh_script(const std::vector<CompletedCommand>& commands) {
    std::string names;
    std::string values;
    std::string cases;
    for (const auto& [option, value] : option_values(commands))
        values += cat(option, ") ", zsh_reply(value), "; return ;; ");
    for (const CompletedCommand& command : commands) {
        const CompletedValue& argument = command.argument;
        names += cat("        ",
                     single_quoted(cat(command.name, ":", command.description), "'\\''"), "\n");
        cases += cat("        ", command.name, ") compadd -- ", words_after(command));
        if (!argument.words.empty()) cases += cat(" ", spaced(argument.words));
        cases += cat(argument.files ? "; _files" : "", " ;;\n");
    }
    return cat("#compdef quire\n_quire() {\n    local -a commands\n    commands=(\n", names,
               "    )\n"
               "    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
               "    case $words[CURRENT-1] in ",
               values,
               "esac\n"
               "    case $words[2] in\n",
               cases, "    esac\n}\ncompdef _quire quire\n");
}

std::string fish_value(const CompletedValue& value) {
    return value.directories      ? " -r -a '(__fish_complete_directories)'"
           : value.files          ? " -r -F"
           : !value.words.empty() ? cat(" -r -a '", spaced(value.words), "'")
                                  : "";
}

std::string fish_script(const std::vector<CompletedCommand>& commands) {
    std::string out = "complete -c quire -f\n";
    for (const CompletedCommand& command : commands) {
        const std::string in_command =
            cat("complete -c quire -n '__fish_seen_subcommand_from ", command.name, "'");
        out += cat("complete -c quire -n __fish_use_subcommand -a ", command.name, " -d ",
                   single_quoted(command.description, "\\'"), "\n");
        if (!command.subcommands.empty())
            out += cat(in_command, " -a '", spaced(command.subcommands), "'\n");
        for (const CompletedOption& option : command.options) {
            if (!option.names.back().starts_with("--")) continue;
            out += cat(in_command, " -l ", option.names.back().substr(2), fish_value(option.value),
                       "\n");
        }
        const CompletedValue& argument = command.argument;
        if (!argument.words.empty()) out += cat(in_command, " -a '", spaced(argument.words), "'\n");
        if (argument.files) out += cat(in_command, " -F\n");
    }
    return out;
}

CompletedValue completed_value(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::string name = type.substr(0, type.find(':'));
    CompletedValue value{.files = name == "FILE" || name == "BLOCK|PATH",
                         .directories = name == "DIR"};
    const std::size_t open = type.find('{');
    const std::size_t close = type.find('}');
    if (open == std::string::npos || close == std::string::npos) return value;
    for (std::size_t begin = open + 1; begin < close;) {
        const std::size_t end = std::min(type.find(',', begin), close);
        value.words.push_back(type.substr(begin, end - begin));
        begin = end + 1;
    }
    return value;
}

// Each option once: every subcommand has a --help of its own.
void add_completed_options(const CLI::App& app, CompletedCommand& command) {
    for (const CLI::Option* option : app.get_options()) {
        CompletedOption out;
        for (const std::string& name : option->get_snames()) out.names.push_back(cat("-", name));
        for (const std::string& name : option->get_lnames()) out.names.push_back(cat("--", name));
        out.value = completed_value(*option);
        if (out.names.empty()) {
            command.argument = std::move(out.value);
            continue;
        }
        const bool is_known = std::any_of(
            command.options.begin(), command.options.end(),
            [&](const CompletedOption& other) { return other.names.back() == out.names.back(); });
        if (!is_known) command.options.push_back(std::move(out));
    }
}

std::vector<const CLI::App*> shown_subcommands(const CLI::App& app) {
    std::vector<const CLI::App*> all = app.get_subcommands([](const CLI::App*) { return true; });
    std::erase_if(all, [](const CLI::App* sub) { return sub->get_group().empty(); });
    return all;
}

CommandRun completion_action(CLI::App& app) {
    const auto shell = std::make_shared<std::string>();
    app.add_option("shell", *shell, "The shell that will read the completions")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
    return [shell, &app](const Globals&) -> Result<int> {
        return output(completion_script(*shell, completed_commands(*app.get_parent())));
    };
}

}  // namespace

std::vector<CompletedCommand> completed_commands(const CLI::App& program) {
    std::vector<CompletedCommand> all;
    for (const CLI::App* app : shown_subcommands(program)) {
        CompletedCommand command = {app->get_name(), app->get_description(), {}};
        add_completed_options(*app, command);
        for (const CLI::App* inner : shown_subcommands(*app)) {
            command.subcommands.push_back(inner->get_name());
            add_completed_options(*inner, command);
        }
        if (!command.subcommands.empty()) command.argument = {};
        add_completed_options(program, command);
        all.push_back(std::move(command));
    }
    return all;
}

std::string completion_script(std::string_view shell,
                              const std::vector<CompletedCommand>& commands) {
    if (shell == "bash") return bash_script(commands);
    if (shell == "zsh") return zsh_script(commands);
    if (shell == "fish") return fish_script(commands);
    return "";
}

Command completion_command() {
    return {.name = "completion",
            .about = "Print completions for a shell",
            .example = "source <(quire completion bash)",
            .action = completion_action,
            .touches = Touches::nothing};
}

}  // namespace quire::cli
