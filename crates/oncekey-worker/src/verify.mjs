// @ts-check
// Signatures, verified by the platform.

/**
 * Whether the text is signed so by the key; rejects where the key is none of the algorithm's.
 * @param {string} parameters the algorithm's, as JSON @param {string} jwk the key, as JSON
 * @param {Uint8Array<ArrayBuffer>} signature @param {string} signed
 */
export async function verifySignature(parameters, jwk, signature, signed) {
  const algorithm = JSON.parse(parameters);
  const key = await crypto.subtle.importKey("jwk", JSON.parse(jwk), algorithm, false, ["verify"]);
  return crypto.subtle.verify(algorithm, key, signature, new TextEncoder().encode(signed));
}
