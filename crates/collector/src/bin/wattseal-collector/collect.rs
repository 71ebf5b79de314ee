//! `collect`: the collector, until it is stopped.

use crate::failure::CommandError;
use crate::files::Files;
use clap::{Args, ValueEnum};
use collector::api::{Listen, TlsFiles};
use collector::daemon::Daemon;
use collector::gateway::serial::SerialLine;
use collector::network::OfNetwork;
use collector::publish::Broker;
use collector::service::Config;
use jiff::tz::TimeZone;
use output::Answer;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CollectArgs {
    #[command(flatten)]
    files: Files,
    /// Where the dashboard and the API are; other addresses than loopback ask for TLS and a token
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Certificates, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Hear UDP gateways here; may be repeated. @7 behind it: they are of network 7
    #[arg(long, value_name = "ADDR:PORT[@NETWORK]")]
    udp: Vec<OfNetwork<SocketAddr>>,
    /// Hear an RFM12Pi, RFM69Pi or JeeLink; may be repeated. @7 behind it: it is of network 7
    #[arg(long, value_name = "DEVICE[:BAUD][@NETWORK]")]
    serial: Vec<OfNetwork<SerialLine>>,
    /// Be a concentrator: send what is heard of unknown meters, in network 0, to this collector's UDP gateway
    #[arg(long, value_name = "HOST:PORT")]
    forward: Option<String>,
    /// Publish for Home Assistant and emonCMS; mqtts is with TLS
    #[arg(long, value_name = "mqtt[s]://[USER@]HOST[:PORT]")]
    mqtt: Option<Broker>,
    /// The broker's password is this file's first line
    #[arg(long, value_name = "FILE", requires = "mqtt")]
    mqtt_password_file: Option<PathBuf>,
    /// Trust the authorities of this PEM file for the broker's certificate [default: those that this system trusts]
    #[arg(long, value_name = "FILE", requires = "mqtt")]
    mqtt_ca: Option<PathBuf>,
    /// Send the broker's password to another machine without TLS, where others may read it on its way
    #[arg(long, requires = "mqtt_password_file")]
    mqtt_plain_password: bool,
    /// Whose midnights begin the days, such as Europe/Prague [default: this machine's zone]
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    zone: Option<TimeZone>,
    /// Days after which readings go; sums by quarter-hour, hour and day stay
    #[arg(long, value_name = "DAYS", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    keep: u32,
    /// Threads that open messages of suites with curves, for each network [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    verifiers: Option<u16>,
    /// Take nothing that is not sealed, and tell no meter to seal nothing [default: true as soon as a meter is provisioned to seal]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    require_sealed: Option<bool>,
    /// How the log is written
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    /// What is logged: error, warn, info, debug or trace, and all before it
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: tracing::Level,
}

#[derive(Clone, Copy, ValueEnum)]
enum Log {
    /// A line for a person
    Text,
    /// An object a line
    Json,
}

fn zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| "write a zone of the IANA database, such as Europe/Prague or UTC".into())
}

/// Whose days they are where nobody says: this machine's, if its zone has a name.
fn zone_here() -> TimeZone {
    let here = TimeZone::system();
    if here.iana_name().is_some() { here } else { TimeZone::UTC }
}

pub(crate) fn run(args: CollectArgs) -> Result<Answer, CommandError> {
    log(args.log, args.log_level);
    let tls = args.tls_cert.zip(args.tls_key).map(|(certificate, key)| TlsFiles { certificate, key });
    let mqtt = args.mqtt.map(|broker| {
        let broker = match &args.mqtt_ca {
            Some(file) => broker.with_ca_file(file)?,
            None => broker.with_system_authorities()?,
        };
        match &args.mqtt_password_file {
            Some(file) => broker.with_password_file(file, args.mqtt_plain_password),
            None => Ok(broker),
        }
    });
    let mqtt = mqtt.transpose().map_err(CommandError::Usage)?;
    let mut service = Config::new(args.files.database.place()?, args.files.keys);
    service.store.zone = args.zone.unwrap_or_else(zone_here);
    service.store.keep_days = args.keep;
    service.require_sealed = args.require_sealed;
    service.udp = args.udp;
    service.verifiers = args.verifiers.map_or(0, usize::from);
    let listen = Listen { address: args.listen, tls };
    let daemon = Daemon { service, listen, serial: args.serial, forward: args.forward, mqtt };
    daemon.run(|started| {
        // Nobody may be reading.
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "dashboard {}", started.url);
        if let Some(link) = &started.one_time_link {
            // What is no terminal may be a log that others read: they are told where the link stands.
            let _ = match out.is_terminal() {
                true => writeln!(out, "first sign-in {}", link.url()),
                false => writeln!(out, "first sign-in: open the link in {}", link.file().display()),
            };
        }
        for address in &started.udp {
            let _ = writeln!(out, "udp {address}");
        }
        let _ = out.flush();
    })?;
    Ok(Answer { data: String::new(), remark: String::new(), success: true })
}

/// To standard error.
fn log(how: Log, level: tracing::Level) {
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    match how {
        Log::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        Log::Json => log.json().flatten_event(true).init(),
    }
}
