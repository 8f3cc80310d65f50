// quire doctor: checks what quire needs from this machine and this workspace, one finding a line.
//
// A finding is good, doubtful or broken; the last two say what to do. The checks of the workspace
// create nothing; the checks of MCP run in a scratch workspace with a kernel of its own.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/fd.h"
#include "base/file_rights.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/mcp_child.h"
#include "cli/commands/scratch.h"
#include "cli/commands/terminal.h"
#include "cli/compose/store_losses.h"
#include "cli/settings/config.h"
#include "cli/settings/tool_rules.h"
#include "json/json.h"
#include "json/members.h"
#include "process/spawn.h"
#include "stage/tiers.h"
#include "text/escape_hidden.h"
#include "text/shell_word.h"

namespace quire::cli {
namespace {

// Doubtful things work, but not as well as they could; only broken ones give the exit code
// kRefused.
enum class Health { good, doubtful, broken };

struct DoctorFinding {
    Health health = Health::good;
    std::string what;
    std::string found;
    std::string fix;  // The next step; "" if the finding is good.
};

std::string_view word_of(Health health) {
    constexpr std::array<std::string_view, 3> kWords = {"ok", "warning", "broken"};
    return kWords[static_cast<std::size_t>(health)];
}

DoctorFinding check_settings(const std::string& workspace) {
    const auto settings = load_config(workspace);
    if (!settings)
        return {Health::broken, "settings", settings.error().message(), "correct quire.toml"};
    const std::size_t rules = settings->files.rules.size();
    if (rules == 0) {
        return {Health::doubtful, "settings", "no rules for files, so every file is read-only",
                cat("quire init --workspace ", workspace)};
    }
    return {Health::good, "settings", cat(rules, " rules for files"), ""};
}

// An operator relies on the rules, and has to know which of them do not or cannot hold. The
// settings were checked just before, so faults of the file itself are not told twice.
void check_rule_settings(const std::string& workspace, std::vector<DoctorFinding>& findings) {
    const auto settings = load_config(workspace);
    if (!settings) return;
    for (RuleProblem& each : rule_problems(*settings)) {
        findings.push_back({each.is_error ? Health::broken : Health::doubtful, "settings",
                            std::move(each.text), "see quire rules check"});
    }
}

// Checks that the mounted programs exist; they are not run.
void check_mounts(const std::string& workspace, std::vector<DoctorFinding>& findings) {
    const auto settings = load_config(workspace);
    if (!settings) return;
    for (const auto& [name, mount] : settings->mounts) {
        const std::string directory =
            (std::filesystem::path(workspace) / mount.directory).lexically_normal().string();
        const std::string at = process::found_in_path(mount.command.front(), directory);
        const std::string path = (std::filesystem::path(directory) / at).string();
        const bool there = at.find('/') != std::string::npos && ::access(path.c_str(), X_OK) == 0;
        findings.push_back(
            there
                ? DoctorFinding{Health::good, cat("mount ", name), cat("its program is ", path), ""}
                : DoctorFinding{Health::broken, cat("mount ", name),
                                cat("there is no program ", mount.command.front(),
                                    " that can be run in ", directory),
                                "install it, or name it with its path in quire.toml"});
    }
}

// The call that keeps every path beneath the workspace. A container's filter may forbid it.
DoctorFinding check_openat2(const std::string& workspace) {
    const Fd root(::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    open_how how = {};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH;
    const Fd opened(static_cast<int>(::syscall(SYS_openat2, root.get(), ".", &how, sizeof how)));
    if (opened)
        return {Health::good, "confinement", "openat2 keeps every access beneath the root", ""};
    return {Health::broken, "confinement", cat("openat2: ", std::strerror(errno)),
            "use Linux 5.6 or later, and a container that permits openat2"};
}

// Runs a command in each tier: the best one in the workspace, where it has been used before. The
// scratch directory stands in for a workspace that keeps nothing yet, so that the check makes
// nothing there. Tiers come from the best; the first that works is the one in use.
DoctorFinding check_tiers(const std::string& workspace) {
    const Result<ScratchDirectory> scratch = ScratchDirectory::make("quire-doctor-");
    if (!scratch)
        return {Health::doubtful, "shell", scratch.error().message(), "free some space in /tmp"};
    std::error_code failed;
    const auto root = std::filesystem::canonical(scratch->path(), failed);
    std::filesystem::create_directory(root / ".quire", failed);
    SystemClock clock;
    std::string better, others;
    stage::Tier best = stage::Tier::none;
    const bool is_used = std::filesystem::is_directory(workspace + "/.quire", failed);
    const std::string obstacle = is_used ? std::string() : stage::obstacle_to_stages(workspace);
    for (const stage::TierFinding& each :
         stage::find_tiers(is_used ? workspace : root.string(), root.string(), clock)) {
        const std::string name(name_of(each.tier));
        if (best == stage::Tier::none && each.works()) {
            best = each.tier;
        } else if (best == stage::Tier::none) {
            cat_to(better, cat("; not ", name, ": ", each.why_not));
        } else {
            cat_to(others,
                   each.works() ? cat("; also ", name) : cat("; not ", name, ": ", each.why_not));
        }
    }
    std::string found = cat("tier ", name_of(best));
    if (best == stage::Tier::staged)
        found += ": commands run apart from the files, and their changes pass the rules";
    cat_to(found, cat(better, others));
    if (best == stage::Tier::staged && !obstacle.empty()) {
        return {Health::doubtful, "shell",
                cat("tier staged in another directory; in this one commands that change files may "
                    "have no stage, for ",
                    obstacle),
                "run quire doctor again after the first command, when it can be tried here"};
    }
    if (best == stage::Tier::staged) return {Health::good, "shell", std::move(found), ""};
    return {
        Health::doubtful, "shell", std::move(found),
        cat("the tool shell refuses commands that change files until unprivileged user namespaces "
            "and overlays in them are allowed (Linux 5.13; containers and AppArmor may forbid "
            "them), or [shell] minimum_tier = \"",
            name_of(best), "\"")};
}

// The file has no name while it is written, so a killed doctor leaves nothing behind.
DoctorFinding check_disk(const std::string& workspace) {
    std::string path = workspace + "/.quire-doctor-XXXXXX";
    const Fd file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file) {
        return {Health::broken, "disk",
                cat("cannot write in ", workspace, ": ", std::strerror(errno)),
                "give yourself write permission there"};
    }
    ::unlink(path.c_str());
    // Enough for an average, and done in less than a second on most disks.
    constexpr std::int64_t kFlushes = 20;
    const SystemClock clock;
    const std::int64_t begin = clock.steady_ms();
    for (std::int64_t i = 0; i < kFlushes; ++i) {
        if (::write(file.get(), "x", 1) != 1 || ::fdatasync(file.get()) != 0) {
            return {Health::broken, "disk", cat("fdatasync: ", std::strerror(errno)),
                    "use a file system that can flush, and free some space"};
        }
    }
    const std::int64_t took = clock.steady_ms() - begin;
    std::string found =
        cat("a flush takes about ", took / kFlushes, ".", took % kFlushes * 10 / kFlushes, " ms");
    struct statvfs space = {};
    if (::statvfs(workspace.c_str(), &space) == 0) {
        const std::uint64_t left = space.f_bavail * space.f_frsize;
        found += cat(", ", size_text(left), " free");
        constexpr std::uint64_t kLittle = 100U << 20;
        if (left < kLittle) {
            return {Health::doubtful, "disk", found,
                    "free some space: changes are refused when the disk is full"};
        }
    }
    constexpr std::int64_t kSlowMs = 30;
    if (took / kFlushes >= kSlowMs) {
        return {Health::doubtful, "disk", found,
                "every durable edit waits for a flush; use a faster disk"};
    }
    return {Health::good, "disk", std::move(found), ""};
}

// Returns whether the workspace's state can be used, or is not there yet. A store in a directory that
// may not be entered looks like none. The rights are looked at first, since every later check would
// only report what follows from them.
bool check_state(const std::filesystem::path& workspace, std::vector<DoctorFinding>& findings) {
    const std::string state = (workspace / ".quire").string();
    const Fd directory(::open(state.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory && errno == ENOENT) return true;
    if (!directory || ::access(state.c_str(), R_OK | W_OK | X_OK) != 0) {
        findings.push_back({Health::broken, "store",
                            cat("nothing can be done with ", state, ": ", std::strerror(errno)),
                            cat("let its owner run: chmod 700 ", text::for_shell(state))});
        return false;
    }
    bool usable = true;
    for (const char* name : {"quire.db", "quire.db-wal", "last-commit", "lock", "start.lock"}) {
        const std::string file = cat(state, "/", name);
        const std::string missing = missing_rights(file);
        if (missing.empty()) continue;
        usable = false;
        findings.push_back({Health::broken, "store", cat(file, " cannot be used: ", missing),
                            cat("let its owner run: chmod 600 ", text::for_shell(file))});
    }
    return usable;
}

// A log that does not verify proves nothing from its first fault on.
void check_audit_chain(CommandClient& client, std::vector<DoctorFinding>& findings) {
    const auto verdict = client.request("verify_audit", Map{{"heads", List()}});
    if (!verdict) {
        return findings.push_back({Health::broken, "audit log", verdict.error().message(),
                                   "quire fsck says what is damaged"});
    }
    const std::int64_t entries = json::number_in(*verdict, "entries");
    if (const Value* const broken = verdict->get("broken")) {
        return findings.push_back(
            {Health::broken, "audit log",
             cat("entry ", json::number_in(*broken, "seq"),
                 " is broken: ", text::escape_hidden(json::text_in(*broken, "what"))),
             "it was damaged or tampered with: see quire audit verify, and compare with a backup"});
    }
    findings.push_back(
        {Health::good, "audit log", cat(entries, " entries, each with the hash before it"), ""});
}

// Checks that a kernel can open the store of this workspace, if there is one. It attaches, as every
// command does. A kernel that is started for it ends by itself.
void check_store(const Globals& globals, const std::filesystem::path& workspace,
                 std::vector<DoctorFinding>& findings) {
    std::error_code missing;
    if (!check_state(workspace, findings)) return;
    if (!std::filesystem::exists(workspace / ".quire" / "quire.db", missing)) return;
    auto client = CommandClient::attach(globals);
    const auto listed =
        client ? client->call("block_list", Map{{"limit", 1}}) : Failure(client.error());
    if (!listed) {
        return findings.push_back({Health::broken, "store", listed.error().message(),
                                   "see the message; details are in .quire/kernel.log"});
    }
    const auto held = client->request("status");
    const Value* const settings = held ? held->get("settings") : nullptr;
    if (settings != nullptr && settings->get("error") != nullptr) {
        findings.push_back({Health::broken, "settings",
                            cat("the kernel goes on with the settings before, because of ",
                                settings->get("error")->as_string()),
                            "correct quire.toml"});
    }
    if (settings != nullptr) {
        for (const Value& section : json::list_in(*settings, "needs_new_kernel")) {
            findings.push_back(
                {Health::doubtful, "settings",
                 cat("what has changed in ", section.as_string(), " holds from the next kernel on"),
                 "quire stop"});
        }
    }
    const Value* documents = held ? held->get("documents") : nullptr;
    findings.push_back(
        {Health::good, "store",
         cat("opened, with ", documents != nullptr && documents->is_int() ? documents->as_int() : 0,
             " documents"),
         ""});
    check_audit_chain(*client, findings);
}

// Says what the store has lost. After check_store(): a kernel that opens the store finds it out.
void check_losses(const std::filesystem::path& workspace, std::vector<DoctorFinding>& findings) {
    for (const auto& lost : store_losses(workspace.string())) {
        findings.push_back(
            {Health::broken, "store", loss_message(lost),
             cat("restore a backup, or go on, and then: rm -r ", text::for_shell(lost.directory))});
    }
}

// The state is ignored by version control, and so is removed with everything else that is.
void check_git(const std::filesystem::path& workspace, std::vector<DoctorFinding>& findings) {
    std::error_code missing;
    for (std::filesystem::path at = workspace; !std::filesystem::exists(at / ".git", missing);
         at = at.parent_path()) {
        if (at == at.root_path()) return;
    }
    findings.push_back({Health::good, "git",
                        "git clean -xfd removes .quire with all that is in it; git clean -xfd -e "
                        ".quire keeps it",
                        ""});
}

// The newer protocol has no handshake: each request carries the client's version and name.
Map modern_meta() {
    return Map{{"_meta", Map{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                             {"io.modelcontextprotocol/clientInfo",
                              Map{{"name", "quire doctor"}, {"version", "1"}}},
                             {"io.modelcontextprotocol/clientCapabilities", Map{}}}}};
}

DoctorFinding broken_handshake(std::string_view what, const Error& error) {
    return {Health::broken, std::string(what), error.message(),
            "this is a fault in quire or in the machine: please report it"};
}

// Checks that clients of both protocol generations can connect and call, and measures how long that
// takes. The scratch workspace keeps the test block out of the person's own.
void check_handshakes(std::vector<DoctorFinding>& findings) {
    auto scratch = ScratchDirectory::make("quire-doctor-");
    if (!scratch) return findings.push_back(broken_handshake("MCP", scratch.error()));
    const SystemClock clock;

    const std::int64_t begin = clock.steady_ms();
    auto child = McpChild::start({.workspace = scratch->path(), .profile = "model"});
    if (!child) return findings.push_back(broken_handshake("MCP", child.error()));
    const auto opened = child->initialize();
    const auto listed = opened ? child->request("tools/list", {}) : opened;
    if (!listed) return findings.push_back(broken_handshake("MCP 2025-11-25", listed.error()));
    const std::int64_t connected_ms = clock.steady_ms() - begin;
    const std::string bytes = json::write(*listed);
    const Value* tools = listed->get("tools");
    findings.push_back({Health::good, "MCP 2025-11-25",
                        cat("connected in ", connected_ms, " ms, including the start of a kernel; ",
                            tools != nullptr && tools->is_list() ? tools->as_list().size() : 0,
                            " tools in ", size_text(bytes.size())),
                        ""});

    const auto discovered = child->request("server/discover", modern_meta());
    const auto modern = discovered ? child->request("tools/list", modern_meta()) : discovered;
    if (!modern) return findings.push_back(broken_handshake("MCP 2026-07-28", modern.error()));
    findings.push_back(
        {Health::good, "MCP 2026-07-28", "discovered and listed tools without a handshake", ""});

    const auto block = child->call(
        "block_create", Map{{"role", "user"}, {"kind", "text"}, {"content", "a line\n"}});
    if (!block) return findings.push_back(broken_handshake("calls", block.error()));
    constexpr std::int64_t kReads = 500;
    const std::int64_t reading = clock.steady_ms();
    for (std::int64_t i = 0; i < kReads; ++i) {
        const auto read = child->call("block_view", Map{{"block_id", *block->get("block_id")}});
        if (!read) return findings.push_back(broken_handshake("calls", read.error()));
    }
    const std::int64_t us = (clock.steady_ms() - reading) * 1000 / kReads;
    findings.push_back({us < 1000 ? Health::good : Health::doubtful, "calls",
                        cat("a read takes about ", us, " us"),
                        us < 1000 ? "" : "the machine is busy; try again when it is idle"});
}

std::string findings_table(const std::vector<DoctorFinding>& findings) {
    std::string out;
    for (const DoctorFinding& finding : findings) {
        const Colour colour = finding.health == Health::good       ? Colour::green
                              : finding.health == Health::doubtful ? Colour::yellow
                                                                   : Colour::red;
        out += cat(coloured(padded(std::string(word_of(finding.health)), 9), colour),
                   padded(finding.what, 15), " ", finding.found, "\n");
        if (!finding.fix.empty()) out += cat("         ->              ", finding.fix, "\n");
    }
    return out;
}

Value findings_value(const std::vector<DoctorFinding>& findings) {
    List list;
    for (const DoctorFinding& finding : findings) {
        list.push_back(Map{{"health", word_of(finding.health)},
                           {"what", finding.what},
                           {"found", finding.found},
                           {"fix", finding.fix}});
    }
    return Map{{"findings", std::move(list)}};
}

Result<int> run_doctor(const Globals& globals) {
    std::error_code missing;
    const auto workspace = std::filesystem::canonical(globals.workspace, missing);
    std::vector<DoctorFinding> findings;
    findings.push_back({Health::good, "program", cat("quire ", globals.version), ""});
    for (const PassedOver& passed : globals.passed_over) {
        findings.push_back({Health::doubtful, "workspace", passed_over_text(passed),
                            "name it with --workspace if it is the one you mean"});
    }
    findings.push_back(check_settings(workspace.string()));
    check_rule_settings(workspace.string(), findings);
    check_mounts(workspace.string(), findings);
    findings.push_back(check_openat2(workspace.string()));
    findings.push_back(check_tiers(workspace.string()));
    findings.push_back(check_disk(workspace.string()));
    check_git(workspace, findings);
    check_store(globals, workspace, findings);
    check_losses(workspace, findings);
    check_handshakes(findings);

    const int printed =
        globals.json ? output_json(findings_value(findings)) : output(findings_table(findings));
    const bool broken =
        std::any_of(findings.begin(), findings.end(),
                    [](const DoctorFinding& finding) { return finding.health == Health::broken; });
    return broken ? kRefused : printed;
}

}  // namespace

Command doctor_command() {
    return {.name = "doctor",
            .about = "Check that quire works here, and print how to fix what does not",
            .example = "quire doctor --workspace ~/project",
            .action = action_of(run_doctor),
            .touches = Touches::looks};
}

}  // namespace quire::cli
