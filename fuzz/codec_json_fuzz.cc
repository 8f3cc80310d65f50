// A peer may send any JSON: updates that can be read are written and read back unchanged; anything
// else is refused as corrupt or unsupported. No document is made, so this runs far more often than
// import_json.
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "codec/budget.h"
#include "codec/json_updates.h"
#include "fuzz/json_updates.h"
#include "fuzz/memory_bound.h"
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
    const auto changes = [&] {
        const fuzz::MemoryBound bound(codec::Budget(size).may_hold());
        return codec::decode_json_updates(*json);
    }();
    if (!changes) {
        const Errc code = changes.error().code();
        CHECK(code == Errc::corrupt || code == Errc::unsupported);
        return 0;
    }
    fuzz::check_json_round_trip(*changes);
    return 0;
}
