//! The platform's cipher.

use js_sys::{Array, Promise, Uint8Array};
use oncekey::key::seal::{SealKey, SealMaterial};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};

use crate::platform::{bindings::await_promise, failure::Failure};

#[wasm_bindgen(module = "/src/seal.mjs")]
extern "C" {
    #[wasm_bindgen(js_name = deriveSealKey)]
    fn derive_seal_key(secret: &Uint8Array, salt: &Uint8Array) -> Promise;
    #[wasm_bindgen(js_name = sealParts)]
    fn seal_parts(key: &Uint8Array, parts: &Array) -> Promise;
    #[wasm_bindgen(js_name = openParts)]
    fn open_parts(key: &Uint8Array, parts: &Array) -> Promise;
}

/// The key of a secret and what it is derived from beside that.
pub async fn derive_key(secret: &[u8], material: &SealMaterial) -> Result<SealKey, Failure> {
    let derived = derive_seal_key(&Uint8Array::from(secret), &Uint8Array::from(material.as_bytes()));
    let bytes: Uint8Array = await_promise(derived).await?;
    SealKey::of(&bytes.to_vec()).map_err(|invalid| JsValue::from_str(&invalid.to_string()).into())
}

/// Seals each part, given as what it belongs to and its bytes; gives the nonce and the sealed bytes of each.
pub async fn seal(key: &SealKey, parts: &[(&[u8], Uint8Array)]) -> Result<Vec<(Vec<u8>, Uint8Array)>, Failure> {
    let given = Array::new();
    for (belongs, plain) in parts {
        given.push(&Uint8Array::from(*belongs));
        given.push(plain);
    }
    let sealed: Array = await_promise(seal_parts(&Uint8Array::from(key.as_bytes()), &given)).await?;
    let at = |index: u32| sealed.get(index).unchecked_into::<Uint8Array>();
    Ok((0..sealed.length() / 2).map(|part| (at(2 * part).to_vec(), at(2 * part + 1))).collect())
}

/// Opens each part, given as what it belongs to, its nonce and the sealed bytes.
pub async fn open(key: &SealKey, parts: &[(&[u8], &[u8], Uint8Array)]) -> Result<Vec<Uint8Array>, Failure> {
    let given = Array::new();
    for (belongs, nonce, sealed) in parts {
        given.push(&Uint8Array::from(*belongs));
        given.push(&Uint8Array::from(*nonce));
        given.push(sealed);
    }
    let opened: Array = await_promise(open_parts(&Uint8Array::from(key.as_bytes()), &given)).await?;
    Ok(opened.iter().map(JsCast::unchecked_into).collect())
}
