// Models of archives, git, network programs, interpreters and build tools. What many of them change
// depends on what they read, so that they are bounded by a directory, or not at all.
// A directory as a bound is worth little without a warning, since a link in it leads elsewhere. It
// tells the rules where most of the changes will be.
#include <algorithm>

#include "base/concat.h"
#include "shell/models.h"

namespace quire::shell {

namespace {

Arg here() {
    return Value::of(".");
}

void change_below(const Call& call, const Arg& directory) {
    call.run.effect_below(Effect::create, directory);
    call.run.effect_below(Effect::write, directory);
}

// --- archives ----------------------------------------------------------------------------------

void tar_model(const Call& call) {
    // The first word may be letters without a dash, whose values follow.
    std::vector<Arg> arguments = call.arguments;
    if (!arguments.empty()) {
        const std::string* const first = arguments.front().single();
        if (first == nullptr) return call.unpredictable("its options are not known");
        if (!first->starts_with('-')) {
            if (first->find_first_of("CTIbgX") != std::string::npos)
                return call.unpredictable("options without a dash");
            std::string letters = *first;
            // The name of the archive is given last.
            const std::size_t file = letters.find('f');
            if (file != std::string::npos) {
                letters.erase(file, 1);
                letters += 'f';
            }
            arguments.front() = Value::of(cat("-", letters));
        }
    }
    Options options;
    if (!read_options(
            {call.run, call.name, arguments, call.input}, "cxtrudAf:C:zjJvpkmOPWShaT:X:",
            "create:c extract:x get:x list:t append:r update:u delete diff:d file=:f "
            "directory=:C gzip:z bzip2:j xz:J zstd verbose:v preserve-permissions:p "
            "keep-old-files:k touch:m to-stdout:O strip-components= exclude= "
            "auto-compress:a no-same-owner no-same-permissions sort= mtime= owner= group= "
            "numeric-owner exclude-vcs transform= wildcards files-from=:T overwrite "
            "exclude-from=:X absolute-names:P",
            options))
        return;
    const Arg* const archive = options.value("f");
    const Arg* const directory = options.value("C");
    if (options.has("T")) return call.unpredictable("which files it takes is not known");
    if (options.has("x")) {
        if (options.has("P")) return call.unpredictable("the archive may have files anywhere");
        if (archive != nullptr) call.run.effect(Effect::read, *archive);
        if (options.has("O")) return;
        // Links that are there, or in the archive, lead elsewhere.
        call.unpredictable("what the archive has is not known");
        change_below(call, directory == nullptr ? here() : *directory);
        call.run.effect_below(Effect::erase, directory == nullptr ? here() : *directory);
        return;
    }
    if (options.has("t") || options.has("d")) {
        if (archive != nullptr) call.run.effect(Effect::read, *archive);
        return;
    }
    if (archive != nullptr) call.run.write(*archive);
    for (const Arg& each : options.operands) call.run.effect_below(Effect::read, each);
}

void unzip_model(const Call& call) {
    Options options;
    if (!read_options(call, "d:lnoqtvjpuxC", "", options)) return;
    if (options.operands.empty()) return;
    call.run.effect(Effect::read, options.operands.front());
    if (options.has("l") || options.has("t") || options.has("v") || options.has("p")) return;
    call.unpredictable("what the archive has is not known");
    const Arg* const directory = options.value("d");
    change_below(call, directory == nullptr ? here() : *directory);
}

// -m, which would delete the sources, is not in the list.
void zip_model(const Call& call) {
    Options options;
    if (!read_options(call, "rqju0123456789vxyo", "", options)) return;
    if (options.operands.empty()) return;
    // A name without a dot gets one.
    call.run.write(options.operands.front());
    call.run.write(with_suffix(options.operands.front(), ".zip"));
    for (std::size_t i = 1; i < options.operands.size(); ++i)
        call.run.effect_below(Effect::read, options.operands[i]);
}

// gzip and its kin take their input away.
void compress_model(const Call& call) {
    Options options;
    if (!read_options(
            call, "cdfklnNqrtvz0123456789S:T:",
            "stdout:c to-stdout:c decompress:d uncompress:d force:f keep:k list:l quiet:q "
            "recursive:r test:t verbose:v best fast rm threads=:T",
            options))
        return;
    struct Suffix {
        std::string_view name;
        std::string_view suffix;
        bool opens;
    };
    constexpr Suffix kSuffixes[] = {{"gzip", ".gz", false},   {"gunzip", ".gz", true},
                                    {"bzip2", ".bz2", false}, {"bunzip2", ".bz2", true},
                                    {"xz", ".xz", false},     {"unxz", ".xz", true},
                                    {"zstd", ".zst", false},  {"unzstd", ".zst", true}};
    const auto at = std::find_if(std::begin(kSuffixes), std::end(kSuffixes),
                                 [&](const Suffix& each) { return each.name == call.name; });
    const bool opens = at->opens || options.has("d");
    if (options.has("r") || options.has("S") || options.has("N"))
        return call.unpredictable("which files it changes is not known");
    for (const Arg& each : options.operands) {
        call.run.effect(Effect::read, each);
        if (options.has("c") || options.has("l") || options.has("t")) continue;
        const bool keeps = options.has("k") || (at->suffix == ".zst" && !options.has("rm"));
        if (!keeps) call.run.effect(Effect::erase, each, LastLink::itself);
        if (!opens) {
            call.run.write(with_suffix(each, at->suffix), LastLink::itself);
            continue;
        }
        if (!each.is_known()) return call.run.effect(Effect::write, each);
        for (const std::string& name : each.texts) {
            const std::size_t dot = name.rfind('.');
            const std::string parent = parent_of(name);
            // Names such as .tgz are opened as .tar, so the new name is anywhere beside the file.
            if (!name.ends_with(at->suffix) || dot == std::string::npos)
                return change_below(call, parent.empty() ? here() : Value::of(parent));
            call.run.write(Value::of(name.substr(0, dot)), LastLink::itself);
        }
    }
}

// --- git ---------------------------------------------------------------------------------------

// Commands that read are predicted. The rest may run hooks, filters and merge drivers of the
// repository.
enum class GitEffect { reads, changes, network };
struct GitCommand {
    std::string_view name;
    GitEffect effect;
};
constexpr GitCommand kGitCommands[] = {
    {"status", GitEffect::reads},       {"log", GitEffect::reads},
    {"show", GitEffect::reads},         {"diff", GitEffect::reads},
    {"blame", GitEffect::reads},        {"rev-parse", GitEffect::reads},
    {"ls-files", GitEffect::reads},     {"ls-tree", GitEffect::reads},
    {"cat-file", GitEffect::reads},     {"describe", GitEffect::reads},
    {"shortlog", GitEffect::reads},     {"grep", GitEffect::reads},
    {"rev-list", GitEffect::reads},     {"name-rev", GitEffect::reads},
    {"merge-base", GitEffect::reads},   {"check-ignore", GitEffect::reads},
    {"for-each-ref", GitEffect::reads}, {"version", GitEffect::reads},
    {"add", GitEffect::changes},        {"commit", GitEffect::changes},
    {"branch", GitEffect::changes},     {"tag", GitEffect::changes},
    {"notes", GitEffect::changes},      {"update-index", GitEffect::changes},
    {"update-ref", GitEffect::changes}, {"config", GitEffect::changes},
    {"remote", GitEffect::changes},     {"gc", GitEffect::changes},
    {"reflog", GitEffect::changes},     {"checkout", GitEffect::changes},
    {"switch", GitEffect::changes},     {"restore", GitEffect::changes},
    {"reset", GitEffect::changes},      {"merge", GitEffect::changes},
    {"rebase", GitEffect::changes},     {"cherry-pick", GitEffect::changes},
    {"revert", GitEffect::changes},     {"stash", GitEffect::changes},
    {"clean", GitEffect::changes},      {"rm", GitEffect::changes},
    {"mv", GitEffect::changes},         {"apply", GitEffect::changes},
    {"am", GitEffect::changes},         {"init", GitEffect::changes},
    {"clone", GitEffect::network},      {"fetch", GitEffect::network},
    {"pull", GitEffect::network},       {"push", GitEffect::network},
    {"ls-remote", GitEffect::network}};

// Options by which a command that reads writes a file or runs a program. Git takes long ones cut short.
bool may_write_or_run(std::string_view word) {
    constexpr std::string_view kNames[] = {"--output",          "--ext-diff",
                                           "--textconv",        "--exec",
                                           "--upload-pack",     "--open-files-in-pager",
                                           "--output-directory"};
    const std::string_view name = word.substr(0, word.find('='));
    const bool is_long = name.size() > 2 && name.starts_with("--");
    return word.starts_with("-O") || word == "-x" ||
           (is_long &&
            std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view each) {
                return each.starts_with(name) || name.starts_with(each);
            }));
}

void git_model(const Call& call) {
    std::size_t i = 0;
    for (; i < call.arguments.size(); ++i) {
        const std::string* const word = call.arguments[i].single();
        if (word == nullptr) return call.unpredictable("its options are not known");
        if (*word == "--no-pager" || *word == "-P" || *word == "--no-optional-locks") continue;
        if (*word == "--version" || *word == "--help") return;
        if (word->starts_with('-'))
            return call.unpredictable(
                cat("the option ", *word, " may name another repository, or run a program"));
        break;
    }
    if (i == call.arguments.size()) return;
    const std::string& command = *call.arguments[i].single();
    const auto at = std::find_if(std::begin(kGitCommands), std::end(kGitCommands),
                                 [&](const GitCommand& each) { return each.name == command; });
    if (at == std::end(kGitCommands))
        return call.unpredictable(cat("what git ", command, " does is not known"));
    for (std::size_t each = i + 1; each < call.arguments.size(); ++each) {
        const Arg& argument = call.arguments[each];
        if (argument == Value::of("--")) break;
        if (!argument.is_known()) return call.unpredictable("an argument may be an option");
        for (const std::string& text : argument.texts) {
            if (may_write_or_run(text))
                return call.unpredictable(cat("the option ", text, " may write or run"));
        }
    }
    // Its settings may name programs.
    if (call.run.state().variables.contains("HOME"))
        return call.unpredictable("another home may have settings that name programs");
    call.run.effect_below(Effect::read, here());
    if (at->effect == GitEffect::reads) return;
    if (at->effect == GitEffect::network)
        call.run.warn("network", cat("git ", command), "it talks to another machine");
    // The repository's own files are git's, and which of the others it changes they say.
    call.unpredictable(
        cat("git ", command, " may run hooks, and changes what its repository says"));
}

// --- the network -------------------------------------------------------------------------------

// The warning "network" has a person asked; the other one says that the effects are not complete.
void network_model(const Call& call) {
    call.run.warn("network", call.name, "it talks to other machines");
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const std::string* const word = call.arguments[i].single();
        if (word == nullptr) continue;
        const bool names_output =
            *word == "-o" || *word == "--output" || (call.name == "wget" && *word == "-O");
        if (names_output && i + 1 < call.arguments.size()) call.run.write(call.arguments[i + 1]);
    }
    call.unpredictable("which files it writes depends on what it is answered");
}

// --- programs that run a program of their own --------------------------------------------------

// The program is a file, an argument or the input. It is told as read where it is a file.
void interpreter_model(const Call& call) {
    const std::string* const first =
        call.arguments.empty() ? nullptr : call.arguments.front().single();
    if (first != nullptr && (*first == "--version" || *first == "-V") && call.arguments.size() == 1)
        return;
    for (const Arg& each : call.arguments) {
        const std::string* const word = each.single();
        if (word == nullptr || word->starts_with('-')) continue;
        if (call.run.may_exist(each)) call.run.effect(Effect::read, each);
        break;
    }
    call.unpredictable("what its program does is not known");
}

void build_model(const Call& call) {
    call.unpredictable("what it builds depends on the files of the project");
}

void patch_model(const Call& call) {
    call.unpredictable("which files it changes depends on the patch");
}

void file_type_model(const Call& call) {
    Options options;
    if (!read_options(call, "bhiLknprsvz0", "brief mime mime-type mime-encoding dereference",
                      options))
        return;
    for (const Arg& each : options.operands) call.run.effect(Effect::read, each);
}

// Editors and pagers wait for somebody, and run what they are told.
void interactive_model(const Call& call) {
    for (const Arg& each : call.arguments) call.run.effect(Effect::read, each);
    call.unpredictable("it is interactive, and may write or run anything");
}

}  // namespace

Model tool_model(std::string_view name) {
    struct Family {
        Model model;
        std::string_view names;  // Each between blanks.
    };
    // One string for each family: the blanks make the search for a whole name a search for a part.
    constexpr Family kFamilies[] = {
        {tar_model, " tar "},
        {unzip_model, " unzip "},
        {zip_model, " zip "},
        {compress_model, " gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd "},
        {git_model, " git "},
        {patch_model, " patch "},
        {file_type_model, " file "},
        {network_model,
         " curl wget ssh scp sftp rsync nc ncat netcat telnet ftp ping dig host "
         "nslookup socat gh aws "},
        {interpreter_model,
         " python python3 perl ruby node deno bun php lua Rscript tclsh java ghci "
         "sqlite3 psql zsh fish ksh osascript "},
        {build_model,
         " make cmake ninja cargo npm npx yarn pnpm pip pip3 go gcc g++ cc c++ clang "
         "clang++ rustc javac mvn gradle meson bazel tsc pytest apt apt-get dpkg brew "
         "yum dnf gem bundle composer uv poetry black prettier eslint rustfmt gofmt "
         "clang-format tox nox jest vitest "},
        {interactive_model, " vi vim nvim nano emacs ed ex less man "}};
    const std::string wanted = cat(" ", name, " ");
    for (const Family& family : kFamilies) {
        if (family.names.find(wanted) != std::string_view::npos) return family.model;
    }
    return nullptr;
}

}  // namespace quire::shell
