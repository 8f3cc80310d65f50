#include "base/concat.h"
#include "cli/commands/commands.h"

namespace quire::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += cat(line.empty() ? "" : " ", word);
    return line;
}

std::string words_of(const CommandWords& command) {
    const std::string options = joined(command.options);
    return command.subcommands.empty() ? options : cat(joined(command.subcommands), " ", options);
}

bool takes_file(const CommandWords& command) {
    return command.name == "cat" || command.name == "export" || command.name == "import";
}

std::string bash(const std::vector<CommandWords>& commands) {
    std::string names;
    std::string cases;
    for (const CommandWords& command : commands) {
        names += cat(names.empty() ? "" : " ", command.name);
        cases += cat("        ", command.name, ") words=\"", words_of(command), "\" ;;\n");
    }
    return cat(
        "_quire() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= "
        "word words\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case $word in -*) ;; *) command=$word; break ;; esac\n"
        "    done\n"
        "    case $previous in\n"
        "        -w|--workspace) mapfile -t COMPREPLY < <(compgen -d -- \"$current\"); return ;;\n"
        "        --from) mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;\n"
        "        --profile) mapfile -t COMPREPLY < <(compgen -W \"model full compat\" -- "
        "\"$current\"); return ;;\n"
        "    esac\n"
        "    case $command in\n",
        cases, "        *) words=\"", names,
        " --help --version\" ;;\n"
        "    esac\n"
        "    if [[ $command == completion && $current != -* ]]; then words=\"bash zsh fish\"; fi\n"
        "    if [[ $command =~ ^(cat|export|import)$ && $current != -* ]]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return\n"
        "    fi\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
        "}\n"
        "complete -F _quire quire\n");
}

// In single quotes for zsh and fish.
std::string quoted(std::string_view text, std::string_view quote_as) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out.append(quote_as);
        } else {
            out.push_back(c);
        }
    }
    return cat("'", out, "'");
}

std::string zsh(const std::vector<CommandWords>& commands) {
    std::string names;
    std::string cases;
    for (const CommandWords& command : commands) {
        names +=
            cat("        ", quoted(cat(command.name, ":", command.description), "'\\''"), "\n");
        cases += cat("        ", command.name, ") compadd -- ", words_of(command),
                     command.name == "completion" ? " bash zsh fish" : "",
                     takes_file(command) ? "; _files" : "", " ;;\n");
    }
    return cat("#compdef quire\n_quire() {\n    local -a commands\n    commands=(\n", names,
               "    )\n"
               "    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
               "    case $words[CURRENT-1] in -w|--workspace) _files -/; return ;; "
               "--from) _files; return ;; --profile) compadd model full compat; return ;; esac\n"
               "    case $words[2] in\n",
               cases, "    esac\n}\ncompdef _quire quire\n");
}

std::string fish(const std::vector<CommandWords>& commands) {
    std::string out = "complete -c quire -f\n";
    for (const CommandWords& command : commands) {
        out += cat("complete -c quire -n __fish_use_subcommand -a ", command.name, " -d ",
                   quoted(command.description, "\\'"), "\n");
        if (!command.subcommands.empty()) {
            out += cat("complete -c quire -n '__fish_seen_subcommand_from ", command.name, "' -a '",
                       joined(command.subcommands), "'\n");
        }
        for (const std::string& option : command.options) {
            const std::string_view value = option == "--workspace"
                                               ? " -r -a '(__fish_complete_directories)'"
                                           : option == "--from" ? " -r -F"
                                                                : "";
            out += cat("complete -c quire -n '__fish_seen_subcommand_from ", command.name, "' -l ",
                       option.substr(2), value, "\n");
        }
    }
    return cat(out,
               "complete -c quire -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'\n",
               "complete -c quire -n '__fish_seen_subcommand_from cat export import' -F\n");
}

}  // namespace

std::string completion_script(std::string_view shell, const std::vector<CommandWords>& commands) {
    if (shell == "bash") return bash(commands);
    if (shell == "zsh") return zsh(commands);
    if (shell == "fish") return fish(commands);
    return "";
}

}  // namespace quire::cli
