//! Work shared among all processors of the host.

use crate::LabError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of workers.
#[must_use]
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does each of `jobs`, in their order as far as workers are free, and returns what each gave.
///
/// # Errors
/// That of the first of the jobs that failed; once one has, no other begins.
pub fn each<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Result<R, LabError> + Sync,
) -> Result<Vec<R>, LabError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<R, LabError>>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index) else { return };
            let result = work(job);
            if result.is_err() {
                next.store(jobs.len(), Ordering::Relaxed);
            }
            results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..processors().min(jobs.len()) {
            scope.spawn(worker);
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}
