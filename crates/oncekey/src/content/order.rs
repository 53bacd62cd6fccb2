//! The one sort of the core: positions in an order that is looked up, so that one copy of it serves every list.
use std::cmp::Ordering;

/// Sorts positions; those that are equal by `order` keep the order of their numbers.
pub(crate) fn sort_positions(positions: &mut [usize], order: &dyn Fn(usize, usize) -> Ordering) {
    positions.sort_unstable_by(|one, other| order(*one, *other).then_with(|| one.cmp(other)));
}
