//! `tokens`: who may use a collector's API.

use crate::failure::CommandError;
use crate::files::Database;
use crate::times;
use clap::{Args, Subcommand, ValueEnum};
use collector::store::Role;
use collector::tokens::{self, ListedToken};
use output::{Answer, Format, csv, json, table};
use serde::Serialize;

#[derive(Args)]
pub(crate) struct TokensArgs {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    database: Database,
    /// Format of the rows
    #[arg(long, value_enum, default_value_t = Format::Table, global = true)]
    format: Format,
}

#[derive(Subcommand)]
enum What {
    /// All tokens, also those that are revoked
    #[command(after_help = "Example: wattseal tokens list --format json")]
    List,
    /// Make a token, and show its secret once; the first one is an administrator's. A service that
    /// has a file open does that by its API: POST /api/v1/tokens
    #[command(after_help = "Example: wattseal tokens add anna --role administrator")]
    Add {
        /// Name
        name: String,
        /// Rights
        #[arg(long, value_enum, default_value_t = RoleName::Viewer)]
        role: RoleName,
    },
    /// Take a token back. A service that has a file open does that by its API: DELETE
    /// /api/v1/tokens/ID
    #[command(after_help = "Example: wattseal tokens revoke 2")]
    Revoke {
        /// As 'tokens list' has it
        id: i64,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum RoleName {
    /// Sees all, changes nothing
    Viewer,
    /// Commands meters, acknowledges alerts, makes tokens
    Administrator,
}

#[derive(Serialize)]
struct NewToken<'a> {
    id: i64,
    name: &'a str,
    role: Role,
    token: &'a str,
}

pub(crate) fn run(args: TokensArgs) -> Result<Answer, CommandError> {
    let db = args.database.place()?;
    let (data, remark) = match args.what {
        What::List => (listing(&tokens::list(&db)?, args.format)?, String::new()),
        What::Add { name, role } => {
            let role = match role {
                RoleName::Viewer => Role::Viewer,
                RoleName::Administrator => Role::Administrator,
            };
            let (id, secret) = tokens::add(&db, &name, role)?;
            let row = [NewToken { id, name: &name, role, token: secret.expose() }];
            let data = match args.format {
                Format::Json => json(&row)?,
                Format::Csv => csv(&row)?,
                Format::Table => format!("{}\n", secret.expose()),
            };
            (data, format!("wattseal: token {id} of {name}; it is shown this once, keep it secret"))
        }
        What::Revoke { id } => {
            tokens::revoke(&db, id)?;
            (String::new(), format!("wattseal: token {id} is revoked"))
        }
    };
    Ok(Answer { data, remark, success: true })
}

fn listing(tokens: &[ListedToken], format: Format) -> Result<String, CommandError> {
    Ok(match format {
        Format::Json => json(tokens)?,
        Format::Csv => csv(tokens)?,
        Format::Table => {
            let mut rows = table(&["id", "name", "role", "made", "last used", "revoked"], 6);
            let time = |at_s: Option<i64>| at_s.map_or("–".into(), times::time);
            for token in tokens {
                let role = match token.role {
                    Role::Viewer => "viewer",
                    Role::Administrator => "administrator",
                };
                rows.add_row([
                    token.id.to_string(),
                    token.name.clone(),
                    role.into(),
                    time(Some(token.created_s)),
                    time(token.last_used_s),
                    time(token.revoked_s),
                ]);
            }
            format!("{rows}\n")
        }
    })
}
