// Search in memory blocks through the store's full-text index. A write updates the indexed text
// in its own transaction if the text is short and was not updated within the last second;
// otherwise the block is noted as stale, and the next search updates all stale blocks first, in
// transactions of a few hundred. Tags in the index keep an agent's search to blocks that it may
// read, and permissions are checked again before a hit is shown.
#include <algorithm>

#include "base/concat.h"
#include "kernel/core/kinds.h"
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

// The hit's passage, if the block says it: the index has no checksums of its own.
std::string snippet_of(LiveDocument& document, const store::TextHit& hit) {
    constexpr std::string_view kCut = "…";
    std::string passage;
    for (const char c : hit.snippet) {
        if (c != store::kHit && c != store::kHitEnd) passage += c;
    }
    if (passage.starts_with(kCut)) passage.erase(0, kCut.size());
    if (passage.ends_with(kCut)) passage.resize(passage.size() - kCut.size());
    const store::TextRecord text = search_text_now(document, kSearchedBytes);
    const bool is_said = text.content.find(passage) != std::string::npos ||
                         text.description.find(passage) != std::string::npos ||
                         text.name.find(passage) != std::string::npos;
    return is_said ? shown_snippet(hit.snippet) : std::string();
}

}  // namespace

// Counts how often each block has changed since its search text was stored.
class MemoryTexts {
public:
    void changed(store::DocumentKey key) {
        state_.with([&](State& state) { ++state.changes[key]; });
    }
    // The index is made anew, so the store is asked again.
    void ask_again() {
        state_.with([](State& state) { state.asked = false; });
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
    const bool only_content = document.transaction().batch().documents.empty();
    if (only_content && !texts.is_due(document.key(), now_ms)) return texts.changed(document.key());
    store::TextRecord text = search_text_now(document, kTextAtOnce + 1);
    if (text.content.size() > kTextAtOnce) return texts.changed(document.key());
    document.transaction().batch().texts.push_back(std::move(text));
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
                                                   hit->score, snippet_of(document, *hit)});
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
    body_->search(std::move(by), std::move(what), std::move(reply), true);
}

// A damaged index is made anew, once, and the search begins again.
void MemoryCalls::Body::search(Caller by, MemorySearch what, Reply<MemoryFound> reply, bool mends) {
    Result<store::TextQuery> query = query_of(what, by.actor);
    if (!query) return reply(Failure(std::move(query).error()));
    // Words that must not occur narrow a search; by themselves they find nothing.
    if (query->all.empty() && query->in_name.empty()) return reply(MemoryFound{});
    store::Store& store = kernel->parts().store;
    Reply<std::vector<store::TextHit>> done =
        [self = shared_from_this(), by, what = std::move(what), reply = std::move(reply),
         mends](Result<std::vector<store::TextHit>> hits) mutable {
            if (hits) return show(self->kernel, by, std::move(*hits), std::move(reply));
            const bool again = mends && hits.error().code() == Errc::corrupt &&
                               self->kernel->parts().store.reset_texts().has_value();
            if (!again) return reply(Failure(std::move(hits).error()));
            self->texts->ask_again();
            self->search(by, std::move(what), std::move(reply), false);
        };
    Result<std::vector<store::DocumentKey>> stale = texts->stale(store);
    if (!stale) return done(Failure(std::move(stale).error()));
    std::make_shared<Keeping>(
        kernel, texts, by, std::move(*stale),
        [&store, query = std::move(*query), done = std::move(done)](Result<void> kept) mutable {
            // Without room for what changed since, the index answers with what it has.
            if (!kept && !is_no_room(kept.error())) return done(Failure(std::move(kept).error()));
            done(store.search(query));
        })
        ->next();
}

}  // namespace quire::kernel
