//! Whose key it is while the attributes that tell callers apart are changed.

use crate::key::{
    Key,
    caller::CallerDigest,
    scope::{NameSecret, Scope},
    scoped::ScopedKey,
};

/// Whose key it is now, and whose it was under the policy before, where that told callers apart by other attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerScopes {
    /// By the attributes of the policy.
    pub now: Scope,
    /// By those of before.
    pub before: Option<Scope>,
}

impl CallerScopes {
    /// The name that a key had for this caller before, where it has another one now: what is remembered there is of this
    /// very key.
    ///
    /// ```
    /// use oncekey::key::{InvalidKey, Key, scope::Scope, scoped::ScopedKey, scopes::CallerScopes};
    ///
    /// let of = |attribute: &str| {
    ///     let mut scope = Scope::new("shop.example");
    ///     scope.add(attribute, "ann");
    ///     scope
    /// };
    /// let scopes = CallerScopes { now: of("cookie:user"), before: Some(of("cookie:session")) };
    /// let natural = Key::from_header("order-1042")?;
    /// assert_eq!(scopes.name_before(&natural), ScopedKey::derive(&of("cookie:session"), &natural).ok());
    /// let random = Key::from_header("8e03978e-40d5-43dd-bc93-6894a57f9324")?;
    /// assert_eq!(scopes.name_before(&random), None);
    /// assert_eq!(scopes.callers(&random).map(|callers| callers.len()), Some(2));
    /// # Ok::<(), InvalidKey>(())
    /// ```
    pub fn name_before(&self, key: &Key) -> Option<ScopedKey> {
        // A caller that could not use the key before has left nothing under it.
        let before = ScopedKey::derive(self.before.as_ref()?, key).ok()?;
        (ScopedKey::derive(&self.now, key).ok().as_ref() != Some(&before)).then_some(before)
    }

    /// Whose key it is under that name: now, or before.
    pub fn of_name(&self, name: &ScopedKey, key: &Key) -> &Scope {
        if self.before.is_some() && self.name_before(key).as_ref() == Some(name) {
            self.before.as_ref().unwrap_or(&self.now)
        } else {
            &self.now
        }
    }

    /// The same with names that are hidden under a secret.
    #[must_use]
    pub fn hidden(self, names: Option<&NameSecret>) -> CallerScopes {
        let hidden = |scope: Scope| scope.hidden(names.cloned());
        CallerScopes { now: hidden(self.now), before: self.before.map(hidden) }
    }

    /// What the caller is known again by, as in [`Scope::callers`], in either way.
    pub fn callers(&self, key: &Key) -> Option<Vec<CallerDigest>> {
        let mut callers = self.now.callers(key)?;
        for caller in self.before.iter().filter_map(|before| before.callers(key)).flatten() {
            if !callers.contains(&caller) {
                callers.push(caller);
            }
        }
        Some(callers)
    }
}
