// A flush has three parts: git is asked where the ref stands; the documents that changed since are
// read, one after another, each on its strand; git makes the commit. One flush at a time, and calls
// that come meanwhile share the next. A document whose version is that of the last flush is not
// loaded; after a start all of them are, once.
#include "kernel/files/file_gate.h"
#include "kernel/files/git_flush.h"

#include <algorithm>
#include <map>
#include <set>
#include <stop_token>

#include "base/concat.h"
#include "crdt/doc/text.h"
#include "files/form.h"
#include "git/repository.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/core/walk.h"
#include "kernel/files/git_commit.h"

namespace quire::kernel {
namespace {

// How often the silence is measured.
constexpr std::int64_t kTickMs = 1000;
// One commit takes so many bytes of files; what is left waits for the next commit, at once.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr int kTries = 3;
// The wait after a flush that failed, beside the silence.
constexpr std::int64_t kFlushRetryMs = 10'000;
// The time that git gets for the last flush of a kernel that ends.
constexpr std::int64_t kEndMs = 10'000;

policy::Actor flusher() {
    return {policy::ActorKind::system, "flush"};
}

// A flush under way.
struct Round {
    GitFlushSettings settings;
    FlushBase base;
    std::int64_t at_ms = 0;
    std::vector<FlushedFile> files;
    std::map<store::DocumentKey, std::uint64_t> versions;  // The files' versions, as they were read.
    std::set<store::DocumentKey> deleted;
    std::size_t bytes = 0;
    bool more = false;  // There are files that this commit does not take.
    int tries = 0;
    GitFlushed result;  // Covers all commits of the flush.
};

}  // namespace

struct GitFlush::Body : std::enable_shared_from_this<GitFlush::Body> {
    explicit Body(Parts wanted)
        : parts(std::move(wanted)),
          core(parts.kernel.core()),
          strand(core->parts().scheduler) {}

    // All below is touched on the strand only.
    const Parts parts;
    const std::shared_ptr<Core> core;
    sched::Strand strand;
    std::stop_source stop_git;
    std::optional<GitFlushSettings> settings;
    bool ticks = false;
    bool ended = false;
    bool running = false;
    std::vector<Reply<GitFlushed>> waiting;  // For the flush under way.
    std::vector<Reply<GitFlushed>> next;     // For the one after it.
    std::map<store::DocumentKey, std::uint64_t> flushed;
    std::set<store::DocumentKey> gone;  // Deleted files that the ref does not have any more.
    std::uint64_t seen_commits = 0;     // The kernel's count at the last tick,
    std::int64_t silent_since_ms = 0;   // and since when it has been the same.
    bool dirty = true;
    std::string warned;

    void tick();
    void begin();
    void prepare(std::shared_ptr<Round> round);
    void gather(std::shared_ptr<Round> round);
    bool take(LiveDocument& document, Round& round) const;
    void commit(std::shared_ptr<Round> round);
    void end_round(const std::shared_ptr<Round>& round, Result<FlushCommit> made);
    void finish(Result<GitFlushed> result);

    Result<git::Repository> repository() const {
        return git::Repository::find(parts.directory, core->parts().clock, stop_git.get_token());
    }
};

GitFlush::GitFlush(Parts parts) : body_(std::make_shared<Body>(std::move(parts))) {}
GitFlush::~GitFlush() = default;

void GitFlush::set(std::optional<GitFlushSettings> settings) {
    body_->strand.post([body = body_, settings = std::move(settings)]() mutable {
        if (body->settings == settings) return;
        // Another ref has other files.
        body->flushed.clear();
        body->gone.clear();
        body->dirty = true;
        body->settings = std::move(settings);
        body->silent_since_ms = body->core->parts().clock.steady_ms();
        if (body->settings && !body->ticks) {
            body->ticks = true;
            body->tick();
        }
    });
}

void GitFlush::flush(Reply<GitFlushed> reply) {
    body_->strand.post([body = body_, reply = std::move(reply)]() mutable {
        if (body->ended) return reply(Failure(kernel_ending()));
        if (!body->settings) {
            return reply(invalid("no_git_ref",
                                 "quire.toml has no section [files.git]; add one with ref = "
                                 "\"refs/quire/main\", and files are committed there"));
        }
        (body->running ? body->next : body->waiting).push_back(std::move(reply));
        if (!body->running) body->begin();
    });
}

void GitFlush::export_history(const Caller& by, std::string ref, Reply<GitExported> reply) {
    const Parts& parts = body_->parts;
    export_to_git({parts.kernel, parts.gate, parts.workers, parts.directory}, by, std::move(ref),
                  std::move(reply));
}

void GitFlush::stop(Reply<void> reply) {
    body_->strand.post([body = body_, reply = std::move(reply)]() mutable {
        Reply<GitFlushed> end([body, reply = std::move(reply)](Result<GitFlushed>) mutable {
            body->ended = true;
            reply({});
        });
        body->dirty = body->dirty || body->seen_commits != body->parts.kernel.status().commits;
        const bool flushes = body->settings && body->dirty && !body->ended;
        body->ticks = false;
        // A git that hangs must not keep the kernel from ending.
        body->strand.post_after(kEndMs, [body] { body->stop_git.request_stop(); });
        if (!flushes && !body->running) return end(GitFlushed{});
        (body->running ? body->next : body->waiting).push_back(std::move(end));
        if (!body->running) body->begin();
    });
}

// Counts all commits of the kernel: finding out which of them were to files costs more than a flush
// that finds nothing.
void GitFlush::Body::tick() {
    if (!ticks || !settings) {
        ticks = false;
        return;
    }
    const std::uint64_t commits = parts.kernel.status().commits;
    const std::int64_t now = core->parts().clock.steady_ms();
    if (commits != seen_commits) {
        seen_commits = commits;
        silent_since_ms = now;
        dirty = true;
    }
    if (dirty && !running && now - silent_since_ms >= settings->after_ms) {
        waiting.push_back([self = shared_from_this()](Result<GitFlushed> result) {
            std::string reason = result ? "" : result.error().reason();
            if (!result && reason != self->warned && reason != "kernel_ending" && self->parts.warn)
                self->parts.warn(cat("files are not flushed to git: ", result.error().message()));
            self->warned = std::move(reason);
        });
        begin();
    }
    strand.post_after(kTickMs, [self = shared_from_this()] { self->tick(); });
}

void GitFlush::Body::begin() {
    running = true;
    dirty = false;
    auto round = std::make_shared<Round>();
    round->settings = *settings;
    round->result.ref = settings->ref;
    prepare(std::move(round));
}

void GitFlush::Body::prepare(std::shared_ptr<Round> round) {
    round->files.clear();
    round->versions.clear();
    round->deleted.clear();
    round->bytes = 0;
    round->more = false;
    parts.workers.post([self = shared_from_this(), round = std::move(round)]() mutable {
        Result<FlushBase> base = [&]() -> Result<FlushBase> {
            return flush_base(TRY(self->repository()), round->settings.ref);
        }();
        self->strand.post([self, round = std::move(round), base = std::move(base)]() mutable {
            if (!base) return self->finish(Failure(std::move(base).error()));
            round->base = std::move(*base);
            self->gather(std::move(round));
        });
    });
}

void GitFlush::Body::gather(std::shared_ptr<Round> round) {
    round->at_ms = core->parts().clock.wall_ms();
    const auto blocks = core->parts().store.whole_blocks(std::string(kFileKind));
    if (!blocks) return finish(Failure(blocks.error()));
    // The version is the block's as it is stored; a document that is ahead of it comes next time.
    std::vector<store::DocumentKey> changed;
    for (const store::BlockRecord& block : *blocks) {
        const auto known = flushed.find(block.document);
        if (known == flushed.end() || known->second != block.version)
            changed.push_back(block.document);
    }
    for (const store::DocumentRecord& record : core->catalog().deleted(std::string(kFileKind))) {
        if (gone.contains(record.key)) continue;
        round->deleted.insert(record.key);
        // Another file may have the path of a deleted one by now: then its text is flushed, and
        // nothing is removed.
        if (!core->catalog().find(Name{kFileKind, record.name}))
            round->files.push_back({record.name, std::nullopt, {}});
    }
    std::make_shared<Walk>(
        core, Caller{flusher(), 0, {}, nullptr}, std::move(changed),
        Walk::Round{[self = shared_from_this(), round](LiveDocument& live) {
                        return self->take(live, *round);
                    },
                    [self = shared_from_this(), round](Result<void> done) mutable {
                        self->strand.post([self, round = std::move(round),
                                           done = std::move(done)]() mutable {
                            if (!done) return self->finish(Failure(std::move(done).error()));
                            self->commit(std::move(round));
                        });
                    },
                    Access::look, Walk::passing_over})
        ->next();
}

// Runs on the document's strand. Returns false once the commit is full.
bool GitFlush::Body::take(LiveDocument& document, Round& round) const {
    const BlockRef block = document.whole();
    core->flush(document, block);
    const std::optional<files::DiskState> disk = parts.gate.state(document);
    if (document.record().deleted || !disk) return true;
    std::string text = document.doc().text(block.content).rope().str();
    // A file that alone is larger than the bound is taken if it is the first, so that it is flushed
    // at all.
    if (!round.files.empty() && round.bytes + text.size() > kMostBytes) {
        round.more = true;
        return false;
    }
    round.bytes += text.size();
    // A text that the file's encoding lacks characters for cannot be a file yet.
    Result<std::string> bytes = files::encode(disk->form, std::move(text), document.name());
    if (!bytes) return true;
    const auto known = flushed.find(document.key());
    FlushedFile file{document.name(), std::move(*bytes), {}};
    for (const Unit& unit : block.state->history.units()) {
        // After a start it is not known which versions the ref has. The time of its tip has to do.
        const bool is_new = known == flushed.end() ? unit.at_ms > round.base.tip_at_ms
                                                   : unit.version > known->second;
        if (is_new) file.operations.push_back({unit.actor, unit.description, unit.version});
    }
    round.versions[document.key()] = block.state->version;
    round.files.push_back(std::move(file));
    return true;
}

void GitFlush::Body::commit(std::shared_ptr<Round> round) {
    if (round->files.empty()) return end_round(round, FlushCommit{round->base.tip.value_or(""), {}, {}});
    parts.workers.post([self = shared_from_this(), round = std::move(round)]() mutable {
        Result<FlushCommit> made = [&]() -> Result<FlushCommit> {
            return commit_flush(TRY(self->repository()), round->settings.ref, round->base,
                                round->files, round->at_ms);
        }();
        self->strand.post([self, round = std::move(round), made = std::move(made)]() mutable {
            self->end_round(round, std::move(made));
        });
    });
}

void GitFlush::Body::end_round(const std::shared_ptr<Round>& round, Result<FlushCommit> made) {
    if (!made) {
        // Somebody else has put a commit on the ref: the round begins anew on top of that.
        if (made.error().reason() == "ref_moved" && ++round->tries < kTries) return prepare(round);
        return finish(Failure(std::move(made).error()));
    }
    // Settings may have changed meanwhile, and what another ref has is not known.
    if (settings == round->settings) {
        for (const auto& [key, version] : round->versions) flushed[key] = version;
        gone.insert(round->deleted.begin(), round->deleted.end());
    }
    GitFlushed& result = round->result;
    result.commit = std::move(made->commit);
    std::ranges::move(made->files, std::back_inserter(result.files));
    std::ranges::move(made->ignored, std::back_inserter(result.ignored));
    if (round->more) return prepare(round);
    finish(std::move(result));
}

void GitFlush::Body::finish(Result<GitFlushed> result) {
    running = false;
    if (!result) {
        dirty = true;
        // The time is in the future, so that the next try waits for the pause and the silence.
        silent_since_ms = core->parts().clock.steady_ms() + kFlushRetryMs;
    }
    std::vector<Reply<GitFlushed>> replies = std::exchange(waiting, std::exchange(next, {}));
    for (Reply<GitFlushed>& reply : replies) reply(result);
    if (!waiting.empty() && !running && settings) return begin();
    if (!waiting.empty() && !running) {
        for (Reply<GitFlushed>& reply : std::exchange(waiting, {})) reply(GitFlushed{});
    }
}

}  // namespace quire::kernel
