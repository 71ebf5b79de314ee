//! The connection to the NATS servers.

use super::name::RoleName;
use super::server_rotation::ServerRotation;
use super::status::{Part, Status};
use crate::api::ListenError;
use crate::registry::{RegistryError, read_secrets};
use crate::service::ServiceError;
use crate::trust;
use async_nats::jetstream::{self, context::ContextBuilder};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::sleep;

/// The NATS servers of the command line.
#[derive(Clone, Debug)]
pub struct Nats {
    /// One or more servers of a cluster.
    pub servers: Vec<ServerAddr>,
    /// The trusted certificate authorities; `None`: those of this system.
    pub ca: Option<PathBuf>,
    /// Credentials (JWT and seed), or the seed of an nkey alone.
    pub credentials: Option<PathBuf>,
}

/// Why a role does not start, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Something of the command line.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Secrets(#[from] RegistryError),
    #[error(
        "the NATS server at {servers} does not let this user in: {error}; check --nats-creds and the server's users"
    )]
    NotLetIn { servers: String, error: String },
    #[error(
        "no TLS with the NATS server at {servers}: {error}; check --nats-ca, and that the server's certificate is for this host"
    )]
    Tls { servers: String, error: String },
    /// The user of the servers may do more than its role needs.
    #[error(
        "{user} may {may} at the NATS servers, which this role does not need. Give the user these permissions there, and no \
         others (docs/how-to/cluster.md, \"Users\"):\n{permissions}"
    )]
    WideUser { user: String, may: String, permissions: String },
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The dashboard and the API cannot listen.
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error("UDP gateway {address}: {error}; choose another address with --udp")]
    Udp { address: SocketAddr, error: std::io::Error },
    #[error("cannot answer at {address}: {error}; choose another address with --health")]
    Health { address: SocketAddr, error: std::io::Error },
    #[error("the system gives no threads: {0}; stop other programs, or raise the limit")]
    Runtime(std::io::Error),
    /// Slices are the same for all.
    #[error(
        "the cluster's networks have {there} slices, and not {wanted}: leave out --slices; to change them, stop all workers, and start one \
         with --slices {wanted} --change-slices"
    )]
    OtherSlices { there: String, wanted: String },
    /// A part of it ended in a way that it never should.
    #[error("the {0} has ended by itself; the log says why. What was acknowledged is stored; start it again")]
    Ended(&'static str),
}

impl ClusterError {
    /// Says if the request was impossible (exit code 2), and did not just fail (exit code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            ClusterError::Usage(_)
                | ClusterError::OtherSlices { .. }
                | ClusterError::WideUser { .. }
                | ClusterError::Listen(ListenError::WithoutTls(_) | ListenError::WithoutToken(_))
        )
    }
}

/// The pause after a refused or missing connection.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The longest wait for an answer of JetStream, before it is asked again.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
/// Servers that went without a word are noticed within twice this.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Published messages that JetStream has not acknowledged, at most; more are lost, as by radio.
pub(super) const IN_FLIGHT_MAX: usize = 4096;

impl Nats {
    fn servers(&self) -> String {
        self.servers
            .iter()
            .map(|server| format!("{}:{}", server.host(), server.port()))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// With what is in the files; they are read each time.
    pub(super) fn options(
        &self,
        name: &RoleName,
        turns: &ServerRotation,
    ) -> Result<ConnectOptions, ClusterError> {
        let mut options = ConnectOptions::new()
            .name(name)
            // A gateway's user may hear the answers to its own questions alone.
            .custom_inbox_prefix(format!("_INBOX.{name}"))
            .ping_interval(PING_EVERY)
            .reconnect_to_server_callback(turns.choice());
        if self.servers.iter().any(ServerAddr::has_user_pass) {
            return Err(ClusterError::Usage(
                "other users of this machine could see a password here; use an nkey or credentials, in a file: --nats-creds".into(),
            ));
        }
        let tls = self.servers.iter().filter(|server| server.tls_required()).count();
        if tls > 0 && tls < self.servers.len() {
            return Err(ClusterError::Usage("give all servers with tls:// or none of them".into()));
        }
        if tls > 0 {
            let trust = trust::authorities(self.ca.as_deref(), "--nats-ca").map_err(ClusterError::Usage)?;
            options = options.require_tls(true).tls_client_config((*trust).clone());
        } else if self.ca.is_some() {
            return Err(ClusterError::Usage("--nats-ca is for TLS: --nats tls://HOST".into()));
        }
        if let Some(path) = &self.credentials {
            let text = read_secrets(path)?;
            let bad = || {
                let path = path.display();
                ClusterError::Usage(format!(
                    "{path}: --nats-creds takes a file of credentials (BEGIN NATS USER JWT), or one with the seed of a user's nkey, SU.."
                ))
            };
            let seed = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
            options = match seed {
                Some(seed) if seed.starts_with("SU") => options.nkey(seed.to_owned()),
                Some(_) => options.credentials(&text).map_err(|_| bad())?,
                None => return Err(bad()),
            };
        }
        Ok(options)
    }

    /// Connects; where no server is there, goes on until one is. Once it is connected it stays so
    /// by itself.
    ///
    /// # Errors
    /// [`ClusterError`]: errors that waiting does not mend.
    pub(super) async fn connect(&self, name: &RoleName, status: &Status) -> Result<Connection, ClusterError> {
        let (servers, turns) = (self.servers(), ServerRotation::default());
        loop {
            let told = status.clone();
            let options = self.options(name, &turns)?.event_callback(move |event| {
                let status = told.clone();
                async move { tell(&status, &event) }
            });
            let error = match options.connect(&self.servers).await {
                Ok(client) => {
                    status.fine(Part::Nats);
                    tracing::info!(%servers, "connected to NATS");
                    return Ok(Connection::new(client, turns));
                }
                Err(error) => error,
            };
            let error = match error.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    return Err(ClusterError::NotLetIn { servers, error: error.to_string() });
                }
                ConnectErrorKind::Tls => return Err(ClusterError::Tls { servers, error: chain(&error) }),
                _ if is_of_tls(&error) => return Err(ClusterError::Tls { servers, error: chain(&error) }),
                ConnectErrorKind::ServerParse => return Err(ClusterError::Usage(chain(&error))),
                _ => chain(&error),
            };
            status.trouble(
                Part::Nats,
                format!("no connection to NATS at {servers}: {error}; trying again each second. Is the server there, and the URL right?"),
            );
            sleep(AGAIN_AFTER).await;
        }
    }
}

/// Says if a server was there, and TLS failed.
fn is_of_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let below = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    below.is_some_and(|below| below.is::<rustls::Error>()) || error.source().is_some_and(is_of_tls)
}

/// An error with all that led to it.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        // Some repeat what is below them.
        let below = error.to_string();
        if !text.contains(&below) {
            text = format!("{text}: {below}");
        }
        source = error.source();
    }
    text
}

/// Records an event of the connection.
fn tell(status: &Status, event: &Event) {
    match event {
        Event::Connected => status.fine(Part::Nats),
        Event::Disconnected => {
            status.trouble(Part::Nats, "the connection to NATS is lost; it is made again by itself")
        }
        Event::ServerError(error) => tracing::warn!("the NATS server says: {error}"),
        Event::ClientError(error) => tracing::warn!("NATS: {error}"),
        Event::SlowConsumer(_) => {
            tracing::debug!("packets were dropped that came faster than they were taken")
        }
        Event::LameDuckMode | Event::Draining | Event::Closed => tracing::debug!("NATS: {event}"),
    }
}

/// The servers.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) jetstream: jetstream::Context,
    pub(super) turns: ServerRotation,
}

impl Connection {
    fn new(client: Client, turns: ServerRotation) -> Connection {
        let jetstream = ContextBuilder::new()
            .timeout(ANSWERED_WITHIN)
            .ack_timeout(ANSWERED_WITHIN)
            .max_ack_inflight(IN_FLIGHT_MAX)
            .build(client.clone());
        Connection { client, jetstream, turns }
    }

    /// Says if a server is connected now.
    pub(super) fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }
}
