// What documents are found by, looked through one after another: for the store's twins in memory.
// Its words are runs of ASCII letters and digits, and of whatever is not ASCII; accents count.
#pragma once

#include <map>
#include <vector>

#include "store/store.h"

namespace quire::store {

void keep_texts(std::map<DocumentKey, TextRecord>& texts, const std::vector<TextRecord>& records);
std::vector<TextHit> scan_texts(const std::map<DocumentKey, TextRecord>& texts,
                                const TextQuery& query);

}  // namespace quire::store
