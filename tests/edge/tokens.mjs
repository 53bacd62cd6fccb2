// @ts-check
// Tokens made by a library of their own, and an issuer that counts who asks for its keys.

import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { SignJWT, exportJWK, generateKeyPair } from "jose";

/** @typedef {import("./gate.mjs").Change} Change @typedef {[string, string][]} Lines @typedef {Record<string, unknown>} Claims */
/** @typedef {{ alg: string, kid: string, jwk: import("jose").JWK, privateKey: CryptoKey }} Pair */

export const ISSUER = "https://id.test/";
export const AUDIENCE = "shop";
export const SECRET = "what-only-the-issuer-and-the-gate-know";
/** Lets a gate's clock go ahead, among others. */
export const AHEAD = { ONCEKEY_AROUND: fileURLToPath(new URL("ahead", import.meta.url)) };
export const seconds = () => Math.floor(Date.now() / 1000);

/** @param {string} alg @param {string} kid @returns {Promise<Pair>} */
async function pairOf(alg, kid) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

/** Pairs of keys by names of their own; three of them have one `kid`. */
export async function pairsOfKeys() {
  const [r, e, d, other, two, twin, twoE, p, e384, r512, next] = await Promise.all([
    pairOf("RS256", "r"), pairOf("ES256", "e"), pairOf("EdDSA", "d"), pairOf("RS256", "other"), pairOf("RS256", "two"), pairOf("RS256", "two"),
    pairOf("ES256", "two"), pairOf("PS256", "p"), pairOf("ES384", "e384"), pairOf("RS512", "r512"), pairOf("RS256", "next"),
  ]);
  return { r, e, d, other, two, twin, twoE, p, e384, r512, next };
}

/** @param {Claims} [more] @returns {Claims} */
export const claims = (more) => ({ iss: ISSUER, aud: AUDIENCE, sub: "ann", exp: seconds() + 300, jti: randomUUID(), ...more });
/** @param {Pick<Pair, "alg" | "kid"> & { privateKey: CryptoKey | Uint8Array }} pair @param {Claims} [more] @param {object} [head] */
export const sign = ({ alg, kid, privateKey }, more, head) =>
  new SignJWT(/** @type {any} */ (claims(more))).setProtectedHeader({ alg, kid, typ: "JWT", ...head }).sign(privateKey);
/** @param {string} secret */
export const hmac = (secret) => ({ alg: "HS256", kid: "", privateKey: new TextEncoder().encode(secret) });
/** @param {string} token @returns {Lines} */
export const bearer = (token) => [["Authorization", `Bearer ${token}`]];
/** @param {Lines} more @param {Change} [change] @returns {Change} */
export const by = (more, change) => ({ caller: null, more, ...change });

/** An issuer's keys at a path of its own. @param {import("./origin.mjs").Origin} issuer @param {string} path */
export const keysAt = (issuer, path) => ({
  url: issuer.url + path,
  fetches: () => issuer.effects(path),
  /** @param {import("./origin.mjs").Step[]} steps */
  plan: (...steps) => issuer.plan(path, ...steps),
  /** @param {Pair[]} pairs */
  serve: (...pairs) => issuer.plan(path, { status: 200, content: JSON.stringify({ keys: pairs.map(({ jwk }) => jwk) }) }),
});

/** @param {string} url @param {object} [more] */
export const jwks = (url, more) => ({ jwks: url, issuer: ISSUER, audience: AUDIENCE, ...more });
