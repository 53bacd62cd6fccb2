//! Who is calling, as far as the policy's scope tells.

use crate::{
    http::{cookie::cookie, fields::Fields, target::UrlParts},
    key::{
        caller::{InvalidCaller, compared_host, exact_value},
        scope::Scope,
    },
    policy::{
        attribute::Attribute,
        types::{Anonymous, Bind, Policy},
    },
};

impl Policy {
    /// The scope of a request that has a key.
    ///
    /// ```
    /// use oncekey::{http::{fields::Fields, target::split_url}, key::caller::InvalidCaller, policy::Policy};
    ///
    /// let parts = split_url("http://Shop.example:80/orders");
    /// let scope = |head: &str| Policy::default().caller_scope(&parts, &Fields::new(head.to_owned()));
    /// assert_eq!(scope("authorization,bearer t")?, scope("authorization,Bearer t")?);
    /// assert!(scope("cookie,theme=\u{fffd}")?.is_anonymous());
    /// assert_eq!(scope("cookie,session=Ren\u{fffd}"), Err(InvalidCaller::Inexact));
    /// # Ok::<(), InvalidCaller>(())
    /// ```
    pub fn caller_scope(&self, parts: &UrlParts<'_>, fields: &Fields) -> Result<Scope, InvalidCaller> {
        let mut scope = Scope::new(&compared_host(parts.scheme, parts.host));
        for attribute in &self.scope {
            let value = match attribute {
                Attribute::Header(name) => fields.get(name).map(str::to_owned),
                Attribute::Cookie(name) => fields.get("cookie").and_then(|line| cookie(line, name)),
            };
            if let Some(value) = value {
                scope.add(&attribute.to_string(), exact_value(&value)?);
            }
        }
        if scope.is_anonymous() && self.anonymous == Anonymous::Refuse {
            return Err(InvalidCaller::Anonymous);
        }
        Ok(match self.bind {
            Bind::Inside => scope,
            Bind::Apart => scope.apart(),
        })
    }
}
