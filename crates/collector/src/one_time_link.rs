//! The one-time link: while no administrator's token holds, who opens it makes the first one, and
//! nobody else does anything.
//!
//! It stands in a file beside the database that its owner alone may read, and goes with the first
//! token, or with the service.

use crate::secret::{Secret, TokenHash};
use crate::store::{TokenRecord, has_administrator};
use rand::TryRngCore;
use rand::rngs::OsRng;
use std::ffi::OsString;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Behind the database's name.
const ENDING: &str = ".one-time-link";
/// Between the dashboard's address and the secret. Browsers send the part behind `#` to nobody: it
/// is in no log and no `Referer`.
const ROUTE: &str = "#/first/";

/// A link that was not used yet.
pub struct OneTimeLink {
    url: Zeroizing<String>,
    hash: TokenHash,
    file: PathBuf,
}

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write {file}, where the link to the first administrator's token is to be: {error}; let this user write there, or make \
     a token first: ./wattseal tokens add NAME --role administrator"
)]
pub struct OneTimeLinkError {
    file: PathBuf,
    error: io::Error,
}

impl OneTimeLink {
    /// A new link where no administrator's token holds; one of before is worth nothing, and its
    /// file goes. dashboard: its address.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn where_needed(
        db: &Path,
        dashboard: &str,
        tokens: &[TokenRecord],
    ) -> Result<Option<OneTimeLink>, OneTimeLinkError> {
        remove(db);
        if has_administrator(tokens) {
            return Ok(None);
        }
        let secret = Secret::for_link(&mut OsRng.unwrap_err());
        let url = Zeroizing::new(format!("{dashboard}{ROUTE}{}", secret.expose()));
        let link = OneTimeLink { url, hash: secret.hash(), file: file(db) };
        link.write().map_err(|error| OneTimeLinkError { file: link.file.clone(), error })?;
        Ok(Some(link))
    }

    /// Never into what somebody else has put there.
    fn write(&self) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.file)?;
        writeln!(file, "{}", self.url.as_str())
    }

    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Says if this is its secret, in a time that does not depend on it.
    pub(crate) fn opens(&self, secret: &str) -> bool {
        TokenHash::of(secret) == self.hash
    }

    pub(crate) fn remove(&self) {
        // It may be gone with its folder.
        let _ = std::fs::remove_file(&self.file);
    }
}

impl Drop for OneTimeLink {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Without the secret.
impl fmt::Debug for OneTimeLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneTimeLink").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Takes away what a service that was killed has left.
pub(crate) fn remove(db: &Path) {
    // Mostly there is none.
    let _ = std::fs::remove_file(file(db));
}

fn file(db: &Path) -> PathBuf {
    let mut name = OsString::from(db);
    name.push(ENDING);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Role;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const DASHBOARD: &str = "http://127.0.0.1:8080/";

    fn token(role: Role, revoked_ms: Option<i64>) -> TokenRecord {
        let name = "anna".to_owned();
        TokenRecord { id: 1, name, role, hash: [0; 32], created_ms: 0, last_used_ms: None, revoked_ms }
    }

    #[test]
    fn its_owner_alone_reads_it_and_it_goes_with_the_service() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("wattseal.db");
        let link = OneTimeLink::where_needed(&db, DASHBOARD, &[]).expect("written").expect("needed");
        assert_eq!(link.file(), folder.path().join("wattseal.db.one-time-link"));
        let mode = std::fs::metadata(link.file()).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{mode:o}");
        assert_eq!(std::fs::read_to_string(link.file()).expect("there").trim(), link.url());
        let secret = link.url().strip_prefix("http://127.0.0.1:8080/#/first/wsl_").expect("behind the #");
        assert_eq!(secret.len(), 43);
        assert!(link.opens(&format!("wsl_{secret}")));
        for wrong in ["", "wsl_", secret, &format!("wst_{secret}"), &format!("wsl_{secret}A")] {
            assert!(!link.opens(wrong), "{wrong}");
        }
        assert!(!format!("{link:?}").contains(secret));
        let file = link.file().to_owned();
        drop(link);
        assert!(!file.exists(), "it is left behind");
    }

    #[test]
    fn each_start_has_another_while_no_administrator_s_token_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("wattseal.db");
        let there = [token(Role::Viewer, None), token(Role::Administrator, Some(1))];
        let make =
            |tokens: &[TokenRecord]| OneTimeLink::where_needed(&db, DASHBOARD, tokens).expect("written");
        let (one, other) = (make(&[]).expect("needed"), make(&there).expect("needed"));
        assert_ne!(one.url(), other.url());
        std::mem::forget((one, other));
        assert!(make(&[token(Role::Administrator, None)]).is_none());
        assert!(!file(&db).exists(), "of a service that was killed");
    }

    #[test]
    fn it_is_not_written_into_what_somebody_else_has_put_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("wattseal.db");
        let others = folder.path().join("others");
        std::fs::write(&others, "theirs").expect("written");
        symlink(&others, file(&db)).expect("a link");
        let link = OneTimeLink::where_needed(&db, DASHBOARD, &[]).expect("written").expect("needed");
        assert_eq!(std::fs::read_to_string(&others).expect("there"), "theirs");
        assert!(std::fs::symlink_metadata(link.file()).expect("there").is_file());
        // Not even where it is put there at the last moment.
        assert_eq!(link.write().expect_err("there is something").kind(), io::ErrorKind::AlreadyExists);
        let nowhere = folder.path().join("nowhere/wattseal.db");
        let error = OneTimeLink::where_needed(&nowhere, DASHBOARD, &[]).expect_err("no folder").to_string();
        assert!(error.contains("tokens add") && error.contains("nowhere"), "{error}");
    }
}
