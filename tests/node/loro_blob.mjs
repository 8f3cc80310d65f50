// Changing a byte inside a blob of Loro's, with a checksum that fits again.

const [P1, P2, P3, P4, P5] = [2654435761, 2246822519, 3266489917, 668265263, 374761393];
const rotate = (x, by) => ((x << by) | (x >>> (32 - by))) >>> 0;
const times = (a, b) => Math.imul(a, b) >>> 0;

// xxHash32.
function xxh32(bytes, seed) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    let hash = (seed + P5) >>> 0;
    if (bytes.length >= 16) {
        const lanes = [seed + P1 + P2, seed + P2, seed, seed - P1].map((x) => x >>> 0);
        for (; at + 16 <= bytes.length; at += 16) {
            for (let i = 0; i < 4; ++i) {
                const mixed = (lanes[i] + times(view.getUint32(at + 4 * i, true), P2)) >>> 0;
                lanes[i] = times(rotate(mixed, 13), P1);
            }
        }
        hash = (rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18)) >>> 0;
    }
    hash = (hash + bytes.length) >>> 0;
    for (; at + 4 <= bytes.length; at += 4) {
        hash = times(rotate((hash + times(view.getUint32(at, true), P3)) >>> 0, 17), P4);
    }
    for (; at < bytes.length; ++at) hash = times(rotate((hash + times(bytes[at], P5)) >>> 0, 11), P1);
    hash = times(hash ^ (hash >>> 15), P2);
    hash = times(hash ^ (hash >>> 13), P3);
    return (hash ^ (hash >>> 16)) >>> 0;
}

// `blob` with the byte `offset` into the only place where `pattern` stands replaced. Throws when there is
// not exactly one such place.
export function mutate(blob, pattern, offset, byte) {
    const changed = Buffer.from(blob);
    const needle = Buffer.from(pattern);
    const at = changed.indexOf(needle);
    if (at < 0 || changed.indexOf(needle, at + 1) >= 0) throw new Error(`no single place for ${needle.toString("hex")}`);
    changed[at + offset] = byte;
    return resealed(changed);
}

// The same bytes with an outer checksum that fits them.
export function resealed(bytes) {
    const changed = Buffer.from(bytes);
    changed.writeUInt32LE(xxh32(changed.subarray(20), 0x4f524f4c), 16);
    return new Uint8Array(changed);
}
