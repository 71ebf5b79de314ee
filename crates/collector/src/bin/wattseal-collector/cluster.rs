//! `gateway`, `worker` and `api`: the collector's roles as processes of their own.

use crate::failure::CommandError;
use crate::files::{Database, Files};
use crate::http::HttpArgs;
use crate::log::{LogArgs, TracesArgs};
use crate::mqtt::MqttArgs;
use crate::service::ServiceArgs;
use clap::{Args, ValueEnum};
use collector::api::{Listen, TlsFiles};
use collector::cluster::api::{ApiServer, ApiServerStarted};
use collector::cluster::gateway::Gateway;
use collector::cluster::worker::Worker;
use collector::cluster::{ClusterError, HealthListen, Nats, NatsUser, RoleName, make_nkey};
use collector::daemon::{runtime, signals};
use collector::gateway::serial::SerialLine;
use collector::network::{NetworkId, OfNetwork};
use collector::partition::Slices;
use output::Answer;
use std::collections::BTreeSet;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;

#[derive(Args)]
struct NatsArgs {
    /// The NATS servers, one or more of a cluster, with commas between them; tls is with TLS
    #[arg(long, value_name = "nats|tls://HOST[:PORT],..", value_delimiter = ',', required = true)]
    nats: Vec<async_nats::ServerAddr>,
    /// Trust the authorities of this PEM file for the servers' certificates [default: those that
    /// this system trusts]
    #[arg(long, value_name = "FILE")]
    nats_ca: Option<PathBuf>,
    /// Credentials for the servers (JWT and seed), or the seed of an nkey; readable by its owner
    /// only
    #[arg(long, value_name = "FILE")]
    nats_creds: Option<PathBuf>,
    /// Answer here whether it lives (/health/live), whether it works (/health/ready), and what it
    /// counted (/metrics): a loopback address
    #[arg(long, value_name = "ADDR:PORT")]
    health: Option<SocketAddr>,
}

impl NatsArgs {
    fn nats(self) -> (Nats, Option<HealthListen>) {
        let nats = Nats { servers: self.nats, ca: self.nats_ca, credentials: self.nats_creds };
        (nats, self.health.map(HealthListen))
    }
}

#[derive(Args)]
pub(crate) struct GatewayArgs {
    #[command(flatten)]
    nats: NatsArgs,
    /// Name, different from all other gateways: 1 to 32 letters, digits, '-' and '_'
    #[arg(long, value_name = "NAME")]
    name: RoleName,
    /// Hear UDP gateways here; may be repeated. @7 behind it: they are of network 7
    #[arg(long, value_name = "ADDR:PORT[@NETWORK]", required_unless_present = "serial")]
    udp: Vec<OfNetwork<SocketAddr>>,
    /// Hear an RFM12Pi, RFM69Pi or JeeLink; may be repeated. @7 behind it: it is of network 7
    #[arg(long, value_name = "DEVICE[:BAUD][@NETWORK]")]
    serial: Vec<OfNetwork<SerialLine>>,
    /// Packets a second that it takes at most
    #[arg(long, value_name = "N", default_value = "10000")]
    most_packets: NonZeroU32,
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    traces: TracesArgs,
}

#[derive(Args)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    nats: NatsArgs,
    #[command(flatten)]
    files: Files,
    /// Into how many slices each network is cut: 1, 2, 4, 8 or 16 [default: as it is, at first 1]
    #[arg(long, value_name = "N")]
    slices: Option<Slices>,
    /// Change the number of slices; no other worker must run
    #[arg(long, requires = "slices")]
    change_slices: bool,
    /// On how many servers streams and buckets are kept that are not there yet: 3 in a cluster
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    replicas: u8,
    /// Show the dashboard and answer the API here, while this worker has the database; other
    /// addresses than loopback ask for TLS and a token
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// Certificates, PEM
    #[arg(long, value_name = "FILE", requires_all = ["listen", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// Private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A reverse proxy, by its address: its clients are told apart by X-Forwarded-For; may be
    /// repeated
    #[arg(long, value_name = "IP", requires = "listen")]
    proxy: Vec<IpAddr>,
    #[command(flatten)]
    service: ServiceArgs,
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    traces: TracesArgs,
}

#[derive(Args)]
pub(crate) struct ApiArgs {
    #[command(flatten)]
    nats: NatsArgs,
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    http: HttpArgs,
    #[command(flatten)]
    mqtt: MqttArgs,
    #[command(flatten)]
    log: LogArgs,
}

#[derive(Args)]
pub(crate) struct NkeyArgs {
    /// The file to make: the seed, readable by its owner only
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print the servers' configuration for the gateway of this name, too
    #[arg(long, value_name = "NAME", requires = "network", conflicts_with = "role")]
    gateway: Option<RoleName>,
    /// The networks that the gateway hears, with commas between them
    #[arg(long, value_name = "NETWORK,..", value_delimiter = ',', requires = "gateway")]
    network: Vec<NetworkId>,
    /// Print the servers' configuration for workers or for apis, too
    #[arg(long, value_enum)]
    role: Option<ServiceRole>,
}

/// A role that belongs to the service's account.
#[derive(Clone, Copy, ValueEnum)]
enum ServiceRole {
    Worker,
    Api,
}

impl NkeyArgs {
    fn user(&self) -> Option<NatsUser> {
        let networks = || self.network.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let gateway = self.gateway.clone().map(|name| NatsUser::Gateway { name, networks: networks() });
        gateway.or(self.role.map(|role| match role {
            ServiceRole::Worker => NatsUser::Worker,
            ServiceRole::Api => NatsUser::Api,
        }))
    }
}

pub(crate) fn run_nkey(args: NkeyArgs) -> Result<Answer, CommandError> {
    let user = args.user();
    let public = make_nkey(&args.file)?;
    let (data, printed) = match user {
        Some(user) => (user.configuration(&public), "these lines go"),
        None => (format!("{public}\n"), "this public key goes"),
    };
    let remark =
        format!("wattseal: {printed} into the configuration of the NATS servers; the file into --nats-creds");
    Ok(Answer { data, remark, success: true })
}

pub(crate) fn run_gateway(args: GatewayArgs) -> Result<Answer, CommandError> {
    args.log.start();
    let (nats, health) = args.nats.nats();
    let (name, udp, serial, most_packets) = (args.name, args.udp, args.serial, args.most_packets);
    let _traces = args.traces.begin("gateway", name.to_string())?;
    let gateway = Gateway { nats, name, udp, serial, most_packets, health };
    run(async |stop| {
        let ready = |started: &collector::cluster::gateway::GatewayStarted| {
            let udp = started.udp.iter().map(|address| format!("udp {address}"));
            say(udp.chain(started.health.map(|address| format!("health http://{address}/health/ready"))));
        };
        gateway.serve(ready, stop).await
    })
}

pub(crate) fn run_worker(args: WorkerArgs) -> Result<Answer, CommandError> {
    args.log.start();
    let (nats, health) = args.nats.nats();
    let (slices, change_slices, replicas) = (args.slices, args.change_slices, args.replicas.into());
    let name = name_of("worker")?;
    let _traces = args.traces.begin("worker", name.to_string())?;
    let service = args.service.config(args.files)?;
    let tls = args.tls_cert.zip(args.tls_key).map(|(certificate, key)| TlsFiles { certificate, key });
    let listen = args.listen.map(|address| Listen { address, tls, proxies: args.proxy });
    let worker = Worker { nats, name, service, slices, change_slices, replicas, health, listen };
    run(async |stop| {
        let ready = |started: &collector::cluster::worker::WorkerStarted| {
            say(started.health.map(|address| format!("health http://{address}/health/ready")).into_iter());
        };
        worker.serve(ready, stop).await
    })
}

pub(crate) fn run_api(args: ApiArgs) -> Result<Answer, CommandError> {
    args.log.start();
    let (nats, health) = args.nats.nats();
    let (name, db, mqtt) = (name_of("api")?, args.database.place()?, args.mqtt.broker()?);
    let listen = args.http.listen();
    let api = ApiServer { nats, name, db, listen, mqtt, health };
    run(async |stop| {
        let ready = |started: &ApiServerStarted| {
            let health = started.health.map(|address| format!("health http://{address}/health/ready"));
            say([format!("dashboard {}", started.url)].into_iter().chain(health));
        };
        api.serve(ready, stop).await
    })
}

/// Another one after each start: who was killed is another.
fn name_of(role: &str) -> Result<RoleName, CommandError> {
    let name = format!("{role}-{:016x}", rand::random::<u64>());
    let name: RoleName = name.parse().map_err(|error| CommandError::Usage(format!("{name}: {error}")))?;
    tracing::info!(%name, "this {role}");
    Ok(name)
}

/// Until SIGINT or SIGTERM.
fn run(
    serve: impl AsyncFnOnce(std::pin::Pin<Box<dyn Future<Output = ()>>>) -> Result<(), ClusterError>,
) -> Result<Answer, CommandError> {
    runtime().map_err(ClusterError::Runtime)?.block_on(async {
        let stop = Box::pin(signals().map_err(ClusterError::Runtime)?);
        serve(stop).await
    })?;
    Ok(Answer { data: String::new(), remark: String::new(), success: true })
}

/// Nobody may be reading.
fn say(lines: impl Iterator<Item = String>) {
    let mut out = std::io::stdout().lock();
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
    let _ = out.flush();
}
