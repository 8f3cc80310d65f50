// The calls for a bad day, of a store that has none: those in memory cannot be damaged.
#include "store/store.h"

namespace quire::store {

Result<ReadableDocument> Store::load_readable(DocumentKey document) {
    return ReadableDocument{TRY(load(document))};
}

Result<std::vector<StoreFault>> Store::faults() {
    return std::vector<StoreFault>();
}

Result<std::optional<TextRecord>> Store::text(DocumentKey) {
    return std::optional<TextRecord>();
}

Result<void> Store::reset_texts() {
    return {};
}

Result<void> Store::back_up(const std::string& file) {
    return fail(Errc::unsupported, "unsupported", "a store in memory has no backup",
                {{"file", file}});
}

}  // namespace quire::store
