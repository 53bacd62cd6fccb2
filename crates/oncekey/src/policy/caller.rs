//! Who is calling, as far as the policy's scope tells.

use std::borrow::Cow;

use crate::{
    http::{cookie::cookie, fields::Fields, target::UrlParts},
    identity::{Identity, JudgedToken},
    json::pointer::pointer_text,
    key::{
        caller::{InvalidCaller, compared_host, exact_value, is_attribute},
        scope::Scope,
        scopes::CallerScopes,
    },
    policy::{
        attribute::Attribute,
        types::{Anonymous, Bind, Policy},
    },
};

/// What of a request may tell its caller, beside its tokens.
#[derive(Clone, Copy)]
pub struct CallerParts<'r> {
    /// The parts of its URL.
    pub url: &'r UrlParts<'r>,
    /// Its head.
    pub fields: &'r Fields,
    /// The fingerprint of the client's certificate, where it is [verified](crate::key::caller::verified_certificate).
    pub certificate: Option<&'r str>,
}

impl CallerParts<'_> {
    /// The value of an attribute that is no claim.
    fn value(&self, attribute: &Attribute) -> Option<Cow<'_, str>> {
        match attribute {
            Attribute::Header(name) => self.fields.get(name).map(Cow::Borrowed),
            Attribute::Cookie(name) => self.fields.get("cookie").and_then(|line| cookie(line, name)).map(Cow::Owned),
            Attribute::Claim { .. } => None,
            Attribute::Certificate => self.certificate.map(Cow::Borrowed),
        }
    }
}

impl Policy {
    /// Whether certificates of clients count.
    pub fn asks_certificate(&self) -> bool {
        self.scopes().flatten().flatten().any(|attribute| *attribute == Attribute::Certificate)
    }

    fn scopes(&self) -> impl Iterator<Item = &Vec<Vec<Attribute>>> {
        [&self.scope].into_iter().chain(&self.scope_before)
    }

    /// The identities whose tokens count for a request, each once; and whether one that does not verify is refused, or
    /// counts for the scope of before alone.
    pub fn identities_of(&self, parts: CallerParts<'_>) -> Vec<(&Identity, bool)> {
        let mut found: Vec<(&Identity, bool)> = Vec::new();
        if self.identity.is_empty() {
            return found;
        }
        for (scope, is_needed) in self.scopes().zip([true, false]) {
            for attribute in self.counted(scope, parts) {
                if let Attribute::Claim { identity, .. } = attribute
                    && let Some(identity) = self.identity(identity)
                    && !found.iter().any(|(known, _)| *known == identity)
                {
                    found.push((identity, is_needed));
                }
            }
        }
        found
    }

    /// The attributes of a scope that count: of each place the first that the request has, or the only one.
    fn counted<'p>(
        &'p self,
        scope: &'p [Vec<Attribute>],
        parts: CallerParts<'_>,
    ) -> impl Iterator<Item = &'p Attribute> {
        scope.iter().filter_map(move |place| match place.as_slice() {
            [only @ (Attribute::Header(_) | Attribute::Cookie(_) | Attribute::Certificate)] => Some(only),
            place => place.iter().find(|attribute| self.has(attribute, parts)),
        })
    }

    fn has(&self, attribute: &Attribute, parts: CallerParts<'_>) -> bool {
        match attribute {
            Attribute::Claim { identity, .. } => {
                self.identity(identity).is_some_and(|identity| identity.token(parts.fields).is_some())
            }
            Attribute::Header(_) | Attribute::Cookie(_) | Attribute::Certificate => {
                parts.value(attribute).is_some_and(|value| is_attribute(&attribute.to_string(), &value))
            }
        }
    }

    /// The scope of a request that has a key, and the one that it had under the policy before. `tokens`: what was judged
    /// and verified of each of [`Policy::identities_of`], by name.
    ///
    /// ```
    /// use oncekey::{
    ///     http::{fields::Fields, target::split_url},
    ///     key::caller::InvalidCaller,
    ///     policy::{CallerParts, Policy},
    /// };
    ///
    /// let url = split_url("http://Shop.example:80/orders");
    /// let scope = |head: &str| {
    ///     let fields = Fields::new(head.to_owned());
    ///     let parts = CallerParts { url: &url, fields: &fields, certificate: None };
    ///     Policy::default().caller_scopes(parts, &[]).map(|scopes| scopes.now)
    /// };
    /// assert_eq!(scope("authorization,bearer t")?, scope("authorization,Bearer t")?);
    /// assert!(scope("cookie,theme=\u{fffd}")?.is_anonymous());
    /// assert_eq!(scope("cookie,session=Ren\u{fffd}"), Err(InvalidCaller::Inexact));
    /// # Ok::<(), InvalidCaller>(())
    /// ```
    pub fn caller_scopes(
        &self,
        parts: CallerParts<'_>,
        tokens: &[(&str, JudgedToken)],
    ) -> Result<CallerScopes, InvalidCaller> {
        let now = self.read_scope(&self.scope, parts, tokens)?;
        if now.is_anonymous() && self.anonymous == Anonymous::Refuse {
            return Err(InvalidCaller::Anonymous);
        }
        // A request that the policy before would have refused has left nothing under it.
        let before = self.scope_before.as_ref().and_then(|scope| self.read_scope(scope, parts, tokens).ok());
        Ok(CallerScopes { now, before })
    }

    fn read_scope(
        &self,
        scope: &[Vec<Attribute>],
        parts: CallerParts<'_>,
        tokens: &[(&str, JudgedToken)],
    ) -> Result<Scope, InvalidCaller> {
        let mut read = Scope::new(&compared_host(parts.url.scheme, parts.url.host));
        for attribute in self.counted(scope, parts) {
            if let Attribute::Claim { identity, claim } = attribute {
                // Whose token was not judged is nobody.
                let token = tokens.iter().find(|(name, _)| name == identity).map(|(_, token)| token);
                let token = token.ok_or(InvalidCaller::Anonymous)?;
                let kind = if token.is_proof() { "jwt" } else { "unverified" };
                read.add_read([kind, ":", &pointer_text(claim)].concat(), token.caller(claim)?, token.is_proof());
            } else if let Some(value) = parts.value(attribute) {
                read.add(&attribute.to_string(), exact_value(&value)?);
            }
        }
        Ok(match self.bind {
            Bind::Inside => read,
            Bind::Apart => read.apart(),
        })
    }
}
