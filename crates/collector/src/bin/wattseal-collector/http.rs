//! Arguments of the dashboard and the API: address, certificates, reverse proxies.

use clap::Args;
use collector::api::{Listen, TlsFiles};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct HttpArgs {
    /// Address of the dashboard and the API; other addresses than loopback need TLS and a token
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Certificates, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A reverse proxy, by its address: its clients are told apart by X-Forwarded-For; may be
    /// repeated
    #[arg(long, value_name = "IP")]
    proxy: Vec<IpAddr>,
}

impl HttpArgs {
    pub(crate) fn listen(self) -> Listen {
        let tls = self.tls_cert.zip(self.tls_key).map(|(certificate, key)| TlsFiles { certificate, key });
        Listen { address: self.listen, tls, proxies: self.proxy }
    }
}
