//! The choice among several NATS servers.

use async_nats::{ReconnectToServer, Server, ServerInfo};
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Mostly the client chooses, and prefers those that always took its connections: what has lost the
/// others does.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerRotation(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    wanted: AtomicUsize,
    next: AtomicUsize,
}

impl ServerRotation {
    /// Returns the client's choice of a server before it connects; `None`: the client's own.
    pub(super) fn choice(
        &self,
    ) -> impl Fn(Vec<Server>, ServerInfo) -> Ready<Option<ReconnectToServer>> + Send + Sync + 'static {
        let turns = self.clone();
        move |known, _| ready(turns.take(known))
    }

    /// Gives each server its turn, for that number of further attempts.
    pub(super) fn want(&self, attempts: usize) {
        self.0.wanted.store(attempts, Ordering::Relaxed);
    }

    fn take(&self, mut known: Vec<Server>) -> Option<ReconnectToServer> {
        let fewer = |wanted: usize| wanted.checked_sub(1);
        self.0.wanted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).ok()?;
        let at = self.0.next.fetch_add(1, Ordering::Relaxed).checked_rem(known.len())?;
        Some(ReconnectToServer { addr: known.swap_remove(at).addr, delay: Some(Duration::ZERO) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Server> {
        let of = |port| Server {
            addr: format!("nats://127.0.0.1:{port}").parse().expect("a URL"),
            failed_attempts: 0,
            did_connect: true,
            is_discovered: false,
            last_error: None,
        };
        [1, 2].map(of).into()
    }

    #[test]
    fn the_client_chooses_unless_each_is_to_have_its_turn() {
        let turns = ServerRotation::default();
        assert!(turns.take(known()).is_none());
        turns.want(3);
        let taken = [0, 1, 2, 3].map(|_| turns.take(known()).map(|taken| taken.addr.port()));
        assert_eq!(taken, [Some(1), Some(2), Some(1), None]);
        turns.want(1);
        assert!(turns.take(Vec::new()).is_none(), "nobody is known");
    }
}
