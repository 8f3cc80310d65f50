// Which random scripts a test runs; a seed names one.
//
// SEED=n: that one alone. Else QUIRE_SCRIPTS=n of them (`usual`, or `long` with QUIRE_LONG=1), those from SEED_BASE=n
// on. Without SEED_BASE they are the same each time, from `first` on, but that a long run takes other ones each day.
import { share } from "./share.mjs";

const number = (name) => (process.env[name] === undefined ? undefined : Number(process.env[name]));

export function seeds(first, { usual, long }) {
    const only = number("SEED");
    if (only !== undefined) return { base: only, count: 1 };
    const isLong = Boolean(process.env.QUIRE_LONG);
    const today = Math.floor(Date.now() / 86_400_000) * 10_000;
    return { base: number("SEED_BASE") ?? (isLong ? today : first), count: number("QUIRE_SCRIPTS") ?? (isLong ? long : share(usual)) };
}
