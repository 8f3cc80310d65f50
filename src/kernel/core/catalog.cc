// The catalog: names and keys of all documents under one lock; a document in memory is made when it
// is first asked for. Each call is O(log documents), but for those that list.
#include "kernel/core/catalog.h"

#include "base/check.h"

namespace quire::kernel {

Catalog::Catalog(const Parts& parts, std::vector<store::DocumentRecord> known) : parts_(parts) {
    state_.with([&](State& state) {
        for (store::DocumentRecord& record : known) {
            if (record.deleted) continue;
            state.names[{record.kind, record.name}] = record.key;
            const store::DocumentKey key = record.key;
            state.entries[key].record = std::move(record);
        }
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

std::shared_ptr<LiveDocument> Catalog::find(const std::string& kind, const std::string& name) {
    return state_.with([&](State& state) -> std::shared_ptr<LiveDocument> {
        const auto at = state.names.find({kind, name});
        return at == state.names.end() ? nullptr : live_in(state, at->second);
    });
}

std::shared_ptr<LiveDocument> Catalog::find(store::DocumentKey key) {
    return state_.with([&](State& state) { return live_in(state, key); });
}

std::shared_ptr<LiveDocument> Catalog::find_or_make(const std::string& kind,
                                                    const std::string& name) {
    return state_.with([&](State& state) {
        const auto at = state.names.find({kind, name});
        if (at != state.names.end()) return live_in(state, at->second);
        store::DocumentRecord record{parts_.store.reserve_document_key(), kind, name, false, {}};
        Entry& entry = state.entries[record.key];
        state.names[{kind, name}] = record.key;
        entry.record = record;
        entry.live = std::make_shared<LiveDocument>(parts_, std::move(record), true);
        return entry.live;
    });
}

std::optional<std::vector<std::shared_ptr<LiveDocument>>> Catalog::make_held(
    std::vector<store::DocumentRecord>& records) {
    using Made = std::optional<std::vector<std::shared_ptr<LiveDocument>>>;
    return state_.with([&](State& state) -> Made {
        for (const store::DocumentRecord& each : records) {
            if (state.names.contains({each.kind, each.name})) return std::nullopt;
        }
        Made made(std::in_place);
        for (store::DocumentRecord& each : records) {
            each.key = parts_.store.reserve_document_key();
            CHECK(state.names.emplace(std::pair(each.kind, each.name), each.key).second);
            Entry& entry = state.entries[each.key];
            entry.record = each;
            entry.live = std::make_shared<LiveDocument>(parts_, each, true);
            entry.live->hold();  // Nobody else knows it yet.
            made->push_back(entry.live);
        }
        return made;
    });
}

bool Catalog::is_taken(const std::string& kind, const std::string& name) const {
    return state_.with([&](const State& state) { return state.names.contains({kind, name}); });
}

bool Catalog::State::has_name(store::DocumentKey key) const {
    const auto entry = entries.find(key);
    if (entry == entries.end()) return false;
    const auto name = names.find({entry->second.record.kind, entry->second.record.name});
    return name != names.end() && name->second == key;
}

void Catalog::State::forget_name(store::DocumentKey key) {
    if (!has_name(key)) return;
    const store::DocumentRecord& record = entries.at(key).record;
    names.erase({record.kind, record.name});
}

bool Catalog::has_name(store::DocumentKey key) const {
    return state_.with([&](const State& state) { return state.has_name(key); });
}

void Catalog::forget_name(store::DocumentKey key) {
    state_.with([&](State& state) { state.forget_name(key); });
}

void Catalog::drop(store::DocumentKey key) {
    state_.with([&](State& state) {
        state.forget_name(key);
        state.entries.erase(key);
    });
}

// During a rename a document has both names, so that calls under either wait on its strand.
bool Catalog::claim_name(const std::string& kind, const std::string& name, store::DocumentKey key) {
    return state_.with([&](State& state) {
        return state.names.try_emplace({kind, name}, key).first->second == key;
    });
}

void Catalog::unclaim_name(const std::string& kind, const std::string& name,
                           store::DocumentKey key) {
    state_.with([&](State& state) {
        if (state.entries.at(key).record.name == name) return;
        const auto at = state.names.find({kind, name});
        if (at != state.names.end() && at->second == key) state.names.erase(at);
    });
}

void Catalog::settle_name(const std::string& kind, const std::string& name,
                          store::DocumentKey key) {
    state_.with([&](State& state) {
        std::string& known = state.entries.at(key).record.name;
        if (known == name) return;
        state.names.erase({kind, known});
        state.names[{kind, name}] = key;
        known = name;
    });
}

void Catalog::exchange_names(const std::string& kind, const std::string& one,
                             const std::string& other) {
    state_.with([&](State& state) {
        store::DocumentKey& first = state.names.at({kind, one});
        store::DocumentKey& second = state.names.at({kind, other});
        std::swap(first, second);
        state.entries.at(first).record.name = one;
        state.entries.at(second).record.name = other;
    });
}

std::vector<store::DocumentKey> Catalog::keys() const {
    return state_.with([](const State& state) {
        std::vector<store::DocumentKey> keys;
        for (const auto& [key, entry] : state.entries) {
            if (state.has_name(key)) keys.push_back(key);
        }
        return keys;
    });
}

std::vector<Catalog::Known> Catalog::known(const std::string& kind,
                                           const std::string& prefix) const {
    return state_.with([&](const State& state) {
        std::vector<Known> all;
        for (auto at = state.names.lower_bound({kind, prefix}); at != state.names.end(); ++at) {
            const auto& [document_kind, name] = at->first;
            if (document_kind != kind || !name.starts_with(prefix)) break;
            const Entry& entry = state.entries.at(at->second);
            // One that is being moved goes by two names.
            if (entry.record.name == name) all.push_back({entry.record, entry.live != nullptr});
        }
        return all;
    });
}

std::vector<std::shared_ptr<LiveDocument>> Catalog::live() const {
    return state_.with([](const State& state) {
        std::vector<std::shared_ptr<LiveDocument>> live;
        for (const auto& [key, entry] : state.entries) {
            if (entry.live != nullptr) live.push_back(entry.live);
        }
        return live;
    });
}

std::size_t Catalog::size() const {
    return state_.with([](const State& state) { return state.names.size(); });
}

}  // namespace quire::kernel
