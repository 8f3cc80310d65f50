// Reads the list that build systems write, and turns the command that builds a file into one that
// only checks it: launchers and all options that ask for output are removed, and the option for
// the dependency file is added.
//
// The tables name the options that are removed, not those that stay, because a compiler has
// hundreds and a project may need any of them. An option for output that is not known here does no
// harm: the check is confined and cannot write the file.
#include "diagnostics/compile_commands.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/concat.h"
#include "json/fields.h"

namespace quire::diagnostics {
namespace {

Failure wrong(std::size_t entry, std::string_view what) {
    return invalid("invalid_compile_commands",
                   cat("entry ", entry, " of compile_commands.json ", what), {{"entry", entry}});
}

// One entry as the file has it. A command is one string for a shell, arguments are its words.
struct Entry {
    std::string directory;
    std::string file;
    std::optional<std::vector<std::string>> arguments;
    std::optional<std::string> command;
    static json::Fields<Entry> fields() {
        return json::Fields<Entry>()
            .required("directory", &Entry::directory)
            .required("file", &Entry::file, "", {{"minLength", 1}})
            .optional("arguments", &Entry::arguments)
            .optional("command", &Entry::command);
    }
};

// `arguments` wins where both are there, as in the format's description.
Result<std::vector<std::string>> arguments_of(Entry& entry, std::size_t index) {
    if (entry.arguments) return std::move(*entry.arguments);
    if (!entry.command) return wrong(index, "has neither a command nor arguments");
    Result<std::vector<std::string>> words = split_words(*entry.command);
    if (!words) return wrong(index, cat("has a command that ", words.error().message()));
    return words;
}

bool has_nul(std::string_view text) {
    return text.find('\0') != std::string_view::npos;
}

// Relative names begin at the entry's directory, and that at the directory of the list.
Result<CompileUnit> unit_of(const Value& value, std::string_view base, std::size_t index) {
    json::Read<Entry> entry = json::read<Entry>(value);
    if (!entry) return wrong(index, cat("cannot be used: ", entry.error().message()));
    CompileUnit unit;
    unit.directory = absolute_path(base, entry->directory);
    unit.file = absolute_path(unit.directory, entry->file);
    unit.arguments = TRY(arguments_of(*entry, index));
    if (unit.arguments.empty() || unit.arguments.front().empty())
        return wrong(index, "names no program");
    // A path and an argument end at a NUL for the system: they would not be what they seem.
    if (has_nul(unit.directory) || has_nul(unit.file) ||
        std::any_of(unit.arguments.begin(), unit.arguments.end(), has_nul))
        return wrong(index, "holds a NUL");
    return unit;
}

std::string_view name_of_program(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

// A program that stands before a compiler to cache or distribute its work.
bool is_launcher(std::string_view program) {
    constexpr std::array<std::string_view, 4> kLaunchers = {"ccache", "sccache", "distcc", "icecc"};
    return std::find(kLaunchers.begin(), kLaunchers.end(), name_of_program(program)) !=
           kLaunchers.end();
}

// Arguments that ask for output: alone, with the next one, or with what is joined to them.
bool is_output_flag(std::string_view word) {
    constexpr std::array<std::string_view, 10> kAlone = {
        "-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG", "-fsyntax-only"};
    // Options that make files for coverage, profiles and optimisation.
    constexpr std::array<std::string_view, 11> kBegin = {
        "-save-temps",     "--save-temps",   "--coverage",    "-coverage",
        "-ftest-coverage", "-fprofile-arcs", "-fstack-usage", "-fcallgraph-info",
        "-fdump-",         "-fopt-info",     "-ftime-trace"};
    return std::find(kAlone.begin(), kAlone.end(), word) != kAlone.end() ||
           std::any_of(kBegin.begin(), kBegin.end(),
                       [&](std::string_view each) { return word.starts_with(each); });
}
bool is_output_pair(std::string_view word) {
    constexpr std::array<std::string_view, 7> kPairs = {"-o",  "-MF",       "-MT",     "-MQ",
                                                        "-MJ", "-aux-info", "--output"};
    return std::find(kPairs.begin(), kPairs.end(), word) != kPairs.end();
}
// Options such as -objcmt-migrate-all begin like -o and name no output.
bool is_output_joined(std::string_view word) {
    return word.starts_with("-MF") || word.starts_with("-MT") || word.starts_with("-MQ") ||
           word.starts_with("-MJ") || word.starts_with("--output=") || word.starts_with("-Wp,-M") ||
           word.starts_with("-time=") ||
           (word.starts_with("-o") && word.size() > 2 && !word.starts_with("-obj"));
}

// The program that is left is the first word that is no launcher. A launcher as the only word
// stays, so that there always is a program.
std::vector<std::string> without_outputs(const CompileUnit& unit, const std::string& compiler) {
    const std::vector<std::string>& given = unit.arguments;
    std::size_t at = 0;
    while (at + 1 < given.size() && is_launcher(given[at])) ++at;
    std::vector<std::string> out = {compiler.empty() ? given[at] : compiler};
    for (++at; at < given.size(); ++at) {
        if (is_output_pair(given[at])) {
            ++at;
        } else if (!is_output_flag(given[at]) && !is_output_joined(given[at])) {
            out.push_back(given[at]);
        }
    }
    return out;
}

}  // namespace

std::string absolute_path(std::string_view directory, std::string_view path) {
    const std::filesystem::path joined =
        std::filesystem::path(directory) / std::filesystem::path(path);
    std::string out = joined.lexically_normal().string();
    while (out.size() > 1 && out.back() == '/') out.pop_back();
    return out;
}

// One pass with the open quote as its state. `in_word` tells an empty quoted word from none.
Result<std::vector<std::string>> split_words(std::string_view command) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const char c = command[i];
        const bool more = i + 1 < command.size();
        if (quote == '\'') {
            if (c == '\'') {
                quote = 0;
            } else {
                word += c;
            }
        } else if (quote == '"') {
            // Within double quotes a backslash is plain before any other character (POSIX, Shell
            // Command Language, 2.2.3). A backslash before a line end disappears with it.
            constexpr std::string_view kEscaped = "\"\\$`\n";
            if (c == '"') {
                quote = 0;
            } else if (c == '\\' && more && kEscaped.find(command[i + 1]) != kEscaped.npos) {
                if (command[++i] != '\n') word += command[i];
            } else {
                word += c;
            }
        } else if (c == '\'' || c == '"') {
            quote = c;
            in_word = true;
        } else if (c == '\\' && more) {
            if (command[++i] != '\n') word += command[i], in_word = true;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (in_word) words.push_back(std::exchange(word, {}));
            in_word = false;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (quote != 0) return invalid("invalid_command", cat("does not close its ", quote));
    if (in_word) words.push_back(std::move(word));
    return words;
}

Result<std::vector<CompileUnit>> parse_compile_commands(std::string_view text,
                                                        std::string_view base) {
    Result<Value> parsed = json::parse(text, {.bytes = kMostListBytes});
    if (!parsed && parsed.error().reason() == "too_large") return Failure(parsed.error());
    if (!parsed || !parsed->is_list()) {
        return invalid("invalid_compile_commands",
                       cat("compile_commands.json is no list of entries",
                           parsed ? std::string() : cat(": ", parsed.error().message())));
    }
    const List& entries = parsed->as_list();
    if (entries.size() > kMostUnits) {
        return fail(Errc::out_of_range, "too_large",
                    cat("compile_commands.json has more than ", kMostUnits, " entries"),
                    {{"limit", kMostUnits}});
    }
    std::vector<CompileUnit> units;
    // Build systems list a file once for each target; the same command twice would be the same
    // check.
    std::set<std::pair<std::string, std::vector<std::string>>> known;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        CompileUnit unit = TRY(unit_of(entries[i], base, i));
        if (known.emplace(cat(unit.directory, "\n", unit.file), unit.arguments).second)
            units.push_back(std::move(unit));
    }
    return units;
}

std::string program_of(const CompileUnit& unit) {
    const std::string name = without_outputs(unit, "").front();
    return name.find('/') == std::string::npos ? name : absolute_path(unit.directory, name);
}

// Lines of source and colours would only have to be removed from the output again.
std::vector<std::string> check_command(const CompileUnit& unit, const std::string& compiler,
                                       const std::string& depfile) {
    std::vector<std::string> out = without_outputs(unit, compiler);
    for (const char* const each : {"-fsyntax-only", "-fno-diagnostics-show-caret",
                                   "-fdiagnostics-color=never", "-MD", "-MF"})
        out.emplace_back(each);
    out.push_back(depfile);
    return out;
}

// -MG takes a header that is missing for one that will be made, so that it is named and not an
// error.
std::vector<std::string> inputs_command(const CompileUnit& unit, const std::string& compiler,
                                        const std::string& depfile) {
    std::vector<std::string> out = without_outputs(unit, compiler);
    for (const char* const each : {"-w", "-M", "-MG", "-MF"}) out.emplace_back(each);
    out.push_back(depfile);
    return out;
}

std::vector<std::string> include_directories(const CompileUnit& unit) {
    std::vector<std::string> out = {std::filesystem::path(unit.file).parent_path().string()};
    const std::vector<std::string>& words = unit.arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (const std::string_view flag : {"-I", "-iquote", "-isystem", "-idirafter"}) {
            if (!words[i].starts_with(flag)) continue;
            std::string_view path = std::string_view(words[i]).substr(flag.size());
            if (path.empty() && i + 1 < words.size()) path = words[i + 1];
            if (!path.empty()) out.push_back(absolute_path(unit.directory, path));
            break;
        }
    }
    return out;
}

std::vector<std::string> tidy_command(const CompileUnit& unit, const std::string& tool,
                                      const std::string& database, const std::string& config) {
    return {tool, "--quiet", "--use-color=false",
            // A command may be for gcc, whose warnings clang does not all know.
            "--extra-arg=-Wno-unknown-warning-option",
            config.empty() ? "--config={}" : cat("--config-file=", config), "-p", database,
            unit.file};
}

// Make's syntax as compilers write it: TARGET: FILE FILE, with a backslash before a line end or a
// blank, and $$ for a dollar. Phony targets of headers are rules without files and give nothing.
std::vector<std::string> parse_depfile(std::string_view text) {
    std::vector<std::string> out;
    std::string word;
    bool is_target = true;
    const auto end_word = [&] {
        if (!word.empty() && !is_target) out.push_back(word);
        word.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const char next = i + 1 < text.size() ? text[i + 1] : '\n';
        if (c == '\\' && (next == '\n' || next == '\r')) {
            end_word();
            i += next == '\r' && i + 2 < text.size() && text[i + 2] == '\n' ? 2 : 1;
        } else if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
            word += next;
            ++i;
        } else if (c == '$' && next == '$') {
            word += c;
            ++i;
        } else if (c == '\n') {
            end_word();
            is_target = true;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            end_word();
        } else if (c == ':' && is_target && (next == ' ' || next == '\n' || next == '\\')) {
            word.clear();
            is_target = false;
        } else {
            word += c;
        }
    }
    end_word();
    return out;
}

}  // namespace quire::diagnostics
