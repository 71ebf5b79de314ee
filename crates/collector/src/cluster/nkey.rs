//! Keys of users of the NATS servers.

use super::connection::ClusterError;
use crate::registry::write_secrets;
use nkeys::KeyPair;
use std::path::Path;
use zeroize::Zeroizing;

/// Draws a user's key pair, and writes its seed into a file that is not there yet, readable by its
/// owner only. Returns the public key, as the servers' configuration has it.
///
/// # Errors
/// [`ClusterError::Usage`] where the file is there, [`ClusterError::Secrets`].
pub fn make_nkey(path: &Path) -> Result<String, ClusterError> {
    if path.exists() {
        let path = path.display();
        return Err(ClusterError::Usage(format!(
            "{path} is there already, and its user would not be let in any more; choose another name"
        )));
    }
    let pair = KeyPair::new_user();
    let seed = pair.seed().map_err(|error| ClusterError::Usage(format!("no key can be made: {error}")))?;
    let text = Zeroizing::new(Zeroizing::new(seed).as_str().to_owned() + "\n");
    write_secrets(path, text.as_bytes())?;
    Ok(pair.public_key())
}
