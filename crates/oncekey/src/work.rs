//! Work, counted in unit tests alone: a bound on the steps of a parser is no matter of a machine's speed.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// So many bytes are looked at, compared or written. Nothing where it is no test.
#[inline]
pub(crate) fn count_steps(steps: usize) {
    #[cfg(test)]
    STEPS.with(|sum| sum.set(sum.get() + steps));
    #[cfg(not(test))]
    let _ = steps;
}

/// The steps that something takes.
#[cfg(test)]
pub(crate) fn steps_of(work: impl FnOnce()) -> usize {
    STEPS.with(|sum| sum.set(0));
    work();
    STEPS.with(std::cell::Cell::get)
}
