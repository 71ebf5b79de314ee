//! Builds ahead of what is measured, on all processors of the host; what is measured is handed on
//! in order.

use crate::LabError;
use crate::work::processors;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;

/// Makes builds 0 to `builds`, and measures each of `rows` as soon as its build is made. Hands the
/// results to `take` in the order of the rows, until `take` wants no more.
///
/// # Errors
/// That of the first row that failed or whose build did. Once one has, nothing else begins.
pub fn run<B: Send + Sync, R: Send>(
    builds: usize,
    rows: &[usize],
    build: impl Fn(usize) -> Result<B, LabError> + Sync,
    measure: impl Fn(usize, &B) -> Result<R, LabError> + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) -> Result<(), LabError> {
    // None stands for a build that failed or was not begun.
    let built: Vec<OnceLock<Option<B>>> = (0..builds).map(|_| OnceLock::new()).collect();
    let (next_build, next_row) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let stopped = AtomicBool::new(false);
    let is_stopped = || stopped.load(Ordering::Relaxed);
    let stop = || stopped.store(true, Ordering::Relaxed);
    let (sender, receiver) = mpsc::channel::<(usize, Result<R, LabError>)>();

    let builder = |sender: mpsc::Sender<_>| {
        loop {
            let index = next_build.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = built.get(index) else { return };
            let made = if is_stopped() { None } else { Some(build(index)) };
            let made = made.and_then(|made| match made {
                Ok(made) => Some(made),
                Err(error) => {
                    stop();
                    let row = rows.iter().position(|&build| build == index).unwrap_or(rows.len());
                    let _ = sender.send((row, Err(error)));
                    None
                }
            });
            let _ = slot.set(made);
        }
    };
    let worker = |sender: mpsc::Sender<_>| {
        while !is_stopped() {
            let index = next_row.fetch_add(1, Ordering::Relaxed);
            let Some(&build) = rows.get(index) else { return };
            let Some(built) = built[build].wait() else { return };
            let result = measure(index, built);
            if result.is_err() {
                stop();
            }
            let _ = sender.send((index, result));
        }
    };

    let (builder, worker) = (&builder, &worker);
    let mut early = BTreeMap::new();
    thread::scope(|scope| {
        for _ in 0..processors() {
            let (one, other) = (sender.clone(), sender.clone());
            scope.spawn(move || builder(one));
            scope.spawn(move || worker(other));
        }
        drop(sender);
        let (mut expected, mut wanted) = (0, true);
        for (index, result) in receiver {
            early.insert(index, result);
            while wanted && matches!(early.get(&expected), Some(Ok(_))) {
                if let Some(Ok(result)) = early.remove(&expected) {
                    expected += 1;
                    wanted = take(result).is_continue();
                }
            }
            if !wanted {
                stop();
            }
        }
    });
    match early.into_values().find_map(Result::err) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn refused(text: &str) -> LabError {
        LabError::Usage(text.into())
    }

    /// Three rows of each of four builds; earlier ones take longer, so that they end in another
    /// order.
    fn numbers(
        build: impl Fn(usize) -> Result<usize, LabError> + Sync,
        measure: impl Fn(usize, &usize) -> Result<usize, LabError> + Sync,
        most: usize,
    ) -> (Vec<usize>, Result<(), LabError>) {
        let rows: Vec<usize> = (0..12).map(|row| row / 3).collect();
        let mut seen = Vec::new();
        let result = run(4, &rows, build, measure, |number| {
            seen.push(number);
            if seen.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (seen, result)
    }

    fn slowly(row: usize, built: &usize) -> Result<usize, LabError> {
        thread::sleep(Duration::from_millis(12 - row as u64));
        Ok(100 * built + row)
    }

    #[test]
    fn rows_come_in_order_and_with_their_build() {
        let (seen, result) = numbers(Ok, slowly, 99);
        assert!(result.is_ok());
        assert_eq!(seen, [0, 1, 2, 103, 104, 105, 206, 207, 208, 309, 310, 311]);
    }

    #[test]
    fn a_build_that_fails_ends_it_with_its_error() {
        let build = |index| if index == 2 { Err(refused("no build")) } else { Ok(index) };
        let (seen, result) = numbers(build, slowly, 99);
        assert!(result.is_err_and(|error| error.to_string() == "no build"));
        assert!([0, 1, 2, 103, 104, 105].starts_with(&seen), "{seen:?}");
    }

    #[test]
    fn first_failing_row_ends_the_pipeline_with_its_error() {
        let measure = |row: usize, built: &usize| {
            if row >= 4 { Err(refused(&row.to_string())) } else { slowly(row, built) }
        };
        let (seen, result) = numbers(Ok, measure, 99);
        assert!(result.is_err_and(|error| error.to_string() == "4"));
        assert!([0, 1, 2, 103].starts_with(&seen), "{seen:?}");
    }

    #[test]
    fn pipeline_stops_once_no_more_rows_are_wanted() {
        let (seen, result) = numbers(Ok, slowly, 5);
        assert!(result.is_ok());
        assert_eq!(seen, [0, 1, 2, 103, 104]);
    }
}
