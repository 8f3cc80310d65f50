// A path is judged by the file that it leads to and by every name on the way. Links are followed
// one by one, as Linux does. If agents may write any directory or link on the way, they can
// change what the path means, so the whole path counts as theirs.
#include "diagnostics/reach.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "diagnostics/compile_commands.h"
#include "process/spawn.h"

namespace quire::diagnostics {
namespace {

constexpr int kMostLinks = 40;  // Linux follows as many.

// A name may be exchanged between the question and the reading. So the file is opened first, and
// the rules are asked about the path of what was opened.
class OpenFile {
public:
    // Without waiting for the other end of a pipe.
    explicit OpenFile(const std::string& path)
        : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    int fd() const { return fd_; }
    // The path of the opened file, whatever its name means by now; "" if the system does not say.
    std::string path() const {
        std::array<char, PATH_MAX> out{};
        const ssize_t size = ::readlink(cat("/proc/self/fd/", fd_).c_str(), out.data(), out.size());
        return size <= 0 ? "" : std::string(out.data(), static_cast<std::size_t>(size));
    }

private:
    const int fd_;
};

Failure unreadable(const std::string& path, std::string_view why) {
    return fail(Errc::unavailable, "unreadable", cat("cannot read ", path, ": ", why));
}

bool is_same(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// The operand of the option `flag` in `word` or in the word after it; none if it is another
// option.
std::optional<std::string> operand(std::string_view flag, const std::vector<std::string>& words,
                                   std::size_t at) {
    std::string_view word = words[at];
    if (!word.starts_with(flag)) return std::nullopt;
    word.remove_prefix(flag.size());
    if (word.starts_with('=')) word.remove_prefix(1);
    if (!word.empty()) return std::string(word);
    if (at + 1 >= words.size()) return std::nullopt;
    // -Xclang -load -Xclang FILE
    const bool passed_on = words[at + 1] == "-Xclang" && at + 2 < words.size();
    return words[at + (passed_on ? 2 : 1)];
}

}  // namespace

Reach::Reach(std::string root, std::function<bool(const std::string&)> agents_write)
    : root_(resolved(root)), agents_write_(std::move(agents_write)) {}

std::string Reach::resolved(const std::string& path) {
    std::error_code unknown;
    const std::filesystem::path real = std::filesystem::weakly_canonical(path, unknown);
    return unknown ? absolute_path("/", path) : absolute_path("/", real.string());
}

// Compares names, and then directories, because the root may be mounted at another place as well.
std::optional<std::string> Reach::from_root(const std::string& resolved) const {
    const std::string below = root_ == "/" ? root_ : root_ + "/";
    if (resolved.starts_with(below)) return resolved.substr(below.size());
    struct stat root {};
    if (::stat(root_.c_str(), &root) != 0) return std::nullopt;
    for (std::size_t end = resolved.rfind('/'); end != std::string::npos && end > 0;
         end = resolved.rfind('/', end - 1)) {
        struct stat each {};
        if (::stat(resolved.substr(0, end).c_str(), &each) == 0 && is_same(each, root))
            return resolved.substr(end + 1);
    }
    return std::nullopt;
}

std::optional<std::string> Reach::below_root(const std::string& path) const {
    return from_root(resolved(path));
}

// `done` is the part of the way that has no links left, `left` what is still to be walked.
bool Reach::is_agents(const std::string& path) const {
    if (!agents_write_) return false;
    const auto may = [&](const std::filesystem::path& each) {
        const auto below = from_root(each.string());
        return below && agents_write_(*below);
    };
    if (may(absolute_path("/", path))) return true;
    // Each link on the way is a name that somebody may give another meaning.
    std::filesystem::path done = "/";
    std::filesystem::path left = std::filesystem::path(path).relative_path();
    for (int links = 0; !left.empty();) {
        const std::filesystem::path first = *left.begin();
        std::filesystem::path rest;
        for (auto each = std::next(left.begin()); each != left.end(); ++each) rest /= *each;
        left = std::move(rest);
        if (first.empty() || first == ".") continue;
        if (first == "..") {
            done = done.parent_path();
            continue;
        }
        std::error_code none;
        const std::filesystem::path target = std::filesystem::read_symlink(done / first, none);
        if (none) {
            done /= first;
            continue;
        }
        if (++links > kMostLinks || may(done / first)) return true;
        if (target.is_absolute()) done = "/";
        left = target.relative_path() / left;
    }
    return may(done);
}

std::string Reach::agents_part(const CompileUnit& unit, const std::string& program) const {
    const std::string found = process::found_in_path(program, unit.directory);
    if (is_agents(absolute_path(unit.directory, found))) return program;
    return agents_part(unit, unit.arguments, 0);
}

// A response file has words like the command, so it is read and judged in the same way. One that
// cannot be split, or is nested too deep or too long, counts as the agents', because it was not
// looked at.
std::string Reach::agents_part(const CompileUnit& unit, const std::vector<std::string>& words,
                               int depth) const {
    constexpr int kDeepest = 8;
    constexpr std::size_t kMostOfResponse = std::size_t{1} << 20;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i].starts_with('@') && words[i].size() > 1) {
            const std::string file = absolute_path(unit.directory, words[i].substr(1));
            if (is_agents(file)) return words[i];
            const Result<std::string> text = read_trusted(file, *this);
            if (!text) continue;  // The compiler takes it for the name of a file.
            const auto more = split_words(*text);
            if (!more || depth >= kDeepest || text->size() > kMostOfResponse) return words[i];
            std::string part = agents_part(unit, *more, depth + 1);
            if (!part.empty()) return part;
        }
        for (const std::string_view flag :
             {"-wrapper", "-specs", "--specs", "-fplugin=", "-load",
              "-fpass-plugin=", "-iplugindir=", "--config", "-B", "--prefix="}) {
            const std::optional<std::string> named = operand(flag, words, i);
            if (!named) continue;
            // -wrapper has a list; any of it may be a program.
            std::string_view rest = *named;
            for (bool more = true; more;) {
                const std::size_t end = flag == "-wrapper" ? rest.find(',') : rest.npos;
                more = end != std::string_view::npos;
                const std::string path = absolute_path(unit.directory, rest.substr(0, end));
                if (more) rest.remove_prefix(end + 1);
                // A directory counts by what a compiler looks for in it.
                for (const char* const each : {"", "/cc1", "/cc1plus", "/as", "/specs", "/x.so"}) {
                    if (is_agents(path + each)) return words[i];
                }
            }
        }
    }
    return "";
}

// clang-tidy would take the nearest .clang-tidy. Here the nearest that agents may not write is
// named to it explicitly, so that theirs is passed over. It is refused if it takes in others and
// agents may write one of those.
Result<std::string> tidy_config_of(const std::string& file, const std::string& root,
                                   const Reach& reach) {
    std::string found;
    bool takes_in_others = false;
    std::string theirs;
    for (std::string at = absolute_path(file, ".."); at.starts_with(root);
         at = absolute_path(at, "..")) {
        const std::string each = absolute_path(at, ".clang-tidy");
        if (reach.is_agents(each)) {
            theirs = each;
        } else if (found.empty()) {
            // One that is empty clang-tidy passes over, too.
            if (const Result<std::string> text = read_trusted(each, reach)) {
                found = each;
                takes_in_others = text->find("InheritParentConfig") != std::string::npos;
            }
        }
        if (at == root || at == "/") break;
    }
    if (takes_in_others && !theirs.empty()) {
        return fail(Errc::denied, "agents_write",
                    cat(found, " says InheritParentConfig, and agents may write ", theirs));
    }
    return found;
}

std::string agents_refusal(const std::string& path, const Reach& reach) {
    return cat("agents may write ", reach.below_root(path).value_or(path),
               ", which says what is run. A rule with permission = \"read_only\" before the one "
               "that lets them makes it run");
}

// The size is taken once: a file that grows meanwhile is cut there, one that shrinks ends earlier.
Result<std::string> read_trusted(const std::string& path, const Reach& reach) {
    const OpenFile file(path);
    if (file.fd() < 0 && (errno == ENOENT || errno == ENOTDIR))
        return fail(Errc::not_found, "file_not_found", cat("cannot read ", path, ": no such file"));
    if (file.fd() < 0) return unreadable(path, std::strerror(errno));
    struct stat found {};
    if (::fstat(file.fd(), &found) != 0) return unreadable(path, std::strerror(errno));
    if (S_ISDIR(found.st_mode)) return unreadable(path, "it is a directory; name the file in it");
    if (!S_ISREG(found.st_mode)) return unreadable(path, "it is no regular file");
    const std::string opened = file.path();
    if (reach.is_agents(path) || (!opened.empty() && reach.is_agents(opened))) {
        return fail(Errc::denied, "agents_write",
                    agents_refusal(opened.empty() ? path : opened, reach));
    }
    const auto size = static_cast<std::size_t>(found.st_size);
    if (size == 0) return unreadable(path, "it is empty");
    if (size > kMostListBytes) {
        return fail(Errc::out_of_range, "too_large",
                    cat(path, " has more than ", kMostListBytes, " bytes"),
                    {{"limit", kMostListBytes}});
    }
    std::string out(size, '\0');
    std::size_t at = 0;
    while (at < size) {
        const ssize_t count = ::read(file.fd(), out.data() + at, size - at);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return unreadable(path, std::strerror(errno));
        if (count == 0) break;
        at += static_cast<std::size_t>(count);
    }
    out.resize(at);
    return out;
}

}  // namespace quire::diagnostics
