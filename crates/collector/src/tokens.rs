//! Tokens made and revoked on the command line: before the first start on an address that others
//! reach there has to be one. A running service does the same by its API; beside one it is done
//! here where the database is a server's.

use crate::one_time_link;
use crate::plain_text::is_plain_name;
use crate::secret::Secret;
use crate::store::{
    DatabaseUrl, NewAction, NewToken, Options, Reader, Role, Store, StoreError, TokenRecord, Write, Written,
    has_administrator,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rand::TryRngCore;
use rand::rngs::OsRng;
use serde::Serialize;

/// Characters of a token's name at most.
const NAME_CHARACTERS_MAX: usize = 64;
/// The name in the list of actions.
const BY: &str = "command line";
/// The same for who had no token yet.
pub(crate) const BY_LINK: &str = "one-time link";
/// Nobody's names: under these stands in the list of actions what was done without a token. `local`
/// is of the time when none was needed.
const RESERVED: [&str; 3] = [BY, BY_LINK, "local"];

/// An error in a request about tokens.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// A name that nobody could read.
    #[error("a token's name has 1 to 64 characters, none of them a control character or an invisible one")]
    Name,
    /// Another token that holds has it, or nobody may have it.
    #[error(
        "the name {0:?} is taken, and actions are told apart by it; choose another, or revoke that token first"
    )]
    NameTaken(String),
    /// A viewer's, while there is no administrator's.
    #[error(
        "no administrator's token holds, and without one nobody could change anything; make that first: \
         ./wattseal tokens add {0:?} --role administrator"
    )]
    AdministratorFirst(String),
    /// It is not there.
    #[error("there is no token {0} that is not revoked; 'wattseal tokens list' shows all")]
    Unknown(i64),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It did something else than it was asked to.
    #[error("the database did not take the change; nothing was changed")]
    NotTaken,
}

impl TokenError {
    /// Says if the request was impossible (exit code 2), and did not just fail (exit code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        !matches!(self, TokenError::Store(_) | TokenError::NotTaken)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedToken {
    /// Its name in the API.
    pub id: i64,
    pub name: String,
    pub role: Role,
    /// Unix time in seconds.
    pub created_s: i64,
    /// Unix time in seconds.
    pub last_used_s: Option<i64>,
    /// Unix time in seconds.
    pub revoked_s: Option<i64>,
}

/// All tokens of a database, whether a service has it open or not.
///
/// # Errors
/// [`TokenError::Store`].
pub fn list(db: &DatabaseUrl) -> Result<Vec<ListedToken>, TokenError> {
    Ok(Reader::open(db)?.tokens()?.into_iter().map(listed).collect())
}

fn listed(token: TokenRecord) -> ListedToken {
    let seconds = |ms: i64| ms.div_euclid(1000);
    ListedToken {
        id: token.id,
        name: token.name,
        role: token.role,
        created_s: seconds(token.created_ms),
        last_used_s: token.last_used_ms.map(seconds),
        revoked_s: token.revoked_ms.map(seconds),
    }
}

/// Says if it may be a token's name.
pub(crate) fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=NAME_CHARACTERS_MAX).contains(&length) && name.trim() == name && is_plain_name(name)
}

/// Checks that there may be a new token of this name and role. Administrators' actions are recorded
/// by the name.
///
/// # Errors
/// [`TokenError::Name`], [`TokenError::NameTaken`], [`TokenError::AdministratorFirst`].
pub(crate) fn check(tokens: &[TokenRecord], name: &str, role: Role) -> Result<(), TokenError> {
    if !is_name(name) {
        return Err(TokenError::Name);
    }
    let taken = tokens.iter().any(|token| token.name == name && token.revoked_ms.is_none());
    if taken || RESERVED.contains(&name) {
        return Err(TokenError::NameTaken(name.to_owned()));
    }
    if role == Role::Administrator || has_administrator(tokens) {
        Ok(())
    } else {
        Err(TokenError::AdministratorFirst(name.to_owned()))
    }
}

/// Makes a token, and the database where there is none; the first one is an administrator's. The
/// secret is nowhere else than in what this returns.
///
/// # Errors
/// [`TokenError`]; [`StoreError::InUse`] while a service has the file.
pub fn add(db: &DatabaseUrl, name: &str, role: Role) -> Result<(i64, Secret), TokenError> {
    let secret = Secret::generate(&mut OsRng.unwrap_err());
    let at_ms = Timestamp::now().as_millisecond();
    let token = NewToken { name: name.to_owned(), role, hash: secret.hash().0, created_ms: at_ms };
    let what = format!("made token {name:?}");
    let written = change(db, |there| {
        check(there, name, role)?;
        Ok(vec![Write::Token(token), Write::Action(action(at_ms, what))])
    })?;
    let Some(Written::Token(id)) = written.first() else { return Err(TokenError::NotTaken) };
    if let DatabaseUrl::File(path) = db {
        one_time_link::remove(path);
    }
    Ok((*id, secret))
}

/// Revokes a token.
///
/// # Errors
/// [`TokenError`]; [`StoreError::InUse`] while a service has the file.
pub fn revoke(db: &DatabaseUrl, id: i64) -> Result<(), TokenError> {
    let at_ms = Timestamp::now().as_millisecond();
    change(db, |there| {
        let token = there.iter().find(|token| token.id == id && token.revoked_ms.is_none());
        let what = format!("revoked token {:?}", token.ok_or(TokenError::Unknown(id))?.name);
        Ok(vec![Write::TokenRevoked { token: id, at_ms }, Write::Action(action(at_ms, what))])
    })
    .map(drop)
}

/// Writes what is decided by the tokens that there are.
fn change(
    db: &DatabaseUrl,
    decide: impl FnOnce(&[TokenRecord]) -> Result<Vec<Write>, TokenError>,
) -> Result<Vec<Written>, TokenError> {
    if let DatabaseUrl::Server(_) = db {
        return Reader::open_or_make(db)?.change_tokens(decide);
    }
    let there = Reader::open_if_any(db)?.map_or(Ok(Vec::new()), |reader| reader.tokens())?;
    let writes = decide(&there)?;
    Ok(open(db)?.commit(writes)?)
}

fn action(at_ms: i64, what: String) -> NewAction {
    NewAction { at_ms, who: BY.to_owned(), what }
}

/// Opens a database to write as it is: in the zone that it has.
fn open(db: &DatabaseUrl) -> Result<Store, StoreError> {
    let mut options = Options::default();
    if let Some(reader) = Reader::open_if_any(db)? {
        let zone = reader.zone();
        options.zone = TimeZone::get(zone).map_err(|_| StoreError::Zone(zone.to_owned()))?;
    }
    Store::open(db, &options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tokens_that_hold_have_the_same_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = DatabaseUrl::from(folder.path().join("wattseal.db"));
        let (id, _) = add(&db, "anna", Role::Administrator).expect("a token");
        assert!(matches!(add(&db, "anna", Role::Viewer), Err(TokenError::NameTaken(_))));
        for reserved in RESERVED {
            assert!(matches!(add(&db, reserved, Role::Viewer), Err(TokenError::NameTaken(_))), "{reserved}");
        }
        for wrong in ["", " anna", "an\tna", &"a".repeat(65)] {
            assert!(matches!(add(&db, wrong, Role::Viewer), Err(TokenError::Name)), "{wrong:?}");
        }
        revoke(&db, id).expect("it is there");
        add(&db, "anna", Role::Administrator).expect("the name is free again");
    }

    #[test]
    fn the_first_one_is_an_administrator_s_and_ends_the_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = DatabaseUrl::from(folder.path().join("wattseal.db"));
        let refused = add(&db, "hall", Role::Viewer).expect_err("a viewer first");
        assert!(refused.is_usage() && refused.to_string().contains("--role administrator"), "{refused}");
        assert!(Reader::open_if_any(&db).expect("nothing").is_none(), "something was made");
        // As a service leaves it that was killed.
        let left = folder.path().join("wattseal.db.one-time-link");
        std::fs::write(&left, "http://127.0.0.1:8080/#/first/wsl_").expect("written");
        let (id, _) = add(&db, "anna", Role::Administrator).expect("a token");
        assert!(!left.exists(), "the link is left");
        add(&db, "hall", Role::Viewer).expect("a second one");
        revoke(&db, id).expect("it is there");
        assert!(matches!(add(&db, "door", Role::Viewer), Err(TokenError::AdministratorFirst(_))));
    }
}
