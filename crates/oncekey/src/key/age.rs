//! Keys that tell their own time, and how old one may be of which nothing is remembered.

use std::{error::Error, fmt, str::FromStr};

use crate::{http::date::Millis, key::Key};

/// Seconds by which a client's clock may be ahead.
pub const MOST_AHEAD: u32 = 300;

/// The time that a key tells, on a route that says how old a key may be.
///
/// ```
/// use oncekey::key::{age::KeyAge, mint::{mint_v4, mint_v7}};
///
/// let age = KeyAge::of(&mint_v7(1_767_225_600_000, [7; 10]), Some(3600)).ok_or("no time")?;
/// assert_eq!(age.to_string().parse(), Ok(age));
/// assert_eq!(KeyAge::of(&mint_v4([7; 16]), Some(3600)), None);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyAge {
    /// The time.
    pub time: Millis,
    /// Seconds: how old it may be.
    pub most: u32,
}

impl KeyAge {
    /// Of a key on a route that says `most`; nothing where either says nothing.
    pub fn of(key: &Key, most: Option<u32>) -> Option<KeyAge> {
        Some(KeyAge { most: most?, time: key.time()? })
    }
}

/// Two numbers, parted by a comma.
impl fmt::Display for KeyAge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.time, self.most)
    }
}

impl FromStr for KeyAge {
    type Err = InvalidKeyAge;

    fn from_str(text: &str) -> Result<KeyAge, InvalidKeyAge> {
        let (time, most) = text.split_once(',').ok_or(InvalidKeyAge)?;
        Ok(KeyAge { time: time.parse().map_err(|_| InvalidKeyAge)?, most: most.parse().map_err(|_| InvalidKeyAge)? })
    }
}

/// A text that is no [`KeyAge`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidKeyAge;

impl fmt::Display for InvalidKeyAge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the age of a key: two numbers, parted by a comma")
    }
}

impl Error for InvalidKeyAge {}
