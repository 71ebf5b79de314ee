//! Parts of the cluster, and the harms that may be done to each.

use serde::Serialize;
use std::time::Duration;

/// Kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Nats,
    Postgres,
    Gateway,
    Worker,
    Api,
    /// A gateway that was taken over. It is a client of NATS with a gateway's user, and no process.
    HostileGateway,
    /// The network from a role to the NATS servers.
    ToNats,
    /// The network from a role to both servers of PostgreSQL.
    ToPostgres,
    /// The network from PostgreSQL's standby to its primary.
    Replication,
    /// Of the networks between two NATS servers one, or those of a server, or all.
    Routes,
}

/// Harm to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// SIGKILL; it is started again. Of PostgreSQL's primary: the standby is promoted, and a new
    /// one is made of it.
    Kill,
    /// SIGSTOP for longer than a lease, then SIGCONT.
    Pause,
    /// PostgreSQL's primary is stopped, the standby promoted, and then the old one goes on for a
    /// while, as a machine that was cut off.
    Split,
    /// On a network nothing gets through for longer than a lease, and then all that was sent does.
    Hold,
    /// A network's connections end, and none is made for a while.
    Break,
    /// On a network everything comes later.
    Delay,
    /// It tries for some seconds all that a gateway should not do: [`crate::chaos::hostile`].
    Attack,
}

/// Harms to the parts of a kind.
pub struct Rule {
    pub kind: Kind,
    pub count: usize,
    /// Frequency, compared with others.
    pub weight: u32,
    pub harms: &'static [Harm],
    /// All of the kind have to be up for so long before one is harmed. What chooses a leader among
    /// three is given the time for it; a database has to have its standby.
    pub all_up_for: Duration,
}

/// The table of parts.
pub static RULES: [Rule; 10] = [
    Rule {
        kind: Kind::Nats,
        count: NATS,
        weight: 2,
        harms: &[Harm::Kill, Harm::Pause],
        all_up_for: Duration::from_secs(8),
    },
    Rule {
        kind: Kind::Postgres,
        count: 2,
        weight: 2,
        harms: &[Harm::Kill, Harm::Pause, Harm::Split],
        all_up_for: Duration::from_secs(4),
    },
    Rule {
        kind: Kind::Gateway,
        count: 2,
        weight: 3,
        harms: &[Harm::Kill, Harm::Pause],
        all_up_for: Duration::ZERO,
    },
    Rule {
        kind: Kind::Worker,
        count: 2,
        weight: 4,
        harms: &[Harm::Kill, Harm::Pause],
        all_up_for: Duration::ZERO,
    },
    Rule {
        kind: Kind::Api,
        count: 1,
        weight: 1,
        harms: &[Harm::Kill, Harm::Pause],
        all_up_for: Duration::ZERO,
    },
    Rule {
        kind: Kind::HostileGateway,
        count: 1,
        weight: 3,
        harms: &[Harm::Attack],
        all_up_for: Duration::ZERO,
    },
    Rule {
        kind: Kind::ToNats,
        count: 5,
        weight: 3,
        harms: &[Harm::Hold, Harm::Break, Harm::Delay],
        all_up_for: Duration::ZERO,
    },
    Rule {
        kind: Kind::ToPostgres,
        count: 3,
        weight: 2,
        harms: &[Harm::Hold, Harm::Break, Harm::Delay],
        all_up_for: Duration::ZERO,
    },
    Rule {
        kind: Kind::Replication,
        count: 1,
        weight: 1,
        harms: &[Harm::Hold, Harm::Break, Harm::Delay],
        all_up_for: Duration::ZERO,
    },
    Rule {
        kind: Kind::Routes,
        count: 2 * NATS + 1,
        weight: 2,
        harms: &[Harm::Hold, Harm::Break, Harm::Delay],
        all_up_for: Duration::from_secs(8),
    },
];

/// Number of NATS servers. The first parts of [`Kind::Routes`], as many, are the networks between
/// two servers, each with the index of the third. As many more are those of one server, which is
/// alone without them. The last one is all of them.
const NATS: usize = 3;

/// The roles, those first that have no database.
const ROLES: [Kind; 3] = [Kind::Gateway, Kind::Worker, Kind::Api];

impl Kind {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Nats => "nats",
            Kind::Postgres => "postgres",
            Kind::Gateway => "gateway",
            Kind::Worker => "worker",
            Kind::Api => "api",
            Kind::HostileGateway => "hostile-gateway",
            Kind::ToNats => "network to nats",
            Kind::ToPostgres => "network to postgres",
            Kind::Replication => "replication",
            Kind::Routes => "network between nats",
        }
    }

    /// Returns true if it is no process.
    #[must_use]
    pub fn is_network(self) -> bool {
        matches!(self, Kind::ToNats | Kind::ToPostgres | Kind::Replication | Kind::Routes)
    }

    #[must_use]
    pub fn rule(self) -> &'static Rule {
        let [nats, postgres, gateway, worker, api, hostile, to_nats, to_postgres, replication, routes] =
            &RULES;
        match self {
            Kind::Nats => nats,
            Kind::Postgres => postgres,
            Kind::Gateway => gateway,
            Kind::Worker => worker,
            Kind::Api => api,
            Kind::HostileGateway => hostile,
            Kind::ToNats => to_nats,
            Kind::ToPostgres => to_postgres,
            Kind::Replication => replication,
            Kind::Routes => routes,
        }
    }
}

impl Harm {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Harm::Kill => "killed",
            Harm::Pause => "paused",
            Harm::Split => "cut off",
            Harm::Hold => "held",
            Harm::Break => "broken",
            Harm::Delay => "slow",
            Harm::Attack => "attacks",
        }
    }
}

/// One part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartId {
    pub kind: Kind,
    pub index: usize,
}

impl PartId {
    pub const REPLICATION: PartId = PartId { kind: Kind::Replication, index: 0 };

    /// All of them.
    #[must_use]
    pub fn all() -> Vec<PartId> {
        let of = |rule: &Rule| (0..rule.count).map(|index| PartId { kind: rule.kind, index }).collect();
        RULES.iter().flat_map(|rule| -> Vec<PartId> { of(rule) }).collect()
    }

    /// All roles, in the order of their networks.
    fn roles() -> Vec<PartId> {
        let of = |kind: Kind| (0..kind.rule().count).map(move |index| PartId { kind, index });
        ROLES.into_iter().flat_map(of).collect()
    }

    /// The networks of a role: to NATS, and where it has a database, to that.
    #[must_use]
    pub fn networks(self) -> (PartId, Option<PartId>) {
        let at = PartId::roles().iter().position(|role| *role == self).unwrap_or_default();
        let without = Kind::Gateway.rule().count;
        let to_postgres = at.checked_sub(without).map(|index| PartId { kind: Kind::ToPostgres, index });
        (PartId { kind: Kind::ToNats, index: at }, to_postgres)
    }

    /// The network between two NATS servers, by their indices: it has the index of the third.
    #[must_use]
    pub fn route(from: usize, to: usize) -> PartId {
        let index = (0..NATS).find(|index| ![from, to].contains(index)).unwrap_or_default();
        PartId { kind: Kind::Routes, index }
    }

    /// The networks that it is made of: itself, but for those of a NATS server, and those of all.
    #[must_use]
    pub fn links(self) -> Vec<PartId> {
        let route = |index| PartId { kind: Kind::Routes, index };
        match (self.kind, self.index.checked_sub(NATS)) {
            (Kind::Routes, Some(server)) => (0..NATS).filter(|third| *third != server).map(route).collect(),
            _ => vec![self],
        }
    }

    /// The role whose network it is; `None`: it is no network.
    fn role(self) -> Option<PartId> {
        let all = PartId::roles();
        match self.kind {
            Kind::ToNats => all.get(self.index).copied(),
            Kind::ToPostgres => all.get(Kind::Gateway.rule().count + self.index).copied(),
            _ => None,
        }
    }
}

impl std::fmt::Display for PartId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.role() {
            Some(role) => write!(f, "{role}'s {}", self.kind.name()),
            None if *self == PartId::REPLICATION => f.write_str(self.kind.name()),
            None if self.kind == Kind::Routes => {
                let name = |index| PartId { kind: Kind::Nats, index };
                match self.index.checked_sub(NATS) {
                    None => {
                        let mut both = (0..NATS).filter(|server| *server != self.index).map(name);
                        let (one, other) = (both.next().unwrap_or(*self), both.next().unwrap_or(*self));
                        write!(f, "network between {one} and {other}")
                    }
                    Some(NATS) => f.write_str("networks between all nats"),
                    Some(server) => write!(f, "{}'s networks to other nats", name(server)),
                }
            }
            None => write!(f, "{}-{}", self.kind.name(), self.index + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_its_networks() {
        let worker = PartId { kind: Kind::Worker, index: 1 };
        let (to_nats, to_postgres) = worker.networks();
        assert_eq!(to_nats.to_string(), "worker-2's network to nats");
        assert_eq!(to_postgres.expect("it has a database").to_string(), "worker-2's network to postgres");
        assert_eq!(PartId { kind: Kind::Gateway, index: 0 }.networks().1, None);
        let networks: Vec<_> = PartId::roles().into_iter().map(PartId::networks).collect();
        assert_eq!(networks.len(), Kind::ToNats.rule().count);
        assert_eq!(networks.iter().filter_map(|(_, of)| *of).count(), Kind::ToPostgres.rule().count);
    }

    /// It attacks without the networks that are harmed, and so at any time.
    #[test]
    fn hostile_gateway_is_no_role_and_has_a_user_s_name() {
        let hostile = PartId { kind: Kind::HostileGateway, index: 0 };
        assert!(!PartId::roles().contains(&hostile) && PartId::all().contains(&hostile));
        assert_eq!(hostile.kind.rule().harms, [Harm::Attack]);
        let name: collector::cluster::RoleName = hostile.to_string().parse().expect("a name");
        assert_eq!(name.as_str(), "hostile-gateway-1");
    }

    #[test]
    fn nats_servers_are_cut_off_from_one_or_all_others() {
        let said = |index| {
            let part = PartId { kind: Kind::Routes, index };
            let links: Vec<_> = part.links().into_iter().map(|link| link.index).collect();
            (part.to_string(), links)
        };
        assert_eq!(said(0), ("network between nats-2 and nats-3".to_owned(), vec![0]));
        assert_eq!(said(1), ("network between nats-1 and nats-3".to_owned(), vec![1]));
        // By pairs of servers: 1 and 3, 2 and 3.
        assert_eq!(said(5), ("nats-3's networks to other nats".to_owned(), vec![0, 1]));
        assert_eq!(said(6), ("networks between all nats".to_owned(), vec![0, 1, 2]));
        assert_eq!(Kind::Routes.rule().count, 7);
        assert_eq!((PartId::route(0, 2).index, PartId::route(2, 0).index), (1, 1));
        let replication = PartId::REPLICATION;
        assert_eq!(replication.links(), [replication]);
    }
}
