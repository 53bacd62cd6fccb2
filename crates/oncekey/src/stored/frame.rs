//! The frame of every stored form since version 2: a version, `expires` at a fixed place, the body, the extensions.
//!
//! | bytes | what |
//! |---|---|
//! | 0 | the version |
//! | 1 to 8 | `expires`, milliseconds since 1970, big-endian; [`NEVER`] where the form has no such time |
//! | from 9 | the body, as postcard writes it |
//! | then | the extensions, a list as postcard writes it: for each its tag, whether it is needed, its bytes |
//!
//! No later version moves the first nine bytes: whoever cannot read the rest knows from them until when what stands
//! there is of unknown fate.
//!
//! A body never changes within a version, since postcard's bytes do not describe themselves. What a newer build has to
//! add without a new version is an extension. A tag that a build does not know is left out of account where it is not
//! needed, and is written again with whatever takes the form's place; it therefore says something of the request that
//! claimed, or of the entity, which stays true for as long as that is remembered. What is true of one state alone is
//! marked as needed: the form is [`Unreadable`] for a build that does not know the tag.
//!
//! | tag | of | needed | says |
//! |---|---|---|---|
//! | 1 | a record that is dead | yes | it is of unknown fate: one byte, 0 ambiguous, 1 unanswered |
//! | 2 | an accepted request's record, an outbox's entry | no | what of the answer is not stored: a [text](crate::stored::storing) |
//! | 3 | a record | no | the path of the route, UTF-8 |
//! | 4 | a record of a proxied request | no | the [scoped key](crate::stored::told) |
//! | 5 | a record | no | of which open fate was told to [whom](crate::stored::told) |

use serde::{Deserialize, Serialize};

use crate::http::date::Millis;

/// The tag of an accepted request's unknown fate.
pub(crate) const UNKNOWN_DELIVERY: u32 = 1;

/// The tag of what of an answer is not stored.
pub(crate) const STORING: u32 = 2;

/// The tag of the path of a record's route.
pub(crate) const ROUTE: u32 = 3;

/// The tag of a record's own scoped key.
pub(crate) const SCOPED_KEY: u32 = 4;

/// The tag of what was told of a record's fate.
pub(crate) const TOLD: u32 = 5;

/// `expires` of a form that is never given back by time alone.
pub const NEVER: Millis = Millis::MAX;

/// What stands there cannot be read by this build: its fate is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// Until when; `None` where that cannot be read either.
    pub expires: Option<Millis>,
}

impl Unreadable {
    /// Reads what can be read of a form of any version. Version 1 has no time at a fixed place.
    fn of(bytes: &[u8]) -> Self {
        let head = bytes.split_first_chunk::<9>().filter(|_| bytes.first() > Some(&1));
        let expires = head.map(|([_, expires @ ..], _)| Millis::from_be_bytes(*expires));
        Self { expires }
    }

    /// Whether it still counts.
    pub fn is_live(self, now: Millis) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

/// What a newer build added to a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// What it is.
    pub tag: u32,
    /// Whether the form means something else to whoever does not know the tag.
    pub is_needed: bool,
    /// What it says.
    pub bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct ExtensionBody<'f> {
    tag: u32,
    is_needed: bool,
    bytes: &'f [u8],
}

/// A form in its parts.
pub(crate) struct Framed<B> {
    pub(crate) expires: Millis,
    pub(crate) body: B,
    /// Those that need not be known, and those that are.
    pub(crate) extensions: Vec<Extension>,
}

/// Writes a form. Bytes in memory take whatever is written; should it fail all the same, what is left is unreadable,
/// and never a free key.
pub(crate) fn frame(version: u8, expires: Millis, body: &impl Serialize, extensions: &[Extension]) -> Vec<u8> {
    let head = || [[version].as_slice(), &expires.to_be_bytes()].concat();
    let extensions: Vec<_> = extensions
        .iter()
        .map(|Extension { tag, is_needed, bytes }| ExtensionBody { tag: *tag, is_needed: *is_needed, bytes })
        .collect();
    let form = postcard::to_extend(body, head()).and_then(|form| postcard::to_extend(&extensions, form));
    form.unwrap_or_else(|_| head())
}

/// Reads a form of that version, all of it. `known`: the tag that may be needed.
pub(crate) fn unframe<'f, B: Deserialize<'f>>(
    version: u8,
    known: Option<u32>,
    bytes: &'f [u8],
) -> Result<Framed<B>, Unreadable> {
    let unreadable = Unreadable::of(bytes);
    let (Some(expires), Some(rest)) = (unreadable.expires, bytes.get(9..)) else {
        return Err(unreadable);
    };
    if bytes.first() != Some(&version) {
        return Err(unreadable);
    }
    let (body, rest) = postcard::take_from_bytes(rest).map_err(|_| unreadable)?;
    let extensions = read_extensions(rest, known).ok_or(unreadable)?;
    Ok(Framed { expires, body, extensions })
}

/// Reads what follows the body, to the end; nothing where one of them is needed and not known.
fn read_extensions(rest: &[u8], known: Option<u32>) -> Option<Vec<Extension>> {
    let (listed, rest): (Vec<ExtensionBody>, _) = postcard::take_from_bytes(rest).ok()?;
    if !rest.is_empty() || listed.iter().any(|extension| extension.is_needed && Some(extension.tag) != known) {
        return None;
    }
    let owned = |ExtensionBody { tag, is_needed, bytes }| Extension { tag, is_needed, bytes: Vec::from(bytes) };
    Some(listed.into_iter().map(owned).collect())
}
