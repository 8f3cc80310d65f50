// The lengths of random runs and of tests that kill programs.
//
// Under a sanitizer each round costs some ten times as much, and CI runs the same tests without one
// as well. So the sanitized half runs a share of the rounds; QUIRE_LONG and the settings of a test
// run as many as they say in either half.
#pragma once

namespace quire {

// The number by which a random test divides its rounds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kRoundsShare = 4;
#else
inline constexpr int kRoundsShare = 1;
#endif

}  // namespace quire
