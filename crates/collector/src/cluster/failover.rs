//! A NATS server may be there, and have lost the others: then nothing is answered by way of it,
//! however long it is waited for. Another one is asked.

use super::connection::Connection;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The time without an answer after which another server is asked. The choice of a leader mostly
/// takes less.
const ANOTHER_AFTER: Duration = Duration::from_secs(8);
/// A connection that is given up is made again within this.
const CONNECTED_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Connects with another one of the servers, where there are several.
async fn ask_another(connection: &Connection) {
    let (client, turns) = (&connection.client, &connection.turns);
    let known = client.server_pool().await.map_or(0, |known| known.len());
    if known < 2 {
        return;
    }
    let before = client.server_info();
    tracing::warn!(
        server = %before.server_name,
        "nothing is answered by way of this NATS server, which is there: it may have lost the others. Another one is asked"
    );
    for _ in 0..known {
        turns.want(known);
        if client.force_reconnect().await.is_err() {
            break;
        }
        let begun = Instant::now();
        sleep(LOOK_EVERY).await;
        while !connection.is_connected() && begun.elapsed() < CONNECTED_WITHIN {
            sleep(LOOK_EVERY).await;
        }
        if client.server_info().server_id != before.server_id {
            break;
        }
    }
    turns.want(0);
}

/// Since when nothing was answered by way of the server that is connected with. It may be there,
/// and have lost the others: then nothing comes of waiting.
#[derive(Debug, Default)]
pub(super) struct Silence(Option<Instant>);

impl Silence {
    pub(super) fn answered(&mut self) {
        self.0 = None;
    }

    /// Something was not answered, or refused. Where that goes on for too long another server is
    /// asked, beside all else.
    pub(super) fn unanswered(&mut self, connection: &Connection) {
        if self.is_over(Instant::now()) {
            let connection = connection.clone();
            tokio::spawn(async move { ask_another(&connection).await });
        }
    }

    /// Says if the silence has lasted for too long; then a new one begins.
    fn is_over(&mut self, now: Instant) -> bool {
        let since = *self.0.get_or_insert(now);
        let is_over = now.duration_since(since) >= ANOTHER_AFTER;
        if is_over {
            self.0 = None;
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_borne_for_a_while_and_ends_with_an_answer() {
        let (mut silence, begun) = (Silence::default(), Instant::now());
        let short = ANOTHER_AFTER / 2;
        assert!(!silence.is_over(begun) && !silence.is_over(begun + short));
        silence.answered();
        assert!(!silence.is_over(begun + 2 * short) && !silence.is_over(begun + 3 * short));
        assert!(silence.is_over(begun + 4 * short));
        assert!(!silence.is_over(begun + 5 * short), "the next server is given as long");
    }
}
