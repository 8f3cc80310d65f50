#include "crdt/ids/change.h"

#include <cstdlib>

#include "base/utf8.h"

namespace quire::crdt {

Counter atom_count(const OpContent& content) {
    if (const auto* insert = std::get_if<TextInsert>(&content)) {
        return static_cast<Counter>(utf8::count_code_points(insert->text));
    }
    if (const auto* insert = std::get_if<ListInsert>(&content)) {
        return static_cast<Counter>(insert->values.size());
    }
    if (const auto* erase = std::get_if<SequenceDelete>(&content)) return std::abs(erase->len);
    return 1;
}

Counter atom_count(const Change& change) {
    Counter total = 0;
    for (const Op& op : change.ops) total += atom_count(op.content);
    return total;
}

}  // namespace quire::crdt
