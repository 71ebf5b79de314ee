//! Certificate and key from PEM files.

use axum_server::tls_rustls::RustlsConfig;
use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The files of certificate and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate and those that certify it, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM: PKCS #8, SEC 1 or PKCS #1.
    pub key: PathBuf,
}

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {path}: {error}; --tls-cert and --tls-key name PEM files that this user may read")]
    Unreadable { path: PathBuf, error: std::io::Error },
    /// No certificate in a file.
    #[error("{0} has no certificate: --tls-cert takes PEM text with BEGIN CERTIFICATE")]
    NoCertificate(PathBuf),
    /// No key in a file.
    #[error("{0} has no private key: --tls-key takes PEM text with BEGIN PRIVATE KEY, not encrypted")]
    NoKey(PathBuf),
    /// The file is not what it should be.
    #[error("{path} is not whole PEM text: {error}")]
    Damaged { path: PathBuf, error: pem::Error },
    /// They do not belong together, or are of a kind that is not known.
    #[error("the certificate in {certificate} and the key in {key} cannot be used: {error}")]
    Unusable {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        error: rustls::Error,
    },
}

/// The period of the check of the files: renewed certificates are taken without a restart.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// TLS 1.2 and 1.3 with the files' certificate and key.
pub(super) fn server_config(files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
    let text = read(&files.certificate)?;
    let damaged = |path: &Path, error| TlsError::Damaged { path: path.to_owned(), error };
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|error| damaged(&files.certificate, error))?;
    if certificates.is_empty() {
        return Err(TlsError::NoCertificate(files.certificate.clone()));
    }
    let text = zeroize::Zeroizing::new(read(&files.key)?);
    let key = PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        pem::Error::NoItemsFound => TlsError::NoKey(files.key.clone()),
        error => damaged(&files.key, error),
    })?;
    let unusable =
        |error| TlsError::Unusable { certificate: files.certificate.clone(), key: files.key.clone(), error };
    let mut config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .map_err(unusable)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| TlsError::Unreadable { path: path.to_owned(), error })
}

/// Takes renewed files for ever. New ones that cannot be used are reported, and the old ones stay.
pub(super) async fn renew(files: TlsFiles, config: RustlsConfig) {
    let changed = || [&files.certificate, &files.key].map(|path| changed_at(path));
    let mut seen = changed();
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    loop {
        ticks.tick().await;
        let now = changed();
        if now == seen {
            continue;
        }
        match server_config(&files) {
            Ok(renewed) => {
                config.reload_from_config(renewed);
                tracing::info!(certificate = %files.certificate.display(), "renewed certificate taken");
                seen = now;
            }
            Err(error) => tracing::warn!(%error, "changed certificate or key not taken; the old ones stay"),
        }
    }
}

fn changed_at(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}
