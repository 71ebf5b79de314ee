//! End of a session's thread, for those that wait for it.

use std::sync::Arc;
use tokio::sync::watch;

/// A session's thread has one, and tells of the thread's end with it, also where that panics: the
/// first end of any is told.
pub(crate) struct End(Arc<watch::Sender<bool>>);

impl End {
    pub(crate) fn told_to(ended: &Arc<watch::Sender<bool>>) -> End {
        End(ended.clone())
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}
