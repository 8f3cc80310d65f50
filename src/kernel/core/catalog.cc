// The catalog: names and keys of all documents under one lock; a document in memory is made when it
// is first asked for. Each call is O(log documents), but for those that list. `names` has one entry
// for each document that is not deleted, and a second one while a document moves to another name:
// calls reach it by both until the move is stored or refused. `entries` keeps every document that
// was ever stored, deleted ones too.
#include "kernel/core/catalog.h"

#include "base/check.h"
#include "kernel/core/kinds.h"
#include "kernel/core/residence.h"

namespace quire::kernel {

Catalog::Catalog(const Parts& parts, std::vector<store::DocumentRecord> known) : parts_(parts) {
    state_->with([&](State& state) {
        // Files of one folder and numbered labels come in runs that are sorted by name, so most names
        // stand right behind the one before them.
        auto behind = state.names.end();
        for (const store::DocumentRecord& record : known) {
            if (record.deleted || record.damaged) continue;
            behind =
                std::next(state.names.emplace_hint(behind, name_of_record(record), record.key));
        }
        for (store::DocumentRecord& record : known) {
            // A name that a damaged row may never have had is another's first.
            if (record.damaged) state.names.try_emplace(name_of_record(record), record.key);
            const store::DocumentKey key = record.key;
            state.entries.emplace_hint(state.entries.end(), key, Entry{std::move(record), nullptr});
        }
    });
    if (parts_.residence == nullptr) return;
    // Strands may still run when the catalog is gone.
    parts_.residence->on_empty(
        [state = std::weak_ptr(state_)](std::shared_ptr<LiveDocument> document) {
            if (const auto held = state.lock()) put_away(*held, std::move(document));
        });
}

// References come from here, under the lock, or are copies of others. So where there are two of them
// nobody can be about to use the object but the caller, and the next who asks gets another.
void Catalog::put_away(sched::Guarded<State>& all, std::shared_ptr<LiveDocument> document) {
    constexpr long kOursAndTheCallers = 2;
    all.with([&](State& state) {
        const auto at = state.entries.find(document->key());
        if (at == state.entries.end() || at->second.live != document ||
            document.use_count() != kOursAndTheCallers)
            return;
        at->second.record = document->record();
        at->second.live = nullptr;
    });
}

// The live document of a key, made at the first request. Making it does not load it.
std::shared_ptr<LiveDocument> Catalog::live_in(State& state, store::DocumentKey key) {
    const auto at = state.entries.find(key);
    if (at == state.entries.end()) return nullptr;
    Entry& entry = at->second;
    if (entry.live == nullptr)
        entry.live = std::make_shared<LiveDocument>(parts_, entry.record, false);
    return entry.live;
}

std::shared_ptr<LiveDocument> Catalog::find(const Name& name) {
    return state_->with([&](State& state) -> std::shared_ptr<LiveDocument> {
        const auto at = state.names.find(name);
        return at == state.names.end() ? nullptr : live_in(state, at->second);
    });
}

std::shared_ptr<LiveDocument> Catalog::find(store::DocumentKey key) {
    return state_->with([&](State& state) { return live_in(state, key); });
}

std::shared_ptr<LiveDocument> Catalog::find_or_make(const Name& name) {
    bool is_new = false;
    auto found = state_->with([&](State& state) {
        const auto at = state.names.find(name);
        if (at != state.names.end()) return live_in(state, at->second);
        is_new = true;
        store::DocumentRecord record{
            parts_.store.reserve_document_key(), name.kind, name.name, false, {}, name.owner};
        Entry& entry = state.entries[record.key];
        state.names[name] = record.key;
        entry.record = record;
        entry.live = std::make_shared<LiveDocument>(parts_, std::move(record), true);
        return entry.live;
    });
    if (is_new) {
        // The listener is called outside the lock of the names, so it may use the catalog.
        const OnMade made = on_made_.with([](const OnMade& held) { return held; });
        if (made) made(name);
    }
    return found;
}

void Catalog::on_made(OnMade made) {
    on_made_.with([&](OnMade& held) { held = std::move(made); });
}

std::optional<std::vector<std::shared_ptr<LiveDocument>>> Catalog::make_held(
    std::vector<store::DocumentRecord>& records) {
    using Made = std::optional<std::vector<std::shared_ptr<LiveDocument>>>;
    return state_->with([&](State& state) -> Made {
        // All names are checked before the first document is made, under one lock: no other call
        // can take one in between.
        for (const store::DocumentRecord& each : records) {
            if (state.names.contains(name_of_record(each))) return std::nullopt;
        }
        Made made(std::in_place);
        for (store::DocumentRecord& each : records) {
            each.key = parts_.store.reserve_document_key();
            CHECK(state.names.emplace(name_of_record(each), each.key).second);
            Entry& entry = state.entries[each.key];
            entry.record = each;
            entry.live = std::make_shared<LiveDocument>(parts_, each, true);
            entry.live->doorway().hold();  // Nobody else knows it yet.
            made->push_back(entry.live);
        }
        return made;
    });
}

bool Catalog::is_taken(const Name& name) const {
    return state_->with([&](const State& state) { return state.names.contains(name); });
}

std::shared_ptr<LiveDocument> Catalog::stage_of(store::DocumentKey file, const std::string& owner) {
    return state_->with([&](State& state) -> std::shared_ptr<LiveDocument> {
        const auto entry = state.entries.find(file);
        if (entry == state.entries.end() || entry->second.record.kind != kFileKind) return nullptr;
        const auto at = state.names.find(Name{kStageKind, entry->second.record.name, owner});
        return at == state.names.end() ? nullptr : live_in(state, at->second);
    });
}

bool Catalog::State::has_name(store::DocumentKey key) const {
    const auto entry = entries.find(key);
    if (entry == entries.end()) return false;
    const auto name = names.find(name_of_record(entry->second.record));
    return name != names.end() && name->second == key;
}

void Catalog::State::forget_name(store::DocumentKey key) {
    if (!has_name(key)) return;
    names.erase(name_of_record(entries.at(key).record));
}

bool Catalog::has_name(store::DocumentKey key) const {
    return state_->with([&](const State& state) { return state.has_name(key); });
}

void Catalog::settle_deletion(const store::DocumentRecord& record) {
    state_->with([&](State& state) {
        state.forget_name(record.key);
        const auto entry = state.entries.find(record.key);
        if (entry != state.entries.end()) entry->second.record = record;
    });
}

void Catalog::drop(store::DocumentKey key) {
    state_->with([&](State& state) {
        state.forget_name(key);
        state.entries.erase(key);
    });
}

bool Catalog::claim_name(const Name& name, store::DocumentKey key) {
    return state_->with(
        [&](State& state) { return state.names.try_emplace(name, key).first->second == key; });
}

void Catalog::unclaim_name(const Name& name, store::DocumentKey key) {
    state_->with([&](State& state) {
        const store::DocumentRecord& known = state.entries.at(key).record;
        if (!known.deleted && name_of_record(known) == name) return;
        const auto at = state.names.find(name);
        if (at != state.names.end() && at->second == key) state.names.erase(at);
    });
}

void Catalog::settle_name(const Name& name, store::DocumentKey key) {
    state_->with([&](State& state) {
        store::DocumentRecord& known = state.entries.at(key).record;
        known.deleted = false;
        if (name_of_record(known) == name) return;
        state.forget_name(key);  // Unless that of a deleted document is another's by now.
        state.names[name] = key;
        known.name = name.name;
        known.owner = name.owner;
    });
}

void Catalog::exchange_names(const Name& one, const Name& other) {
    CHECK(one.owner == other.owner);
    state_->with([&](State& state) {
        store::DocumentKey& first = state.names.at(one);
        store::DocumentKey& second = state.names.at(other);
        // The caller holds both documents, so neither can have lost its name.
        std::swap(first, second);
        state.entries.at(first).record.name = one.name;
        state.entries.at(second).record.name = other.name;
    });
}

void Catalog::settle_header(store::DocumentKey key, const Bytes& header) {
    state_->with([&](State& state) {
        const auto entry = state.entries.find(key);
        if (entry != state.entries.end()) entry->second.record.header = header;
    });
}

std::optional<store::DocumentRecord> Catalog::record(store::DocumentKey key) const {
    return state_->with([&](const State& state) -> std::optional<store::DocumentRecord> {
        const auto at = state.entries.find(key);
        return at == state.entries.end() ? std::nullopt : std::optional(at->second.record);
    });
}

std::vector<store::DocumentKey> Catalog::keys() const {
    return state_->with([](const State& state) {
        std::vector<store::DocumentKey> keys;
        for (const auto& [key, entry] : state.entries) {
            if (state.has_name(key)) keys.push_back(key);
        }
        return keys;
    });
}

// Names are ordered by kind, name and owner, so the matches stand side by side.
std::vector<Catalog::Known> Catalog::known(const std::string& kind,
                                           const std::string& prefix) const {
    return state_->with([&](const State& state) {
        std::vector<Known> all;
        for (auto at = state.names.lower_bound({kind, prefix}); at != state.names.end(); ++at) {
            if (at->first.kind != kind || !at->first.name.starts_with(prefix)) break;
            const Entry& entry = state.entries.at(at->second);
            // One that is being moved goes by two names.
            if (name_of_record(entry.record) == at->first)
                all.push_back({entry.record, entry.live != nullptr});
        }
        return all;
    });
}

std::vector<store::DocumentRecord> Catalog::named(const std::string& kind,
                                                  const std::string& name) const {
    return state_->with([&](const State& state) {
        std::vector<store::DocumentRecord> all;
        for (auto at = state.names.lower_bound({kind, name}); at != state.names.end(); ++at) {
            if (at->first.kind != kind || at->first.name != name) break;
            all.push_back(state.entries.at(at->second).record);
        }
        return all;
    });
}

std::vector<store::DocumentRecord> Catalog::deleted(const std::string& kind) const {
    return state_->with([&](const State& state) {
        std::vector<store::DocumentRecord> all;
        for (const auto& [key, entry] : state.entries) {
            if (entry.record.deleted && entry.record.kind == kind) all.push_back(entry.record);
        }
        return all;
    });
}

// Keys are given in order, so the newest is the one that was made last.
std::shared_ptr<LiveDocument> Catalog::find_deleted(const std::string& kind,
                                                    const std::string& name) {
    store::DocumentKey newest = 0;
    for (const store::DocumentRecord& record : deleted(kind)) {
        if (record.name == name) newest = std::max(newest, record.key);
    }
    return newest == 0 ? nullptr : find(newest);
}

std::vector<std::shared_ptr<LiveDocument>> Catalog::live() const {
    return state_->with([](const State& state) {
        std::vector<std::shared_ptr<LiveDocument>> live;
        for (const auto& [key, entry] : state.entries) {
            if (entry.live != nullptr) live.push_back(entry.live);
        }
        return live;
    });
}

std::size_t Catalog::size() const {
    return state_->with([](const State& state) { return state.names.size(); });
}

void follow_record(LiveDocument& document, Catalog& catalog) {
    // The record is copied now: when the answer of the store comes, the document may have gone on
    // to another.
    document.transaction().on_stored([&catalog, record = document.record()](Result<void>& stored) {
        const Name name = name_of_record(record);
        if (!stored) {
            if (!record.deleted) catalog.unclaim_name(name, record.key);
            return;
        }
        if (record.deleted) return catalog.settle_deletion(record);
        catalog.settle_header(record.key, record.header);
        catalog.settle_name(name, record.key);
    });
}

}  // namespace quire::kernel
