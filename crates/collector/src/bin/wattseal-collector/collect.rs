//! `collect`: the collector, until it is stopped.

use crate::failure::CommandError;
use crate::files::Files;
use crate::log::{LogArgs, TracesArgs};
use crate::mqtt::MqttArgs;
use crate::service::ServiceArgs;
use clap::Args;
use collector::api::{Listen, TlsFiles};
use collector::daemon::Daemon;
use collector::gateway::serial::SerialLine;
use collector::network::OfNetwork;
use output::Answer;
use std::io::{IsTerminal, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CollectArgs {
    #[command(flatten)]
    files: Files,
    /// Address of the dashboard and the API; other addresses than loopback need TLS and a token
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Certificates, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A reverse proxy, by its address: its clients are told apart by X-Forwarded-For; may be
    /// repeated
    #[arg(long, value_name = "IP")]
    proxy: Vec<IpAddr>,
    /// Hear UDP gateways here; may be repeated. @7 behind it: they are of network 7
    #[arg(long, value_name = "ADDR:PORT[@NETWORK]")]
    udp: Vec<OfNetwork<SocketAddr>>,
    /// Hear an RFM12Pi, RFM69Pi or JeeLink; may be repeated. @7 behind it: it is of network 7
    #[arg(long, value_name = "DEVICE[:BAUD][@NETWORK]")]
    serial: Vec<OfNetwork<SerialLine>>,
    /// Be a concentrator: send what is heard of unknown meters, in network 0, to this collector's
    /// UDP gateway
    #[arg(long, value_name = "HOST:PORT")]
    forward: Option<String>,
    #[command(flatten)]
    mqtt: MqttArgs,
    #[command(flatten)]
    service: ServiceArgs,
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    traces: TracesArgs,
}

pub(crate) fn run(args: CollectArgs) -> Result<Answer, CommandError> {
    args.log.start();
    let _traces = args.traces.begin("collect", args.listen.to_string())?;
    let tls = args.tls_cert.zip(args.tls_key).map(|(certificate, key)| TlsFiles { certificate, key });
    let mqtt = args.mqtt.broker()?;
    let mut service = args.service.config(args.files)?;
    service.udp = args.udp;
    let listen = Listen { address: args.listen, tls, proxies: args.proxy };
    let daemon = Daemon { service, listen, serial: args.serial, forward: args.forward, mqtt };
    daemon.run(|started| {
        // Nobody may be reading.
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "dashboard {}", started.url);
        if let Some(link) = &started.one_time_link {
            // Output that is no terminal may be a log that others read: it gets the place of the
            // link.
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
