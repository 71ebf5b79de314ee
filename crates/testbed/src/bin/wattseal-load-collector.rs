//! A collector with a UDP gateway and nothing else, for the tests of this crate:
//! `wattseal-load-collector FOLDER ADDR [BYTES_MAX]`; or a role of a cluster: `gateway NATS ADDR`,
//! `worker NATS FOLDER DB NAME SLICES`; or hearing telegrams: `telegrams FOLDER ADDR`.

use collector::cluster::Nats;
use collector::cluster::gateway::Gateway;
use collector::cluster::worker::Worker;
use collector::mbus::{Intake, TelegramIntake};
use collector::service::{Config, Running};
use collector::store::DatabaseUrl;
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

fn servers(url: &str) -> Result<Nats, Box<dyn std::error::Error>> {
    Ok(Nats { servers: vec![url.parse()?], ca: None, credentials: None })
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let stop = async move {
        terminate.recv().await;
    };
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["gateway", nats, address] => {
            let (name, most_packets) = ("load".parse()?, 1_000_000.try_into()?);
            let udp = vec![address.parse::<SocketAddr>()?.into()];
            let gateway =
                Gateway { nats: servers(nats)?, name, udp, serial: Vec::new(), most_packets, health: None };
            return Ok(gateway.serve(|_| {}, stop).await?);
        }
        ["worker", nats, folder, db, name, slices] => {
            let service = Config::new(DatabaseUrl::named(db)?, PathBuf::from(folder).join("keys"));
            let (slices, replicas) = (Some(slices.parse()?), 1);
            let worker = Worker {
                nats: servers(nats)?,
                name: name.parse()?,
                service,
                slices,
                change_slices: false,
                replicas,
                health: None,
                listen: None,
            };
            return Ok(worker.serve(|_| {}, stop).await?);
        }
        ["telegrams", folder, address] => {
            let folder = PathBuf::from(folder);
            let config = Config::new(folder.join("load.db"), folder.join("keys"));
            let zone = config.store.zone.clone();
            let running = Running::start(config).await?;
            let intake = Intake { sources: vec![address.parse()?], unauthenticated: false, zone };
            let (reader, writer) = (running.reader().clone(), running.writer().clone());
            let keys = running.keys().clone();
            let intake = TelegramIntake::start(intake, keys, reader, writer, Box::new(|_| {})).await?;
            stop.await;
            intake.stop().await;
            return Ok(running.stop().await?);
        }
        _ => {}
    }
    let mut arguments = arguments.into_iter();
    let folder = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let udp: SocketAddr = arguments.next().ok_or("which address?")?.parse()?;
    let mut config = Config::new(folder.join("load.db"), folder.join("keys"));
    config.udp = vec![udp.into()];
    config.store.most_bytes = arguments.next().map(|bytes| bytes.parse()).transpose()?;
    let running = Running::start(config).await?;
    tokio::select! {
        () = stop => {}
        () = running.ended() => {}
    }
    running.stop().await?;
    Ok(())
}
