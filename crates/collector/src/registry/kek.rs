//! Key-encryption keys (KEK): what keys in a database are sealed under, with AES-256-GCM (NIST SP
//! 800-38D), and which never is in it.
//!
//! A KEK is drawn, never made of a password. Its file has it as it is, or wrapped under the key of
//! a PKCS#11 token, and where that is. Each sealing has a random nonce of 96 bits, of which one KEK
//! may have 2^32 (section 8.3): a meter takes one with each provisioning and each new wrapping.

use super::RegistryError;
use super::file::{read_secrets, write_secrets};
use super::pkcs11::{self, AfterWrongPin, Pkcs11Error, Pkcs11Uri};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::TryRngCore;
use rand::rngs::OsRng;
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The variable with a KEK, or several, if no file is named.
pub const KEK_VARIABLE: &str = "WATTSEAL_KEK";
/// The beginning of a KEK's text, by which scanners find a leaked one.
const PREFIX: &str = "wsk_";
/// The beginning of a wrapped KEK's text.
const WRAPPED_PREFIX: &str = "wskw_";
const KEY_BYTES: usize = 32;
/// Goes before the key where its id is made, so that the hash is good for nothing else.
const ID_OF: &[u8] = b"wattseal kek id 1";

/// A KEK's name: the first 64 bits of a hash of it, in hexadecimal. It says nothing of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KekId(pub(super) String);

impl fmt::Display for KekId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A key-encryption key. Never shown.
struct Kek {
    id: KekId,
    key: LessSafeKey,
}

/// Why something sealed cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotOpened {
    /// Its KEK is not here.
    NoKek,
    /// It is not what was sealed there.
    NotAuthentic,
}

impl Kek {
    fn of_file(path: &Path, after: AfterWrongPin) -> Result<Kek, RegistryError> {
        let text = read_secrets(path)?;
        let none = || {
            RegistryError::Kek(format!(
                "{}: no key-encryption key is in it, which is {PREFIX} and 43 letters, or a URI pkcs11:.. and a line with what is \
                 wrapped; 'wattseal meters new-kek' makes one",
                path.display()
            ))
        };
        let Some((uri, wrapped)) = text.trim().split_once('\n').filter(|(uri, _)| uri.starts_with("pkcs11:"))
        else {
            return Kek::of_text(text.trim()).ok_or_else(none);
        };
        let wrapped =
            wrapped.trim().strip_prefix(WRAPPED_PREFIX).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
        let wrong = |error: Pkcs11Error| RegistryError::Bad { path: path.into(), problem: error.to_string() };
        let uri = Pkcs11Uri::parse(uri.trim()).map_err(wrong)?;
        let key = pkcs11::unwrap(&uri, &wrapped.ok_or_else(none)?, after)?;
        Kek::of_bytes(&key).ok_or_else(none)
    }

    fn of_text(text: &str) -> Option<Kek> {
        // Room for what the decoder writes at most.
        let mut decoded = Zeroizing::new([0; KEY_BYTES + 4]);
        let length = URL_SAFE_NO_PAD.decode_slice(text.strip_prefix(PREFIX)?, &mut decoded[..]).ok()?;
        Kek::of_bytes(decoded.get(..length)?)
    }

    fn of_bytes(bytes: &[u8]) -> Option<Kek> {
        let bytes: &[u8; KEY_BYTES] = bytes.try_into().ok()?;
        let hash = Sha256::new().chain_update(ID_OF).chain_update(&bytes[..]).finalize();
        let id = KekId(hash[..8].iter().map(|byte| format!("{byte:02x}")).collect());
        Some(Kek { id, key: LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &bytes[..]).ok()?) })
    }
}

/// The KEKs that a process knows. The first one is what a database begins with, and what its keys
/// are to be sealed under anew.
#[derive(Clone)]
pub struct KeyRing(Arc<Vec<Kek>>);

impl KeyRing {
    /// Reads each file's KEK, which a token may have to unwrap.
    ///
    /// # Errors
    /// [`RegistryError::Open`] where others may read one, [`RegistryError::File`],
    /// [`RegistryError::Kek`], [`RegistryError::Pkcs11`]; nothing of a key.
    pub fn of_files<P: AsRef<Path>>(files: &[P], after: AfterWrongPin) -> Result<KeyRing, RegistryError> {
        let keks: Result<Vec<Kek>, RegistryError> =
            files.iter().map(|file| Kek::of_file(file.as_ref(), after)).collect();
        Ok(KeyRing(Arc::new(keks?)))
    }

    /// The id of the first one; `None`: there is none.
    #[must_use]
    pub fn first(&self) -> Option<&KekId> {
        self.0.first().map(|kek| &kek.id)
    }

    pub(super) fn knows(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Seals under the KEK with this id. context: without it, and without each byte of it, nothing
    /// is opened.
    pub(super) fn seal(&self, kek: &str, context: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, RegistryError> {
        let fails = |what: &str| RegistryError::Kek(format!("keys cannot be sealed: {what}"));
        let kek = self.find(kek).ok_or_else(|| fails("the key-encryption key is not given"))?;
        let mut nonce = [0; NONCE_LEN];
        OsRng.try_fill_bytes(&mut nonce).map_err(|error| fails(&error.to_string()))?;
        let mut text = Zeroizing::new(plaintext.to_vec());
        let tag = kek
            .key
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(context), &mut text)
            .map_err(|_| fails("AES-256-GCM fails"))?;
        Ok([&nonce, &text[..], tag.as_ref()].concat())
    }

    fn find(&self, id: &str) -> Option<&Kek> {
        self.0.iter().find(|kek| kek.id.0 == id)
    }

    pub(super) fn open(
        &self,
        kek: &str,
        context: &[u8],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, NotOpened> {
        let kek = self.find(kek).ok_or(NotOpened::NoKek)?;
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(NotOpened::NotAuthentic)?;
        let mut text = Zeroizing::new(sealed.to_vec());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = kek.key.open_in_place(nonce, Aad::from(context), &mut text);
        let length = opened.map_err(|_| NotOpened::NotAuthentic)?.len();
        text.truncate(length);
        Ok(text)
    }
}

/// One or several as text, with spaces between them, as the environment has them.
impl FromStr for KeyRing {
    type Err = RegistryError;

    fn from_str(text: &str) -> Result<KeyRing, RegistryError> {
        let keks: Option<Vec<Kek>> = text.split_whitespace().map(Kek::of_text).collect();
        let keks = keks.filter(|keks| !keks.is_empty()).ok_or_else(|| {
            RegistryError::Kek(format!(
                "the environment's {KEK_VARIABLE} is no key-encryption key, which is {PREFIX} and 43 letters, or several with spaces between them"
            ))
        })?;
        Ok(KeyRing(Arc::new(keks)))
    }
}

/// The ids alone.
impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyRing({self})")
    }
}

impl fmt::Display for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<&str> = self.0.iter().map(|kek| kek.id.0.as_str()).collect();
        f.write_str(&ids.join(", "))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeKek {
    pub id: KekId,
    /// Says if the token's wrapping key was made, too.
    pub made_in_token: bool,
}

/// Draws a KEK, and writes it into a file that is not there yet, readable by its owner only: as it
/// is, or wrapped under a token's key.
///
/// # Errors
/// [`RegistryError::Kek`] where the file is there, [`RegistryError::File`],
/// [`RegistryError::Pkcs11`].
pub fn make_kek(path: &Path, token: Option<&Pkcs11Uri>) -> Result<MadeKek, RegistryError> {
    if path.exists() {
        let what = "is there already, and keys may be sealed under it; choose another name";
        return Err(RegistryError::Kek(format!("{} {what}", path.display())));
    }
    let fails = |what: String| RegistryError::Kek(format!("no key can be drawn: {what}"));
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    OsRng.try_fill_bytes(&mut bytes[..]).map_err(|error| fails(error.to_string()))?;
    let kek = Kek::of_bytes(&bytes[..]).ok_or_else(|| fails("AES-256-GCM takes it not".to_owned()))?;
    let mut text = Zeroizing::new(String::with_capacity(64));
    let mut made_in_token = false;
    match token {
        None => {
            text.push_str(PREFIX);
            URL_SAFE_NO_PAD.encode_string(&bytes[..], &mut text);
        }
        Some(uri) => {
            let (wrapped, made) = pkcs11::wrap(uri, &bytes[..])?;
            made_in_token = made;
            // Nothing in it is secret.
            *text = format!("{uri}\n{WRAPPED_PREFIX}{}", URL_SAFE_NO_PAD.encode(wrapped));
        }
    }
    text.push('\n');
    write_secrets(path, text.as_bytes())?;
    Ok(MadeKek { id: kek.id, made_in_token })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(folder: &Path, name: &str) -> KeyRing {
        let path = folder.join(name);
        let made = make_kek(&path, None).expect("drawn");
        let ring = KeyRing::of_files(&[path], AfterWrongPin::Refuse).expect("read");
        assert_eq!(ring.first(), Some(&made.id));
        ring
    }

    #[test]
    fn sealed_key_opens_only_under_its_key_and_context() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (ring(folder.path(), "one"), ring(folder.path(), "other"));
        let id = one.first().expect("one").clone();
        let sealed = one.seal(&id.0, b"meter 7", b"a key").expect("sealed");
        other.seal(&id.0, b"meter 7", b"a key").expect_err("it has another");
        assert_eq!(sealed.len(), NONCE_LEN + 5 + 16);
        assert_eq!(one.open(&id.0, b"meter 7", &sealed).as_deref().map(Vec::as_slice), Ok(&b"a key"[..]));
        assert_eq!(one.open(&id.0, b"meter 8", &sealed), Err(NotOpened::NotAuthentic));
        assert_eq!(other.open(&id.0, b"meter 7", &sealed), Err(NotOpened::NoKek));
        for byte in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[byte] ^= 1;
            assert_eq!(one.open(&id.0, b"meter 7", &changed), Err(NotOpened::NotAuthentic), "{byte}");
            assert_eq!(one.open(&id.0, b"meter 7", &sealed[..byte]), Err(NotOpened::NotAuthentic), "{byte}");
        }
        assert_ne!(
            one.seal(&id.0, b"meter 7", b"a key").expect("again"),
            sealed,
            "each has a nonce of its own"
        );
    }

    #[test]
    fn a_key_is_its_owner_s_alone_and_is_never_shown() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kek");
        make_kek(&path, None).expect("drawn");
        assert!(make_kek(&path, None).expect_err("it is there").to_string().contains("there already"));
        let text = std::fs::read_to_string(&path).expect("there");
        let text = text.trim();
        let ring: KeyRing = text.parse().expect("the environment's");
        assert!(!format!("{ring:?} {ring}").contains(&text[4..12]));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("others', too");
        let error =
            KeyRing::of_files(&[&path], AfterWrongPin::Refuse).expect_err("others read it").to_string();
        assert!(error.contains("chmod 600"), "{error}");
        for wrong in ["", "wsk_", &text[..46], &text.replace("wsk_", "wst_"), &format!("{text}A")] {
            let error = wrong.parse::<KeyRing>().expect_err("no KEK").to_string();
            assert!(error.contains(KEK_VARIABLE) && !error.contains(&text[4..12]), "{error}");
        }
    }
}
