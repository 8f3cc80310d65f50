#include "cli/compose/compose.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/settings/config.h"
#include "cli/settings/person.h"
#include "cli/settings/tool_rules.h"
#include "diagnostics/source.h"
#include "fs/disk_files.h"
#include "kernel/approval_calls.h"
#include "kernel/file_calls.h"
#include "kernel/kernel.h"
#include "kernel/mount_calls.h"
#include "kernel/rule_calls.h"
#include "kernel/source_calls.h"
#include "mcp/asking.h"
#include "mcp/mcp_session.h"
#include "mounts/mounts.h"
#include "policy/rule_book.h"
#include "sched/scheduler.h"
#include "server/command_session.h"
#include "server/local_socket.h"
#include "server/state_directory.h"
#include "server/workspace_service.h"
#include "store/store.h"
#include "text/shown.h"
#include "tools/files.h"
#include "tools/memories.h"
#include "tools/tool.h"

namespace quire::cli {
namespace {

constexpr unsigned kWorkers = 2;

// What is in .quire/ belongs to this machine: it keeps itself out of version control.
Result<void> write_ignore_file(const server::StateDirectory& state) {
    const std::string path = state.file(".gitignore");
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file && errno == EEXIST) return {};
    if (!file || ::write(file.get(), "*\n", 2) != 2) {
        return fail(Errc::unavailable, "workspace_not_writable",
                    cat("cannot write ", path, ": ", std::strerror(errno)), {{"path", path}});
    }
    return {};
}

}  // namespace

// Members go in the reverse of their order: the server before the tools, these before the kernel,
// and the store last but for what it runs on.
struct House::Body {
    Body() = default;
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    ~Body() {
        server.reset();
        if (source_calls != nullptr) source_calls->stop();
        checkers.reset();
        if (mounts != nullptr) mounts->stop();
        mount_workers.reset();
        if (kernel == nullptr) return;
        std::promise<void> durable;
        kernel->close([&](const Result<void>&) { durable.set_value(); });
        durable.get_future().wait();
        // What is still queued refuses its call, and needs the rest of the house for that.
        pool.reset();
    }

    Result<std::unique_ptr<rpc::Session>> session_for(const rpc::Hello& hello,
                                                      std::shared_ptr<rpc::Connection> connection);
    // Of who asks for none.
    Result<tools::Profile> profile_of(const policy::Actor& actor) const;
    void open_asking(LogSink& log);
    Result<void> open_mounts(const Settings& settings, const server::StateDirectory& state,
                             LogSink& log);
    void open_diagnostics(const DiagnosticsSettings& settings, const policy::PathRules& rules,
                          const server::StateDirectory& state);

    std::string version;
    std::string socket;
    SystemClock clock;
    SystemRng rng;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<sched::Pool> pool;
    std::unique_ptr<fs::DiskFiles> files;
    std::unique_ptr<kernel::FileGate> gate;
    std::unique_ptr<kernel::Kernel> kernel;
    std::unique_ptr<kernel::FileCalls> file_calls;
    // Checks block the workers that they run on.
    std::unique_ptr<sched::Pool> checkers;
    std::unique_ptr<diagnostics::DiagnosticsSource> checks;
    std::unique_ptr<kernel::MemoryCalls> memory_calls;
    std::unique_ptr<kernel::SourceCalls> source_calls;
    std::unique_ptr<kernel::ApprovalCalls> approval_calls;
    std::unique_ptr<kernel::RuleCalls> rule_calls;
    std::unique_ptr<kernel::MountCalls> mount_calls;
    // A program that runs holds one of them.
    std::unique_ptr<sched::Pool> mount_workers;
    std::unique_ptr<mounts::Mounts> mounts;
    std::unique_ptr<tools::Registry> registry;
    std::map<std::string, std::string> profiles;  // By agent, as the settings have them.
    // Whom agents' clients ask, and with what; none where nobody is asked there.
    std::optional<policy::Actor> person;
    std::unique_ptr<mcp::Asking> asking;
    std::unique_ptr<server::LocalServer> server;
};

Result<tools::Profile> House::Body::profile_of(const policy::Actor& actor) const {
    const auto own = profiles.find(actor.name);
    if (actor.kind != policy::ActorKind::agent || own == profiles.end())
        return tools::Profile::model;
    return tools::parse_profile(own->second);
}

Result<std::unique_ptr<rpc::Session>> House::Body::session_for(
    const rpc::Hello& hello, std::shared_ptr<rpc::Connection> connection) {
    tools::Session session;
    session.caller.actor = TRY(policy::Actor::parse(hello.actor));
    session.profile = TRY(hello.profile.empty() ? profile_of(session.caller.actor)
                                                : tools::parse_profile(hello.profile));
    const bool command = hello.kind == "cli";
    if (!command && hello.kind != "mcp") {
        return invalid("invalid_argument",
                       cat("a session is of kind mcp or cli, not ", hello.kind));
    }
    const kernel::Caller caller = session.caller;
    auto service = std::make_unique<server::WorkspaceService>(
        *registry, *kernel, std::move(session),
        command ? server::WorkspaceService::Reach::any_profile
                : server::WorkspaceService::Reach::own_profile);
    // People may do what agents ask for, and whoever gives a command sees what becomes of it.
    if (!command && caller.actor.kind == policy::ActorKind::agent && person)
        service->let_answer(*person);
    if (command) {
        return std::make_unique<server::CommandSession>(
            std::move(service),
            server::CommandSession::Workspace{*kernel, *memory_calls, *source_calls, *mounts},
            caller, std::move(connection), version);
    }
    return std::make_unique<mcp::McpSession>(std::move(service), std::move(connection),
                                             mcp::Implementation{.version = version}, asking.get());
}

void House::Body::open_asking(LogSink& log) {
    person = person_here();
    if (!person) {
        log.write(LogLevel::warning,
                  "nobody is asked for approvals in agents' programs: the user of this process has "
                  "no name that a person could go by. quire approvals --actor human:NAME answers "
                  "them");
        return;
    }
    asking = std::make_unique<mcp::Asking>(mcp::Asking{*pool, clock, rng});
}

// Half of the processors: somebody works here.
std::size_t usual_jobs() {
    return static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN) / 2));
}

bool agents_write(const policy::PathRules& rules, const std::string& path) {
    using policy::Operation;
    const auto may = [&](Operation operation) {
        return rules.decide(path, operation, {}).verdict == policy::Verdict::allow;
    };
    return may(Operation::create) || may(Operation::append) || may(Operation::overwrite) ||
           may(Operation::erase);
}

void House::Body::open_diagnostics(const DiagnosticsSettings& settings,
                                   const policy::PathRules& rules,
                                   const server::StateDirectory& state) {
    diagnostics::DiagnosticsOptions made;
    made.root = state.workspace();
    made.label = settings.label;
    made.compile_commands = settings.compile_commands;
    made.tool = settings.tool;
    made.scratch = state.file("diagnostics");
    made.timeout_ms = settings.timeout_s * 1000;
    made.jobs = settings.jobs > 0 ? settings.jobs : usual_jobs();
    made.agents_write = [rules](const std::string& path) { return agents_write(rules, path); };
    checkers = std::make_unique<sched::Pool>(static_cast<unsigned>(made.jobs));
    checks = std::make_unique<diagnostics::DiagnosticsSource>(std::move(made), *checkers, clock);
}

// What every mounted program gets of our environment; the rest of it may hold secrets.
std::vector<std::string> environment_of(const MountSettings& settings) {
    std::vector<std::string> out;
    for (const char* const name :
         {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}) {
        const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
        if (value != nullptr && !settings.env.contains(name)) out.push_back(cat(name, "=", value));
    }
    for (const auto& [name, value] : settings.env) out.push_back(cat(name, "=", value));
    return out;
}

// Those of which nothing was approved are run now, all at once, and waited for a while.
Result<void> House::Body::open_mounts(const Settings& settings, const server::StateDirectory& state,
                                      LogSink& log) {
    std::vector<mounts::MountOptions> options;
    for (const auto& [name, each] : settings.mounts) {
        mounts::MountOptions made;
        made.server.name = name;
        made.server.command = each.command;
        made.server.environment = environment_of(each);
        made.server.directory =
            (std::filesystem::path(state.workspace()) / each.directory).lexically_normal().string();
        made.server.version = version;
        made.timeout_ms = each.timeout_s * 1000;
        made.operations = each.operations;
        options.push_back(std::move(made));
    }
    mount_calls = std::make_unique<kernel::MountCalls>(*kernel);
    if (!options.empty())
        mount_workers = std::make_unique<sched::Pool>(static_cast<unsigned>(options.size()));
    mounts = TRY(mounts::Mounts::open(
        std::move(options),
        {*mount_calls, *pool, mount_workers != nullptr ? *mount_workers : *pool, clock,
         [&log](const std::string& what) { log.write(LogLevel::warning, text::shown(what)); }}));
    std::promise<std::vector<std::string>> met;
    mounts->meet([&](Result<std::vector<std::string>> told) { met.set_value(std::move(*told)); });
    for (const std::string& what : met.get_future().get())
        log.write(LogLevel::warning, text::shown(what));
    mounts->add_to(*registry, known_tools(registry->catalog()));
    return {};
}

House::House(std::unique_ptr<Body> body) : body_(std::move(body)) {}
House::~House() = default;

Result<std::unique_ptr<House>> House::open(const HouseOptions& options, LogSink& log) {
    const Settings settings = TRY(load_config(options.workspace));
    for (const std::string& what : not_acted_on(settings)) log.write(LogLevel::warning, what);
    server::StateDirectory state = TRY(server::StateDirectory::open(options.workspace));
    TRY(write_ignore_file(state));
    auto body = std::make_unique<Body>();
    Body& house = *body;
    house.version = options.version;
    for (const auto& [name, agent] : settings.agents) {
        if (agent.profile) house.profiles.emplace(name, *agent.profile);
    }
    house.socket = state.file("kernel.sock");

    auto opened = TRY(store::open_sqlite(state.file("quire.db")));
    house.store = std::move(opened.store);
    house.pool = std::make_unique<sched::Pool>(kWorkers);
    house.files = TRY(fs::DiskFiles::open(options.workspace, {house.rng.next(), {}}));
    house.gate =
        std::make_unique<kernel::FileGate>(*house.files, policy::PathRules(settings.files.rules),
                                           house.clock, settings.limits.block_bytes);
    house.kernel = TRY(kernel::Kernel::open({*house.store, *house.pool, house.clock, house.rng,
                                             settings.limits, house.gate.get(), options.version}));
    house.file_calls = std::make_unique<kernel::FileCalls>(*house.kernel, *house.gate);
    std::vector<memory::Source*> sources;
    if (settings.diagnostics) {
        house.open_diagnostics(*settings.diagnostics, policy::PathRules(settings.files.rules),
                               state);
        sources.push_back(house.checks.get());
    }
    house.memory_calls = std::make_unique<kernel::MemoryCalls>(*house.kernel, std::move(sources));
    house.source_calls = std::make_unique<kernel::SourceCalls>(*house.memory_calls);
    house.approval_calls = std::make_unique<kernel::ApprovalCalls>(*house.kernel);
    house.registry = std::make_unique<tools::Registry>(*house.kernel);
    for (const tools::Profile profile :
         {tools::Profile::model, tools::Profile::full, tools::Profile::compat}) {
        house.registry->add(profile, tools::make_file(*house.kernel, *house.file_calls, profile));
        house.registry->add(profile, tools::make_context(*house.memory_calls, profile));
        house.registry->add(profile, tools::make_approvals(*house.approval_calls));
    }
    house.registry->add(tools::Profile::compat,
                        tools::make_text_editor(*house.kernel, *house.file_calls));
    house.registry->add(tools::Profile::compat,
                        tools::make_memory(*house.kernel, *house.memory_calls));
    TRY(house.open_mounts(settings, state, log));
    policy::ToolCatalog known = known_tools(house.registry->catalog());
    std::vector<std::string> unmet;
    for (const std::string& name : house.mounts->names()) {
        if (!house.mounts->has_pin(name)) unmet.push_back(name);
    }
    assume_mounted(settings, unmet, known);
    policy::RuleBook rules = TRY(load_rules(settings, std::move(known)));
    for (const policy::BookFinding& finding : rules.findings())
        log.write(LogLevel::warning, finding.text);
    house.rule_calls = TRY(kernel::RuleCalls::open(*house.kernel, std::move(rules)));
    house.registry->hold_to(*house.rule_calls);
    if (settings.approvals.elicitation) house.open_asking(log);
    // A client that comes first sees their blocks.
    std::promise<std::vector<std::string>> started;
    house.source_calls->start([&](Result<std::vector<std::string>> told) {
        started.set_value(told ? std::move(*told) : std::vector{told.error().message()});
    });
    for (const std::string& what : started.get_future().get()) log.write(LogLevel::warning, what);
    // What saves that were cut short left behind; nothing waits for it.
    house.pool->post([&house] { static_cast<void>(house.files->sweep()); });
    house.server = TRY(server::LocalServer::open(
        std::move(state),
        {.version = options.version, .linger_ms = options.linger_ms, .pool = house.pool.get()},
        [&house](const rpc::Hello& hello, std::shared_ptr<rpc::Connection> connection) {
            return house.session_for(hello, std::move(connection));
        },
        log));
    return std::unique_ptr<House>(new House(std::move(body)));
}

void House::run() {
    body_->server->run();
}
const std::string& House::socket() const {
    return body_->socket;
}

}  // namespace quire::cli
