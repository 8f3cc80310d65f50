// Builds a kernel process from its settings: storage, the kernel and its use cases, what runs
// beside it (diagnostics, mounted servers), the tools, the rules for them, and the socket.
//
// Every object that outlives a call is owned by KernelProcess::Body, in the order in which they are
// built. Nothing here decides anything: it hands each part what it needs.
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
#include "base/hex.h"
#include "base/process_memory.h"
#include "cli/compose/agent_profiles.h"
#include "cli/compose/disk_log.h"
#include "cli/compose/kernel_settings.h"
#include "cli/compose/kernel_state.h"
#include "cli/compose/live_settings.h"
#include "cli/compose/rescue.h"
#include "cli/compose/store_losses.h"
#include "cli/settings/config.h"
#include "cli/settings/person.h"
#include "cli/settings/tool_rules.h"
#include "diagnostics/diagnostics_feed.h"
#include "fs/disk_files.h"
#include "kernel/commands/command_calls.h"
#include "kernel/core/kernel.h"
#include "kernel/core/sources.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/file_source.h"
#include "kernel/files/git_flush.h"
#include "kernel/files/workspace_search.h"
#include "kernel/memory/fed_source.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/oversight/approval_calls.h"
#include "kernel/oversight/mount_calls.h"
#include "kernel/oversight/overseer.h"
#include "kernel/oversight/rule_calls.h"
#include "kernel/views/view_calls.h"
#include "mcp/mcp_session.h"
#include "mcp/open_questions.h"
#include "memory/remember.h"
#include "mounts/mounts.h"
#include "policy/rule_book.h"
#include "sched/scheduler.h"
#include "server/command_session.h"
#include "server/local_socket.h"
#include "server/notifying.h"
#include "server/state_directory.h"
#include "server/workspace_service.h"
#include "store/store.h"
#include "text/escape_hidden.h"
#include "tools/remember_tools.h"
#include "tools/tool.h"
#include "tools/tools.h"

namespace quire::cli {
namespace {

// Documents' strands run on these; what waits for a disk or a program has workers of its own.
constexpr unsigned kWorkers = 2;
// Commands of the shell that run at once; others wait for their turn.
constexpr unsigned kCommands = 4;

}  // namespace

// Members are destroyed in reverse: the server before the tools, the tools before the kernel, and
// the store last but for what it runs on. Before that, ~Body() ends what runs on threads, callers
// before what they call.
struct KernelProcess::Body {
    Body() = default;
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    ~Body() {
        if (runner != nullptr) server->stop();
        runner.reset();
        if (git_flush != nullptr) end_flushes();
        git_worker.reset();
        if (search != nullptr) end_searches();
        if (sources != nullptr) sources->stop();
        // A command commits what it changed before the kernel ends, or is ended.
        if (commands != nullptr) commands->stop();
        command_workers.reset();
        if (views != nullptr) views->stop();
        view_worker.reset();
        checkers.reset();
        if (mounts != nullptr) mounts->stop();
        mount_workers.reset();
        // Calls that have not begun are refused while their clients are still there.
        if (kernel != nullptr) close_kernel();
        if (rescue != nullptr) rescue->set_server(nullptr);
        server.reset();
        // Queued work still refuses its calls, for which it needs the other members.
        pool.reset();
    }

    // Waits until everything that was accepted is durable.
    void close_kernel() {
        std::promise<void> durable;
        kernel->close([&](const Result<void>&) { durable.set_value(); });
        durable.get_future().wait();
    }

    // Commits to git what is left. The pool that replies is still there.
    void end_flushes() {
        std::promise<void> ended;
        git_flush->stop([&](const Result<void>&) { ended.set_value(); });
        ended.get_future().wait();
    }

    // Ends searches and keeps their index.
    void end_searches() {
        std::promise<void> ended;
        search->stop([&](const Result<void>&) { ended.set_value(); });
        ended.get_future().wait();
    }

    // The steps of open(), in order.
    Result<void> open_storage(const KernelProcessOptions& options, const Settings& settings,
                              const server::StateDirectory& state, LogSink& log);
    void open_use_cases(const Settings& settings, const server::StateDirectory& state,
                        LogSink& log);
    void open_diagnostics(const DiagnosticsSettings& settings, const server::StateDirectory& state);
    void add_tools(const Settings& settings);
    Result<void> open_mounts(const Settings& settings, const server::StateDirectory& state,
                             LogSink& log);
    Result<void> open_rules(const Settings& settings);
    void open_elicitation(const Settings& settings);
    // Makes other settings hold, as far as that is possible without a new kernel.
    Result<std::vector<std::string>> apply(const Settings& settings);
    // The rules for tools under which a running kernel goes on.
    Result<policy::RuleBook> book_of(const Settings& settings, policy::ToolCatalog known) const;
    void start_sources(LogSink& log);
    // A kernel that was killed may have left commits and refreshes half done. They come before the
    // sources, which would take what a commit has written for a change of their own.
    void complete_what_was_begun(LogSink& log) {
        std::vector<std::string> said = commands->sweep();
        std::ranges::move(views->sweep(), std::back_inserter(said));
        for (const std::string& each : said)
            log.write(LogLevel::warning, text::escape_hidden(each));
    }
    void open_disk_log(const Settings& settings, LogSink& log);
    Result<void> open_server(const KernelProcessOptions& options, server::StateDirectory state,
                             LogSink& log);

    Result<std::unique_ptr<rpc::Session>> session_for(const rpc::Hello& hello,
                                                      std::shared_ptr<rpc::Connection> connection);

    std::string version;
    std::string socket;
    std::unique_ptr<LiveSettings> live;
    SystemClock clock;
    SystemRng rng;
    std::unique_ptr<Rescue> rescue;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<sched::Pool> pool;
    std::unique_ptr<fs::DiskFiles> files;
    std::unique_ptr<kernel::FileGate> gate;
    std::unique_ptr<kernel::Kernel> kernel;
    std::unique_ptr<kernel::FileCalls> file_calls;
    // Git is waited for on the one worker.
    std::unique_ptr<sched::Pool> git_worker;
    std::unique_ptr<kernel::GitFlush> git_flush;
    std::unique_ptr<kernel::DiskWatch> watch;
    // Searches and indexing wait for the disk there.
    std::unique_ptr<sched::Pool> search_worker;
    std::unique_ptr<kernel::WorkspaceSearch> search;
    // A check blocks the worker that it runs on.
    std::unique_ptr<sched::Pool> checkers;
    std::unique_ptr<diagnostics::DiagnosticsFeed> checks;
    std::unique_ptr<kernel::MemoryCalls> memory_calls;
    std::unique_ptr<DiskLog> disk_log;
    std::unique_ptr<kernel::FileSource> file_source;
    std::vector<std::unique_ptr<kernel::FedSource>> fed_sources;
    std::unique_ptr<kernel::Sources> sources;
    std::unique_ptr<kernel::ApprovalCalls> approval_calls;
    // A command occupies a worker until it has ended.
    std::unique_ptr<sched::Pool> command_workers;
    std::unique_ptr<kernel::CommandCalls> commands;
    // Adopted trees are read and written on the one worker.
    std::unique_ptr<sched::Pool> view_worker;
    std::unique_ptr<kernel::ViewCalls> views;
    std::unique_ptr<kernel::RuleCalls> rule_calls;
    std::unique_ptr<kernel::MountCalls> mount_calls;
    // A running server occupies one of them.
    std::unique_ptr<sched::Pool> mount_workers;
    std::unique_ptr<mounts::Mounts> mounts;
    std::unique_ptr<tools::Registry> registry;
    AgentProfiles profiles;
    std::vector<std::string> settings_warnings;  // About those of the start.
    // The person whom agents' clients ask, and how; none where nobody is asked there.
    std::optional<policy::Actor> person;
    std::unique_ptr<mcp::ElicitationContext> asking;
    std::unique_ptr<server::LocalServer> server;
    std::unique_ptr<sched::Pool> runner;  // Serves for start().
};

Result<std::unique_ptr<rpc::Session>> KernelProcess::Body::session_for(
    const rpc::Hello& hello, std::shared_ptr<rpc::Connection> connection) {
    tools::Session session;
    session.caller.actor = TRY(policy::Actor::parse(hello.actor));
    session.profile = hello.profile.empty()
                          ? profiles.of(session.caller.actor)
                          : TRY(parse_enum<tools::Profile>("profile", hello.profile));
    const bool command = hello.kind == "cli";
    if (!command && hello.kind != "mcp") {
        return invalid("invalid_argument",
                       cat("a session is of kind mcp or cli, not ", hello.kind));
    }
    if (!command) session.caller.notify = server::notify_over(connection);
    const kernel::Caller caller = session.caller;
    auto service = std::make_unique<server::WorkspaceService>(
        server::WorkspaceService::Parts{*registry, *kernel, *file_calls, *memory_calls, *sources},
        std::move(session),
        command ? server::WorkspaceService::Reach::any_profile
                : server::WorkspaceService::Reach::own_profile);
    if (hello.profile.empty())
        service->follow_profile([this, actor = caller.actor] { return profiles.of(actor); });
    // Only agents ask: people may do what agents ask for, and a command shows its own refusal.
    if (!command && caller.actor.kind == policy::ActorKind::agent && person)
        service->let_answer(*person);
    if (command) {
        return std::make_unique<server::CommandSession>(
            std::move(service),
            server::CommandSession::Workspace{*kernel, *file_calls, *watch, *memory_calls, *sources,
                                              *mounts, *git_flush, *views, *commands, live.get(),
                                              [this] { server->stop(); }},
            caller, std::move(connection), version);
    }
    return std::make_unique<mcp::McpSession>(std::move(service), std::move(connection),
                                             mcp::Implementation{.version = version}, asking.get());
}

void KernelProcess::Body::open_elicitation(const Settings& settings) {
    person = person_here();
    asking.reset(new mcp::ElicitationContext{.scheduler = *pool, .clock = clock, .rng = rng});
    asking->off.with([&](bool& off) { off = !settings.approvals.elicitation; });
}

void KernelProcess::Body::open_diagnostics(const DiagnosticsSettings& settings,
                                           const server::StateDirectory& state) {
    diagnostics::DiagnosticsOptions made =
        diagnostics_options(settings, state.workspace(), state.file("diagnostics"));
    made.agents_write = [this](const std::string& path) {
        return agents_write(gate->rules()->paths, path);
    };
    checkers = std::make_unique<sched::Pool>(static_cast<unsigned>(made.jobs));
    checks = std::make_unique<diagnostics::DiagnosticsFeed>(std::move(made), *checkers, clock);
}

// Servers without approved tools are started now, all at once, and waited for a while.
Result<void> KernelProcess::Body::open_mounts(const Settings& settings,
                                              const server::StateDirectory& state, LogSink& log) {
    std::vector<mounts::MountOptions> options = mount_options(settings, state.workspace(), version);
    mount_calls = std::make_unique<kernel::MountCalls>(*kernel);
    if (!options.empty())
        mount_workers = std::make_unique<sched::Pool>(static_cast<unsigned>(options.size()));
    mounts = TRY(mounts::Mounts::open(
        std::move(options), {*mount_calls, *pool, mount_workers != nullptr ? *mount_workers : *pool,
                             clock, [&log](const std::string& what) {
                                 log.write(LogLevel::warning, text::escape_hidden(what));
                             }}));
    std::promise<std::vector<std::string>> met;
    mounts->meet(
        [&](Result<std::vector<std::string>> warnings) { met.set_value(std::move(*warnings)); });
    for (const std::string& warning : met.get_future().get())
        log.write(LogLevel::warning, text::escape_hidden(warning));
    mounts->add_to(*registry, known_tools(registry->catalog()));
    return {};
}

Result<void> KernelProcess::Body::open_storage(const KernelProcessOptions& options,
                                               const Settings& settings,
                                               const server::StateDirectory& state, LogSink& log) {
    version = options.version;
    socket = state.file("kernel.sock");
    profiles.set(settings);
    rescue = std::make_unique<Rescue>(options.workspace, version, clock, log);
    store::Opened opened = TRY(store::open_sqlite(
        state.file("quire.db"), {.rescue = [this](store::Store& held) { return rescue->run(held); },
                                 .keeps_audit = options.copy_in.empty()}));
    if (opened.lost) {
        if (!options.copy_in.empty()) opened.lost->directory.clear();
        log.write(LogLevel::error, loss_message(*opened.lost));
    }
    if (opened.has_bad_mark) {
        log.write(LogLevel::warning,
                  cat(state.file(store::kLastCommitFile.data()),
                      " was damaged and is written anew; whether commits are missing is unknown"));
    }
    store = std::move(opened.store);
    pool = std::make_unique<sched::Pool>(kWorkers);
    files = TRY(fs::DiskFiles::open(options.workspace, {rng.next(), {}, settings.files.settle_ms}));
    gate = std::make_unique<kernel::FileGate>(*files, file_rules(settings), clock,
                                              settings.limits.block_bytes);
    kernel = TRY(kernel::open_kernel(
        {*store, *pool, clock, rng, settings.limits, gate.get(), options.version, &resident_size}));
    return {};
}

void KernelProcess::Body::open_use_cases(const Settings& settings,
                                         const server::StateDirectory& state, LogSink& log) {
    file_calls = std::make_unique<kernel::FileCalls>(*kernel, *gate, settings.files.save);
    git_worker = std::make_unique<sched::Pool>(1U);
    git_flush = std::make_unique<kernel::GitFlush>(kernel::GitFlush::Parts{
        *kernel, *gate, *git_worker, state.workspace(), [&log](const std::string& what) {
            log.write(LogLevel::warning, text::escape_hidden(what));
        }});
    git_flush->set(flush_settings(settings));
    watch = std::make_unique<kernel::DiskWatch>(*kernel, *gate, state.workspace(),
                                                watch_settings(settings));
    search_worker = std::make_unique<sched::Pool>(1U);
    search = std::make_unique<kernel::WorkspaceSearch>(kernel::WorkspaceSearch::Parts{
        *kernel, gate.get(), watch.get(), *search_worker, state.file("search-index")});
    std::vector<memory::Feed*> feeds;
    if (settings.diagnostics) {
        open_diagnostics(*settings.diagnostics, state);
        feeds.push_back(checks.get());
    }
    memory_calls = std::make_unique<kernel::MemoryCalls>(*kernel, std::move(feeds));
    memory_calls->set(memory_settings(settings));
    file_source = std::make_unique<kernel::FileSource>(
        kernel::FileSource::Parts{*kernel, *gate, *file_calls, *watch, state.workspace()});
    fed_sources = kernel::FedSource::all_of(*memory_calls);
    std::vector<kernel::Source*> all = {file_source.get()};
    for (const auto& fed : fed_sources) all.push_back(fed.get());
    sources = std::make_unique<kernel::Sources>(std::move(all));
    approval_calls = std::make_unique<kernel::ApprovalCalls>(*kernel);
    command_workers = std::make_unique<sched::Pool>(kCommands);
    commands = std::make_unique<kernel::CommandCalls>(
        kernel::CommandRunner::Parts{*kernel, *gate, *file_calls, clock,
                                     real_path(state.workspace())},
        *command_workers, command_settings(settings));
    view_worker = std::make_unique<sched::Pool>(1U);
    views = std::make_unique<kernel::ViewCalls>(
        kernel::ViewParts{*kernel, *gate, *file_calls, clock, real_path(state.workspace()),
                          watch.get()},
        rng, *view_worker);
}

void KernelProcess::Body::add_tools(const Settings& settings) {
    using tools::Profile;
    const std::vector<std::string> templates = template_names(settings);
    registry = std::make_unique<tools::Registry>(tools::Registry::Parts{
        *kernel, file_calls.get(), memory_calls.get(), sources.get(), search.get()});
    for (const Profile profile : {Profile::model, Profile::full, Profile::compat}) {
        registry->add(profile,
                      tools::make_file({*kernel, *file_source, *file_calls, *watch}, profile));
        registry->add(profile, tools::make_file_history(*file_source, profile));
        registry->add(profile, tools::make_context(*memory_calls, profile, templates));
        registry->add(profile, tools::make_shell(*commands, profile));
        registry->add(profile, tools::make_approvals(*approval_calls));
    }
    registry->add(Profile::compat, tools::make_text_editor(*kernel, *file_calls));
    registry->add(Profile::compat, tools::make_memory(*kernel, *memory_calls));
    registry->remember({*memory_calls, remembered_blocks(settings)});
}

Result<policy::RuleBook> KernelProcess::Body::book_of(const Settings& settings,
                                                      policy::ToolCatalog known) const {
    assume_mounted(settings, unmet_mounts(settings, *mounts), known);
    return load_rules(settings, std::move(known));
}

Result<void> KernelProcess::Body::open_rules(const Settings& settings) {
    policy::RuleBook rules = TRY(book_of(settings, known_tools(registry->catalog())));
    for (const policy::BookFinding& finding : rules.findings())
        settings_warnings.push_back(finding.text);
    rule_calls = TRY(kernel::RuleCalls::open(*kernel, std::move(rules)));
    registry->hold_to(*rule_calls);
    return {};
}

// The rules are compiled first: they alone can be wrong, and an error must leave all as it was.
Result<std::vector<std::string>> KernelProcess::Body::apply(const Settings& settings) {
    policy::RuleBook book = TRY(book_of(settings, rule_calls->catalog()));
    std::vector<std::string> said;
    for (const policy::BookFinding& finding : book.findings()) said.push_back(finding.text);
    gate->set_rules(file_rules(settings));
    watch->set(watch_settings(settings));
    disk_log->set_label(settings.files.notify);
    memory_calls->set(memory_settings(settings));
    files->set_settle_ms(settings.files.settle_ms);
    file_calls->set_save(settings.files.save);
    git_flush->set(flush_settings(settings));
    commands->set(command_settings(settings));
    rule_calls->replace(std::move(book));
    registry->on_new_rules();
    profiles.set(settings);
    if (asking != nullptr)
        asking->off.with([&](bool& off) { off = !settings.approvals.elicitation; });
    return said;
}

// Waits until the sources' blocks exist, so that the first client sees them.
void KernelProcess::Body::start_sources(LogSink& log) {
    std::promise<std::vector<std::string>> started;
    sources->start([&](Result<std::vector<std::string>> warnings) {
        started.set_value(warnings ? std::move(*warnings)
                                   : std::vector{warnings.error().message()});
    });
    for (const std::string& warning : started.get_future().get())
        log.write(LogLevel::warning, warning);
}

void KernelProcess::Body::open_disk_log(const Settings& settings, LogSink& log) {
    disk_log = std::make_unique<DiskLog>(*memory_calls, log);
    disk_log->set_label(settings.files.notify);
    watch->follow([this](const kernel::FileEvent& event) { disk_log->take(event); });
}

Result<void> KernelProcess::Body::open_server(const KernelProcessOptions& options,
                                              server::StateDirectory state, LogSink& log) {
    // The thread of start() belongs to a pool already, and is enough for one client.
    const bool looks = !options.copy_in.empty();
    server = TRY(server::LocalServer::open(
        std::move(state),
        {.version = options.version,
         .line_bytes = live->started().messages.message_bytes,
         .store = store_id(*store),
         .in_flight_bytes = live->started().messages.in_flight_bytes,
         .linger_ms = options.linger_ms,
         .is_needed = [this] { return commands->background().running() != 0; },
         .pool = looks ? nullptr : pool.get(),
         .settings = looks ? nullptr : live.get()},
        [this](const rpc::Hello& hello, std::shared_ptr<rpc::Connection> connection) {
            return session_for(hello, std::move(connection));
        },
        log));
    rescue->set_server(server.get());
    return {};
}

KernelProcess::KernelProcess(std::unique_ptr<Body> body) : body_(std::move(body)) {}
KernelProcess::~KernelProcess() = default;

Result<std::unique_ptr<KernelProcess>> KernelProcess::open(const KernelProcessOptions& options,
                                                           LogSink& log) {
    give_back_large_pieces();
    const bool looks = !options.copy_in.empty();
    auto live = TRY(LiveSettings::open(options.workspace, log));
    const Settings settings = looks ? settings_for_looking(live->started()) : live->started();
    server::StateDirectory state =
        TRY(looks ? copied_state(options) : server::StateDirectory::open(options.workspace));
    TRY(write_ignore_file(state));
    auto body = std::make_unique<Body>();
    body->live = std::move(live);
    TRY(body->open_storage(options, settings, state, log));
    body->open_use_cases(settings, state, log);
    body->add_tools(settings);
    TRY(body->open_mounts(settings, state, log));
    TRY(body->open_rules(settings));
    if (looks) body->settings_warnings.clear();
    for (const std::string& warning : body->settings_warnings)
        log.write(LogLevel::warning, warning);
    body->open_elicitation(settings);
    if (!looks)
        body->live->follow(body->settings_warnings,
                           [made = body.get()](const Settings& now) { return made->apply(now); });
    if (!looks) body->complete_what_was_begun(log);
    body->open_disk_log(settings, log);
    body->start_sources(log);
    if (!looks) body->search->start();
    // Removes temporary files of interrupted saves; nothing waits for it.
    if (!looks) body->pool->post([&files = *body->files] { static_cast<void>(files.sweep()); });
    TRY(body->open_server(options, std::move(state), log));
    return std::unique_ptr<KernelProcess>(new KernelProcess(std::move(body)));
}

void KernelProcess::run() {
    body_->server->run();
}
bool KernelProcess::was_removed() const {
    return body_->rescue->has_run();
}
void KernelProcess::start() {
    body_->runner = std::make_unique<sched::Pool>(1);
    body_->runner->post([&server = *body_->server] { server.run(); });
}
const std::string& KernelProcess::socket() const {
    return body_->socket;
}

}  // namespace quire::cli
