//! Holders of the partitions, as PostgreSQL sees them, read again and again while the cluster runs.

use std::collections::HashMap;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const EVERY: Duration = Duration::from_millis(500);
const ASK: &str =
    "SELECT network || '.' || slice || ' ' || fence || ' ' || holder FROM partitions WHERE holder <> ''";

/// Observations of the holders.
#[derive(Debug, Default)]
pub struct Holders {
    /// Number of queries that the database answered.
    pub looked: u64,
    /// Number of times that another worker had a partition than before.
    pub changes: u64,
    /// Violations: a fence that goes back, or one with two holders.
    pub wrong: Vec<String>,
    last: HashMap<String, (i64, String)>,
}

impl Holders {
    /// Looks until it is over. client: `psql` with the database.
    #[must_use]
    pub fn watch(mut client: Command, over: &AtomicBool) -> Holders {
        client.args(["-c", ASK]).stdin(Stdio::null()).process_group(0);
        let mut holders = Holders::default();
        while !over.load(Ordering::Relaxed) {
            // While no server takes writes there is no answer.
            if let Ok(answered) = client.output()
                && answered.status.success()
            {
                holders.take(&String::from_utf8_lossy(&answered.stdout));
            }
            std::thread::sleep(EVERY);
        }
        holders
    }

    fn take(&mut self, text: &str) {
        self.looked += 1;
        for line in text.lines() {
            let mut fields = line.split(' ');
            let (Some(partition), Some(fence), Some(holder)) = (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let Ok(fence) = fence.parse::<i64>() else { continue };
            let before = self.last.insert(partition.to_owned(), (fence, holder.to_owned()));
            let Some((fence_before, holder_before)) = before else { continue };
            if fence < fence_before {
                let what = format!(
                    "partition {partition}: fence {fence} of {holder} after {fence_before} of {holder_before}"
                );
                self.wrong.push(what);
            }
            if fence == fence_before && holder != holder_before {
                let what =
                    format!("partition {partition}: {holder_before} and {holder} both have fence {fence}");
                self.wrong.push(what);
            }
            self.changes += u64::from(holder != holder_before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_has_one_holder_and_never_goes_back() {
        let mut holders = Holders::default();
        holders.take("0.1 5 one\n0.2 5 two");
        holders.take("0.1 6 two\n0.2 5 two");
        assert_eq!((holders.changes, holders.wrong.len()), (1, 0));
        holders.take("0.1 6 one\n0.2 4 two");
        assert_eq!(holders.wrong.len(), 2, "{:?}", holders.wrong);
    }
}
