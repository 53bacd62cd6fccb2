//! Whose key it is, where it names its object for everybody.

use crate::{key::caller::CallerDigest, stored::record::Claimant};

/// Whether a request comes from another caller than the one that claimed; the table is in the module's documentation.
///
/// ```
/// use oncekey::{decide::caller::is_other_caller, key::caller::CallerDigest, stored::record::Claimant};
///
/// let [token, session, other] = [1, 2, 3].map(|value| CallerDigest(vec![value; 16]));
/// let first = Claimant { callers: Some(vec![token.clone(), session]), ..Claimant::default() };
/// assert!(!is_other_caller(&first, Some(&[other.clone(), token])));
/// assert!(is_other_caller(&first, Some(&[other])));
/// assert!(is_other_caller(&first, Some(&[])));
/// ```
pub fn is_other_caller(first: &Claimant, callers: Option<&[CallerDigest]>) -> bool {
    match first.callers.as_deref() {
        None | Some([]) => false,
        Some(first) => !callers.unwrap_or_default().iter().any(|caller| first.contains(caller)),
    }
}
