//! How many new keys a caller may have: what the platform's rate limit is asked.

use std::net::IpAddr;

use crate::{
    http::fields::Fields,
    key::scope::Scope,
    policy::types::{Limit, Policy},
};

/// Where the platform says from which address a request comes. A client cannot: the platform overwrites it.
const ADDRESS: &str = "cf-connecting-ip";

/// What a rate limit is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitQuestion {
    /// Which one, and over how long it counts.
    pub limit: Limit,
    /// Who is counted.
    pub key: String,
}

impl Policy {
    /// What is asked before a key of this caller's is looked at; nothing where nobody counts them.
    ///
    /// ```
    /// use oncekey::{http::fields::Fields, key::scope::Scope, policy::Policy};
    ///
    /// let policy: Policy = r#"{"limits": {"anonymous": {"binding": "GUESTS"}}}"#.parse()?;
    /// let nobody = Scope::new("shop.example");
    /// let from = |address: &str| Fields::new(["cf-connecting-ip,", address].concat());
    /// let key = |address: &str| policy.limit_question(&nobody, &from(address)).map(|question| question.key);
    /// assert_eq!(key("192.0.2.7").as_deref(), Some("192.0.2.7"));
    /// assert_eq!(key("2001:db8:1:2:3::4").as_deref(), Some("2001:db8:1:2::"));
    /// assert_eq!(Policy::default().limit_question(&nobody, &from("192.0.2.7")), None);
    /// # Ok::<(), oncekey::policy::InvalidPolicy>(())
    /// ```
    pub fn limit_question(&self, scope: &Scope, fields: &Fields) -> Option<LimitQuestion> {
        let limit = if scope.is_anonymous() { &self.limits.anonymous } else { &self.limits.identified };
        let limit = limit.clone()?;
        let key = if scope.is_anonymous() { network(fields.get(ADDRESS).unwrap_or_default()) } else { scope.name() };
        Some(LimitQuestion { limit, key })
    }

    /// The rate limits that have to be bound, each with its place in the policy.
    pub fn limit_bindings(&self) -> Vec<(&'static str, &Limit)> {
        let both = [("anonymous", &self.limits.anonymous), ("identified", &self.limits.identified)];
        both.into_iter().filter_map(|(name, limit)| Some((name, limit.as_ref()?))).collect()
    }
}

/// The part of an address that one client has: whoever has an address of IPv6 has at least a /64 (RFC 6177 §2).
fn network(address: &str) -> String {
    match address.trim().parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::")
        }
        Ok(IpAddr::V4(address)) => address.to_string(),
        Err(_) => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::network;

    #[test]
    fn addresses() {
        let check = |address: &str, expect: &str| assert_eq!(network(address), expect, "{address}");
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("2001:DB8::1", "2001:db8:0:0::");
        check("2001:db8:0:0:ffff::", "2001:db8:0:0::");
        check("2001:db8:0:1::", "2001:db8:0:1::");
        check("", "");
        check("unknown", "unknown");
    }
}
