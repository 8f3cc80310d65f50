// A subscription is opened held, so that it gathers what happens while its blocks are looked at one
// after another, each on its strand; then it is released with what the looks have found. An event that
// a look has seen already is left out by its version. Rights are asked about when an event is
// published, not when the subscription is opened, so a change of the rules holds at once.
#include "kernel/core/feed_calls.h"

#include <algorithm>
#include <map>
#include <set>

#include "conversation/conversation.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "kernel/core/block_feed.h"
#include "kernel/core/block_replay.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/core/walk.h"

namespace quire::kernel {
namespace {

// A block to look at, with the version from which on its events are wanted.
struct Wanted {
    conversation::BlockId id;
    std::optional<std::uint64_t> seen = {};
};

std::string owner_of(const Caller& by) {
    return cat(by.actor.str(), " ", by.notify != nullptr ? by.session : 0);
}

// The versions that a caller was told of before its subscription was released, which leaves them
// out. Touched on the hub's strand.
struct Known {
    std::map<std::string, std::uint64_t> versions;
};

bool is_news(Known& known, const BlockEvent& event) {
    const auto at = known.versions.find(event.block_id);
    return at == known.versions.end() || event.version > at->second;
}

// Looks at blocks one after another. Errors: those of finding and reading them.
class Looks : public std::enable_shared_from_this<Looks> {
public:
    struct Found {
        std::vector<BlockEvent> events = {};
        std::size_t bytes = 0;
        bool is_cut = false;  // It ended early, with `most_bytes` found.
    };

    Looks(std::shared_ptr<Core> core, Caller by, std::vector<Wanted> wanted, bool updates,
          std::size_t most_bytes, Reply<Found> done)
        : core_(std::move(core)),
          by_(std::move(by)),
          wanted_(std::move(wanted)),
          updates_(updates),
          most_bytes_(most_bytes),
          done_(std::move(done)) {}

    // One block after another, so that a caller who names thousands of blocks occupies one strand
    // at a time.
    void next() {
        found_.is_cut = next_ < wanted_.size() && found_.bytes > most_bytes_;
        if (next_ == wanted_.size() || found_.is_cut) return done_(std::move(found_));
        const Wanted& wanted = wanted_[next_++];
        std::shared_ptr<LiveDocument> document = core_->catalog().find(wanted.id.document);
        if (document == nullptr) return done_(no_such_block(wanted.id.str()));
        core_->look<Events>(
            by_, ThisDocument{std::move(document)}, Access::read,
            [self = shared_from_this()](Result<Events> events) {
                if (!events) return self->done_(Failure(std::move(events).error()));
                self->add(std::move(*events));
                self->next();
            },
            [core = core_, wanted, updates = updates_](LiveDocument& live,
                                                       const Caller& caller) -> Result<Events> {
                const BlockRef block =
                    TRY(core->find_block(live, wanted.id, caller.actor, Access::read, true));
                // A private copy without its file cannot be watched: nothing of it is published to
                // others.
                if (live.kind() == kStageKind) return no_such_block(wanted.id.str());
                if (!wanted.seen) return Events();
                core->flush(live, block);
                return replay_since(*core, live, block, *wanted.seen, updates);
            });
    }

private:
    using Events = std::vector<BlockEvent>;

    void add(Events events) {
        for (BlockEvent& event : events) {
            found_.bytes += bytes_of(event);
            found_.events.push_back(std::move(event));
        }
    }

    const std::shared_ptr<Core> core_;
    const Caller by_;
    const std::vector<Wanted> wanted_;
    const bool updates_;
    const std::size_t most_bytes_;
    Reply<Found> done_;
    std::size_t next_ = 0;
    Found found_;
};

void look_at(std::shared_ptr<Core> core, const Caller& by, std::vector<Wanted> wanted, bool updates,
             std::size_t most_bytes, Reply<Looks::Found> done) {
    std::make_shared<Looks>(std::move(core), by, std::move(wanted), updates, most_bytes,
                            std::move(done))
        ->next();
}

// The block of an id: of a private copy the file, which others read.
Result<conversation::BlockId> shared_block(Core& core, const std::string& id) {
    const conversation::BlockId parsed = TRY(conversation::BlockId::parse(id));
    const auto record = core.catalog().record(parsed.document);
    if (!record || record->kind != kStageKind) return parsed;
    const auto file = core.catalog().find(Name{kFileKind, record->name});
    return file == nullptr ? parsed : conversation::BlockId{file->key(), -1, 0};
}

// The blocks of a subscription, in order, each once.
Result<std::vector<Wanted>> wanted_by(Core& core, const BlockWatch& what) {
    std::vector<Wanted> out;
    for (const std::string& id : what.block_ids.value_or(std::vector<std::string>())) {
        const conversation::BlockId parsed = TRY(shared_block(core, id));
        const bool is_there = std::any_of(out.begin(), out.end(),
                                          [&](const Wanted& each) { return each.id == parsed; });
        if (!is_there) out.push_back({parsed});
    }
    for (const auto& [id, version] : what.from_versions) {
        const conversation::BlockId parsed = TRY(shared_block(core, id));
        auto at = std::find_if(out.begin(), out.end(),
                               [&](const Wanted& each) { return each.id == parsed; });
        if (at == out.end()) {
            if (what.block_ids) {
                return invalid("invalid_arguments",
                               cat("from_versions names ", id, ", which is not among block_ids"),
                               {{"block_id", id}});
            }
            at = out.insert(out.end(), Wanted{parsed});
        }
        at->seen = std::min(at->seen.value_or(version), version);
    }
    return out;
}

}  // namespace

void watch_blocks(const std::shared_ptr<Core>& kernel, const Caller& by, BlockWatch what,
                  BlockPush push, Reply<std::string> reply) {
    Result<std::vector<Wanted>> wanted = wanted_by(*kernel, what);
    if (!wanted) return reply(Failure(std::move(wanted).error()));
    std::optional<std::set<std::string>> ids;
    std::optional<std::set<store::DocumentKey>> documents;
    if (what.block_ids) {
        ids.emplace();
        documents.emplace();
        for (const Wanted& each : *wanted) {
            ids->insert(each.id.str());
            documents->insert(each.id.document);
        }
    }

    // release() fills it on the hub's strand, where `sees` reads it. Until then it is empty and
    // everything is gathered.
    const auto known = std::make_shared<Known>();
    BlockHub::Subscriber subscriber;
    subscriber.owner = owner_of(by);
    subscriber.is_held = true;
    subscriber.is_pulled = what.is_pulled;
    subscriber.kind = what.wants_updates ? 1 : 0;
    // The kernel lives as long as there is something to tell.
    subscriber.sees = [core = std::weak_ptr(kernel), actor = by.actor, ids = std::move(ids), known,
                       watched = kernel->feed().watch(documents, what.wants_updates)](
                          const BlockEvent& event) {
        if (ids && !ids->contains(event.block_id)) return false;
        const auto alive = core.lock();
        return alive != nullptr && is_news(*known, event) && alive->may_see(actor, *event.record);
    };
    subscriber.push = std::move(push);
    if (by.notify != nullptr) {
        subscriber.has_ended = [session = std::weak_ptr(by.notify)] { return session.expired(); };
    }
    kernel->feed().hub().open(
        std::move(subscriber),
        [kernel, by, wanted = std::move(*wanted), updates = what.wants_updates, known,
         reply = std::move(reply)](Result<BlockHub::Pulled> opened) mutable {
            if (!opened) return reply(Failure(std::move(opened).error()));
            const std::string id = opened->subscription_id;
            look_at(kernel, by, std::move(wanted), updates, SIZE_MAX,
                    [kernel, by, id, known,
                     reply = std::move(reply)](Result<Looks::Found> found) mutable {
                        if (!found) {
                            end_watch(kernel, by, id);
                            return reply(Failure(std::move(found).error()));
                        }
                        BlockHub::Events earlier;
                        Known told;
                        for (BlockEvent& event : found->events) {
                            told.versions[event.block_id] = event.version;
                            earlier.push_back(std::make_shared<const BlockEvent>(std::move(event)));
                        }
                        kernel->feed().hub().release(
                            owner_of(by), id, std::move(earlier),
                            [known, told = std::move(told)]() mutable { *known = std::move(told); },
                            [](const BlockEvent& event) { return bytes_of(event); },
                            [reply = std::move(reply)](Result<BlockHub::Pulled> released) mutable {
                                if (!released) return reply(Failure(std::move(released).error()));
                                reply(std::move(released->subscription_id));
                            });
                    });
        });
}

void block_events(const std::shared_ptr<Core>& kernel, const Caller& by, std::string id,
                  std::int64_t wait_ms, Reply<BlockHub::Pulled> reply) {
    kernel->feed().hub().pull(owner_of(by), std::move(id), wait_ms, std::move(reply));
}

void end_watch(const std::shared_ptr<Core>& kernel, const Caller& by, std::string id) {
    kernel->feed().hub().close(owner_of(by), std::move(id));
}

namespace {

// A sync under way, once its patches are found: it looks for blocks that were not named.
struct Syncing {
    std::shared_ptr<Core> core;
    policy::Actor by;
    std::set<conversation::BlockId> named;
    bool wants_updates = false;
    BlockSync answer = {};
    std::size_t bytes = 0;
    std::optional<Error> refused = {};
};

bool is_full(const Syncing& sync) {
    return sync.bytes > kMostReplayedBytes ||
           sync.answer.patches.size() + sync.answer.new_blocks.size() >= kMostReplayed;
}

// Returns false when the answer is full. The first new block of a document comes with all its updates.
bool add_new(Syncing& sync, LiveDocument& document) {
    if (document.kind() == kStageKind || !sync.core->may_see(sync.by, document.record()))
        return true;
    crdt::Frontiers updates_from;
    const auto take = [&](const BlockRef& block) {
        if (sync.named.contains(document.id_of(block))) return true;
        if (is_full(sync)) {
            sync.answer.has_more = true;
            return false;
        }
        sync.core->flush(document, block);
        Result<BlockEvent> event =
            whole_block(*sync.core, document, block, sync.wants_updates ? &updates_from : nullptr);
        if (!event) {
            sync.refused = std::move(event).error();
            return false;
        }
        // The first block brought the document's whole history; those after it add what their flush
        // has written since.
        updates_from = document.doc().frontiers();
        sync.bytes += bytes_of(*event);
        sync.answer.new_blocks.push_back(std::move(*event));
        return true;
    };
    if (document.conversation() == nullptr)
        return document.record().deleted || take(document.whole());
    for (const auto& visit : document.conversation()->walk({}, 0)) {
        if (!take(document.ref_of(*visit.block))) return false;
    }
    return true;
}

void add_new_blocks(std::shared_ptr<Syncing> sync, const Caller& by, Reply<BlockSync> reply) {
    std::vector<store::DocumentKey> documents = sync->core->catalog().keys();
    // Documents that are named, or not for the caller, are not loaded.
    std::erase_if(documents, [&](store::DocumentKey key) {
        const auto record = sync->core->catalog().record(key);
        return sync->named.contains(conversation::BlockId{key, -1, 0}) || !record ||
               record->deleted || !sync->core->may_see(by.actor, *record);
    });
    const std::shared_ptr<Core> core = sync->core;
    std::make_shared<Walk>(
        core, by, std::move(documents),
        Walk::Round{[sync](LiveDocument& live) { return add_new(*sync, live); },
                    [sync, reply = std::move(reply)](Result<void> result) mutable {
                        if (!result) return reply(Failure(std::move(result).error()));
                        if (sync->refused) return reply(Failure(std::move(*sync->refused)));
                        reply(std::move(sync->answer));
                    },
                    Access::read, Walk::passing_over, [](store::DocumentKey) {}})
        ->next();
}

}  // namespace

void sync_blocks(const std::shared_ptr<Core>& kernel, Caller by,
                 std::vector<BlockAtVersion> versions, bool wants_updates, Reply<BlockSync> reply) {
    Result<std::vector<Wanted>> wanted = wanted_by(*kernel, {.from_versions = std::move(versions)});
    if (!wanted) return reply(Failure(std::move(wanted).error()));
    std::ranges::sort(*wanted, {}, &Wanted::id);
    auto sync = std::make_shared<Syncing>(Syncing{kernel, by.actor, {}, wants_updates});
    for (const Wanted& each : *wanted) sync->named.insert(each.id);
    look_at(kernel, by, std::move(*wanted), wants_updates, kMostReplayedBytes,
            [sync, by, reply = std::move(reply)](Result<Looks::Found> found) mutable {
                if (!found) return reply(Failure(std::move(found).error()));
                sync->answer.has_more = found->is_cut;
                for (BlockEvent& event : found->events) {
                    // The next call has the rest of a block whose events do not all fit.
                    if (is_full(*sync)) {
                        sync->answer.has_more = true;
                        break;
                    }
                    sync->bytes += bytes_of(event);
                    sync->answer.patches.push_back(std::move(event));
                }
                if (sync->answer.has_more) return reply(std::move(sync->answer));
                add_new_blocks(std::move(sync), by, std::move(reply));
            });
}

}  // namespace quire::kernel
