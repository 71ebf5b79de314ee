//! A collector with a UDP gateway and nothing else, for the tests of this crate: `wattseal-load-collector FOLDER ADDR [MOST_BYTES]`.

use collector::service::{Config, Running};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wattseal-load-collector: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let udp: SocketAddr = arguments.next().ok_or("which address?")?.parse()?;
    let mut config = Config::new(folder.join("load.db"), folder.join("keys"));
    config.udp = vec![udp.into()];
    config.store.most_bytes = arguments.next().map(|bytes| bytes.parse()).transpose()?;
    let running = Running::start(config).await?;
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => {}
        () = running.ended() => {}
    }
    running.stop().await?;
    Ok(())
}
