// A document takes JSON updates whole or stays as it was, whatever they say, and the JSON that it
// writes of them reads back the same.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "codec/json_updates.h"
#include "fuzz/import.h"
#include "fuzz/memory_bound.h"
#include "fuzz/mutator.h"
#include "json/json.h"

using namespace quire;

#ifdef QUIRE_LIBFUZZER
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
    return fuzz::mutate_bytes(data, size, max_size, seed,
                              [](std::span<const std::uint8_t> input, fuzz::Chance& chance) {
                                  auto json = json::parse(as_text(input));
                                  if (!json) return Bytes();
                                  auto changes = codec::decode_json_updates(*json);
                                  if (changes && chance.one_in(2)) {
                                      fuzz::mutate(*changes, chance);
                                      if (auto other = codec::encode_json_updates(*changes, {}))
                                          json = std::move(*other);
                                  } else {
                                      fuzz::mutate(*json, chance);
                                  }
                                  const std::string text = json::write(*json);
                                  return Bytes(text.begin(), text.end());
                              });
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto json = json::parse(as_text({data, size}));
    if (!json) return 0;
    fuzz::import_both(codec::Budget(size).may_hold(),
                      [&] { return codec::decode_json_updates(*json); });
    const auto changes = codec::decode_json_updates(*json);
    if (!changes) return 0;
    const auto written = codec::encode_json_updates(*changes, {}, codec::JsonPeers::inline_ids);
    if (!written) return 0;
    const auto again = codec::decode_json_updates(*written);
    CHECK(again.has_value());
    const auto same = codec::encode_json_updates(*again, {}, codec::JsonPeers::inline_ids);
    CHECK(same && *same == *written);
    return 0;
}
