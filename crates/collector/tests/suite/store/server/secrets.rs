//! Passwords: where they are taken from, and that nobody sees them.

use super::{open, place, refused};
use collector::store::{DatabaseUrl, StoreError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use testkit::postgres::Server;

const SECRET: &str = "correct-horse";

#[test]
fn a_password_is_taken_and_never_said() {
    let server = Server::start(&["fsync=off"]);
    let database = server.database();
    server.sql("postgres", &format!("CREATE ROLE anna LOGIN PASSWORD '{SECRET}'"));
    server.sql("postgres", &format!("ALTER DATABASE {database} OWNER TO anna"));
    let rules = "local all postgres trust\nlocal all all scram-sha-256\n";
    server.put("pg_hba.conf", rules);
    server.reload();
    let host = server.host();
    let url = |password: &str, rest: &str| format!("postgres://anna{password}@{host}/{rest}");
    let passwords = server.folder().join("passwords");
    fs::write(&passwords, format!("localhost:*:{database}:anna:{SECRET}\n")).expect("written");
    fs::set_permissions(&passwords, fs::Permissions::from_mode(0o600)).expect("its owner's alone");
    let file = passwords.display().to_string().replace('/', "%2F");
    for right in [url(&format!(":{SECRET}"), &database), url("", &format!("{database}?passfile={file}"))] {
        drop(open(&right));
        assert_eq!(place(&right).to_string(), url("", &database));
        assert!(!format!("{:?}", place(&right)).contains(SECRET));
    }
    let wrong = url(":wrong-horse", &database);
    let error = refused(&wrong);
    let text = error.to_string();
    assert!(matches!(error, StoreError::Unreachable { .. }) && text.contains("password"), "{error:?}");
    assert!(text.contains(&url("", &database)) && !text.contains("horse"), "{text}");
    assert!(!format!("{error:?}").contains("horse"));
    let nothing = refused(&url(&format!(":{SECRET}"), "no_such"));
    assert!(nothing.to_string().contains("createdb") && !nothing.to_string().contains("horse"), "{nothing}");
    fs::set_permissions(&passwords, fs::Permissions::from_mode(0o640)).expect("others', too");
    let open_to_others = DatabaseUrl::named(&url("", &format!("{database}?passfile={file}")));
    assert!(open_to_others.expect_err("others read it").contains("chmod 600"));
}
