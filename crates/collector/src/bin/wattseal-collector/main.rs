//! The `wattseal-collector` command: the service, and what is done with its files.

mod backup;
mod cluster;
mod collect;
mod failure;
mod files;
mod http;
mod log;
mod mbus;
mod meters;
mod mqtt;
mod names;
mod records;
mod relocation;
mod service;
mod times;
mod tokens;

use clap::{Parser, Subcommand};
use failure::CommandError;
use output::commands::{API, AUDIT, BACKUP, COLLECT, EXPORT, GATEWAY, METERS, MIGRATE, NKEY, TOKENS, WORKER};
use output::{Answer, Failure};
use std::process::ExitCode;

/// Takes meters' sealed reports, verifies, stores and shows them.
///
/// Exit codes: 0 success, 1 failure, 2 wrong usage. Data goes to standard output, all else to
/// standard error.
#[derive(Parser)]
#[command(
    name = "wattseal-collector",
    version,
    max_term_width = 110,
    after_help = "Example: wattseal collect --serial /dev/ttyAMA0"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(
        about = COLLECT.about,
        after_help = "SIGINT (Ctrl-C) and SIGTERM stop it gracefully. The log goes to standard error.\n\n\
                      Examples: wattseal collect --serial /dev/ttyAMA0 --mqtt mqtt://localhost\n          \
                      wattseal collect --udp 127.0.0.1:7878 --listen 127.0.0.1:0\n          \
                      wattseal collect --udp 127.0.0.1:7878 --udp 127.0.0.1:7879@7\n          \
                      rtl_wmbus | wattseal collect --telegrams -\n          \
                      wattseal collect --udp 127.0.0.1:7878 --db postgres://wattseal@localhost/wattseal"
    )]
    Collect(Box<collect::CollectArgs>),
    #[command(
        about = GATEWAY.about,
        after_help = "What it is for: docs/how-to/cluster.md. Who runs one process needs no NATS: wattseal collect.\n\n\
                      Examples: wattseal gateway --nats nats://127.0.0.1:4222 --name hall --udp 127.0.0.1:7878@7\n          \
                      wattseal gateway --nats tls://nats1.lan,tls://nats2.lan --nats-ca ca.pem --nats-creds hall.nk --name hall --serial /dev/ttyAMA0"
    )]
    Gateway(Box<cluster::GatewayArgs>),
    #[command(
        about = WORKER.about,
        after_help = "What it is for: docs/how-to/cluster.md. Who runs one process needs no NATS: wattseal collect.\n\n\
                      Examples: wattseal worker --nats nats://127.0.0.1:4222\n          \
                      wattseal worker --nats tls://nats1.lan,tls://nats2.lan --nats-creds worker.creds --slices 4 --replicas 3 --health 127.0.0.1:8081"
    )]
    Worker(Box<cluster::WorkerArgs>),
    #[command(
        about = API.about,
        after_help = "What it is for: docs/how-to/cluster.md. Who runs one process has all of it in wattseal collect.\n\n\
                      Examples: wattseal api --nats nats://127.0.0.1:4222 --db postgres://wattseal@localhost/wattseal\n          \
                      wattseal api --nats tls://nats1.lan,tls://nats2.lan --nats-creds api.nk --db postgres://wattseal@db.lan/wattseal --mqtt mqtt://localhost"
    )]
    Api(Box<cluster::ApiArgs>),
    #[command(about = NKEY.about, after_help = "Examples: wattseal nkey hall.nk --gateway hall --network 7\n          wattseal nkey worker.nk --role worker")]
    Nkey(cluster::NkeyArgs),
    #[command(
        about = METERS.about,
        after_help = "Example: wattseal meters provision 258 --images for-the-maker"
    )]
    Meters(meters::MetersArgs),
    #[command(about = TOKENS.about, after_help = "Example: wattseal tokens add dashboard --role viewer")]
    Tokens(tokens::TokensArgs),
    #[command(
        about = AUDIT.about,
        after_help = "Exit code 1 where something is not as it should be.\n\nExample: wattseal audit --format json"
    )]
    Audit(records::AuditArgs),
    #[command(
        about = EXPORT.about,
        after_help = "Example: wattseal export november.parquet --from 2026-11-01 --to 2026-12-01"
    )]
    Export(records::ExportArgs),
    #[command(about = BACKUP.about, after_help = "Example: wattseal backup backup-2026-11-22")]
    Backup(backup::BackupArgs),
    #[command(
        alias = "move",
        about = MIGRATE.about,
        after_help = "The target is filled while the collector goes on. Then this says that the collector is to be stopped, waits for that, copies the \
                      rest, compares all, and marks the source, which no collector takes any more. Where it ends early, the same command goes on: \
                      docs/how-to/collector/move.md, \"Moving to PostgreSQL and back\".\n\n\
                      Examples: wattseal migrate --from wattseal.db --to postgres://wattseal@localhost/wattseal\n          \
                      wattseal migrate --from postgres://wattseal@localhost/wattseal --to back.db"
    )]
    Migrate(relocation::MigrateArgs),
}

fn main() -> ExitCode {
    output::end(run(output::commands::parse::<Cli>("wattseal").command).map_err(Failure::from))
}

fn run(command: Command) -> Result<Answer, CommandError> {
    match command {
        Command::Collect(args) => collect::run(*args),
        Command::Gateway(args) => cluster::run_gateway(*args),
        Command::Worker(args) => cluster::run_worker(*args),
        Command::Api(args) => cluster::run_api(*args),
        Command::Nkey(args) => cluster::run_nkey(args),
        Command::Meters(args) => meters::run(args),
        Command::Tokens(args) => tokens::run(args),
        Command::Audit(args) => records::run_audit(args),
        Command::Export(args) => records::run_export(args),
        Command::Backup(args) => backup::run(args),
        Command::Migrate(args) => relocation::run(args),
    }
}
