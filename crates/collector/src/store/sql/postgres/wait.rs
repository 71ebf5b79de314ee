//! Waiting for a server from a thread that may be anything: one of tokio's, too, where no runtime
//! may be waited for.
//!
//! A thread of its own turns what comes and goes by the sockets of all connections; who asks hands
//! its question over and sleeps.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

/// The runtime of all connections' sockets.
///
/// # Errors
/// The system gives no thread.
pub(super) fn runtime() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let begun = RUNTIME.get_or_init(|| {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build();
        runtime.map_err(|error| error.to_string())
    });
    begun.as_ref().map_err(Clone::clone)
}

/// Waits until something is done, or until then: `None`.
pub(super) fn wait<F: Future>(future: F, until: Instant) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Sleeper(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Some(done);
        }
        let left = until.checked_duration_since(Instant::now())?;
        std::thread::park_timeout(left);
    }
}

struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn it_waits_within_a_runtime_and_no_longer_than_it_should() {
        let within = Builder::new_current_thread().build().expect("a runtime");
        within.block_on(async {
            let until = Instant::now() + Duration::from_secs(60);
            let slept = runtime()
                .expect("threads")
                .spawn(async { tokio::time::sleep(Duration::from_millis(10)).await });
            assert!(wait(slept, until).is_some());
            assert!(wait(std::future::pending::<()>(), Instant::now() + Duration::from_millis(10)).is_none());
        });
    }
}
