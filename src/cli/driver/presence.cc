// ephemeral.*: what peers show of themselves for a while, in stores by name. Times are those of the
// wall clock, because peers compare them.
//
// An entry is {key: value} with the time when it was set, and the newer one wins when stores are
// merged. Nothing here is part of a document's history.
#include "cli/driver/presence.h"

#include <array>
#include <optional>

#include "base/concat.h"
#include "cli/driver/operation.h"
#include "codec/presence.h"

namespace quire::cli {

Result<void> EngineStores::add(const std::string& name, std::int64_t timeout_ms) {
    if (!stores_.try_emplace(name, timeout_ms).second) {
        return fail(Errc::conflict, "store_exists",
                    cat("there is a store ", name, " already; `ephemeral.drop` it first"));
    }
    return {};
}

Result<crdt::Presence*> EngineStores::find(const Map& request) {
    const std::string name = TRY(name_in(request, "store"));
    const auto at = stores_.find(name);
    if (at == stores_.end()) {
        return fail(Errc::not_found, "no_such_store",
                    cat("there is no store ", name, "; `ephemeral.new` makes one"));
    }
    return &at->second;
}

template <>
struct Argument<std::reference_wrapper<crdt::Presence>> {
    static constexpr bool kIsNamed = false;
    static Result<std::reference_wrapper<crdt::Presence>> read(EngineCall& call) {
        return std::ref(*TRY(call.documents.stores().find(call.members)));
    }
};

namespace {

constexpr std::size_t kTimeoutMs = 30'000;  // As in Loro.

Result<void> make_store(EngineDocuments& documents, const std::string& name,
                        std::optional<std::size_t> timeout_ms) {
    return documents.stores().add(name, static_cast<std::int64_t>(timeout_ms.value_or(kTimeoutMs)));
}

// The store is found first, while the request still has its name; its absence is an error.
Result<void> drop_store(EngineDocuments& documents, crdt::Presence&, const std::string& name) {
    documents.stores().drop(name);
    return {};
}

Result<void> set_entry(EngineDocuments& documents, crdt::Presence& store, const std::string& key,
                       Value value) {
    store.set(key, std::move(value), documents.wall_ms());
    return {};
}

Result<void> erase_entry(EngineDocuments& documents, crdt::Presence& store,
                         const std::string& key) {
    store.erase(key, documents.wall_ms());
    return {};
}

// All entries, or the one with the key.
Result<Bytes> encode_entries(EngineDocuments& documents, crdt::Presence& store,
                             const std::optional<std::string>& key) {
    const std::int64_t now = documents.wall_ms();
    return codec::encode_presence(key ? store.entries(now, *key) : store.entries(now));
}

Result<void> apply_entries(EngineDocuments& documents, crdt::Presence& store, const Bytes& bytes) {
    store.merge(TRY(codec::decode_presence(bytes)), documents.wall_ms());
    return {};
}

Result<Map> show_states(EngineDocuments& documents, crdt::Presence& store) {
    return store.states(documents.wall_ms());
}

constexpr std::array kPresenceOps = {
    engine_op<make_store>("ephemeral.new", "store", "timeout_ms"),
    engine_op<drop_store>("ephemeral.drop", "store"),
    engine_op<set_entry>("ephemeral.set", "key", "value"),
    engine_op<erase_entry>("ephemeral.delete", "key"),
    engine_op<encode_entries>("ephemeral.encode", "key"),
    engine_op<apply_entries>("ephemeral.apply", "bytes"),
    engine_op<show_states>("ephemeral.states"),
};

}  // namespace

std::span<const EngineOp> engine_presence_ops() {
    return kPresenceOps;
}

}  // namespace quire::cli
