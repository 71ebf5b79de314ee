//! TLS between a collector and its server: whose certificate it is is looked at.

use super::{METERS, batch, open, refused};
use crate::store::place::add;
use testkit::ports::free_address;
use testkit::postgres::Server;

#[test]
fn the_right_authority_is_trusted_and_no_other() {
    let port = free_address().port();
    let mut server = Server::start(&["fsync=off"]);
    let database = server.database();
    let folder = tempfile::tempdir().expect("a folder");
    let made = |name: &str| rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    let (own, other) = (made("localhost"), made("localhost"));
    let file = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).expect("written");
        folder.path().join(name).display().to_string().replace('/', "%2F")
    };
    let (authority, stranger) = (file("own.pem", own.cert.pem()), file("other.pem", other.cert.pem()));
    server.put("server.crt", &own.cert.pem());
    server.put("server.key", &own.signing_key.serialize_pem());
    server.put("pg_hba.conf", "local all all trust\nhostssl all all 127.0.0.1/32 trust\n");
    server.stop();
    server.set(&["fsync=off", "ssl=on", "listen_addresses=127.0.0.1", &format!("port={port}")]);
    server.run();
    let url = |host: &str, rest: &str| format!("postgres://postgres@{host}:{port}/{database}?{rest}");

    let mut store = open(&url("localhost", &format!("sslmode=verify-full&sslrootcert={authority}")));
    add(&mut store, 1..=METERS);
    store.commit(batch(1)).expect("stored");
    let encrypted = server.sql(
        &database,
        "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'wattseal-collector'",
    );
    assert_eq!(encrypted, "1");
    drop(store);
    for (wrong, why) in [
        (url("localhost", &format!("sslrootcert={stranger}")), "another authority"),
        (url("localhost", "sslmode=require"), "an authority that this system does not trust"),
        (url("127.0.0.1", &format!("sslmode=require&sslrootcert={authority}")), "another name"),
    ] {
        let error = refused(&wrong).to_string();
        assert!(error.contains("certificate"), "{why}: {error}");
    }
    let plain = refused(&url("localhost", "sslmode=disable")).to_string();
    assert!(plain.contains("pg_hba.conf"), "{plain}");
    let none =
        collector::store::DatabaseUrl::named(&url("localhost", "sslrootcert=%2Fnowhere.pem")).expect("a URL");
    let error = collector::store::Reader::open(none).err().expect("no such file").to_string();
    assert!(error.contains("sslrootcert=/nowhere.pem"), "{error}");
}
