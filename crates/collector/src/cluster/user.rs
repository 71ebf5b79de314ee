//! Users of the NATS servers: the account of each, and all that it may do there. Servers, documents
//! and the check of a role's own permissions have it from here. docs/how-to/cluster.md, "Users".

use super::name::RoleName;
use super::subject;
use crate::network::NetworkId;
use std::fmt;

/// The account of workers and apis, with the streams and buckets.
pub const SERVICE_ACCOUNT: &str = "WATTSEAL";
/// A step of indentation.
const BELOW: &str = "  ";

/// A user, by what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NatsUser {
    /// One gateway, of one or more networks. It has an account of its own.
    Gateway {
        name: RoleName,
        networks: Vec<NetworkId>,
    },
    Worker,
    Api,
}

/// Subjects of which a user may use some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubjectPermissions {
    pub allow: Vec<String>,
    pub deny: Vec<String>,
}

impl NatsUser {
    /// The account that the user belongs to.
    #[must_use]
    pub fn account(&self) -> String {
        match self {
            NatsUser::Gateway { name, .. } => format!("GATEWAY_{name}"),
            NatsUser::Worker | NatsUser::Api => SERVICE_ACCOUNT.to_owned(),
        }
    }

    /// Subjects that it publishes to.
    #[must_use]
    pub fn publish(&self) -> SubjectPermissions {
        let allow = match self {
            NatsUser::Gateway { name, networks } => {
                each(networks, |network| subject::all_up_of(network, name))
            }
            NatsUser::Worker => {
                let own = [subject::ALL_DOWN, subject::EVENTS, subject::ALL_ASKED, subject::ALL_ANSWERS];
                own.into_iter()
                    .chain(["$JS.API.>", "$JS.ACK.>", "$JS.FC.>", "$KV.*.>"])
                    .map(str::to_owned)
                    .collect()
            }
            NatsUser::Api => [subject::ALL_ASKED, subject::EVENTS].map(str::to_owned).to_vec(),
        };
        let deny = match self {
            NatsUser::Worker => {
                ["$JS.API.STREAM.DELETE.>", "$JS.API.STREAM.PURGE.>"].map(str::to_owned).to_vec()
            }
            NatsUser::Gateway { .. } | NatsUser::Api => Vec::new(),
        };
        SubjectPermissions { allow, deny }
    }

    /// Subjects that it hears.
    #[must_use]
    pub fn subscribe(&self) -> Vec<String> {
        match self {
            NatsUser::Gateway { name, networks } => {
                let mut heard = each(networks, |network| subject::down(network, name));
                heard.push(format!("_INBOX.{name}.>"));
                heard
            }
            NatsUser::Worker => ["_INBOX.>", subject::EVENTS, subject::ALL_ASKED, subject::ALL_ANSWERS]
                .map(str::to_owned)
                .to_vec(),
            NatsUser::Api => [subject::ALL_ANSWERS, subject::EVENTS].map(str::to_owned).to_vec(),
        }
    }

    /// Lines by which the service's account lets this user's account use its subjects.
    #[must_use]
    pub fn exports(&self) -> String {
        let NatsUser::Gateway { name, networks } = self else { return String::new() };
        let account = self.account();
        let of = |network: &NetworkId| {
            let (up, down) = (subject::all_up_of(*network, name), subject::down(*network, name));
            format!(
                "{{ service: \"{up}\", accounts: [{account}] }}\n{{ stream: \"{down}\", accounts: [{account}] }}\n"
            )
        };
        networks.iter().map(of).collect()
    }

    /// All that it may do.
    pub(super) fn permissions(&self) -> String {
        let publish = self.publish();
        let publish = match publish.deny.is_empty() {
            true => list(&publish.allow),
            false => {
                let (allow, deny) = (list(&publish.allow), list(&publish.deny));
                format!("{{\n{}}}", below(&format!("allow: {allow}\ndeny: {deny}\n")))
            }
        };
        let permissions = format!("publish: {publish}\nsubscribe: {}\n", list(&self.subscribe()));
        format!("permissions: {{\n{}}}\n", below(&permissions))
    }

    /// The user itself, with the public key of its nkey.
    fn user(&self, public_key: &str) -> String {
        let user = format!("nkey: {public_key}\n{}", self.permissions());
        format!("{{\n{}}}\n", below(&user))
    }

    fn gateway_account(&self, public_key: &str) -> String {
        let NatsUser::Gateway { name, networks } = self else { return String::new() };
        let of = |network: &NetworkId| {
            let (up, down) = (subject::all_up_of(*network, name), subject::down(*network, name));
            format!(
                "{{ service: {{ account: {SERVICE_ACCOUNT}, subject: \"{up}\" }} }}\n\
                 {{ stream: {{ account: {SERVICE_ACCOUNT}, subject: \"{down}\" }} }}\n"
            )
        };
        let imports: String = networks.iter().map(of).collect();
        let (users, imports) = (below(&self.user(public_key)), below(&imports));
        let inside = below(&format!("users: [\n{users}]\nimports: [\n{imports}]\n"));
        format!("# {self}.\n{} {{\n{inside}}}\n", self.account())
    }

    /// The lines for this user, each with the place where it goes in the servers' configuration.
    #[must_use]
    pub fn configuration(&self, public_key: &str) -> String {
        match self {
            NatsUser::Gateway { .. } => {
                let (exports, account) = (self.exports(), self.gateway_account(public_key));
                format!(
                    "# Into \"exports\" of the account {SERVICE_ACCOUNT}:\n{}# Into \"accounts\":\n{}",
                    below(&below(&below(&exports))),
                    below(&account)
                )
            }
            NatsUser::Worker | NatsUser::Api => {
                let user = below(&below(&below(&self.user(public_key))));
                format!("# Into \"users\" of the account {SERVICE_ACCOUNT}:\n{user}")
            }
        }
    }
}

/// The accounts of a cluster, as its servers have them. users: each with its public key.
#[must_use]
pub fn accounts(users: &[(NatsUser, String)]) -> String {
    let is_gateway = |user: &NatsUser| matches!(user, NatsUser::Gateway { .. });
    let of_service = users.iter().filter(|(user, _)| !is_gateway(user));
    let of_service: String = of_service.map(|(user, key)| format!("# {user}.\n{}", user.user(key))).collect();
    let exports: String = users.iter().map(|(user, _)| user.exports()).collect();
    let (service_users, exports) = (below(&of_service), below(&exports));
    let service = below(&format!("jetstream: enabled\nusers: [\n{service_users}]\nexports: [\n{exports}]\n"));
    let gateways: String = users.iter().map(|(user, key)| user.gateway_account(key)).collect();
    let inside = format!(
        "# Workers and apis, with the streams and buckets.\n{SERVICE_ACCOUNT} {{\n{service}}}\n{gateways}"
    );
    format!("accounts {{\n{}}}\n", below(&inside))
}

impl fmt::Display for NatsUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NatsUser::Gateway { name, networks } => {
                let several = if networks.len() == 1 { "network" } else { "networks" };
                let networks = networks.iter().map(NetworkId::to_string).collect::<Vec<_>>().join(", ");
                write!(f, "The gateway {name}, of {several} {networks}")
            }
            NatsUser::Worker => f.write_str("All workers"),
            NatsUser::Api => f.write_str("All apis"),
        }
    }
}

fn each(networks: &[NetworkId], subject: impl Fn(NetworkId) -> String) -> Vec<String> {
    networks.iter().map(|network| subject(*network)).collect()
}

fn list(subjects: &[String]) -> String {
    let subjects: Vec<String> = subjects.iter().map(|subject| format!("\"{subject}\"")).collect();
    format!("[{}]", subjects.join(", "))
}

/// The same lines, one step further in.
fn below(lines: &str) -> String {
    lines.lines().map(|line| format!("{BELOW}{line}\n")).collect()
}
