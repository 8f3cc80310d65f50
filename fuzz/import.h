// An import keeps these promises, whatever comes in: a refusal changes nothing and is repeated,
// changes that were taken are sound and can be sent on, and memory stays within its bounds.
#pragma once

#include <cstddef>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "crdt/ids/change.h"

namespace quire::crdt {
class Doc;
}

namespace quire::fuzz {

using Decode = Function<Result<std::vector<crdt::Change>>()>;

// Decodes and imports twice each into an empty document and into one with something in it. `most`
// is the most memory that this may take at once. CHECKs.
void import_both(std::size_t most, Decode decode);

// The input is damaged, or says what we do not read: the two ways in which it may be refused.
bool is_refusal(const Error& error);

// Returns true if a value or a style is NaN, which is not equal to itself.
bool has_nan(crdt::Doc& doc);

// A snapshot has no room for some containers of kinds that are unknown here.
bool lacks_room(const Error& error);

}  // namespace quire::fuzz
