//! A role's look at what the servers let its own user do. A server of any version says when it does
//! not allow something. So the role tries what is not its own, in ways that change nothing where it
//! is allowed. docs/how-to/cluster.md, "Users".

use super::connection::{ClusterError, Nats, chain};
use super::name::RoleName;
use super::server_rotation::ServerRotation;
use super::status::{Permissions, Status};
use super::user::NatsUser;
use async_nats::{Client, Event, HeaderMap, ServerAddr};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{interval, sleep, timeout};
use tokio_stream::StreamExt;

/// One look at it takes no longer, or it is taken again.
const DONE_WITHIN: Duration = Duration::from_secs(20);
const AGAIN_AFTER: Duration = Duration::from_secs(5);
/// Errors of the server are told within this, however busy this machine is.
const TOLD_WITHIN: Duration = Duration::from_millis(500);
/// Checks in each of which the server has to have allowed something.
const LOOKS: u32 = 2;
/// A gateway, a stream and a bucket's key that nobody has.
const NOBODY: &str = "wattseal-nobody";
/// A network that nobody has.
const NO_NETWORK: u32 = u32::MAX;

/// Something that a user may not do.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Forbidden {
    Publish(String),
    Subscribe(String),
}

impl Forbidden {
    /// As the server says it, in lower case.
    fn refusal(&self) -> String {
        match self {
            Forbidden::Publish(subject) => format!("publish to \"{subject}\""),
            Forbidden::Subscribe(subject) => format!("subscription to \"{subject}\""),
        }
        .to_lowercase()
    }

    fn subject(&self) -> (&'static str, &str) {
        match self {
            Forbidden::Publish(subject) => ("publish to", subject),
            Forbidden::Subscribe(subject) => ("subscribe to", subject),
        }
    }
}

/// A piece of each thing that the user's role has no part in.
fn forbidden(user: &NatsUser) -> Vec<Forbidden> {
    let publish = |subject: String| Forbidden::Publish(subject);
    let mut all = vec![
        publish(format!("$JS.API.STREAM.DELETE.{NOBODY}")),
        publish(format!("$JS.API.STREAM.PURGE.{NOBODY}")),
        publish(format!("wattseal.{NO_NETWORK}.up.0.0.0.0.{NOBODY}")),
        Forbidden::Subscribe(format!("wattseal.{NO_NETWORK}.up.0.0.0.0.{NOBODY}")),
    ];
    if matches!(user, NatsUser::Worker) {
        return all;
    }
    for bucket in ["leases", "settings", "workers"] {
        all.push(publish(format!("$KV.wattseal-{bucket}.{NOBODY}")));
    }
    all.extend([
        publish(format!("$JS.API.STREAM.INFO.{NOBODY}")),
        publish(format!("wattseal.{NO_NETWORK}.down.{NOBODY}")),
        Forbidden::Subscribe(format!("wattseal.{NO_NETWORK}.down.{NOBODY}")),
        Forbidden::Subscribe(format!("_INBOX.{NOBODY}.answer")),
        Forbidden::Subscribe(format!("$KV.wattseal-leases.{NOBODY}")),
    ]);
    if let NatsUser::Gateway { name, networks } = user {
        for network in networks {
            all.push(publish(format!("wattseal.{network}.up.0.0.0.0.{NOBODY}")));
            all.push(publish(format!("wattseal.{network}.down.{NOBODY}")));
            all.push(Forbidden::Subscribe(format!("wattseal.{network}.down.{NOBODY}")));
        }
        all.extend([
            publish(format!("wattseal.{NO_NETWORK}.up.0.0.0.0.{name}")),
            publish(format!("wattseal.{NO_NETWORK}.ask.0.0.0.0")),
            Forbidden::Subscribe(format!("wattseal.{NO_NETWORK}.ask.0.0.0.0")),
            Forbidden::Subscribe("wattseal.events".to_owned()),
        ]);
    }
    all
}

/// Errors that the server said on one connection.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<String>>>);

impl Said {
    fn take(&self, event: Event) {
        let text = match event {
            Event::ServerError(error) => error.to_string().to_lowercase(),
            Event::Disconnected => LOST.to_owned(),
            _ => return,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    fn contains(&self, text: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|said| said.contains(text))
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// No server says that.
const LOST: &str = "the connection was lost";

fn is_loopback(server: &ServerAddr) -> bool {
    let host = server.host().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback())
}

impl Nats {
    /// Looks at what the user of this role may do, and says so in the status. Comes to its end
    /// where that is more than the role needs, and then only.
    pub(super) async fn refuse_wide_user(
        &self,
        user: &NatsUser,
        name: &RoleName,
        status: &Status,
    ) -> ClusterError {
        if self.credentials.is_none() && self.servers.iter().all(is_loopback) {
            tracing::warn!(
                "everybody on this machine may use the NATS servers as this role does; elsewhere give it a user: docs/how-to/cluster.md, \"Users\""
            );
            status.set_permissions(Permissions::Everybody);
            return std::future::pending().await;
        }
        loop {
            let why = match timeout(DONE_WITHIN, self.allowed(user, name)).await {
                Ok(Ok(allowed)) => match allowed.first() {
                    None => {
                        status.set_permissions(Permissions::Narrow);
                        return std::future::pending().await;
                    }
                    Some(allowed) => return self.wide_user(user, allowed),
                },
                Ok(Err(why)) => why,
                Err(_) => "the NATS server did not answer in time".to_owned(),
            };
            tracing::debug!("what this user may do is not known yet: {why}");
            status.set_permissions(Permissions::NotAnswered(why));
            sleep(AGAIN_AFTER).await;
        }
    }

    fn wide_user(&self, user: &NatsUser, allowed: &Forbidden) -> ClusterError {
        let (may, subject) = allowed.subject();
        ClusterError::WideUser {
            user: match &self.credentials {
                Some(file) => format!("the user of {}", file.display()),
                None => "everybody".to_owned(),
            },
            may: format!("{may} {subject}"),
            permissions: user.permissions(),
        }
    }

    /// All that is not the user's own, and that it may do.
    async fn allowed(&self, user: &NatsUser, name: &RoleName) -> Result<Vec<Forbidden>, String> {
        let said = Said::default();
        let hear = said.clone();
        let options = self.options(name, &ServerRotation::default()).map_err(|error| error.to_string())?;
        let options = options.event_callback(move |event| {
            hear.take(event);
            async {}
        });
        let client = options.connect(&self.servers).await.map_err(|error| chain(&error))?;
        let mut allowed = forbidden(user);
        for _ in 0..LOOKS {
            said.clear();
            allowed = check(&client, &said, allowed).await?;
        }
        Ok(allowed)
    }
}

/// Those of them that the server did not refuse.
async fn check(client: &Client, said: &Said, tried: Vec<Forbidden>) -> Result<Vec<Forbidden>, String> {
    let failed = |error: &dyn std::error::Error| chain(error);
    let mut subscriptions = Vec::new();
    for forbidden in &tried {
        match forbidden {
            Forbidden::Publish(subject) => {
                // No stream takes it.
                let mut headers = HeaderMap::new();
                headers.insert("Nats-Expected-Stream", NOBODY);
                let published = client.publish_with_headers(subject.clone(), headers, "".into()).await;
                published.map_err(|error| failed(&error))?;
            }
            Forbidden::Subscribe(subject) => {
                subscriptions.push(client.subscribe(subject.clone()).await.map_err(|error| failed(&error))?);
            }
        }
    }
    // The server takes one after the other. It has taken all of them once it has said something of
    // this one, or delivered it.
    let last = format!("wattseal.check.{:016x}", rand::random::<u64>());
    let mut delivered = client.subscribe(last.clone()).await.map_err(|error| failed(&error))?;
    client.publish(last.clone(), "".into()).await.map_err(|error| failed(&error))?;
    client.flush().await.map_err(|error| failed(&error))?;
    let mut ticks = interval(Duration::from_millis(20));
    while !said.contains(&last) && !said.contains(LOST) {
        tokio::select! {
            message = delivered.next() => if message.is_some() { break },
            _ = ticks.tick() => {}
        }
    }
    sleep(TOLD_WITHIN).await;
    if said.contains(LOST) {
        return Err(LOST.to_owned());
    }
    Ok(tried.into_iter().filter(|forbidden| !said.contains(&forbidden.refusal())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As NATS matches subjects.
    fn matches(filter: &str, subject: &str) -> bool {
        let mut tokens = subject.split('.');
        for of in filter.split('.') {
            match (of, tokens.next()) {
                (">", Some(_)) => return true,
                ("*", Some(_)) => {}
                (of, Some(token)) if of == token => {}
                _ => return false,
            }
        }
        tokens.next().is_none()
    }

    #[test]
    fn role_does_nothing_that_counts_as_forbidden() {
        let networks = vec![crate::network::NetworkId(7), crate::network::NetworkId(0)];
        let hall = NatsUser::Gateway { name: "hall".parse().expect("a name"), networks };
        for user in [hall, NatsUser::Worker, NatsUser::Api] {
            let (publish, subscribe) = (user.publish(), user.subscribe());
            for forbidden in forbidden(&user) {
                let any = |list: &[String], subject: &str| list.iter().any(|of| matches(of, subject));
                let allowed = match &forbidden {
                    Forbidden::Publish(subject) => {
                        any(&publish.allow, subject) && !any(&publish.deny, subject)
                    }
                    Forbidden::Subscribe(subject) => any(&subscribe, subject),
                };
                assert!(!allowed, "{user}: {forbidden:?}");
            }
        }
    }

    #[test]
    fn loopback_is_this_machine_by_any_name() {
        for (url, expected) in [
            ("nats://127.0.0.1:4222", true),
            ("nats://[::1]:4222", true),
            ("nats://localhost", true),
            ("nats://nats1.lan", false),
            ("nats://127.0.0.1.example.org", false),
        ] {
            assert_eq!(is_loopback(&url.parse().expect("a URL")), expected, "{url}");
        }
    }
}
