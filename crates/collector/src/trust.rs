//! The authorities that TLS trusts, for connections that the collector makes.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;

/// Trusts the authorities whose certificates a PEM file has, and no others; without a file those
/// that this system trusts. option: what names the file on the command line.
///
/// # Errors
/// A sentence: no such file, no certificate in it, the system trusts nobody.
pub(crate) fn authorities(ca: Option<&Path>, option: &str) -> Result<Arc<ClientConfig>, String> {
    let found = match ca {
        Some(path) => {
            let path_is = path.display();
            let text = std::fs::read(path).map_err(|error| format!("{path_is}: {error}; check {option}"))?;
            CertificateDer::pem_slice_iter(&text)
                .collect::<Result<Vec<_>, _>>()
                .map_err(|error| format!("{path_is} is not whole PEM text: {error}; check {option}"))?
        }
        None => rustls_native_certs::load_native_certs().certs,
    };
    let mut roots = RootCertStore::empty();
    if roots.add_parsable_certificates(found).0 == 0 {
        return Err(match ca {
            Some(path) => {
                let path = path.display();
                format!("{path} has no certificate: {option} takes PEM text with BEGIN CERTIFICATE")
            }
            None => format!(
                "this system trusts no authority; install ca-certificates, or give the server's with {option}"
            ),
        });
    }
    trusting(roots)
}

/// Trusts nobody: for a connection without TLS of a client that wants to be told all the same.
///
/// # Errors
/// A sentence: there is no TLS here.
pub(crate) fn nobody() -> Result<Arc<ClientConfig>, String> {
    trusting(RootCertStore::empty())
}

fn trusting(roots: RootCertStore) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("there is no TLS here: {error}"))?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}
