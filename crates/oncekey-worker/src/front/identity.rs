//! Who is calling: tokens are verified where a key is used, each once a request.
//!
//! Keys of issuers are held as data for the isolate's requests. A request that needs what another one fetches asks again
//! after a moment: a promise belongs to the request that made it.

use std::{cell::RefCell, time::Duration};

use oncekey::{
    answer::{log::fault_line, refusal::Refusal},
    http::target::UrlParts,
    identity::{
        Identity, InvalidToken, JudgedToken, KeySet, SignatureCheck, Verifier,
        held::{FETCH_LIMIT, HeldKeys, KeysStep, LARGEST_SET, MOMENT},
    },
    key::{caller::InvalidCaller, scopes::CallerScopes},
    policy::CallerParts,
};
use worker::Delay;

use crate::{
    front::incoming::{Incoming, Stop},
    platform::{
        bindings::log_error,
        clock::now_millis,
        identity::{client_certificate, fetch_key_set, is_signed},
    },
};

thread_local! {
    /// Keys of issuers, by their URLs.
    static KEYS: RefCell<Vec<(String, HeldKeys)>> = const { RefCell::new(Vec::new()) };
}

fn with_keys<T>(url: &str, then: impl FnOnce(&mut HeldKeys) -> T) -> T {
    KEYS.with_borrow_mut(|all| {
        if let Some((_, held)) = all.iter_mut().find(|(known, _)| known == url) {
            return then(held);
        }
        let mut held = HeldKeys::default();
        let came = then(&mut held);
        all.push((url.to_owned(), held));
        came
    })
}

/// A fetch under way; where its request goes before the end, another one may begin.
struct Fetching<'a>(Option<&'a str>);

impl Fetching<'_> {
    fn end(mut self, keys: Option<KeySet>) {
        if let Some(url) = self.0.take() {
            with_keys(url, |held| held.end_fetch(keys, now_millis()));
        }
    }
}

impl Drop for Fetching<'_> {
    fn drop(&mut self) {
        if let Some(url) = self.0 {
            with_keys(url, HeldKeys::abandon_fetch);
        }
    }
}

/// What a request does next for its token.
enum TokenStep {
    Check(Vec<SignatureCheck>),
    Fetch,
    Wait,
}

impl Incoming<'_> {
    /// Whose key a request's is, once its token is verified.
    pub async fn caller_scopes(&self, url: &UrlParts<'_>) -> Result<CallerScopes, Stop> {
        let policy = &self.gate.policy;
        let certificate = if policy.asks_certificate() { client_certificate(self.request) } else { None };
        let parts = CallerParts { url, fields: &self.fields, certificate: certificate.as_deref() };
        let mut tokens = Vec::new();
        for (identity, is_needed) in policy.identities_of(parts) {
            match self.verify_token(identity).await {
                Ok(token) => tokens.push((identity.name.as_str(), token)),
                Err(Stop::Refuse(Refusal::CallerUnverified(_))) if !is_needed => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(policy.caller_scopes(parts, &tokens)?.hidden(self.gate.names.as_ref()))
    }

    async fn verify_token(&self, identity: &Identity) -> Result<JudgedToken, Stop> {
        let token = identity.token(&self.fields).ok_or(InvalidToken::Malformed)?;
        let token = identity.judge(&token, now_millis())?;
        let checks = match &identity.verifier {
            Verifier::Nobody => return Ok(token),
            Verifier::Secret(name) => {
                self.gate.secret(name).and_then(|secret| token.check_by_secret(&secret)).into_iter().collect()
            }
            Verifier::KeySet(url) => checks_by_keys(url, &token).await?,
        };
        if checks.is_empty() {
            return Err(InvalidToken::Key.into());
        }
        for check in &checks {
            if is_signed(check).await {
                return Ok(token);
            }
        }
        Err(InvalidToken::Signature.into())
    }
}

/// How a token is verified by the keys of its issuer, which are fetched where they have to be.
async fn checks_by_keys(url: &str, token: &JudgedToken) -> Result<Vec<SignatureCheck>, Stop> {
    let began = now_millis();
    loop {
        let step = with_keys(url, |held| match held.next_step(token, began, now_millis()) {
            KeysStep::Use(keys) => Ok(TokenStep::Check(token.checks_by_keys(keys))),
            KeysStep::Fetch => Ok(TokenStep::Fetch),
            KeysStep::Wait => Ok(TokenStep::Wait),
            KeysStep::Unknown => Err(InvalidToken::Key.into()),
            KeysStep::Unavailable => {
                log_error(&fault_line("identity", now_millis(), "the keys of an issuer cannot be had"));
                Err(Stop::Refuse(Refusal::IdentityUnavailable))
            }
        });
        match step? {
            TokenStep::Check(checks) => return Ok(checks),
            TokenStep::Wait => Delay::from(Duration::from_millis(u64::from(MOMENT))).await,
            TokenStep::Fetch => {
                let fetching = Fetching(Some(url));
                let fetched = fetch_key_set(url, FETCH_LIMIT, LARGEST_SET).await;
                fetching.end(fetched.and_then(|bytes| KeySet::read(&bytes)));
            }
        }
    }
}

impl From<InvalidToken> for Stop {
    fn from(why: InvalidToken) -> Self {
        InvalidCaller::Token(why).into()
    }
}
