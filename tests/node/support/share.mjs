// The lengths of random runs. Under a sanitizer each round costs some ten times as much, and CI runs the same tests
// without one as well, so that half runs a share of the rounds: QUIRE_ROUNDS_SHARE, which cmake/Suite.cmake sets.
// QUIRE_LONG runs all of them in either half.
export const roundsShare = process.env.QUIRE_LONG ? 1 : Number(process.env.QUIRE_ROUNDS_SHARE ?? 1);

export const share = (rounds) => Math.ceil(rounds / roundsShare);
