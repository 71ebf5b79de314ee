//! The processes: how each part is started, where it is heard, and what SIGKILL and SIGSTOP do to
//! it.

use crate::chaos::ClusterError;
use crate::chaos::hostile::{self, Attack, Targets};
use crate::chaos::network::Network;
use crate::chaos::parts::{Kind, PartId};
use collector::cluster::{NatsUser, NoName, accounts, make_nkey};
use collector::network::NetworkId;
use rustix::process::Signal;
use std::fs::DirBuilder;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use testkit::servers::ServerError;
use testkit::servers::folder::ServerFolder;
use testkit::servers::nats::{Nats, configuration, relayed_cluster_configuration};
use testkit::servers::ports::free_ports;
use testkit::servers::postgres::{Postgres, give, make_home};
use testkit::servers::process::{Process, tail};
use wire::meter::MeterId;
use zeroize::Zeroizing;

/// Name of the database.
const DATABASE: &str = "wattseal";
/// Names the sockets of the database's servers; nobody listens by TCP.
const FIRST_PORT: u16 = 5432;
const KEK_FILE: &str = "wattseal.kek";
/// A standby is to follow within this.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(120);

/// The file with the key of a role's user.
fn credentials(part: PartId) -> String {
    match part.kind {
        Kind::Gateway | Kind::HostileGateway => format!("{part}.nk"),
        kind => format!("{}.nk", kind.name()),
    }
}

/// Makes the keys of the roles' users in a folder. Returns their accounts, as the NATS servers have
/// them.
fn users(folder: &Path) -> Result<String, ClusterError> {
    let mut users = Vec::new();
    let of = |kind: Kind| (0..kind.rule().count).map(move |index| PartId { kind, index });
    let gateways = [Kind::Gateway, Kind::HostileGateway].into_iter().flat_map(of);
    let others = [Kind::Worker, Kind::Api].map(|kind| PartId { kind, index: 0 });
    for part in others.into_iter().chain(gateways) {
        let user = match part.kind {
            Kind::Gateway | Kind::HostileGateway => {
                let name = part.to_string().parse().map_err(|error: NoName| {
                    ClusterError::Users(collector::cluster::ClusterError::Usage(error.to_string()))
                })?;
                let networks = match part.kind {
                    Kind::Gateway => vec![NetworkId::DEFAULT],
                    _ => hostile::NETWORKS.to_vec(),
                };
                NatsUser::Gateway { name, networks }
            }
            Kind::Worker => NatsUser::Worker,
            _ => NatsUser::Api,
        };
        users.push((user, make_nkey(&folder.join(credentials(part)))?));
    }
    Ok(accounts(&users))
}

/// Everything that runs. Dropped, it is gone, with its folder.
pub struct Machines {
    // In this order they end.
    attack: Option<Attack>,
    roles: Vec<Role>,
    standby: Standby,
    /// A primary that was cut off, and does not know.
    stale: Option<Postgres>,
    primary: Postgres,
    nats: Vec<Nats>,
    /// Address of each NATS server's HTTP monitor.
    monitors: Vec<SocketAddr>,
    /// Between the roles and the servers, and between these.
    network: Network,
    /// Messages of the hostile gateway in attacks that ended.
    hostile_messages: u64,
    collector: PathBuf,
    folder: ServerFolder,
}

/// Standby that gets all commits.
enum Standby {
    Follows(Box<Postgres>),
    /// Made of the primary's files at the moment.
    Begins(JoinHandle<Result<Postgres, ServerError>>),
    None,
}

/// A gateway, a worker or an API.
struct Role {
    part: PartId,
    arguments: Vec<String>,
    process: Option<Process>,
    /// Address of its health endpoint.
    health: SocketAddr,
    /// Address of its service: packets for a gateway, HTTP for an API; none for a worker.
    listens: SocketAddr,
}

impl Machines {
    /// Starts NATS and PostgreSQL, with an empty database. collector: the program of the roles.
    ///
    /// # Errors
    /// [`ClusterError`]
    pub fn start(collector: &Path) -> Result<Machines, ClusterError> {
        let folder = ServerFolder::make("cluster")?;
        let count = |kind: Kind| kind.rule().count;
        let (ports, routes) = (free_ports(count(Kind::Nats))?, free_ports(count(Kind::Nats))?);
        let monitors = free_ports(count(Kind::Nats))?.into_iter();
        let monitors: Vec<_> = monitors.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))).collect();
        let mut network = Network::new()?;
        let users = users(folder.path())?;
        let password = format!("{:032x}", rand::random::<u128>());
        let mut nats = Vec::new();
        for (index, port) in ports.into_iter().enumerate() {
            let name = PartId { kind: Kind::Nats, index }.to_string();
            let monitor = format!("http: \"{}\"\n", monitors[index]);
            let mut to = Vec::new();
            for other in (0..routes.len()).filter(|other| *other != index) {
                to.push(network.to_port(PartId::route(index, other), routes[other])?);
            }
            let cluster = relayed_cluster_configuration(routes[index], &to, &password);
            let text = configuration(folder.path(), &name, port) + &cluster + &monitor + &users;
            nats.push(Nats::new(folder.path(), &name, port, &text)?);
        }
        let home = folder.path().join("postgres");
        make_home(&home)?;
        let replication = folder.path().join("replication");
        for socket in sockets(&mut network, PartId::REPLICATION, (&replication, &home))? {
            give(&socket)?;
        }
        give(&replication)?;
        let seat = |index| {
            let name = PartId { kind: Kind::Postgres, index }.to_string();
            let port = format!("port={}", FIRST_PORT + index as u16);
            // While it is a standby, that of the other one, by the network that is harmed.
            let (from, other) = (replication.display(), FIRST_PORT + 1 - index as u16);
            let primary = format!("primary_conninfo=host='{from}' port={other} user=postgres");
            Postgres::new(&home, &name, &[&port, &primary, "shared_buffers=32MB", "wal_keep_size=256MB"])
        };
        let (primary, standby) = (seat(0), Standby::Follows(Box::new(seat(1))));
        let (stale, roles, collector) = (None, Vec::new(), collector.to_owned());
        let mut machines = Machines {
            attack: None,
            roles,
            standby,
            stale,
            primary,
            nats,
            monitors,
            network,
            hostile_messages: 0,
            collector,
            folder,
        };
        for nats in &mut machines.nats {
            nats.run()?;
        }
        machines.primary.initialize()?;
        machines.primary.run()?;
        machines.primary.sql("postgres", &format!("CREATE DATABASE {DATABASE}"))?;
        // In its files, and so in those of every copy; taken by this one when it has a standby.
        machines.primary.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        if let Standby::Follows(standby) = &mut machines.standby {
            standby.follow(&machines.primary)?;
            standby.run()?;
        }
        machines.primary.reload();
        follows(&machines.primary)?;
        Ok(machines)
    }

    /// Takes the keys of a folder into the database, makes a token, and starts the roles. Returns
    /// the token.
    ///
    /// # Errors
    /// [`ClusterError`]
    pub fn begin(&mut self, keys: &Path) -> Result<Zeroizing<String>, ClusterError> {
        let db = database_url(self.primary.home());
        self.collector(&["meters", "new-kek", KEK_FILE])?;
        let keys = keys.display().to_string();
        self.collector(&["meters", "import", &keys, "--db", &db, "--kek-file", KEK_FILE])?;
        let token = self.collector(&["tokens", "add", "demo", "--role", "administrator", "--db", &db])?;
        for part in PartId::all() {
            if let Some(role) = self.role(part)? {
                self.roles.push(role);
                self.run(part)?;
            }
        }
        Ok(token)
    }

    /// Returns the start of a role, with its networks.
    fn role(&mut self, part: PartId) -> Result<Option<Role>, ClusterError> {
        if !matches!(part.kind, Kind::Gateway | Kind::Worker | Kind::Api) {
            return Ok(None);
        }
        let (to_nats, to_postgres) = part.networks();
        let mut db = String::new();
        if let Some(link) = to_postgres {
            let folder = self.folder.path().join(format!("to-postgres-{part}"));
            sockets(&mut self.network, link, (&folder, self.primary.home()))?;
            db = database_url(&folder);
        }
        let ports = free_ports(2)?;
        let [health, listens] =
            [ports[0], ports[1]].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let mut nats = Vec::new();
        for server in &self.nats {
            nats.push(format!("nats://127.0.0.1:{}", self.network.to_port(to_nats, server.port())?));
        }
        let (name, nats, replicas) = (part.to_string(), nats.join(","), self.nats.len());
        let what = match part.kind {
            Kind::Gateway => format!("gateway --name {name} --udp {listens}"),
            Kind::Worker => format!(
                "worker --db {db} --kek-file {KEK_FILE} --slices 4 --replicas {replicas} --verifiers 1 --zone UTC"
            ),
            _ => format!("api --db {db} --listen {listens}"),
        };
        let credentials = credentials(part);
        let arguments = format!("{what} --nats {nats} --nats-creds {credentials} --health {health}");
        let arguments = arguments.split(' ').map(str::to_owned).collect();
        Ok(Some(Role { part, arguments, process: None, health, listens }))
    }

    /// Runs a command of the collector to its end. Returns what it wrote.
    fn collector(&self, arguments: &[&str]) -> Result<Zeroizing<String>, ClusterError> {
        let mut command = Command::new(&self.collector);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null()).process_group(0);
        let failed = |said: String| ClusterError::Collector { program: self.collector.clone(), said };
        let done = command.output().map_err(|error| failed(error.to_string()))?;
        if !done.status.success() {
            return Err(failed(String::from_utf8_lossy(&done.stderr).trim().to_owned()));
        }
        Ok(Zeroizing::new(String::from_utf8_lossy(&done.stdout).trim().to_owned()))
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The networks of the roles, and those between servers.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the folder of the database's servers.
    #[must_use]
    pub fn postgres_home(&self) -> &Path {
        self.primary.home()
    }

    /// Returns the addresses of the NATS servers' monitors.
    #[must_use]
    pub fn monitors(&self) -> Vec<(PartId, SocketAddr)> {
        let of = |(index, monitor): (usize, &SocketAddr)| (PartId { kind: Kind::Nats, index }, *monitor);
        self.monitors.iter().enumerate().map(of).collect()
    }

    /// `psql` with the database, whichever of both is primary.
    ///
    /// # Errors
    /// It is not installed.
    pub fn client(&self) -> Result<Command, ClusterError> {
        let home = self.primary.home().display();
        let next = FIRST_PORT + 1;
        let to = format!(
            "host={home},{home} port={FIRST_PORT},{next} dbname={DATABASE} target_session_attrs=read-write connect_timeout=2"
        );
        Ok(self.primary.client(&to)?)
    }

    /// Asks the primary.
    ///
    /// # Errors
    /// The database does not answer.
    pub fn sql(&self, sql: &str) -> Result<String, ClusterError> {
        Ok(self.primary.sql(DATABASE, sql)?)
    }

    /// Returns the service addresses of the roles of a kind.
    #[must_use]
    pub fn listening(&self, kind: Kind) -> Vec<SocketAddr> {
        self.roles.iter().filter(|role| role.part.kind == kind).map(|role| role.listens).collect()
    }

    /// Returns the health addresses of the roles.
    #[must_use]
    pub fn health(&self) -> Vec<(PartId, SocketAddr)> {
        self.roles.iter().map(|role| (role.part, role.health)).collect()
    }

    /// Returns the part that is the primary.
    #[must_use]
    pub fn primary(&self) -> PartId {
        PartId { kind: Kind::Postgres, index: usize::from(self.primary.port() - FIRST_PORT) }
    }

    /// Starts a part that was killed. A database's is made of the primary's files, which takes a
    /// while: [`Machines::settle`].
    ///
    /// # Errors
    /// [`ClusterError`]
    pub fn run(&mut self, part: PartId) -> Result<(), ClusterError> {
        match part.kind {
            Kind::Nats => self.nats[part.index].run()?,
            Kind::Postgres
            | Kind::HostileGateway
            | Kind::ToNats
            | Kind::ToPostgres
            | Kind::Replication
            | Kind::Routes => {}
            Kind::Gateway | Kind::Worker | Kind::Api => {
                let (log, number) = (self.log(part), self.folder.path().join(format!("{part}.pid")));
                let folder = self.folder.path().to_owned();
                let mut command = Command::new(&self.collector);
                if let Some(role) = self.roles.iter_mut().find(|role| role.part == part) {
                    command.args(&role.arguments).current_dir(folder);
                    role.process = Some(Process::start_numbered(&mut command, &log, number)?);
                }
            }
        }
        Ok(())
    }

    /// SIGKILL. Of the primary of the database: its standby is promoted, and what was killed is
    /// made its standby.
    ///
    /// # Errors
    /// [`ClusterError`]
    pub fn kill(&mut self, part: PartId) -> Result<(), ClusterError> {
        match part.kind {
            Kind::Nats => self.nats[part.index].kill()?,
            Kind::Postgres => {
                self.primary.kill()?;
                let old = self.promote()?;
                self.follow(old);
            }
            Kind::Gateway | Kind::Worker | Kind::Api => {
                let role = self.roles.iter_mut().find(|role| role.part == part);
                if let Some(process) = role.and_then(|role| role.process.take()) {
                    process.kill()?;
                }
            }
            Kind::HostileGateway | Kind::ToNats | Kind::ToPostgres | Kind::Replication | Kind::Routes => {}
        }
        Ok(())
    }

    /// SIGSTOP, or SIGCONT.
    pub fn hold(&self, part: PartId, hold: bool) {
        match part.kind {
            Kind::Nats => self.nats[part.index].hold(hold),
            Kind::Postgres => self.primary.hold(hold),
            Kind::Gateway | Kind::Worker | Kind::Api => {
                let role = self.roles.iter().find(|role| role.part == part);
                if let Some(process) = role.and_then(|role| role.process.as_ref()) {
                    process.tell(if hold { Signal::STOP } else { Signal::CONT });
                }
            }
            Kind::HostileGateway | Kind::ToNats | Kind::ToPostgres | Kind::Replication | Kind::Routes => {}
        }
    }

    /// The hostile gateway attacks by a connection of its own, until it is ended, or by itself
    /// after a while. meters: in whose names.
    ///
    /// # Errors
    /// [`ClusterError`]
    pub fn attack(
        &mut self,
        own: PartId,
        meters: &[MeterId],
        (seed, lasts): (u64, Duration),
    ) -> Result<(), ClusterError> {
        let servers: Vec<u16> = self.nats.iter().map(Nats::port).collect();
        let credentials = self.folder.path().join(credentials(own));
        let targets = Targets { own, meters: meters.to_vec() };
        self.end_attack();
        self.attack = Some(Attack::start(&servers, &credentials, targets, (seed, lasts))?);
        Ok(())
    }

    /// The hostile gateway is quiet.
    pub fn end_attack(&mut self) {
        self.hostile_messages = self.hostile_messages();
        self.attack = None;
    }

    /// Messages that the hostile gateway has sent.
    #[must_use]
    pub fn hostile_messages(&self) -> u64 {
        self.hostile_messages + self.attack.as_ref().map_or(0, Attack::sent)
    }

    /// The primary is cut off, the standby promoted; then the old one goes on, and believes that it
    /// is the primary.
    ///
    /// # Errors
    /// [`ClusterError`]
    pub fn split(&mut self) -> Result<(), ClusterError> {
        self.primary.hold(true);
        let old = self.promote()?;
        old.hold(false);
        self.stale = Some(old);
        Ok(())
    }

    /// Ends a server that was cut off, and makes it a standby.
    ///
    /// # Errors
    /// [`ClusterError`]
    pub fn join(&mut self) -> Result<(), ClusterError> {
        if let Some(mut stale) = self.stale.take() {
            stale.kill()?;
            self.follow(stale);
        }
        Ok(())
    }

    /// Makes the standby the primary. Returns the old one.
    fn promote(&mut self) -> Result<Postgres, ClusterError> {
        let Standby::Follows(standby) = std::mem::replace(&mut self.standby, Standby::None) else {
            return Err(ClusterError::NoStandby);
        };
        standby.promote()?;
        Ok(std::mem::replace(&mut self.primary, *standby))
    }

    fn follow(&mut self, mut old: Postgres) {
        let primary = self.primary.address();
        self.standby = Standby::Begins(std::thread::spawn(move || {
            old.follow(&primary)?;
            old.run()?;
            follows(&primary)?;
            Ok(old)
        }));
    }

    /// Returns true if the database has a standby that has all commits.
    ///
    /// # Errors
    /// A standby was to be made, and could not.
    pub fn settle(&mut self) -> Result<bool, ClusterError> {
        match std::mem::replace(&mut self.standby, Standby::None) {
            Standby::Begins(begins) if begins.is_finished() => {
                let made = begins.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                self.standby = Standby::Follows(Box::new(made));
            }
            other => self.standby = other,
        }
        Ok(matches!(self.standby, Standby::Follows(_)))
    }

    /// Roles that ended though nobody killed them, each with the end of its log; they are started
    /// again.
    ///
    /// # Errors
    /// A part cannot be started.
    pub fn restart_ended(&mut self) -> Result<Vec<(PartId, String)>, ClusterError> {
        let is_over = |role: &mut Role| role.process.as_mut().is_some_and(Process::is_over);
        let ended: Vec<PartId> =
            self.roles.iter_mut().filter_map(|role| is_over(role).then_some(role.part)).collect();
        let mut said = Vec::new();
        for part in ended {
            said.push((part, tail(&self.log(part))));
            self.run(part)?;
        }
        Ok(said)
    }

    /// A role's log.
    #[must_use]
    pub fn log(&self, part: PartId) -> PathBuf {
        self.folder.path().join(format!("{part}.log"))
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        // Where it is being made it is waited for: it ends with this, too.
        if let Standby::Begins(begins) = std::mem::replace(&mut self.standby, Standby::None) {
            let _ = begins.join();
        }
    }
}

/// Sockets as those of the database's servers, in a folder that is made for them, by a network.
/// Returns them.
fn sockets(
    network: &mut Network,
    link: PartId,
    (folder, home): (&Path, &Path),
) -> Result<Vec<PathBuf>, ClusterError> {
    let made = DirBuilder::new().mode(0o700).create(folder);
    made.map_err(|error| ClusterError::File { path: folder.into(), error })?;
    let mut made = Vec::new();
    for port in ports() {
        let socket = format!(".s.PGSQL.{port}");
        let at = folder.join(&socket);
        network.to_socket(link, at.clone(), home.join(&socket))?;
        made.push(at);
    }
    Ok(made)
}

/// Those of the database's servers, which name their sockets.
fn ports() -> impl Iterator<Item = u16> {
    FIRST_PORT..FIRST_PORT + Kind::Postgres.rule().count as u16
}

/// The database, whichever of both is primary. home: where the sockets are.
fn database_url(home: &Path) -> String {
    let home = home.display().to_string().replace('/', "%2F");
    let hosts: Vec<String> = ports().map(|port| format!("{home}:{port}")).collect();
    format!("postgres://postgres@{}/{DATABASE}?target_session_attrs=read-write", hosts.join(","))
}

/// Waits until a primary has a standby that its commits wait for.
fn follows(primary: &Postgres) -> Result<(), ServerError> {
    let begun = Instant::now();
    let sql = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')";
    while primary.sql("postgres", sql)? == "0" {
        if begun.elapsed() > FOLLOWS_WITHIN {
            let log = "no standby follows the primary".to_owned();
            return Err(ServerError::Silent { what: "PostgreSQL's standby".into(), log });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
