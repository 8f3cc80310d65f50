// Any bytes may claim to be a cursor: one that can be read is written back the same and resolved in
// a document; anything else is refused.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "codec/cursor.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/text.h"

using namespace quire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto cursor = codec::decode_cursor({data, size});
    if (!cursor) {
        CHECK(cursor.error().code() == Errc::corrupt);
        return 0;
    }
    const auto again = codec::decode_cursor(codec::encode_cursor(*cursor));
    CHECK(again && *again == *cursor);
    crdt::Doc doc(1);
    const crdt::Handle text = doc.open(crdt::ContainerId::root("t", crdt::ContainerKind::text));
    CHECK(doc.text(text).insert({0}, "abcdef"));
    CHECK(doc.text(text).erase({1}, {2}));
    doc.commit();
    const auto place = crdt::resolve(doc, *cursor);
    if (place) CHECK(place->pos <= 4);
    return 0;
}
