#include "fuzz/json_updates.h"

#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "codec/json_updates.h"
#include "json/json.h"

namespace quire::fuzz {

Bytes mutated_json_updates(std::span<const std::uint8_t> input, Chance& chance) {
    auto json = json::parse(as_text(input));
    if (!json) return {};
    auto changes = codec::decode_json_updates(*json);
    if (changes && chance.one_in(2)) {
        mutate(*changes, chance);
        if (auto other = codec::encode_json_updates(*changes, {})) json = std::move(*other);
    } else {
        mutate(*json, chance);
    }
    const std::string text = json::write(*json);
    return Bytes(text.begin(), text.end());
}

void check_json_round_trip(const std::vector<crdt::Change>& changes) {
    const auto written = codec::encode_json_updates(changes, {}, codec::JsonPeers::inline_ids);
    if (!written) return;
    const auto again = codec::decode_json_updates(*written);
    CHECK(again.has_value());
    const auto same = codec::encode_json_updates(*again, {}, codec::JsonPeers::inline_ids);
    CHECK(same && *same == *written);
}

}  // namespace quire::fuzz
