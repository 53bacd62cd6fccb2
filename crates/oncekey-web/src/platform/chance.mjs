// @ts-check
// Chance: random bits, and keys that nobody has used for where there is no wasm to mint them.

export const randomBits = () => crypto.getRandomValues(new Uint32Array(1))[0];
/** A UUID of version 7 (RFC 9562 5.7) with 72 random bits. `crypto.randomUUID` would need a secure context. */
export const mintUuid = () =>
  "tttttttt-tttt-7xxx-8xxx-xxxxxxxxxxxx".replace(/[tx]/g, (kind, at) =>
    kind > "t" ? (randomBits() >>> 28).toString(16) : Date.now().toString(16).padStart(12, "0")[at - +(at > 8)],
  );
