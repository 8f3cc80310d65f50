// For messages about a name that is not known. Words of more than 64 bytes are not compared,
// because the cost is quadratic.
#include "text/nearest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/concat.h"

namespace quire::text {
namespace {

// The number of single-letter changes between two words (Wagner and Fischer, one row at a time).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

}  // namespace

Nearest::Nearest(std::string_view word)
    : word_(word), least_(std::max<std::size_t>(3, word.size() / 3 + 1)) {}

void Nearest::offer(std::string_view candidate) {
    constexpr std::size_t kLongest = 64;
    if (word_.size() > kLongest || candidate.size() > kLongest) return;
    const std::size_t apart = distance(word_, candidate);
    if (apart >= least_) return;
    least_ = apart;
    // The first of equally near ones stays.
    best_ = candidate;
}

std::string Nearest::suggestion() const {
    return best_.empty() ? std::string() : cat(" (did you mean '", best_, "'?)");
}

}  // namespace quire::text
