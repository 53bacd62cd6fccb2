// @ts-check
// Chance: random bits, and keys nobody has used.

export const randomBits = () => crypto.getRandomValues(new Uint32Array(1))[0];
/** A UUID of version 4 (RFC 9562 5.4). `crypto.randomUUID` would need a secure context. */
export const mintUuid = () =>
  "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) => (+digit ^ (randomBits() & (15 >> (+digit / 4)))).toString(16));
