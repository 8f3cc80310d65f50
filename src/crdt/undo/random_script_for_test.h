// Random histories that can be told and shrunk: a script is the numbers that each of its moves
// drew, so that it can be played again, without some of its moves, or with lower numbers.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"

namespace quire::crdt {

using Draws = std::vector<std::uint32_t>;

struct Move {
    Draws between;  // The draws of others, who go first.
    Draws choice;
    std::vector<Draws> edits;
};

using Script = std::vector<Move>;

// Numbers at random, which are noted, or those of a script again.
class Tape {
public:
    Tape() = default;
    explicit Tape(unsigned seed) : random_(std::mt19937(seed)) {}

    bool is_random() const { return random_.has_value(); }
    // Later draws are noted in `part`, or come from there.
    void turn_to(Draws& part) {
        part_ = &part;
        at_ = 0;
    }
    // A number below `n`; 0 where the script says nothing more.
    std::size_t pick(std::size_t n) {
        if (random_) part_->push_back(static_cast<std::uint32_t>((*random_)()));
        return at_ < part_->size() ? (*part_)[at_++] % n : 0;
    }

private:
    std::optional<std::mt19937> random_;
    Draws* part_ = nullptr;
    std::size_t at_ = 0;
};

// Fewer moves, fewer edits and lower numbers, as long as it fails.
class Shrinking {
public:
    using Fails = std::function<bool(Script)>;
    Shrinking(Script script, Fails fails) : script_(std::move(script)), fails_(std::move(fails)) {}

    Script run() {
        do {
            progress_ = false;
            fewer(script_);
            for (Move& move : script_) fewer(move.edits);
            for (Move& move : script_) {
                lower(move.between);
                lower(move.choice);
                for (Draws& edit : move.edits) lower(edit);
            }
        } while (progress_ && plays_left_ > 0);
        return script_;
    }

private:
    // Returns true if the script as it is now still fails.
    bool still_fails() {
        if (plays_left_ == 0) return false;
        --plays_left_;
        if (!fails_(script_)) return false;
        progress_ = true;
        return true;
    }
    template <class Part>
    void fewer(std::vector<Part>& parts) {
        for (std::size_t size = parts.size(); size > 0; size /= 2) {
            for (std::size_t at = 0; at + size <= parts.size();) {
                const std::vector<Part> whole = parts;
                const auto from = parts.begin() + static_cast<std::ptrdiff_t>(at);
                parts.erase(from, from + static_cast<std::ptrdiff_t>(size));
                if (still_fails()) continue;
                parts = whole;
                ++at;
            }
        }
    }
    void lower(Draws& draws) {
        fewer(draws);
        for (std::uint32_t& drawn : draws) {
            const std::uint32_t before = drawn;
            for (std::uint32_t low = 0; low < before && low < 24; ++low) {
                drawn = low;
                if (still_fails()) break;
                drawn = before;
            }
        }
    }

    Script script_;
    Fails fails_;
    std::size_t plays_left_ = 20000;
    bool progress_ = false;
};

// How a play ended: what failed, if anything, and what was done, for people to read.
struct Played {
    std::optional<std::string> failure;
    std::vector<std::string> told;
};

// Plays the moves until one fails: play(move) says what failed, "" for nothing.
template <class Play>
std::optional<std::string> first_failure(Script& script, Play play) {
    for (std::size_t i = 0; i < script.size(); ++i) {
        const std::string failure = play(script[i]);
        if (!failure.empty()) return cat("move ", i, ": ", failure);
    }
    return std::nullopt;
}

// Plays `moves` moves from each of the seeds that SEED (the first) and QUIRE_STEPS (how many) name,
// one of `share` of 1,000 (fewer under a sanitizer) or, with QUIRE_LONG, 20,000. Goes on after a failure, so that one does
// not hide the rest; tells the shrunk scripts of the first few.
template <class Play>
void play_seeds(unsigned share, std::size_t moves, Play play) {
    const auto number = [](const char* name, unsigned otherwise) {
        const char* given = std::getenv(name);
        return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                : otherwise;
    };
    const unsigned first = number("SEED", 1);
    const bool is_long = std::getenv("QUIRE_LONG") != nullptr;
    const unsigned count =
        std::max(1U, number("QUIRE_STEPS", is_long ? 20000 : 1000 / kRoundsShare) / share);
    constexpr unsigned kTold = 5;
    unsigned failed = 0;
    for (unsigned seed = first; seed < first + count; ++seed) {
        Script script(moves);
        Tape random(seed);
        const Played played = play(random, script);
        if (!played.failure) continue;
        if (++failed > kTold) {
            ADD_FAILURE() << "SEED=" << seed << " QUIRE_STEPS=1";
            continue;
        }
        const auto again = [&](Script& shorter) {
            Tape tape;
            return play(tape, shorter);
        };
        Script least = Shrinking(script, [&](Script shorter) {
                           return again(shorter).failure.has_value();
                       }).run();
        const Played shrunk = again(least);
        std::string told;
        for (const std::string& line : shrunk.told) told += "    " + line + "\n";
        ADD_FAILURE() << "SEED=" << seed << " QUIRE_STEPS=1\n"
                      << *played.failure << "\nat least:\n"
                      << told << shrunk.failure.value_or("(not the shrunk script)");
    }
}

}  // namespace quire::crdt
