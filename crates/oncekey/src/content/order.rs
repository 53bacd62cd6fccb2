//! The one sort of the core: positions in an order that is looked up, so that one copy of it serves every list.
use std::cmp::Ordering;

use crate::work::count_steps;

/// The most pairs, parts, or objects and members together, that content may have to get a canonical form: putting more
/// in order would take too much of an isolate's time and of its 128 MB, which all requests share. Content of more is
/// compared as sent, and searched for its key without an index.
pub const MOST_PARTS: usize = 65_536;

/// Sorts positions; those that are equal by `order` keep the order of their numbers.
pub(crate) fn sort_positions(positions: &mut [usize], order: &dyn Fn(usize, usize) -> Ordering) {
    positions.sort_unstable_by(|one, other| {
        count_steps(1);
        order(*one, *other).then_with(|| one.cmp(other))
    });
}
