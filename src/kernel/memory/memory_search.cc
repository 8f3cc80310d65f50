// Search in memory blocks through the store's full-text index. A write updates the indexed text
// in its own transaction if the text is short and was not updated within the last second;
// otherwise the block is noted as stale, and the next search updates all stale blocks first, in
// transactions of a few hundred. Tags in the index keep an agent's search to blocks that it may
// read, and permissions are checked again before a hit is shown.
#include <algorithm>

#include "base/concat.h"
#include "kernel/core/walk.h"
#include "kernel/memory/memory_body.h"
#include "kernel/memory/search_text.h"
#include "text/words_query.h"

namespace quire::kernel {
namespace {

// Cutting text into words takes time, so every write stores at most kTextAtOnce of it; if there is
// more, the next search stores the rest once for all the writes before it.
constexpr std::size_t kTextAtOnce = 16U << 10;
// Writes in a row share one text: with each of them it would make every write slower.
constexpr std::int64_t kMomentMs = 1000;
// One transaction of a search takes at most so many blocks.
constexpr std::size_t kTextsAtOnce = 200;

// A block's text for searches, as it is now.
store::TextRecord search_text_now(LiveDocument& document, std::size_t bytes) {
    return search_text(document.record(), document.doc(), document.whole().state->version, bytes);
}

Result<store::TextQuery> query_of(const MemorySearch& what, const policy::Actor& by) {
    text::WordsQuery words = TRY(text::parse_words(what.query));
    store::TextQuery query{.all = std::move(words.all),
                           .none = std::move(words.none),
                           .in_name = std::move(words.in_label),
                           .not_in_name = std::move(words.not_in_label),
                           .limit = what.limit};
    query.tags = {{by.kind == policy::ActorKind::agent ? search_tag(by) : std::string(kEverybody)}};
    std::vector<std::string> types;
    for (const MemoryType type : what.types) types.push_back(search_tag(type));
    if (!types.empty()) query.tags.push_back(std::move(types));
    return query;
}

// A passage as a reader sees it: what was found between two asterisks.
std::string shown_snippet(const std::string& snippet) {
    std::string out;
    for (const char c : snippet) {
        if (c == store::kHit || c == store::kHitEnd) {
            out += "**";
        } else {
            out += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
        }
    }
    return out;
}

}  // namespace

// Counts how often each block has changed since its search text was stored.
class MemoryTexts {
public:
    void changed(store::DocumentKey key) {
        state_.with([&](State& state) { ++state.changes[key]; });
    }
    // The blocks that have. The store says once which were left so by a kernel that ended.
    Result<std::vector<store::DocumentKey>> stale(store::Store& store) {
        if (!state_.with([](State& state) { return state.asked; })) {
            const std::vector<store::DocumentKey> left = TRY(store.stale_texts(kMemoryKind));
            state_.with([&](State& state) {
                state.asked = true;
                for (const store::DocumentKey key : left) ++state.changes[key];
            });
        }
        return state_.with([](State& state) {
            std::vector<store::DocumentKey> keys;
            for (const auto& [key, changes] : state.changes) keys.push_back(key);
            return keys;
        });
    }
    std::uint64_t changes(store::DocumentKey key) {
        return state_.with([&](State& state) { return state.changes[key]; });
    }
    // Returns true if the text is to be stored with a write that is made now.
    bool is_due(store::DocumentKey key, std::int64_t now_ms) {
        return state_.with([&](State& state) {
            const auto [last, first] = state.written.try_emplace(key, now_ms);
            if (!first && now_ms >= last->second && now_ms - last->second < kMomentMs) return false;
            last->second = now_ms;
            return true;
        });
    }
    // The stored text is that of the block after so many changes.
    void kept(store::DocumentKey key, std::uint64_t changes) {
        state_.with([&](State& state) {
            const auto at = state.changes.find(key);
            if (at != state.changes.end() && at->second == changes) state.changes.erase(at);
        });
    }

private:
    struct State {
        bool asked = false;
        std::map<store::DocumentKey, std::uint64_t> changes;
        std::map<store::DocumentKey, std::int64_t> written;  // When a text last went with a write.
    };
    sched::Guarded<State> state_;
};

std::shared_ptr<MemoryTexts> make_memory_texts() {
    return std::make_shared<MemoryTexts>();
}

void keep_text(MemoryTexts& texts, LiveDocument& document, std::int64_t now_ms) {
    const bool only_content = document.batch().documents.empty();
    if (only_content && !texts.is_due(document.key(), now_ms)) return texts.changed(document.key());
    store::TextRecord text = search_text_now(document, kTextAtOnce + 1);
    if (text.content.size() > kTextAtOnce) return texts.changed(document.key());
    document.batch().texts.push_back(std::move(text));
}

void leave_text(MemoryTexts& texts, store::DocumentKey key) {
    texts.changed(key);
}

namespace {

// Brings what blocks are found by up to what they say, some blocks in one transaction.
class Keeping : public std::enable_shared_from_this<Keeping> {
public:
    Keeping(std::shared_ptr<Core> kernel, std::shared_ptr<MemoryTexts> texts, Caller by,
            std::vector<store::DocumentKey> stale, Reply<void> done)
        : kernel_(std::move(kernel)),
          texts_(std::move(texts)),
          by_(std::move(by)),
          stale_(std::move(stale)),
          done_(std::move(done)) {}

    void next() {
        const std::size_t count = std::min(kTextsAtOnce, stale_.size());
        if (count == 0) return done_({});
        const std::vector<store::DocumentKey> some(
            stale_.end() - static_cast<std::ptrdiff_t>(count), stale_.end());
        stale_.resize(stale_.size() - count);
        // Only the store knows a block that was deleted before this kernel began.
        for (const store::DocumentKey key : some) {
            if (kernel_->catalog().find(key) == nullptr) {
                found_.emplace_back(store::TextRecord{.document = key, .gone = true},
                                    texts_->changes(key));
            }
        }
        std::make_shared<Walk>(
            kernel_, by_, some,
            Walk::Round{[self = shared_from_this()](LiveDocument& document) {
                            const std::uint64_t changes = self->texts_->changes(document.key());
                            self->found_.emplace_back(search_text_now(document, kSearchedBytes),
                                                      changes);
                            return true;
                        },
                        [self = shared_from_this()](Result<void> walked) {
                            if (!walked) return self->done_(Failure(walked.error()));
                            self->store();
                        },
                        Access::look, Walk::passing_over})
            ->next();
    }

private:
    void store() {
        store::Batch batch;
        for (const auto& [text, changes] : found_) batch.texts.push_back(text);
        kernel_->parts().store.commit(
            std::move(batch), [self = shared_from_this()](Result<void> stored) {
                if (!stored) return self->done_(Failure(stored.error()));
                for (const auto& [text, changes] : self->found_)
                    self->texts_->kept(text.document, changes);
                self->found_.clear();
                // The next step is posted: the store's thread has other commits to answer.
                self->kernel_->parts().scheduler.post([self] { self->next(); });
            });
    }

    std::shared_ptr<Core> kernel_;
    std::shared_ptr<MemoryTexts> texts_;
    Caller by_;
    std::vector<store::DocumentKey> stale_;
    std::vector<std::pair<store::TextRecord, std::uint64_t>> found_;
    Reply<void> done_;
};

// Shows the store's hits, without the blocks that the caller may not read any more.
void show(const std::shared_ptr<Core>& kernel, const Caller& by, std::vector<store::TextHit> hits,
          Reply<MemoryFound> reply) {
    auto found = std::make_shared<MemoryFound>();
    std::vector<store::DocumentKey> keys;
    keys.reserve(hits.size());
    for (const store::TextHit& hit : hits) keys.push_back(hit.document);
    std::make_shared<Walk>(
        kernel, by, keys,
        Walk::Round{[found, hits = std::move(hits), actor = by.actor](LiveDocument& document) {
                        const auto hit = std::find_if(
                            hits.begin(), hits.end(),
                            [&](const auto& each) { return each.document == document.key(); });
                        const Result<OpenedMemory> opened =
                            open_memory(document.record(), actor, document.name());
                        if (opened) {
                            found->hits.push_back({opened->row(version_of_memory(document)),
                                                   hit->score, shown_snippet(hit->snippet)});
                        }
                        return true;
                    },
                    [found, reply = std::move(reply)](Result<void> walked) mutable {
                        if (!walked) return reply(Failure(std::move(walked).error()));
                        reply(std::move(*found));
                    },
                    Access::look, Walk::passing_over})
        ->next();
}

}  // namespace

void MemoryCalls::search(Caller by, MemorySearch what, Reply<MemoryFound> reply) {
    Result<store::TextQuery> query = query_of(what, by.actor);
    if (!query) return reply(Failure(std::move(query).error()));
    // What must not occur narrows a search; by itself it finds nothing.
    if (query->all.empty() && query->in_name.empty()) return reply(MemoryFound{});
    store::Store& store = body_->kernel->parts().store;
    Result<std::vector<store::DocumentKey>> stale = body_->texts->stale(store);
    if (!stale) return reply(Failure(std::move(stale).error()));
    std::make_shared<Keeping>(body_->kernel, body_->texts, by, std::move(*stale),
                              [kernel = body_->kernel, by, &store, query = std::move(*query),
                               reply = std::move(reply)](Result<void> kept) mutable {
                                  if (!kept) return reply(Failure(std::move(kept).error()));
                                  Result<std::vector<store::TextHit>> hits = store.search(query);
                                  if (!hits) return reply(Failure(std::move(hits).error()));
                                  show(kernel, by, std::move(*hits), std::move(reply));
                              })
        ->next();
}

}  // namespace quire::kernel
