//! The address that the API listens at, and the conditions for it.

use super::tls::{self, TlsError, TlsFiles};
use axum_server::tls_rustls::RustlsConfig;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;

/// The place to listen at.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The address; port 0 takes a free one.
    pub address: SocketAddr,
    /// Certificate and key; `None`: HTTP without TLS, on loopback alone.
    pub tls: Option<TlsFiles>,
    /// Reverse proxies: a request from there is of the last address in its `X-Forwarded-For`.
    pub proxies: Vec<IpAddr>,
}

/// Why the API does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Others could read what is sent.
    #[error(
        "{0} can be reached from other machines, and without TLS they can read all that is sent. Give --tls-cert and \
         --tls-key (PEM files), or listen on loopback: --listen 127.0.0.1:{port}", port = .0.port()
    )]
    WithoutTls(SocketAddr),
    /// Others could do everything.
    #[error(
        "{0} can be reached from other machines, and no administrator has a token there yet. Make one first: \
         ./wattseal tokens add NAME --role administrator"
    )]
    WithoutToken(SocketAddr),
    /// Certificate or key.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address cannot be had.
    #[error(
        "cannot listen on {address}: {error}. Is another service there already? Choose another with --listen"
    )]
    Address { address: SocketAddr, error: io::Error },
}

/// An address that is taken, with what is needed to serve there.
#[derive(Debug)]
pub struct Bound {
    pub(super) listener: TcpListener,
    pub(super) address: SocketAddr,
    pub(super) tls: Option<(TlsFiles, RustlsConfig)>,
    /// In canonical form.
    pub(super) proxies: Arc<[IpAddr]>,
}

impl Listen {
    /// Takes the address, if that is safe: on another address than loopback there have to be TLS
    /// and an administrator's token.
    ///
    /// # Errors
    /// [`ListenError`], which says what to do.
    pub fn bind(&self, has_administrator: bool) -> Result<Bound, ListenError> {
        if !is_loopback(self.address) {
            if self.tls.is_none() {
                return Err(ListenError::WithoutTls(self.address));
            }
            if !has_administrator {
                return Err(ListenError::WithoutToken(self.address));
            }
        }
        let tls = match &self.tls {
            Some(files) => Some((files.clone(), RustlsConfig::from_config(tls::server_config(files)?))),
            None => None,
        };
        let failed = |error| ListenError::Address { address: self.address, error };
        let listener = TcpListener::bind(self.address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let proxies = self.proxies.iter().map(IpAddr::to_canonical).collect();
        Ok(Bound { listener, address, tls, proxies })
    }
}

impl Bound {
    /// Returns the address that it listens at, with the port that it got.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// For a browser.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }
}

/// Says if only this machine reaches the address.
pub(super) fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(address: &str, tls: bool) -> Listen {
        let tls = tls.then(|| TlsFiles { certificate: "none.pem".into(), key: "none.pem".into() });
        Listen { address: address.parse().expect("an address"), tls, proxies: Vec::new() }
    }

    #[test]
    fn others_need_tls_and_a_token() {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0"] {
            let error = listen(address, false).bind(true).expect_err(address);
            assert!(matches!(error, ListenError::WithoutTls(_)), "{error}");
            assert!(error.to_string().contains("--tls-cert"), "{error}");
            let error = listen(address, true).bind(false).expect_err(address);
            assert!(matches!(error, ListenError::WithoutToken(_)), "{error}");
            assert!(error.to_string().contains("tokens add"), "{error}");
            let error = listen(address, true).bind(true).expect_err(address);
            assert!(matches!(error, ListenError::Tls(_)), "{error}");
        }
    }

    #[test]
    fn loopback_needs_neither() {
        let bound = listen("127.0.0.1:0", false).bind(false).expect("loopback");
        assert_ne!(bound.address().port(), 0);
        assert_eq!(bound.url(), format!("http://127.0.0.1:{}/", bound.address().port()));
        let taken = listen(&bound.address().to_string(), false).bind(false).expect_err("taken");
        assert!(matches!(taken, ListenError::Address { .. }), "{taken}");
    }
}
