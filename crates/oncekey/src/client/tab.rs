//! Whether the intents that a tab finds in its storage are its own.

/// How long a page waits for another one to answer for the tab's name, in milliseconds. Pages of one browser answer within a
/// few; a page too busy to answer in this time is taken for gone, and the keys stay.
pub const ANSWER_WAIT: u64 = 500;

/// Whether a stored session is a browser's copy of a living tab's. `marked`: no page of the tab said that it was left;
/// `answered`: another page answers for the tab's name. A tab that is brought back, by a reload after a crash or opened
/// again, is marked too. Without an answer the keys stay: a key too long kept repeats nothing.
pub fn is_copied_tab(marked: bool, answered: bool) -> bool {
    marked && answered
}
