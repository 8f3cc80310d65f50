// The words before the cursor are read as the parser would read them (read_word), which gives the
// command, the option that waits for a value, and the number of arguments so far. Then the last
// word is completed by what may stand there: a value, an option, a subcommand or an argument.
//
// The scripts hold no words of the program. They pass the line on and print what comes back, so an
// update of the program needs no new script. ":files" and ":directories" leave files to the shell,
// which knows about quoting and hidden names.
#include "cli/commands/completion.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/concat.h"

namespace quire::cli {
namespace {

// The shell cuts words at ':' and '=' and completes the last piece, so `quire complete` is told to
// cut its answers there too.
constexpr std::string_view kBash = R"(_quire() {
    local line breaks=
    case $COMP_WORDBREAKS in *:*) breaks=--breaks ;; esac
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :files) compopt -o filenames
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2") ;;
            :directories) compopt -o filenames
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$2") ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${1:-quire}" complete $breaks --line "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _quire quire
)";

// zsh runs an installed file as the body of _quire at the first completion, which then has to be
// answered; a file that is sourced only registers the function.
constexpr std::string_view kZsh = R"(#compdef quire
_quire() {
    local line
    local -a shown
    for line in "${(@f)$("${(Q)words[1]}" complete -- "${(Q@)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            :files) _files ;;
            :directories) _files -/ ;;
            ?*) shown+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    (( $#shown )) && _describe quire shown
}
if [[ $funcstack[1] == _quire ]]; then _quire "$@"; else compdef _quire quire; fi
)";

constexpr std::string_view kFish = R"(function __quire_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (command quire complete -- $words[2..] 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':directories'
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c quire -f -a '(__quire_complete)'
)";

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

// The option of that name, "-w" or "--workspace", that a command takes, itself or by the commands
// around it; nullptr if there is none. Options of the commands around it count too, since the
// parser lets them stand behind the subcommand.
const CLI::Option* find_option(const CLI::App* app, const std::string& name) {
    for (; app != nullptr; app = app->get_parent()) {
        for (const CLI::Option* option : app->get_options()) {
            const bool is_long = name.starts_with("--");
            if (is_long ? option->check_lname(name.substr(2)) : option->check_sname(name.substr(1)))
                return option;
        }
    }
    return nullptr;
}

// A command without a group is hidden from --help, and so from here.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app) {
    std::vector<const CLI::App*> all = app.get_subcommands([](const CLI::App*) { return true; });
    std::erase_if(all, [](const CLI::App* sub) { return sub->get_group().empty(); });
    return all;
}

const CLI::App* subcommand_named(const CLI::App& app, std::string_view name) {
    for (const CLI::App* sub : shown_subcommands(app))
        if (sub->get_name() == name) return sub;
    return nullptr;
}

// The positional argument at that index; nullptr if there are fewer.
const CLI::Option* positional_at(const CLI::App& app, std::size_t index) {
    for (const CLI::Option* option : app.get_options())
        if (option->get_positional() && index-- == 0) return option;
    return nullptr;
}

// The line up to the word at the cursor, as far as the parser understands it.
struct ReadLine {
    const CLI::App* app;
    const CLI::Option* awaiting = nullptr;  // The option whose value comes next.
    std::size_t positionals = 0;
    bool only_positionals = false;  // After "--".
    GivenOptions given = {};
};

void note_value(ReadLine& line, const CLI::Option& option, std::string value) {
    if (!option.get_lnames().empty()) line.given[option.get_lnames().front()] = std::move(value);
}

// An unknown option is passed over: what it takes is unknown, and a completion is not the place to
// complain.
void read_word(ReadLine& line, const std::string& word) {
    if (line.awaiting != nullptr) {
        note_value(line, *std::exchange(line.awaiting, nullptr), word);
    } else if (line.only_positionals || word.size() < 2 || word[0] != '-') {
        const CLI::App* const sub = line.positionals == 0 && !line.only_positionals
                                        ? subcommand_named(*line.app, word)
                                        : nullptr;
        if (sub != nullptr) {
            line.app = sub;
        } else {
            ++line.positionals;
        }
    } else if (word == "--") {
        line.only_positionals = true;
    } else {
        const std::size_t equals = word.find('=');
        const CLI::Option* const option = find_option(line.app, word.substr(0, equals));
        if (option == nullptr || !takes_value(*option)) return;
        if (equals == std::string::npos) {
            line.awaiting = option;
        } else {
            note_value(line, *option, word.substr(equals + 1));
        }
    }
}

// Offers the words for one place. `begin` is what is typed of the word already.
class Completing {
public:
    Completing(ReadLine line, const ValueWords& values) : line_(std::move(line)), values_(values) {}

    Completions run(const std::string& current) {
        const std::size_t equals =
            current.starts_with("--") ? current.find('=') : std::string::npos;
        if (line_.awaiting != nullptr) {
            add_values(*line_.awaiting, current, "");
        } else if (!line_.only_positionals && equals != std::string::npos) {
            const std::string name = current.substr(0, equals);
            const CLI::Option* const option = find_option(line_.app, name);
            if (option != nullptr) add_values(*option, current.substr(equals + 1), cat(name, "="));
        } else if (!line_.only_positionals && current.starts_with('-')) {
            add_options(current);
        } else {
            add_subcommands(current);
            const CLI::Option* const argument = positional_at(*line_.app, line_.positionals);
            if (argument != nullptr) add_values(*argument, current, "");
        }
        return std::move(out_);
    }

private:
    void add(std::string word, std::string description, std::string_view begin) {
        const bool known = std::ranges::any_of(
            out_.words, [&](const CompletedWord& other) { return other.word == word; });
        if (word.starts_with(begin) && !known)
            out_.words.push_back({std::move(word), std::move(description)});
    }

    // An option's words begin with `before`, such as "--actor=".
    void add_values(const CLI::Option& option, std::string_view begin, const std::string& before) {
        const std::string type = option.get_type_name();
        const std::size_t open = type.find('{');
        const std::size_t close = type.find('}');
        if (open != std::string::npos && close != std::string::npos) {
            for (std::size_t at = open + 1; at < close;) {
                const std::size_t end = std::min(type.find(',', at), close);
                add(cat(before, type.substr(at, end - at)), "", cat(before, begin));
                at = end + 1;
            }
            return;
        }
        const std::string name = type.substr(0, type.find(':'));
        out_.files = out_.files || name == "FILE" || name == "PATH" || name == "BLOCK|PATH" ||
                     name == "TARGET";
        out_.directories = out_.directories || name == "DIR";
        if (out_.directories || name == "FILE" || name == "PATH") return;
        for (CompletedWord& each : values_(name, line_.given))
            add(cat(before, each.word), std::move(each.description), cat(before, begin));
    }

    void add_options(std::string_view begin) {
        for (const CLI::App* app = line_.app; app != nullptr; app = app->get_parent()) {
            for (const CLI::Option* option : app->get_options()) {
                for (const std::string& name : option->get_lnames())
                    add(cat("--", name), option->get_description(), begin);
            }
        }
    }

    void add_subcommands(std::string_view begin) {
        if (line_.positionals > 0 || line_.only_positionals) return;
        for (const CLI::App* sub : shown_subcommands(*line_.app))
            add(sub->get_name(), sub->get_description(), begin);
    }

    ReadLine line_;
    const ValueWords& values_;
    Completions out_;
};

}  // namespace

Completions completions_of(const CLI::App& program, const std::vector<std::string>& words,
                           const ValueWords& values) {
    ReadLine line{&program};
    for (std::size_t i = 0; i + 1 < words.size(); ++i) read_word(line, words[i]);
    return Completing(std::move(line), values).run(words.empty() ? "" : words.back());
}

// A quote that is not closed yet reaches to the cursor. Nothing is expanded: a word with $ stays as
// typed.
std::vector<std::string> words_of_line(std::string_view line) {
    std::vector<std::string> words = {""};
    bool in_word = false;
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote == '\0' && std::isspace(static_cast<unsigned char>(c)) != 0) {
            if (in_word) words.emplace_back();
            in_word = false;
            continue;
        }
        in_word = true;
        if (quote != '\0' && c == quote) {
            quote = '\0';
        } else if (quote == '\0' && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
            words.back().push_back(line[++i]);
        } else {
            words.back().push_back(c);
        }
    }
    return words;
}

std::string_view completion_script(std::string_view shell) {
    return shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : "";
}

}  // namespace quire::cli
