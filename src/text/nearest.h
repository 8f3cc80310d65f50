// Nearest: the known word that is most like a mistyped one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace quire::text {

// Compares by changed letters: up to two, or a third of a long word; more make another word.
// O(length²) for each candidate. What it is given outlives it.
class Nearest {
public:
    explicit Nearest(std::string_view word);
    void offer(std::string_view candidate);
    // The candidate with the fewest changes; "" if none is near.
    std::string_view best() const { return best_; }
    // " (did you mean 'best'?)", or "".
    std::string suggestion() const;

private:
    std::string_view word_;
    std::string_view best_;
    std::size_t least_;  // So many changed letters make another word.
};

}  // namespace quire::text
