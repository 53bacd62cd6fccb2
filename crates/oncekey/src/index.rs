//! The operator's list of open fates: objects of their own that only such fates write to.
//!
//! One object lists the hours in which a fate opened, and each of these hours has an object, its shard, with a row for each
//! fate. They are of the keys' class, under names that no scoped key can have, so that they need no binding. A row tells
//! what was known when it was written: whoever lists looks at the keys too, and takes out what was resolved meanwhile.
//!
//! | bound | |
//! |---|---|
//! | rows that a shard is given | [`MOST_ROWS`]; what is over that is counted |
//! | a shard's life | until the last of its fates is forgotten, to the hour: then its alarm gives everything back |
//! | the list of hours | an hour leaves it when somebody lists after the end of its shard, and all with the last shard |
//!
//! The errands are texts, as those of [keys](crate::errand) are, and a build that does not know them says so.

use std::{fmt, str::FromStr};

use crate::{decide::telling::OpenFate, errand::NotUnderstood, http::date::Millis, key::scoped::ScopedKey};

/// Rows that a shard takes.
pub const MOST_ROWS: u32 = 20_000;

/// Rows of one page of the list. Each is a call to the object of its key.
pub const PAGE: usize = 25;

/// The name of the object that lists the hours.
pub const ROOT: &str = "index";

/// Milliseconds of an hour.
const HOUR: u64 = 3_600_000;

/// Digits of a time in a row's name: it is ordered as a text.
const DIGITS: usize = 13;

/// The name of the shard of an hour.
pub fn shard_name(hour: &str) -> String {
    [ROOT, "/", hour].concat()
}

/// The hour of a row's name, or the hour itself: either says where a page begins.
///
/// ```
/// use oncekey::index::hour_of_cursor;
///
/// let name = "1767225600000-37vN-3PhkbYNEZcuynUFeJ70Y3mkTmhBLrSILmOCceY";
/// assert_eq!(hour_of_cursor(name).as_deref(), Some("490896"));
/// assert_eq!(hour_of_cursor("490896").as_deref(), Some("490896"));
/// assert_eq!(hour_of_cursor("1767225600000-"), None);
/// ```
pub fn hour_of_cursor(cursor: &str) -> Option<String> {
    let hour: Millis = match key_of_row(cursor) {
        Some(_) => cursor.get(..DIGITS)?.parse::<Millis>().ok()? / HOUR,
        None => cursor.parse().ok()?,
    };
    Some(hour.to_string())
}

/// The hour after.
pub fn hour_after(hour: &str) -> String {
    hour.parse::<Millis>().map_or(0, |hour| hour.saturating_add(1)).to_string()
}

fn row_name(since: Millis, key: &str) -> String {
    format!("{since:0DIGITS$}-{key}")
}

/// Whether a row of the list of hours says that its shard has come to its end.
pub fn is_over(text: &str, now: Millis) -> bool {
    text.parse::<Millis>().is_ok_and(|until| until <= now)
}

impl OpenFate {
    /// Until when it is listed: to the hour, so that what grows with each fate is written once.
    pub fn listed_until(&self) -> Millis {
        self.expires.saturating_add(HOUR) / HOUR * HOUR
    }
}

/// The scoped key of a row's name.
pub fn key_of_row(name: &str) -> Option<ScopedKey> {
    name.split_at_checked(DIGITS)?.1.strip_prefix('-')?.parse().ok()
}

/// What is asked of an object of the list. Names and hours are texts that are ordered as such.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexErrand {
    /// Have a row of that name, whose text is the content, until then at least.
    Add {
        /// Its name.
        name: String,
        /// Milliseconds since 1970.
        until: Millis,
    },
    /// Say the rows before that name, the last ones first.
    List {
        /// How many at most.
        most: usize,
        /// The name; all where there is none.
        before: Option<String>,
    },
    /// Have that row no more.
    Remove {
        /// Its name.
        name: String,
    },
}

impl IndexErrand {
    /// What is asked of the list of hours and of the shard for an open fate: the shard's name, then both errands.
    pub fn to_add(fate: &OpenFate) -> (String, [IndexErrand; 2]) {
        let hour = (fate.since / HOUR).to_string();
        let until = fate.listed_until();
        let name = row_name(fate.since, fate.key.as_str());
        (shard_name(&hour), [IndexErrand::Add { name: hour, until }, IndexErrand::Add { name, until }])
    }
}

impl fmt::Display for IndexErrand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add { name, until } => write!(out, "index-add {name} {until}"),
            Self::List { most, before } => write!(out, "index-list {most} {}", before.as_deref().unwrap_or("~")),
            Self::Remove { name } => write!(out, "index-remove {name}"),
        }
    }
}

/// ```
/// use oncekey::index::IndexErrand;
///
/// let list = IndexErrand::List { most: 25, before: None };
/// assert_eq!(list.to_string().parse(), Ok(list));
/// assert!("index-forget 1".parse::<IndexErrand>().is_err());
/// assert!("index-remove 1 !all".parse::<IndexErrand>().is_err());
/// ```
impl FromStr for IndexErrand {
    type Err = NotUnderstood;

    fn from_str(text: &str) -> Result<Self, NotUnderstood> {
        let words: Vec<&str> = text.split(' ').collect();
        let (["index-add" | "index-list", _, _, further @ ..] | ["index-remove", _, further @ ..]) = words.as_slice()
        else {
            return Err(NotUnderstood);
        };
        if further.iter().any(|word| word.starts_with('!')) {
            return Err(NotUnderstood);
        }
        Ok(match words.as_slice() {
            ["index-add", name, until, ..] => {
                Self::Add { name: String::from(*name), until: until.parse().map_err(|_| NotUnderstood)? }
            }
            ["index-list", most, before, ..] => Self::List {
                most: most.parse().map_err(|_| NotUnderstood)?,
                before: (*before != "~").then(|| String::from(*before)),
            },
            [_, name, ..] => Self::Remove { name: String::from(*name) },
            _ => return Err(NotUnderstood),
        })
    }
}

/// Rows as an object of the list says them, the last name first: how many it was given in all, then for each a line of its
/// name, a comma and its text. Nothing where it said something else.
pub fn read_rows(text: &str) -> Option<(u32, Vec<(&str, &str)>)> {
    let mut lines = text.split('\n');
    let given = lines.next()?.parse().ok()?;
    Some((given, lines.filter_map(|line| line.split_once(',')).collect()))
}

/// What a look at a row's key says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenFate {
    /// It is open, and the answer says what is known of it.
    Open,
    /// It was resolved.
    Resolved,
    /// The object could not be asked: the row stands.
    Unseen,
}

/// Reads an object's answer to a look.
pub fn read_look(status: u16, content: &str) -> SeenFate {
    let Some(state) = content.strip_prefix("{\"state\":\"").filter(|_| status == 200) else {
        return SeenFate::Unseen;
    };
    if state.starts_with("unknown") || state.starts_with("dead") { SeenFate::Open } else { SeenFate::Resolved }
}
