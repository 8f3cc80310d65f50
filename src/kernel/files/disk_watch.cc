// The thread that watches, and what it is told by others: an inbox under a lock, and a descriptor
// that wakes it. Changes go to the documents' strands and are not waited for; a sync counts them, and
// is answered when all that were begun before it have ended.
//
//   sync() ─ inbox ─► tree->ask_sync() ─ reached by a round ─► Takings::syncs
//                                       ─ takings begun before have ended ─► reply
//
// A change counts as taken in when its `done` has been called, and not before: by then its document
// has it, and subscribers were told.
#include "kernel/files/disk_watch.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_gate.h"

#include <cerrno>
#include <set>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/concat.h"
#include "base/fd.h"
#include "kernel/core/core.h"
#include "sched/guarded.h"

namespace quire::kernel {
namespace {

// Events that come one after the other are taken together.
constexpr int kGatherMs = 5;
// The numbers of a status may be so old.
constexpr std::int64_t kTellMs = 1000;
// How soon a directory that cannot be opened is tried again.
constexpr int kRetryMs = 2000;
// How often the bytes of all loaded files are compared, whatever their times say.
constexpr std::int64_t kVerifyMs = 600'000;

bool is_same_stamp(const fs::Stamp& a, const fs::FileSight& b) {
    return a.device == b.device && a.inode == b.inode && a.size == b.size &&
           a.modified_ns == b.modified_ns && a.changed_ns == b.changed_ns;
}

}  // namespace

struct DiskWatch::Body : std::enable_shared_from_this<DiskWatch::Body> {
    Body(Kernel& of, FileGate& files, std::string root, const WatchSettings& first)
        : core(of.core()),
          directory(std::move(root)),
          hub(core->parts().scheduler, core->parts().clock, core->parts().rng),
          intake(of, files, hub),
          gate(files),
          wake_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        CHECK(wake_fd);
        inbox.with([&](Inbox& box) { box.settings = first; });
        if (!first.is_on)
            told_status.with([](fs::TreeStatus& held) { held.state = fs::WatchState::off; });
    }

    // Requests of other threads to the one that watches.
    struct Inbox {
        std::optional<WatchSettings> settings;
        std::vector<std::string> made;  // Paths whose documents are new.
        std::vector<Reply<void>> syncs;
        std::vector<Reply<std::optional<std::vector<fs::Entry>>>> lists;
        bool is_started = false;
        bool is_over = false;
    };
    // Changes on their way into documents, and the syncs that wait for some of them.
    struct Takings {
        std::uint64_t begun = 0;
        std::set<std::uint64_t> open;
        std::vector<std::pair<std::uint64_t, Reply<void>>> syncs;  // With `begun` of their moment.
    };

    // --- any thread ---
    void wake() const {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(wake_fd.get(), &one, sizeof one));
    }
    // A function that ends the taking which begins now.
    Function<void()> begin_taking();
    void end_taking(std::uint64_t number);

    // --- the thread that watches ---
    void run();
    void settle_inbox(Inbox box);
    void open_tree();
    void take(std::vector<fs::TreeChange> changes);
    void check_documents();
    void check_without_tree();
    void check_bytes();
    void finish_syncs();
    void rest(int ms, bool has_events) const;
    void tell_status();

    const std::shared_ptr<Core> core;
    const std::string directory;
    FileHub hub;
    DiskIntake intake;
    FileGate& gate;
    const quire::Fd wake_fd;
    sched::Guarded<Inbox> inbox;
    sched::Guarded<Takings> takings;
    sched::Guarded<fs::TreeStatus> told_status;

    WatchSettings settings;
    std::unique_ptr<fs::TreeWatch> tree;
    bool is_first = true;  // The tree's first round is still to come.
    fs::WatchState told = fs::WatchState::starting;
    std::int64_t told_ms = 0;
    std::int64_t verified_ms = 0;
    std::vector<std::pair<std::uint64_t, Reply<void>>> syncs;  // With the tree's numbers.
    std::unique_ptr<sched::Pool> thread;
};

std::string watch_words(const fs::TreeStatus& status) {
    constexpr std::size_t kMostNamed = 10;
    switch (status.state) {
        case fs::WatchState::starting:
            return "starting: the files are being looked at for the first time";
        case fs::WatchState::watching:
            return cat("watching ", status.files, " files in ", status.folders, " folders");
        case fs::WatchState::off:
            return "off: changes are taken in when a file is next used ([files] watch)";
        case fs::WatchState::detached:
            return "detached: the workspace's directory is gone or was replaced";
        case fs::WatchState::polling:
            break;
    }
    std::string out = "polling of ";
    for (std::size_t i = 0; i < status.polled.size() && i < kMostNamed; ++i)
        out += cat(i == 0 ? "" : ", ", status.polled[i].empty() ? "." : status.polled[i]);
    if (status.polled.size() > kMostNamed)
        out += cat(" and ", status.polled.size() - kMostNamed, " other folders");
    return cat(out, " every ", status.poll_ms,
               " ms, because the system allows no more watches "
               "(fs.inotify.max_user_watches); the rest is watched");
}

DiskWatch::DiskWatch(Kernel& kernel, FileGate& gate, std::string directory,
                     const WatchSettings& settings)
    : body_(std::make_shared<Body>(kernel, gate, std::move(directory), settings)) {}

DiskWatch::~DiskWatch() {
    stop();
}

void DiskWatch::start() {
    // A file that is opened is watched from then on, also if ignore files leave it out. The pointer
    // is good: stop() takes the listener away first.
    body_->core->catalog().on_made([body = body_.get()](const Name& name) {
        if (name.kind != kFileKind) return;
        body->inbox.with([&](Body::Inbox& box) { box.made.push_back(name.name); });
        body->wake();
    });
    body_->inbox.with([](Body::Inbox& box) { box.is_started = true; });
    body_->thread = std::make_unique<sched::Pool>(1);
    body_->thread->post([body = body_.get()] { body->run(); });
}

void DiskWatch::stop() {
    if (body_->thread == nullptr) return;
    // The thread is joined before the hub ends. Takings under way hold the body themselves, and may
    // still publish.
    body_->core->catalog().on_made(nullptr);
    body_->inbox.with([](Body::Inbox& box) { box.is_over = true; });
    body_->wake();
    body_->thread.reset();
    body_->hub.end();
}

void DiskWatch::set(const WatchSettings& settings) {
    body_->inbox.with([&](Body::Inbox& box) { box.settings = settings; });
    body_->wake();
}

fs::TreeStatus DiskWatch::status() const {
    return body_->told_status.with([](const fs::TreeStatus& status) { return status; });
}

void DiskWatch::sync(Reply<void> reply) {
    const auto [is_started, is_over] = body_->inbox.with([&](Body::Inbox& box) {
        if (box.is_started && !box.is_over) box.syncs.push_back(std::move(reply));
        return std::pair(box.is_started, box.is_over);
    });
    if (is_over) return reply(Failure(kernel_ending()));
    if (!is_started) return reply({});
    body_->wake();
}

void DiskWatch::files(Reply<std::optional<std::vector<fs::Entry>>> reply) {
    // The list belongs to the thread that watches. It is asked for only where it can answer, so
    // that others walk at once.
    const bool is_watching = body_->told_status.with(
        [](const fs::TreeStatus& status) { return status.state == fs::WatchState::watching; });
    const bool is_asked = body_->inbox.with([&](Body::Inbox& box) {
        if (!is_watching || !box.is_started || box.is_over) return false;
        box.lists.push_back(std::move(reply));
        return true;
    });
    if (!is_asked) return reply(std::nullopt);
    body_->wake();
}

void DiskWatch::events(const Caller& by, std::optional<std::string> subscription_id,
                       std::int64_t wait_ms, Push push, Reply<FileEvents> reply) {
    // A caller without messages has no session that could end: its subscriptions are the actor's,
    // and it may go on with them on another connection.
    const bool is_session = by.notify != nullptr;
    const std::string owner = cat(by.actor.str(), " ", is_session ? by.session : 0);
    if (subscription_id)
        return body_->hub.pull(owner, std::move(*subscription_id), wait_ms, std::move(reply));
    FileHub::Subscriber subscriber;
    subscriber.owner = owner;
    subscriber.sees = [&gate = body_->gate, actor = by.actor](const FileEvent& event) {
        return gate.may_see(event.path, actor) ||
               (!event.from.empty() && gate.may_see(event.from, actor));
    };
    subscriber.push = std::move(push);
    if (is_session) {
        subscriber.has_ended = [session = std::weak_ptr(by.notify)] { return session.expired(); };
    }
    body_->hub.open(std::move(subscriber),
                    [body = body_, owner, wait_ms,
                     reply = std::move(reply)](Result<FileEvents> opened) mutable {
                        if (!opened || wait_ms <= 0) return reply(std::move(opened));
                        body->hub.pull(owner, std::move(opened->subscription_id), wait_ms,
                                       std::move(reply));
                    });
}

void DiskWatch::follow(std::function<void(const FileEvent&)> told) {
    FileHub::Subscriber subscriber;
    subscriber.owner = "system:watch";
    subscriber.has_ended = [] { return false; };
    subscriber.sees = [](const FileEvent&) { return true; };
    subscriber.push = [told = std::move(told)](const std::string&, const FileHub::Events& events) {
        for (const auto& event : events) told(*event);
    };
    body_->hub.open(std::move(subscriber), [](const Result<FileEvents>&) {});
}

// --- takings ---

Function<void()> DiskWatch::Body::begin_taking() {
    const std::uint64_t number = takings.with([](Takings& all) {
        all.open.insert(++all.begun);
        return all.begun;
    });
    return [self = shared_from_this(), number] { self->end_taking(number); };
}

void DiskWatch::Body::end_taking(std::uint64_t number) {
    // Replies are the code of others, so they run outside the lock.
    std::vector<Reply<void>> ready;
    takings.with([&](Takings& all) {
        if (number != 0) all.open.erase(number);
        // The oldest taking that is under way. A sync waits for those numbered up to its own
        // number, whatever has begun since.
        const std::uint64_t first = all.open.empty() ? all.begun + 1 : *all.open.begin();
        std::erase_if(all.syncs, [&](auto& sync) {
            if (sync.first >= first) return false;
            ready.push_back(std::move(sync.second));
            return true;
        });
    });
    for (Reply<void>& reply : ready) reply({});
}

// --- the thread ---

// A round of the loop: what others want, the tree's news, whoever waits for that, and sleep until
// there is more. Without a tree, because watching is off or the directory is gone, it only serves
// the inbox and tries again to open one.
void DiskWatch::Body::run() {
    while (true) {
        Inbox box = inbox.with([](Inbox& held) {
            Inbox empty;
            empty.is_started = held.is_started;
            empty.is_over = held.is_over;
            return std::exchange(held, std::move(empty));
        });
        if (box.is_over) {
            for (Reply<void>& reply : box.syncs) reply(Failure(kernel_ending()));
            for (auto& reply : box.lists) reply(std::nullopt);
            break;
        }
        settle_inbox(std::move(box));
        if (tree == nullptr) {
            tell_status();
            rest(settings.is_on ? kRetryMs : -1, false);
            continue;
        }
        fs::TreeWatch::Round round = tree->round();
        const bool is_news = is_first || !round.changes.empty();
        take(std::move(round.changes));
        // The tree's first round knows no earlier state, so it reports no change. What changed
        // while no kernel ran shows in the documents' own stamps.
        if (std::exchange(is_first, false)) check_documents();
        finish_syncs();
        const std::int64_t now = core->parts().clock.steady_ms();
        if (is_news || tree->state() != told || now - told_ms >= kTellMs) tell_status();
        if (verified_ms == 0 || is_news) verified_ms = now;  // Idle time counts.
        if (now - verified_ms >= kVerifyMs) {
            check_bytes();
            verified_ms = now;
        }
        const std::int64_t to_verify = verified_ms + kVerifyMs - now;
        rest(static_cast<int>(round.next_ms < 0 ? to_verify : std::min(round.next_ms, to_verify)),
             true);
    }
    for (auto& [number, reply] : syncs) reply(Failure(kernel_ending()));
    tree.reset();
}

void DiskWatch::Body::settle_inbox(Inbox box) {
    if (box.settings) {
        settings = std::move(*box.settings);
        if (!settings.is_on) tree.reset();
        if (tree != nullptr) {
            tree->set_settle(settings.settle_ms);
            tree->set_ignore(settings.ignore);
        }
    }
    if (settings.is_on && tree == nullptr) open_tree();
    if (tree != nullptr) {
        for (const std::string& path : box.made) tree->keep(path);
    }
    for (Reply<void>& reply : box.syncs) {
        if (tree != nullptr) {
            syncs.emplace_back(tree->ask_sync(), std::move(reply));
        } else {
            check_without_tree();
            syncs.emplace_back(0, std::move(reply));
        }
    }
    if (tree == nullptr) finish_syncs();
    for (auto& reply : box.lists)
        reply(tree != nullptr ? tree->list() : std::optional<std::vector<fs::Entry>>());
}

void DiskWatch::Body::open_tree() {
    fs::TreeWatch::Options options;
    options.settle_ms = settings.settle_ms;
    options.ignore = settings.ignore;
    options.known_hash = [this](const std::string& path) { return intake.known_hash(path); };
    auto opened = fs::TreeWatch::open(directory, std::move(options), core->parts().clock);
    // The loop tries again; until then the status is `detached`.
    if (!opened) return;
    tree = std::move(*opened);
    is_first = true;
    for (const Catalog::Known& known : core->catalog().known(kFileKind, ""))
        tree->keep(known.record.name);
}

void DiskWatch::Body::take(std::vector<fs::TreeChange> changes) {
    for (fs::TreeChange& change : changes) intake.take(std::move(change), begin_taking());
}

// Documents whose files are not as they were last seen. One that is in memory may know more than its
// record in the catalog, and looks for itself.
void DiskWatch::Body::check_documents() {
    for (const Catalog::Known& known : core->catalog().known(kFileKind, "")) {
        const auto state = files::DiskState::decode(known.record.header);
        const fs::FileSight* const sight = tree->seen(known.record.name);
        const bool is_same = state && (sight == nullptr ? state->missing
                                                        : !state->missing && !sight->is_link &&
                                                              is_same_stamp(state->stamp, *sight));
        if (!known.is_live && (is_same || !state)) continue;
        intake.check(core->catalog().find(known.record.key), Evidence::stamp, begin_taking());
    }
}

// A document that is not in memory is left there unless its file has other bytes.
void DiskWatch::Body::check_bytes() {
    for (const Catalog::Known& known : core->catalog().known(kFileKind, "")) {
        const auto state = files::DiskState::decode(known.record.header);
        if (!state || state->missing) continue;
        const auto file = gate.files().read(known.record.name, core->limits().block_bytes);
        if (!file || file->hash == state->hash) continue;
        intake.check(core->catalog().find(known.record.key), Evidence::bytes, begin_taking());
    }
}

// A sync without a watch looks at the stamp of every file that was ever opened. O(files), and a
// read only of those that differ.
void DiskWatch::Body::check_without_tree() {
    for (const Catalog::Known& known : core->catalog().known(kFileKind, "")) {
        const auto state = files::DiskState::decode(known.record.header);
        if (!known.is_live && state) {
            const auto stamp = gate.files().stamp(known.record.name);
            if (stamp ? state->stamp.same_as(*stamp) : state->missing) continue;
        }
        intake.check(core->catalog().find(known.record.key), Evidence::stamp, begin_taking());
    }
}

void DiskWatch::Body::finish_syncs() {
    bool any = false;
    while (!syncs.empty() && (tree == nullptr || syncs.front().first <= tree->reached_sync())) {
        // Documents whose files are not as they last saw them are taken in first: a document may
        // know less than the tree.
        if (tree != nullptr && !std::exchange(any, true)) check_documents();
        takings.with([&](Takings& all) {
            all.syncs.emplace_back(all.begun, std::move(syncs.front().second));
        });
        syncs.erase(syncs.begin());
        any = true;
    }
    if (any) end_taking(0);
}

// Sleeps until there are events, others want something, or the time is over.
void DiskWatch::Body::rest(int ms, bool has_events) const {
    pollfd fds[] = {{wake_fd.get(), POLLIN, 0}, {has_events ? tree->fd() : -1, POLLIN, 0}};
    const int found = ::poll(fds, 2, ms);
    CHECK(found >= 0 || errno == EINTR);
    if (found > 0 && (fds[0].revents & POLLIN) != 0) {
        std::uint64_t count = 0;
        static_cast<void>(!::read(wake_fd.get(), &count, sizeof count));
    } else if (found > 0) {
        ::poll(fds, 1, kGatherMs);
    }
}

void DiskWatch::Body::tell_status() {
    fs::TreeStatus status;
    if (tree != nullptr) {
        status = tree->status();
    } else {
        status.state = settings.is_on ? fs::WatchState::detached : fs::WatchState::off;
    }
    told = status.state;
    told_ms = core->parts().clock.steady_ms();
    told_status.with([&](fs::TreeStatus& held) { held = std::move(status); });
}

}  // namespace quire::kernel
