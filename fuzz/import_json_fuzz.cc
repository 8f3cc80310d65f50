// A document takes JSON updates whole or stays as it was, whatever they say, and the JSON that it
// writes of them reads back the same.
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "codec/budget.h"
#include "codec/json_updates.h"
#include "fuzz/import.h"
#include "fuzz/json_updates.h"
#include "fuzz/mutator.h"
#include "json/json.h"

using namespace quire;

#ifdef QUIRE_LIBFUZZER
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
    return fuzz::mutate_bytes(data, size, max_size, seed, fuzz::mutated_json_updates);
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto json = json::parse(as_text({data, size}));
    if (!json) return 0;
    fuzz::import_both(codec::Budget(size).may_hold(),
                      [&] { return codec::decode_json_updates(*json); });
    if (const auto changes = codec::decode_json_updates(*json))
        fuzz::check_json_round_trip(*changes);
    return 0;
}
