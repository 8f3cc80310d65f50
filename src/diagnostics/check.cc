// One check is one run of the tool with the unit's own command, without its outputs. The compiler
// lists the files it read in a dependency file. Their stamps, taken before the run, tell later
// whether the check would still give the same result.
#include "diagnostics/check.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "process/spawn.h"

namespace quire::diagnostics {
namespace {

// Far more than a unit's headers take; what is beyond is left out.
constexpr std::size_t kMostDepfile = std::size_t{8} << 20;

std::string text_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string out(kMostDepfile, '\0');
    in.read(out.data(), static_cast<std::streamsize>(out.size()));
    out.resize(static_cast<std::size_t>(in.gcount()));
    return out;
}

// A file that goes with this; its time is when it was made, by the disk's clock. clear() makes it
// anew. A check compares times of files with its own, which the same disk has stamped, so that a
// difference of the clocks does no harm.
class ScratchFile {
public:
    explicit ScratchFile(std::string path) : path_(std::move(path)) { clear(); }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;
    ~ScratchFile() { ::unlink(path_.c_str()); }
    void clear() const {
        const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd >= 0) ::close(fd);
    }
    const std::string& path() const { return path_; }

private:
    const std::string path_;
};

// Tools speak English there, know no more of this process than where programs are, and keep no
// cache, since they could not write it.
std::vector<std::string> environment() {
    std::vector<std::string> out = {"LC_ALL=C", "CCACHE_DISABLE=1"};
    for (const char* const name : {"PATH", "HOME", "TMPDIR"}) {
        if (const char* const value = std::getenv(name)) out.push_back(cat(name, "=", value));
    }
    return out;
}

// Files of the system change with the system, not while somebody works. Leaving them out saves most
// of the stamps: a C++ source reads hundreds of them.
bool is_of_the_system(const std::string& path) {
    return path.starts_with("/usr/") || path.starts_with("/lib");
}

std::string seconds(std::int64_t ms) {
    const std::int64_t tenths = ms % 1000 / 100;
    return cat(ms / 1000, tenths == 0 ? "" : ".", tenths == 0 ? "" : cat(tenths), " s");
}

std::string first_line(std::string_view output) {
    constexpr std::size_t kLongest = 200;
    std::string out;
    for (const char c : output.substr(0, std::min(output.find('\n'), kLongest)))
        out += c >= 0x20 && c < 0x7F ? c : '?';
    return out.empty() ? "it failed without a word" : out;
}

// The runs of the tool for one unit share one deadline.
//
//     check_command or tidy_command    findings, and the files that were read if all went well
//     inputs_command                   the files, where the first did not say them
class Check {
public:
    Check(const CompileUnit& unit, const CheckTool& tool, const std::string& scratch, Clock& clock,
          const std::stop_token& stop)
        : unit_(unit),
          tool_(tool),
          compiler_(tool.is_tidy() ? "" : tool.program),
          depfile_(scratch),
          began_(stamp_of(scratch)),
          clock_(clock),
          deadline_ms_(clock.steady_ms() + tool.timeout_ms),
          stop_(stop) {}

    std::optional<Checked> run() {
        const Result<process::Ended> ended = run_one(
            tool_.is_tidy() ? tidy_command(unit_, tool_.program, tool_.database, tool_.tidy_config)
                            : check_command(unit_, compiler_, depfile_.path()));
        if (ended && ended->stopped) return std::nullopt;
        Checked out;
        if (!ended) {
            out.problem = ended.error().message();
        } else if (ended->timed_out) {
            out.problem = took_too_long();
        } else {
            out.findings = parse_findings(ended->output, {tool_.root, unit_.directory, unit_.file});
            if (ended->exit_code != 0 && out.findings.empty())
                out.problem = first_line(ended->output);
        }
        if (!read_inputs(out)) return std::nullopt;
        return out;
    }

private:
    // The tool may write the file of its inputs and what the settings allow. It may read the
    // project but not .quire, which has the store.
    Result<process::Ended> run_one(std::vector<std::string> arguments) {
        const std::int64_t left_ms = std::max<std::int64_t>(1, deadline_ms_ - clock_.steady_ms());
        process::Confinement cage{tool_.writable, cat(tool_.root, "/.quire")};
        cage.writable.push_back(depfile_.path());
        return process::run_program(
            {std::move(arguments), unit_.directory, environment(), std::move(cage)},
            {.timeout_ms = left_ms}, clock_, stop_);
    }
    std::string took_too_long() const {
        return cat("it took longer than ", seconds(tool_.timeout_ms));
    }

    // A compiler that found errors does not say what it read, and clang-tidy never does. False
    // where it was stopped.
    bool read_inputs(Checked& out) {
        std::string made = text_of_file(depfile_.path());
        if (made.empty() && clock_.steady_ms() < deadline_ms_) {
            depfile_.clear();
            const auto ended = run_one(inputs_command(unit_, compiler_, depfile_.path()));
            if (ended && ended->stopped) return false;
            // The files that it read are unknown, and so is the time to check it again.
            if (ended && ended->timed_out && out.problem.empty()) out.problem = took_too_long();
            made = text_of_file(depfile_.path());
        }
        std::set<std::string> paths = {unit_.file};
        if (!tool_.tidy_config.empty()) paths.insert(tool_.tidy_config);
        for (const std::string& each : parse_depfile(made)) {
            std::string path = absolute_path(unit_.directory, each);
            if (is_of_the_system(path)) continue;
            // A header that was not found may appear in any of the directories in which it was
            // looked for. Each of those places becomes an input.
            if (!each.starts_with('/') && stamp_of(path).size < 0) {
                for (const std::string& directory : include_directories(unit_))
                    paths.insert(absolute_path(directory, each));
            }
            paths.insert(std::move(path));
        }
        depfile_.clear();
        const InputStamp now = stamp_of(depfile_.path());
        for (const std::string& path : paths) {
            InputStamp stamp = stamp_of(path);
            // It was written while this ran: the tool may have read what was there before.
            const bool is_fresh = stamp.size >= 0 && stamp.modified_ns >= began_.modified_ns &&
                                  stamp.modified_ns <= now.modified_ns;
            if (is_fresh) stamp.modified_ns = 0;
            out.inputs.emplace_back(path, stamp);
        }
        return true;
    }

    const CompileUnit& unit_;
    const CheckTool& tool_;
    const std::string compiler_;
    const ScratchFile depfile_;
    const InputStamp began_;
    Clock& clock_;
    const std::int64_t deadline_ms_;  // The deadline of all programs that run for this check.
    const std::stop_token& stop_;
};

}  // namespace

// Versions are part of the name, as in clang-tidy-18; the directory is not.
bool CheckTool::is_tidy() const {
    return program.find("clang-tidy", program.rfind('/') + 1) != std::string::npos;
}

InputStamp stamp_of(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return {};
    constexpr std::int64_t kSecond = 1'000'000'000;
    return {found.st_mtim.tv_sec * kSecond + found.st_mtim.tv_nsec, found.st_size};
}

std::optional<Checked> check_unit(const CompileUnit& unit, const CheckTool& tool,
                                  const std::string& scratch, Clock& clock,
                                  const std::stop_token& stop) {
    return Check(unit, tool, scratch, clock, stop).run();
}

}  // namespace quire::diagnostics
