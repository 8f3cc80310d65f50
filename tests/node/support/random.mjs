// mulberry32: the same numbers for the same seed. random(n) is one of 0 to n - 1.
export function randomness(state) {
    return (below) => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) % below;
    };
}
