//! Whose key it is: the scope that makes the same key of two callers different.

/// What makes the same key of two callers different: the host, and the attributes that identify the caller.
///
/// ```
/// use oncekey::key::scope::Scope;
///
/// let mut scope = Scope::new("Shop.example");
/// assert!(scope.is_anonymous());
/// scope.add("cookie:session", "of-ann");
/// assert!(!scope.is_anonymous());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub(super) host: String,
    pub(super) attributes: Vec<(String, String)>,
}

impl Scope {
    /// The scope of an anonymous caller of `host`, which is compared without regard to case (RFC 9110 §4.2.3).
    pub fn new(host: &str) -> Scope {
        Scope { host: host.to_ascii_lowercase(), attributes: Vec::new() }
    }

    /// Adds an attribute that the request has, in the policy's order. A blank value identifies nobody and is left out.
    pub fn add(&mut self, attribute: &str, value: &str) {
        if !value.trim_matches([' ', '\t']).is_empty() {
            self.attributes.push((attribute.to_owned(), value.to_owned()));
        }
    }

    /// Whether nothing identifies the caller.
    pub fn is_anonymous(&self) -> bool {
        self.attributes.is_empty()
    }
}
