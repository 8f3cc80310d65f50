// A document takes any updates whole or stays as it was. The checksum is made to fit first, and
// mutations are of changes and ops.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "codec/envelope.h"
#include "codec/json_updates.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "fuzz/import.h"
#include "fuzz/memory_bound.h"
#include "fuzz/mutator.h"

using namespace quire;

namespace {

Bytes resealed(std::span<const std::uint8_t> data) {
    Bytes blob(data.begin(), data.end());
    if (blob.size() < codec::kEnvelopeSize) return blob;
    const std::uint32_t checksum = codec::envelope_checksum(std::span(blob).subspan(20));
    for (std::size_t i = 0; i < 4; ++i)
        blob[16 + i] = static_cast<std::uint8_t>(checksum >> (8 * i));
    return blob;
}

Result<std::vector<crdt::Change>> changes_of(const Bytes& blob) {
    return TRY(codec::decode_updates(blob)).changes();
}

// Imports the blob as a batch that views it, twice, and as objects of its own.
void import_batch(const Bytes& blob) {
    auto batch = codec::decode_updates(blob);
    const auto changes = changes_of(blob);
    CHECK(batch.has_value() == changes.has_value());
    if (!batch) return;
    CHECK(codec::encode_updates(*batch) == codec::encode_updates(*changes));
    crdt::Doc one(1000);
    crdt::Doc other(1000);
    const auto imported = one.import(std::move(*batch));
    CHECK(imported.has_value() == other.import(*changes).has_value());
    if (!imported) return;
    CHECK(one.import(codec::decode_updates(blob).value())->success.empty());
    CHECK(one.version() == other.version() && one.history().waiting() == other.history().waiting());
    CHECK(codec::encode_updates(one.changes_since({})) ==
          codec::encode_updates(other.changes_since({})));
}

}  // namespace

#ifdef QUIRE_LIBFUZZER
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
    return fuzz::mutate_bytes(data, size, max_size, seed,
                              [](std::span<const std::uint8_t> input, fuzz::Chance& chance) {
                                  auto changes = changes_of(resealed(input));
                                  if (!changes) return Bytes();
                                  fuzz::mutate(*changes, chance);
                                  return codec::encode_updates(*changes);
                              });
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes blob = resealed({data, size});
    fuzz::import_both(fuzz::most_memory(blob), [&] { return changes_of(blob); });
    import_batch(blob);
    if (const auto changes = changes_of(blob))
        static_cast<void>(codec::encode_json_updates(*changes, {}));
    return 0;
}
