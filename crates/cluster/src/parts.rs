//! Which parts there are, and what may be done to each.

use serde::Serialize;
use std::time::Duration;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Nats,
    Postgres,
    Gateway,
    Worker,
    Api,
}

/// What is done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// SIGKILL; it is started again. Of PostgreSQL's primary: the standby is promoted, and a new one is made of it.
    Kill,
    /// SIGSTOP for longer than a lease, then SIGCONT.
    Pause,
    /// PostgreSQL's primary is stopped, the standby promoted, and then the old one goes on for a while, as a machine that was cut off.
    Split,
}

/// What may be done to the parts of a kind.
pub struct Rule {
    pub kind: Kind,
    pub count: usize,
    /// How often, compared with others.
    pub weight: u32,
    pub harms: &'static [Harm],
    /// All of the kind have to be up for so long before one is harmed. What chooses a leader among three is given the time for it; a
    /// database has to have its standby.
    pub all_up_for: Duration,
}

/// The table of parts.
pub static RULES: [Rule; 5] = [
    Rule {
        kind: Kind::Nats,
        count: 3,
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
];

impl Kind {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Nats => "nats",
            Kind::Postgres => "postgres",
            Kind::Gateway => "gateway",
            Kind::Worker => "worker",
            Kind::Api => "api",
        }
    }

    #[must_use]
    pub fn rule(self) -> &'static Rule {
        let [nats, postgres, gateway, worker, api] = &RULES;
        match self {
            Kind::Nats => nats,
            Kind::Postgres => postgres,
            Kind::Gateway => gateway,
            Kind::Worker => worker,
            Kind::Api => api,
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
    /// All of them.
    #[must_use]
    pub fn all() -> Vec<PartId> {
        let of = |rule: &Rule| (0..rule.count).map(|index| PartId { kind: rule.kind, index }).collect();
        RULES.iter().flat_map(|rule| -> Vec<PartId> { of(rule) }).collect()
    }
}

impl std::fmt::Display for PartId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.kind.name(), self.index + 1)
    }
}
