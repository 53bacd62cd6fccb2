// @ts-check
// Chance: random bits, and keys that nobody has used for where there is no wasm to mint them.

export const randomBits = () => crypto.getRandomValues(new Uint32Array(1))[0];
/** A UUID of version 4 (RFC 9562 5.4) with 120 random bits. `crypto.randomUUID` would need a secure context. */
export const mintUuid = () =>
  "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx".replace(/x/g, () => (randomBits() >>> 28).toString(16));
