// @ts-check
// WebCrypto, which is asynchronous and twenty times as fast as a cipher in the wasm.

const { subtle } = crypto;
const INFO = new TextEncoder().encode("oncekey seal 1");

/** HKDF-SHA-256 (RFC 5869). @param {Uint8Array<ArrayBuffer>} secret @param {Uint8Array<ArrayBuffer>} salt */
export async function deriveSealKey(secret, salt) {
  const base = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info: INFO }, base, 256));
}

/** @param {Uint8Array<ArrayBuffer>} key @param {KeyUsage} usage */
const cipher = (key, usage) => subtle.importKey("raw", key, "AES-GCM", false, [usage]);

/**
 * AES-256-GCM, each part under a nonce of its own: the nonces and what is sealed, one after the other.
 * @param {Uint8Array<ArrayBuffer>} key
 * @param {Uint8Array<ArrayBuffer>[]} parts additional data and plain bytes, one after the other
 */
export async function sealParts(key, parts) {
  const by = await cipher(key, "encrypt");
  const sealed = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const bytes = await subtle.encrypt({ name: "AES-GCM", iv, additionalData: parts[at] }, by, parts[at + 1]);
    sealed.push(iv, new Uint8Array(bytes));
  }
  return sealed;
}

/**
 * Opens what `sealParts` gave.
 * @param {Uint8Array<ArrayBuffer>} key
 * @param {Uint8Array<ArrayBuffer>[]} parts additional data, nonce and sealed bytes, one after the other
 */
export async function openParts(key, parts) {
  const by = await cipher(key, "decrypt");
  const opened = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const how = { name: "AES-GCM", iv: parts[at + 1], additionalData: parts[at] };
    opened.push(new Uint8Array(await subtle.decrypt(how, by, parts[at + 2])));
  }
  return opened;
}
