//! Files that are kept of a run that ended badly: the logs of all parts, and each part's state.

use crate::chaos::ClusterError;
use crate::chaos::http::ask;
use crate::chaos::machines::Machines;
use crate::chaos::meters::Waiting;
use std::fs::{self, DirBuilder};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A part that does not answer is not waited for.
const WITHIN: Duration = Duration::from_secs(3);
/// Paths at which a role tells its state.
const ROLE: [&str; 2] = ["/health/ready", "/metrics"];
/// State of a NATS server: its clients and routes with their subjects, and streams and consumers
/// with their leaders.
const NATS: [&str; 3] = ["/connz?subs=1", "/routez?subs=1", "/jsz?consumers=1&config=1"];
/// State of the database.
const POSTGRES: [(&str, &str); 4] = [
    ("partitions", "SELECT * FROM partitions ORDER BY network, slices, slice"),
    ("activity", "SELECT * FROM pg_stat_activity WHERE backend_type = 'client backend'"),
    ("replication", "SELECT * FROM pg_stat_replication"),
    ("locks", "SELECT * FROM pg_locks"),
];

/// Copies them into a folder of their own, which stays. Returns it. waiting: the reports that were
/// not acknowledged.
///
/// # Errors
/// The files cannot be written.
pub fn keep(machines: &Machines, waiting: &[Waiting]) -> Result<PathBuf, ClusterError> {
    let name = format!("wattseal-chaos-logs-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let failed = |error| ClusterError::File { path: folder.clone(), error };
    DirBuilder::new().mode(0o700).recursive(true).create(&folder).map_err(failed)?;
    for from in [machines.folder(), machines.postgres_home()] {
        copy_logs(from, &folder).map_err(failed)?;
    }
    let write = |name: String, text: String| fs::write(folder.join(name), text).map_err(failed);
    for (part, address) in machines.health() {
        write(format!("{part}.says"), answers(address, &ROLE))?;
    }
    for (part, address) in machines.monitors() {
        write(format!("{part}.says"), answers(address, &NATS))?;
    }
    for (name, sql) in POSTGRES {
        let said = machines.sql(sql).unwrap_or_else(|error| error.to_string());
        write(format!("postgres-{name}.says"), said)?;
    }
    let waits = |Waiting { meter, n, gateway, since }: &Waiting| {
        format!("meter {meter}: report {n} by {gateway}, since {:.1} s\n", since.elapsed().as_secs_f64())
    };
    write("meters.says".to_owned(), waiting.iter().map(waits).collect())?;
    Ok(folder)
}

fn copy_logs(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if let Some(name) =
            path.file_name().filter(|_| path.extension().is_some_and(|ending| ending == "log"))
        {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

fn answers(of: SocketAddr, paths: &[&str]) -> String {
    let mut text = String::new();
    for path in paths {
        let said = ask(of, ("GET", path), None, "", WITHIN);
        let said = said.map_or_else(|error| error.to_string(), |answered| answered.body);
        text += &format!("{path}\n{said}\n\n");
    }
    text
}
