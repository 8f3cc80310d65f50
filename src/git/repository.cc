// Git as a child process: one command a call, with its output read whole. The settings given on each
// command line keep what a repository configures from running: hooks, file monitors, maintenance.
//
// Every command only reads, or writes objects and refs, apart from those that make a work tree.
// Output with paths is asked for with NUL between the fields (-z), since a path may hold any other
// byte.
#include "git/repository.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <set>

#include <sha1.h>
#include <sha2.h>
#include <sys/stat.h>

#include "base/concat.h"
#include "base/hex.h"
#include "process/spawn.h"

namespace quire::git {
namespace {

constexpr std::int64_t kTimeoutMs = 120'000;
constexpr std::size_t kMostOutput = std::size_t{256} << 20;
// A message about a failure shows this much of git's own words.
constexpr std::size_t kShownErrors = 600;

// Git finds its settings by HOME; a GIT_DIR or GIT_INDEX_FILE of ours would lead it elsewhere. No
// prompt, no lock that a person's git would wait for, and no fetch from a remote: a call must end
// by itself.
std::vector<std::string> environment() {
    std::vector<std::string> out = {"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
                                    "GIT_NO_LAZY_FETCH=1"};
    for (const char* const name : {"PATH", "HOME", "XDG_CONFIG_HOME", "USER", "TMPDIR"}) {
        const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
        if (value != nullptr) out.push_back(cat(name, "=", value));
    }
    return out;
}

std::string_view line_of(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

// Calls take(field) for each part of a text whose parts end in NUL.
template <class Take>
void for_each_field(std::string_view text, Take take) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        take(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// SHA-1 or SHA-256.
bool is_id(std::string_view word) {
    return (word.size() == 40 || word.size() == 64) &&
           std::all_of(word.begin(), word.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

// Git's exit code is left to the caller, because several commands answer "no" by it. An output that
// was cut short counts as a failure: half of a list would read as a shorter one.
Result<Repository::Run> Repository::run(std::vector<std::string> arguments, std::string input,
                                        const std::string& index) const {
    process::Program program{{"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
                              "-c", "gc.auto=0", "-c", "maintenance.auto=false"},
                             directory_,
                             environment(),
                             {},
                             std::move(input)};
    program.arguments.insert(program.arguments.end(), arguments.begin(), arguments.end());
    if (!index.empty()) program.environment.push_back(cat("GIT_INDEX_FILE=", index));
    process::Ended ended = TRY(process::run_program(
        program, {.timeout_ms = kTimeoutMs, .output_bytes = kMostOutput, .errors_apart = true},
        *clock_, stop_));
    if (ended.stopped)
        return fail(Errc::unavailable, "kernel_ending", "git was ended with the kernel");
    if (ended.timed_out || ended.truncated) {
        return fail(Errc::unavailable, "git_failed",
                    cat("git ", arguments.front(),
                        ended.timed_out ? " took more than two minutes" : " printed too much"),
                    {{"command", arguments.front()}});
    }
    return Run{std::move(ended.output), std::move(ended.errors), ended.exit_code};
}

Failure Repository::failed(std::string_view command, const Run& run) const {
    const std::string words = run.errors.substr(0, kShownErrors);
    return fail(Errc::unavailable, "git_failed",
                cat("git ", command, " failed with exit code ", run.exit_code, ": ", words),
                {{"command", std::string(command)}, {"output", words}});
}

Result<std::string> Repository::ask(std::vector<std::string> arguments) const {
    const std::string command = arguments.front();
    Run run = TRY(this->run(std::move(arguments)));
    if (run.exit_code != 0) return failed(command, run);
    return std::move(run.output);
}

// One program answers all three questions: is this a work tree, where in it are we, and how long
// are its ids. A bare repository, and the inside of .git, count as none.
Result<Repository> Repository::find(const std::string& directory, Clock& clock,
                                    std::stop_token stop) {
    Repository found(directory, clock, std::move(stop));
    const Run run = TRY(
        found.run({"rev-parse", "--is-inside-work-tree", "--show-prefix", "--show-object-format"}));
    const std::string_view output = run.output;
    const std::size_t first = output.find('\n');
    if (run.exit_code != 0 || line_of(output) != "true") {
        return fail(Errc::not_found, "no_repository",
                    cat(directory, " is not in the work tree of a git repository",
                        run.errors.empty() ? "" : cat(": ", line_of(run.errors))),
                    {{"directory", directory}});
    }
    const std::string_view rest = output.substr(first + 1);
    found.prefix_ = line_of(rest);
    found.sha256_ = rest.substr(found.prefix_.size()).find("sha256") != std::string_view::npos;
    return found;
}

Result<std::optional<std::string>> Repository::commit_of(const std::string& ref) const {
    const Run run = TRY(this->run({"rev-parse", "--verify", "--quiet", ref + "^{commit}"}));
    if (run.exit_code != 0) return std::optional<std::string>();
    return std::optional<std::string>(line_of(run.output));
}

Result<std::string> Repository::message_of(const std::string& commit) const {
    return ask({"log", "-1", "--format=%B", commit, "--"});
}

// Exit code 1 says that there is no common commit, others that one of the two is not known here; to
// the caller both mean that there is nothing to compare with.
Result<std::optional<std::string>> Repository::merge_base(const std::string& a,
                                                          const std::string& b) const {
    const Run run = TRY(this->run({"merge-base", a, b}));
    if (run.exit_code != 0) return std::optional<std::string>();
    return std::optional<std::string>(line_of(run.output));
}

Result<std::string> Repository::blob(const std::string& id) const {
    return ask({"cat-file", "blob", id});
}

// A branch of the name may be there already, or be checked out in another tree. Then the tree has
// no branch: commits in it do not move what somebody else works on. read-tree fills the index
// without writing a file, since the caller brings the files itself.
Result<void> Repository::add_worktree(const std::string& directory,
                                      const std::string& branch) const {
    const Run named =
        TRY(this->run({"worktree", "add", "--no-checkout", "-b", branch, directory, "HEAD"}));
    if (named.exit_code != 0)
        TRY(ask({"worktree", "add", "--no-checkout", "--detach", directory, "HEAD"}));
    TRY(ask({"-C", directory, "read-tree", "HEAD"}));
    return {};
}

Result<void> Repository::forget_worktrees() const {
    TRY(ask({"worktree", "prune"}));
    return {};
}

Result<std::string> Repository::exclude_file() const {
    const std::string path(line_of(TRY(ask({"rev-parse", "--git-path", "info/exclude"}))));
    return path.starts_with('/') ? path : cat(directory_, "/", path);
}

// The parts are MODE SP TYPE SP ID TAB PATH. The first tab ends the head of a part, so a tab in the
// path is kept.
Result<std::map<std::string, TreeEntry>> Repository::files(const std::string& commit) const {
    const std::string output = TRY(ask({"ls-tree", "-r", "-z", "--full-tree", commit}));
    std::map<std::string, TreeEntry> files;
    for_each_field(output, [&](std::string_view field) {
        const std::size_t tab = field.find('\t');
        const std::size_t id = field.rfind(' ', tab);
        if (tab == std::string_view::npos || id == std::string_view::npos) return;
        files.emplace(field.substr(tab + 1),
                      TreeEntry{std::string(field.substr(0, field.find(' '))),
                                std::string(field.substr(id + 1, tab - id - 1))});
    });
    return files;
}

// The parts are ":OLDMODE NEWMODE OLDID NEWID LETTER" and the path, in turn.
Result<std::vector<TreeChange>> Repository::changes(const std::string& from,
                                                    const std::string& to) const {
    const std::string output =
        TRY(ask({"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to, "--"}));
    std::vector<TreeChange> changes;
    std::string_view about;
    for_each_field(output, [&](std::string_view field) {
        if (about.empty()) {
            about = field;
            return;
        }
        const std::size_t mode = about.find(' ') + 1;
        const std::size_t letter = about.rfind(' ');
        const std::size_t id = about.rfind(' ', letter - 1) + 1;
        TreeChange change{std::string(field), {}};
        if (about.substr(letter + 1) != "D") {
            change.entry = TreeEntry{std::string(about.substr(mode, about.find(' ', mode) - mode)),
                                     std::string(about.substr(id, letter - id))};
        }
        changes.push_back(std::move(change));
        about = {};
    });
    return changes;
}

// Git takes the paths from the directory, and answers 1 if none is ignored. It fails as a whole for
// a path that it would never track, such as one in a submodule; that path is found by halving, and
// counts as ignored. O(log paths) programs for each such path.
Result<std::vector<std::string>> Repository::ignored(std::span<const std::string> paths) const {
    std::vector<std::string> out;
    if (paths.empty()) return out;
    std::string input;
    for (const std::string& path : paths) {
        input += path.substr(prefix_.size());
        input += '\0';
    }
    const Run run = TRY(this->run({"check-ignore", "-z", "--stdin"}, std::move(input)));
    if (run.exit_code == 0 || run.exit_code == 1) {
        for_each_field(run.output,
                       [&](std::string_view field) { out.push_back(cat(prefix_, field)); });
        return out;
    }
    if (paths.size() == 1) return std::vector<std::string>{paths.front()};
    const std::size_t half = paths.size() / 2;
    for (const auto part : {paths.first(half), paths.subspan(half)}) {
        std::vector<std::string> some = TRY(ignored(part));
        out.insert(out.end(), some.begin(), some.end());
    }
    return out;
}

// The index is named, because it need not be the repository's own: a stage has another one.
Result<std::vector<std::string>> Repository::indexed(const std::string& index,
                                                     std::span<const std::string> paths) const {
    const Run run = TRY(this->run({"ls-files", "-z"}, {}, index));
    if (run.exit_code != 0) return failed("ls-files", run);
    std::set<std::string_view> known;
    for_each_field(run.output, [&](std::string_view field) { known.insert(field); });
    std::vector<std::string> out;
    std::ranges::copy_if(paths, std::back_inserter(out),
                         [&](const std::string& path) { return known.contains(path); });
    return out;
}

// Git knows two modes for regular files, and tells them by the owner's right to run the file.
std::string Repository::mode_on_disk(const std::string& path) const {
    struct stat found = {};
    const bool runs = ::lstat(cat(directory_, "/", path).c_str(), &found) == 0 &&
                      S_ISREG(found.st_mode) && (found.st_mode & S_IXUSR) != 0;
    return runs ? "100755" : "100644";
}

// An object's id is the hash of its type, its size and its bytes. Computing it here tells whether
// git has the file as it is, without running a program for each file.
std::string Repository::id_of(std::string_view bytes) const {
    const std::string head = cat("blob ", bytes.size());
    const auto bytes_of = [](std::string_view text) {
        return reinterpret_cast<const std::uint8_t*>(text.data());
    };
    if (sha256_) {
        SHA2_CTX state = {};
        std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest = {};
        ::SHA256Init(&state);
        ::SHA256Update(&state, bytes_of(head), head.size() + 1);  // The NUL belongs to it.
        ::SHA256Update(&state, bytes_of(bytes), bytes.size());
        ::SHA256Final(digest.data(), &state);
        return to_hex(digest);
    }
    SHA1_CTX state = {};
    std::array<std::uint8_t, SHA1_DIGEST_LENGTH> digest = {};
    ::SHA1Init(&state);
    ::SHA1Update(&state, bytes_of(head), head.size() + 1);
    ::SHA1Update(&state, bytes_of(bytes), bytes.size());
    ::SHA1Final(digest.data(), &state);
    return to_hex(digest);
}

// fast-import refuses to move a ref that is no longer an ancestor of the new commit ("Not
// updating"): somebody has moved it since the caller read it. The objects that were written stay
// without a ref, and git removes them some day.
Result<std::vector<std::string>> Repository::import(CommitStream stream) const {
    const std::string ref = stream.ref();
    const std::size_t commits = stream.commits();
    std::vector<std::string> ids;
    if (commits == 0) return ids;
    const Run run =
        TRY(this->run({"fast-import", "--quiet", "--date-format=raw"}, std::move(stream).take()));
    if (run.exit_code != 0 && run.errors.find("Not updating") != std::string::npos) {
        return fail(Errc::conflict, "ref_moved",
                    cat(ref, " was moved by someone else; nothing was added to it"),
                    {{"ref", ref}});
    }
    if (run.exit_code != 0) return failed("fast-import", run);
    std::string_view rest = run.output;
    while (!rest.empty()) {
        const std::string_view id = line_of(rest);
        if (is_id(id)) ids.emplace_back(id);
        rest.remove_prefix(std::min(id.size() + 1, rest.size()));
    }
    if (ids.size() != commits) return failed("fast-import", run);
    return ids;
}

// The rules of `git check-ref-format`, and the names that belong to people.
bool is_own_ref(std::string_view ref) {
    if (!ref.starts_with("refs/") || ref.ends_with('/') || ref.ends_with('.')) return false;
    for (const std::string_view taken :
         {"refs/heads/", "refs/tags/", "refs/remotes/", "refs/notes/", "refs/stash", "refs/bisect/",
          "refs/replace/", "refs/worktree/", "refs/rewritten/"}) {
        if (ref.starts_with(taken)) return false;
    }
    if (ref.find("..") != std::string_view::npos || ref.find("@{") != std::string_view::npos)
        return false;
    const bool plain = std::all_of(ref.begin(), ref.end(), [](char c) {
        return static_cast<unsigned char>(c) > ' ' && c != '\x7f' &&
               std::string_view("~^:?*[\\").find(c) == std::string_view::npos;
    });
    std::size_t parts = 0;
    for (std::string_view rest = ref; plain && !rest.empty(); ++parts) {
        const std::string_view part = rest.substr(0, rest.find('/'));
        if (part.empty() || part.starts_with('.') || part.ends_with(".lock")) return false;
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
    return plain && parts >= 3;
}

}  // namespace quire::git
