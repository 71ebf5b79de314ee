//! `collect`: the collector, until it is stopped.

use crate::failure::CommandError;
use crate::files::Files;
use crate::http::HttpArgs;
use crate::log::{LogArgs, TracesArgs};
use crate::mqtt::MqttArgs;
use crate::service::ServiceArgs;
use clap::Args;
use collector::daemon::Daemon;
use collector::gateway::serial::SerialLine;
use collector::mbus::TelegramSource;
use collector::network::OfNetwork;
use output::Answer;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;

#[derive(Args)]
pub(crate) struct CollectArgs {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    http: HttpArgs,
    /// Hear UDP gateways here; may be repeated. @7 behind it: they are of network 7
    #[arg(long, value_name = "ADDR:PORT[@NETWORK]")]
    udp: Vec<OfNetwork<SocketAddr>>,
    /// Hear an RFM12Pi, RFM69Pi or JeeLink; may be repeated. @7 behind it: it is of network 7
    #[arg(long, value_name = "DEVICE[:BAUD][@NETWORK]")]
    serial: Vec<OfNetwork<SerialLine>>,
    /// Hear telegrams of other makers' meters (wireless M-Bus), as lines of a receiver: - is
    /// standard input, ADDR:PORT takes datagrams. MODULE is im871a, amb8465 or amb8465-rssi, whose
    /// device gives frames; may be repeated
    #[arg(long, value_name = "-|ADDR:PORT|[MODULE:]DEVICE[:BAUD]")]
    telegrams: Vec<TelegramSource>,
    /// Take telegrams of all registered meters that nothing authenticates: anybody can forge those
    #[arg(long, requires = "telegrams")]
    unauthenticated: bool,
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
    let _traces = args.traces.begin("collect", args.http.listen.to_string())?;
    let mqtt = args.mqtt.broker()?;
    let mut service = args.service.config(args.files)?;
    service.udp = args.udp;
    let listen = args.http.listen();
    let daemon = Daemon {
        service,
        listen,
        serial: args.serial,
        forward: args.forward,
        telegrams: args.telegrams,
        unauthenticated: args.unauthenticated,
        mqtt,
    };
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
        for address in &started.telegrams {
            let _ = writeln!(out, "telegrams {address}");
        }
        let _ = out.flush();
    })?;
    Ok(Answer { data: String::new(), remark: String::new(), success: true })
}
