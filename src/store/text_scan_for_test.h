// Full-text search by scanning all documents, for the stores in memory. Its words are runs of
// ASCII letters and digits and of all non-ASCII characters; accents count.
#pragma once

#include <map>
#include <vector>

#include "store/store.h"

namespace quire::store {

void keep_texts(std::map<DocumentKey, TextRecord>& texts, const std::vector<TextRecord>& records);
std::vector<TextHit> scan_texts(const std::map<DocumentKey, TextRecord>& texts,
                                const TextQuery& query);

}  // namespace quire::store
