//! The sources of a password that is not in the URL: `PGPASSWORD`, or a file in `psql`'s format
//! that `passfile=` or `PGPASSFILE` names, or `~/.pgpass`
//! (<https://www.postgresql.org/docs/15/libpq-pgpass.html>).

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use zeroize::Zeroizing;

/// config: of one host. passfile: of the URL.
///
/// # Errors
/// A file that was named and cannot be read, or that others may read.
pub(super) fn find(config: &Config, passfile: Option<&Path>) -> Result<Option<Zeroizing<String>>, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = match passfile {
        Some(file) => Some(file.to_owned()),
        None => match variable("PGPASSWORD") {
            Some(password) => return Ok(Some(Zeroizing::new(password))),
            None => variable("PGPASSFILE").map(PathBuf::from),
        },
    };
    let usual = || variable("HOME").map(|home| Path::new(&home).join(".pgpass")).filter(|file| file.exists());
    let Some(file) = named.or_else(usual) else { return Ok(None) };
    let unread = |error: std::io::Error| format!("the file of passwords {}: {error}", file.display());
    let mode = std::fs::metadata(&file).map_err(unread)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(format!(
            "others on this machine may read the file of passwords {0}: chmod 600 {0}",
            file.display()
        ));
    }
    let text = Zeroizing::new(std::fs::read_to_string(&file).map_err(unread)?);
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(_)) | None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let wanted = [
        host.as_str(),
        port.as_str(),
        config.get_dbname().unwrap_or_default(),
        config.get_user().unwrap_or_default(),
    ];
    Ok(text.lines().find_map(|line| password_of(line, &wanted)))
}

/// Of a line HOST:PORT:DATABASE:USER:PASSWORD, in which `*` is any, and a backslash is before what
/// is no end of a field.
fn password_of(line: &str, wanted: &[&str; 4]) -> Option<Zeroizing<String>> {
    let mut fields = vec![Zeroizing::new(String::new())];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => fields.push(Zeroizing::default()),
            '\\' => fields.last_mut()?.extend(letters.next()),
            letter => fields.last_mut()?.push(letter),
        }
    }
    let password = fields.get(4)?.clone();
    let matches =
        fields.iter().zip(wanted).all(|(field, wanted)| field.as_str() == "*" || field.as_str() == *wanted);
    (matches && !line.starts_with('#')).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_as_psql_reads_them() {
        let wanted = ["db.example", "5432", "meters", "anna"];
        let of = |line: &str| password_of(line, &wanted).map(|password| password.to_string());
        assert_eq!(of("db.example:5432:meters:anna:horse").as_deref(), Some("horse"));
        assert_eq!(of("*:*:*:anna:a:b\\\\c\\:").as_deref(), Some("a:b\\c:"));
        for other in ["db.example:5433:meters:anna:horse", "*:*:*:bob:horse", "# *:*:*:*:x", "", "*:*:*:anna"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
