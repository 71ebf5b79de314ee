//! A key in a PKCS#11 token (OASIS PKCS #11 2.40), under which a key-encryption key is wrapped:
//! with AES-256-GCM (CKM_AES_GCM), by the token. The token's key never leaves it. A process asks it
//! once, at its start: sealing a million rows is not a token's work.

mod uri;

pub use uri::Pkcs11Uri;

use super::RegistryError;
use super::file::read_secrets;
use crossbeam_channel::{RecvTimeoutError, bounded};
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::{Slot, TokenInfo};
use cryptoki::types::AuthPin;
use rand::TryRngCore;
use rand::rngs::OsRng;
use std::ffi::c_ulong;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

const NONCE_LEN: usize = 12;
const TAG_BYTES: usize = 16;
const TAG_BITS: c_ulong = 8 * TAG_BYTES as c_ulong;
const KEY_BYTES: c_ulong = 32;
/// Goes before what is wrapped, so that it is good for nothing else.
const CONTEXT: &[u8] = b"wattseal wrapped kek 1";
/// A token that has not answered within that has hung itself up. A service that waited for it would
/// never start, and never say why.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);
/// A module is there once in a process.
static MODULE: Mutex<()> = Mutex::new(());

/// Why a token does not do what it should, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Pkcs11Error {
    #[error(
        "no URI of a key in a PKCS#11 token: {0}. Write pkcs11:token=NAME;object=KEY?module-path=/MODULE.so&pin-source=file:/PIN"
    )]
    Uri(String),
    #[error("the PKCS#11 module {} cannot be loaded: {error}; install it, or correct module-path", path.display())]
    Module { path: PathBuf, error: Error },
    #[error(
        "the PKCS#11 module has no token {wanted}: it has {found}. Plug it in, make it, or correct the URI; SoftHSM2 finds its tokens by SOFTHSM2_CONF"
    )]
    NoToken { wanted: String, found: String },
    #[error("the PKCS#11 module has several tokens {0}: say which by serial= in the URI")]
    SeveralTokens(String),
    #[error("the PIN in {} is not that of the token {token}. It was tried once, and is not tried again: tokens lock themselves. Correct the file, then try it with 'wattseal meters keks'", file.display())]
    WrongPin { file: PathBuf, token: String },
    #[error(
        "the token {0} was given a wrong PIN since the last right one, so a service tries none: tokens lock themselves. Look at the file that pin-source names, then try it with 'wattseal meters keks'"
    )]
    WrongBefore(String),
    #[error(
        "the token {0} takes one more PIN before it locks itself, which is not tried here: log in with the token's own tool first"
    )]
    LastTry(String),
    #[error(
        "the PIN of the token {0} is locked, after too many wrong ones: set a new one with the token's own tool, as its security officer"
    )]
    Locked(String),
    #[error("the token {0} has no PIN for users yet: set one with the token's own tool")]
    NoPin(String),
    #[error(
        "the token {token} has no key {key} that this user sees: make it with 'wattseal meters new-kek FILE --pkcs11 URI', or correct object= in the URI"
    )]
    NoKey { token: String, key: String },
    #[error(
        "the token {token} has several secret keys {key}: give one another name with the token's own tool"
    )]
    SeveralKeys { token: String, key: String },
    #[error(
        "the key {key} in the token {token} is of no use here: {why}; make another with 'wattseal meters new-kek FILE --pkcs11 URI', under another name"
    )]
    WrongKey { token: String, key: String, why: &'static str },
    #[error(
        "what is wrapped was not wrapped under the key {key} in the token {token}, or was changed: put the file back from a copy, or give the right token"
    )]
    NotWrapped { token: String, key: String },
    #[error("the token {token} fails: {error}")]
    Fails { token: String, error: Error },
    #[error(
        "the token {token} does not answer within {} s: look at the token and its module, then start this again",
        within.as_secs()
    )]
    Silent { token: String, within: Duration },
    #[error(
        "the token {token} says what makes no sense: {what}; nothing was written. Look at the token and its module"
    )]
    Senseless { token: String, what: &'static str },
}

impl Pkcs11Error {
    /// Says if the request was impossible, and did not just fail.
    pub(super) fn is_usage(&self) -> bool {
        use Pkcs11Error::{Fails, Senseless, Silent};
        !matches!(self, Fails { .. } | Silent { .. } | Senseless { .. })
    }
}

/// The behaviour after a wrong PIN. A service that restarts by itself would lock the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterWrongPin {
    Refuse,
    /// For a person, who looked at it; not where the token would be locked by it.
    TryOnce,
}

/// Wraps a key with the token's, which is made where there is none of that name. Returns what is
/// wrapped, and whether the key was made.
pub(super) fn wrap(uri: &Pkcs11Uri, key: &[u8]) -> Result<(Vec<u8>, bool), RegistryError> {
    let key = Zeroizing::new(key.to_vec());
    with_token(uri, AfterWrongPin::TryOnce, true, move |token| {
        let (handle, made) = match token.key() {
            Err(Pkcs11Error::NoKey { .. }) => (token.make_key()?, true),
            found => (found?, false),
        };
        let mut nonce = [0; NONCE_LEN];
        OsRng
            .try_fill_bytes(&mut nonce)
            .map_err(|error| RegistryError::Kek(format!("no nonce can be drawn: {error}")))?;
        // Some tokens choose the nonce themselves, and write it there.
        let wrapped = token.gcm(&mut nonce, |mechanism| token.session.encrypt(mechanism, handle, &key));
        let wrapped = wrapped.map_err(|error| token.fails(error))?;
        if wrapped.len() != key.len() + TAG_BYTES || wrapped.starts_with(&key) {
            return Err(token.senseless("it does not encrypt by AES-256-GCM").into());
        }
        // Keys are sealed under it from now on. One that never came back would take them along.
        let back = token.gcm(&mut nonce, |mechanism| token.session.decrypt(mechanism, handle, &wrapped));
        if !back.is_ok_and(|back| bool::from(Zeroizing::new(back).ct_eq(&key))) {
            return Err(token.senseless("it does not open what it sealed").into());
        }
        Ok(([&nonce, &wrapped[..]].concat(), made))
    })
}

/// The key that was wrapped.
pub(super) fn unwrap(
    uri: &Pkcs11Uri,
    wrapped: &[u8],
    after: AfterWrongPin,
) -> Result<Zeroizing<Vec<u8>>, RegistryError> {
    let wrapped = wrapped.to_vec();
    with_token(uri, after, false, move |token| {
        let handle = token.key()?;
        let (nonce, wrapped) = wrapped.split_first_chunk::<NONCE_LEN>().ok_or_else(|| token.not_wrapped())?;
        let mut nonce = *nonce;
        let key = token.gcm(&mut nonce, |mechanism| token.session.decrypt(mechanism, handle, wrapped));
        use RvError::{EncryptedDataInvalid, EncryptedDataLenRange, GeneralError};
        match key.map(Zeroizing::new) {
            Ok(key) if key.len() + TAG_BYTES == wrapped.len() => Ok(key),
            Ok(_) => Err(token.senseless("what it opened has another length than what was sealed").into()),
            // SoftHSM2 calls a wrong tag a general error.
            Err(Error::Pkcs11(EncryptedDataInvalid | EncryptedDataLenRange | GeneralError, _)) => {
                Err(token.not_wrapped().into())
            }
            Err(error) => Err(token.fails(error).into()),
        }
    })
}

/// Does something with a token that a user is logged in to.
fn with_token<T: Send + 'static>(
    uri: &Pkcs11Uri,
    after: AfterWrongPin,
    writes: bool,
    ask: impl FnOnce(Token<'_>) -> Result<T, RegistryError> + Send + 'static,
) -> Result<T, RegistryError> {
    let asked = uri.clone();
    answered(&uri.token, ANSWERS_WITHIN, move || {
        let _alone = MODULE.lock().unwrap_or_else(PoisonError::into_inner);
        let module = |error| Pkcs11Error::Module { path: asked.module.clone(), error };
        let loaded = Pkcs11::new(&asked.module).map_err(module)?;
        loaded.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).map_err(module)?;
        let done = Token::open(&loaded, &asked, after, writes).and_then(ask);
        // Sessions are closed by now; what a module says at its end changes nothing.
        let _ = loaded.finalize();
        done
    })
}

/// Asks a token on a thread of its own, which is left where it does not come back.
fn answered<T: Send + 'static>(
    token: &str,
    within: Duration,
    ask: impl FnOnce() -> Result<T, RegistryError> + Send + 'static,
) -> Result<T, RegistryError> {
    let (answer, answers) = bounded(1);
    let thread = std::thread::Builder::new().name("token".to_owned());
    let spawned = thread.spawn(move || {
        // Nobody waits any more for one that comes late.
        let _ = answer.send(ask());
    });
    spawned.map_err(|error| RegistryError::Kek(format!("the system gives no thread: {error}")))?;
    let token = token.to_owned();
    answers.recv_timeout(within).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => Err(Pkcs11Error::Silent { token, within }.into()),
        // It panicked: there is no memory for a length that the module said.
        RecvTimeoutError::Disconnected => {
            Err(Pkcs11Error::Senseless { token, what: "a length that nothing can have" }.into())
        }
    })
}

/// A token, with a session of its user.
struct Token<'a> {
    uri: &'a Pkcs11Uri,
    session: Session,
}

impl<'a> Token<'a> {
    fn open(
        loaded: &Pkcs11,
        uri: &'a Pkcs11Uri,
        after: AfterWrongPin,
        writes: bool,
    ) -> Result<Token<'a>, RegistryError> {
        let fails = |error| Pkcs11Error::Fails { token: uri.token.clone(), error };
        let (slot, info) = find(loaded, uri)?;
        let token = || uri.token.clone();
        if !info.user_pin_initialized() {
            return Err(Pkcs11Error::NoPin(token()).into());
        }
        if info.user_pin_locked() {
            return Err(Pkcs11Error::Locked(token()).into());
        }
        if info.user_pin_final_try() {
            return Err(Pkcs11Error::LastTry(token()).into());
        }
        if info.user_pin_count_low() && after == AfterWrongPin::Refuse {
            return Err(Pkcs11Error::WrongBefore(token()).into());
        }
        let text = read_secrets(&uri.pin_file)?;
        let pin = AuthPin::new(text.trim_end_matches(['\r', '\n']).into());
        let session = if writes { loaded.open_rw_session(slot) } else { loaded.open_ro_session(slot) };
        let session = session.map_err(fails)?;
        match session.login(UserType::User, Some(&pin)) {
            Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => Ok(Token { uri, session }),
            Err(Error::Pkcs11(RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange, _)) => {
                Err(Pkcs11Error::WrongPin { file: uri.pin_file.clone(), token: token() }.into())
            }
            Err(Error::Pkcs11(RvError::PinLocked, _)) => Err(Pkcs11Error::Locked(token()).into()),
            Err(error) => Err(fails(error).into()),
        }
    }

    fn fails(&self, error: Error) -> Pkcs11Error {
        Pkcs11Error::Fails { token: self.uri.token.clone(), error }
    }

    fn senseless(&self, what: &'static str) -> Pkcs11Error {
        Pkcs11Error::Senseless { token: self.uri.token.clone(), what }
    }

    fn not_wrapped(&self) -> Pkcs11Error {
        Pkcs11Error::NotWrapped { token: self.uri.token.clone(), key: self.uri.object.clone() }
    }

    /// The key of the URI, which has to be one that nobody can take out.
    fn key(&self) -> Result<ObjectHandle, Pkcs11Error> {
        let Pkcs11Uri { token, object, .. } = self.uri;
        let (token, key) = (token.clone(), object.clone());
        let named = [Attribute::Class(ObjectClass::SECRET_KEY), Attribute::Label(object.as_bytes().to_vec())];
        let found = self.session.find_objects(&named).map_err(|error| self.fails(error))?;
        let handle = match found[..] {
            [] => return Err(Pkcs11Error::NoKey { token, key }),
            [handle] => handle,
            _ => return Err(Pkcs11Error::SeveralKeys { token, key }),
        };
        let asked = [
            AttributeType::KeyType,
            AttributeType::ValueLen,
            AttributeType::Sensitive,
            AttributeType::Extractable,
            AttributeType::Encrypt,
            AttributeType::Decrypt,
        ];
        let has = self.session.get_attributes(handle, &asked).map_err(|error| self.fails(error))?;
        for (wanted, why) in [
            (Attribute::KeyType(KeyType::AES), "it is no AES key"),
            (Attribute::ValueLen(KEY_BYTES.into()), "it does not have 256 bits"),
            (Attribute::Sensitive(true), "its value can be read (CKA_SENSITIVE is false)"),
            (Attribute::Extractable(false), "it can be taken out of the token (CKA_EXTRACTABLE is true)"),
            (Attribute::Encrypt(true), "it does not encrypt (CKA_ENCRYPT is false)"),
            (Attribute::Decrypt(true), "it does not decrypt (CKA_DECRYPT is false)"),
        ] {
            if !has.contains(&wanted) {
                return Err(Pkcs11Error::WrongKey { token, key, why });
            }
        }
        Ok(handle)
    }

    fn make_key(&self) -> Result<ObjectHandle, Pkcs11Error> {
        let template = [
            Attribute::Token(true),
            Attribute::Private(true),
            Attribute::Label(self.uri.object.as_bytes().to_vec()),
            Attribute::ValueLen(KEY_BYTES.into()),
            Attribute::Sensitive(true),
            Attribute::Extractable(false),
            Attribute::Encrypt(true),
            Attribute::Decrypt(true),
            Attribute::Wrap(false),
            Attribute::Unwrap(false),
        ];
        let made = self.session.generate_key(&Mechanism::AesKeyGen, &template);
        made.map_err(|error| self.fails(error))
    }

    fn gcm<T>(
        &self,
        nonce: &mut [u8],
        what: impl FnOnce(&Mechanism<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        what(&Mechanism::AesGcm(GcmParams::new(nonce, CONTEXT, TAG_BITS.into())?))
    }
}

/// The slot of the URI's token.
fn find(loaded: &Pkcs11, uri: &Pkcs11Uri) -> Result<(Slot, TokenInfo), Pkcs11Error> {
    let fails = |error| Pkcs11Error::Fails { token: uri.token.clone(), error };
    let mut all = Vec::new();
    for slot in loaded.get_slots_with_token().map_err(fails)? {
        use RvError::{DeviceError, DeviceRemoved, SlotIdInvalid, TokenNotPresent, TokenNotRecognized};
        match loaded.get_token_info(slot) {
            Ok(info) if info.token_initialized() => all.push((slot, info)),
            // It was pulled out, or is no good; that says nothing of the others.
            Ok(_)
            | Err(Error::Pkcs11(
                DeviceError | DeviceRemoved | SlotIdInvalid | TokenNotPresent | TokenNotRecognized,
                _,
            )) => {}
            Err(error) => return Err(fails(error)),
        }
    }
    let is_it = |info: &TokenInfo| {
        info.label() == uri.token && uri.serial.as_ref().is_none_or(|serial| info.serial_number() == serial)
    };
    let labels: Vec<String> = all.iter().map(|(_, info)| format!("'{}'", info.label())).collect();
    let mut found = all.into_iter().filter(|(_, info)| is_it(info));
    match (found.next(), found.next()) {
        (Some(found), None) => Ok(found),
        (Some(_), Some(_)) => Err(Pkcs11Error::SeveralTokens(uri.token.clone())),
        (None, _) => {
            let found = if labels.is_empty() { "none".to_owned() } else { labels.join(", ") };
            Err(Pkcs11Error::NoToken { wanted: uri.token.clone(), found })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_never_answers_is_given_up() {
        let (never, waits) = bounded::<()>(0);
        let within = Duration::from_millis(50);
        let asked = answered("one", within, move || {
            let _ = waits.recv_timeout(Duration::from_secs(10));
            Ok(())
        });
        let error = asked.expect_err("it waits").to_string();
        assert!(error.contains("the token one does not answer"), "{error}");
        drop(never);
        assert_eq!(answered("one", Duration::from_secs(60), || Ok(7)).expect("it answers"), 7);
    }
}
