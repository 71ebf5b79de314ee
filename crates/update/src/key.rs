//! Keys of LMS (RFC 8554, SP 800-208), by an independent library: hbs-lms.
//!
//! A leaf of the tree signs once: two signatures by one leaf let anybody sign others. So the key's
//! file says which leaf is next, and is durable with the next one (written beside, synchronized,
//! renamed, the folder synchronized) before a signature leaves [`PrivateKey::sign`]. A crash costs
//! a leaf. Who restores an old copy of the file, or keeps two, signs twice with a leaf: no program
//! can see that.

use crate::UpdateError;
use hbs_lms::{HssParameter, LmotsAlgorithm, LmsAlgorithm, Seed, Sha256_256};
use rand::TryRngCore;
use rand::rngs::OsRng;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use zeroize::{Zeroize, Zeroizing};

/// The first line of a private key's file.
const TITLE: &str = "WattSeal LMS private key 1";
/// hbs-lms's form: the next leaf (8 bytes), parameters (8), seed (32).
const STATE_BYTES: usize = 48;
/// A tree of one level: hbs-lms speaks of multi-tree keys and signatures (HSS, section 6), which
/// have a number before LMS's.
const LEVELS: [u8; 4] = [0, 0, 0, 1];
const SIGNED_KEYS: [u8; 4] = [0; 4];
const FILE_MODE: u32 = 0o600;
/// Bytes at the beginning of a signature: its leaf, the type of the one-time signature, C.
const HEAD: usize = 4 + 4 + 32;

/// LMS's public key: what the bootloader has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey([u8; PublicKey::BYTES]);

impl PublicKey {
    /// Of RFC 8554's form: type of the tree, type of its one-time signatures, I, root.
    pub const BYTES: usize = 56;

    /// The key of these bytes; whether they are any shows when they verify.
    #[must_use]
    pub fn new(bytes: [u8; PublicKey::BYTES]) -> PublicKey {
        PublicKey(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; PublicKey::BYTES] {
        &self.0
    }

    /// Reads a file that `wattseal firmware keygen` wrote.
    ///
    /// # Errors
    /// [`UpdateError::File`], [`UpdateError::BadFile`].
    pub fn read(path: &Path) -> Result<PublicKey, UpdateError> {
        let bytes = fs::read(path).map_err(|error| UpdateError::File { path: path.into(), error })?;
        bytes.as_slice().try_into().map(PublicKey).map_err(|_| UpdateError::BadFile {
            path: path.into(),
            problem: format!("{} bytes, and a public key has {}", bytes.len(), PublicKey::BYTES),
        })
    }

    /// Returns true if a signature of a message is good.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.has_its_types(signature) && {
            let signature = [&SIGNED_KEYS, signature].concat();
            let key = [LEVELS.as_slice(), &self.0].concat();
            hbs_lms::verify::<Sha256_256>(message, &signature, &key).is_ok()
        }
    }

    /// Returns true if length, leaf and types of a signature are this key's: hbs-lms panics where
    /// they are not.
    fn has_its_types(&self, signature: &[u8]) -> bool {
        let Some((values, height)) = self.types() else { return false };
        let tree = HEAD + 32 * values;
        signature.len() == tree + 4 + 32 * height
            && signature[4..8] == self.0[4..8]
            && signature[tree..tree + 4] == self.0[..4]
            && number(signature) >> height == 0
    }

    /// Bytes of a signature by this key.
    fn signature_bytes(&self) -> Option<usize> {
        self.types().map(|(values, height)| HEAD + 32 * values + 4 + 32 * height)
    }

    /// Values of a one-time signature, and the tree's height, where the types are RFC 8554's with
    /// SHA-256 (tables 1 and 2).
    fn types(&self) -> Option<(usize, usize)> {
        let height = match number(&self.0) {
            kind @ 5..=9 => 5 * (kind as usize - 4),
            _ => return None,
        };
        let values = [265, 133, 67, 34].get((number(&self.0[4..]) as usize).checked_sub(1)?)?;
        Some((*values, height))
    }
}

/// The number that bytes begin with.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(u32::MAX, |bytes| u32::from_be_bytes(*bytes))
}

/// Height of a key's tree: how many images it signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Height {
    /// 32
    H5,
    /// 1,024
    H10,
    /// 32,768
    H15,
}

impl Height {
    /// Images that a key signs.
    #[must_use]
    pub fn images(self) -> u64 {
        match self {
            Height::H5 => 1 << 5,
            Height::H10 => 1 << 10,
            Height::H15 => 1 << 15,
        }
    }

    fn algorithm(self) -> LmsAlgorithm {
        match self {
            Height::H5 => LmsAlgorithm::LmsH5,
            Height::H10 => LmsAlgorithm::LmsH10,
            Height::H15 => LmsAlgorithm::LmsH15,
        }
    }
}

/// A private key, which is a file.
#[derive(Clone, Debug)]
pub struct PrivateKey {
    path: PathBuf,
}

impl PrivateKey {
    /// Makes a key pair, with one-time signatures of 4 bits a digit (LMOTS_SHA256_N32_W4), which a
    /// bootloader verifies in an eighth of the time of those of 8 bits. Its private key goes to
    /// `path`, where nothing may be yet, its public key to `path` with `.pub` behind it.
    ///
    /// # Errors
    /// [`UpdateError::File`]; a file that is there.
    pub fn generate(path: &Path, height: Height) -> Result<(PrivateKey, PublicKey), UpdateError> {
        let mut seed = Zeroizing::new([0; 32]);
        OsRng
            .try_fill_bytes(&mut seed[..])
            .map_err(|error| UpdateError::Program(format!("the system has no random numbers: {error}")))?;
        PrivateKey::from_seed(path, height, &seed)
    }

    /// As [`PrivateKey::generate`], of a seed: the pair's I and all its secrets come from it (RFC
    /// 8554, appendix A). The same seed gives the same pair, which signs the same messages alike,
    /// and whoever knows it signs: for tests.
    ///
    /// # Errors
    /// As [`PrivateKey::generate`].
    pub fn from_seed(
        path: &Path,
        height: Height,
        seed: &[u8; 32],
    ) -> Result<(PrivateKey, PublicKey), UpdateError> {
        let key = PrivateKey { path: path.into() };
        let public_path = key.public_path();
        let _locked = key.lock()?;
        for path in [path, &public_path] {
            if path.exists() {
                let problem = "is there already, and a key that is lost signs nothing any more: choose another name, or move it away";
                return Err(UpdateError::BadFile { path: path.into(), problem: problem.into() });
            }
        }
        let parameters = [HssParameter::<Sha256_256>::new(LmotsAlgorithm::LmotsW4, height.algorithm())];
        let (mut private, public) =
            hbs_lms::keygen::<Sha256_256>(&parameters, &Seed::from(*seed), None).map_err(|_| library())?;
        let state = Zeroizing::new(private.as_slice().to_vec());
        private.as_mut_slice().zeroize();
        let public = public.as_slice().strip_prefix(&LEVELS).and_then(|key| key.try_into().ok());
        let public = PublicKey(public.ok_or_else(library)?);
        // The public one first: with a private key there are both.
        write_durably(&public_path, public.bytes(), 0o644)?;
        key.store(&state)?;
        Ok((key, public))
    }

    /// The key of a file.
    #[must_use]
    pub fn at(path: &Path) -> PrivateKey {
        PrivateKey { path: path.into() }
    }

    /// Returns the path of its public key.
    #[must_use]
    pub fn public_path(&self) -> PathBuf {
        with_end(&self.path, ".pub")
    }

    /// Its public key.
    ///
    /// # Errors
    /// As [`PublicKey::read`].
    pub fn public(&self) -> Result<PublicKey, UpdateError> {
        PublicKey::read(&self.public_path())
    }

    /// Bytes of a signature.
    ///
    /// # Errors
    /// As [`PrivateKey::public`]; a key of no type that is known.
    pub fn signature_bytes(&self) -> Result<u32, UpdateError> {
        let bytes = self.public()?.signature_bytes();
        bytes.map(|bytes| bytes as u32).ok_or_else(|| UpdateError::BadFile {
            path: self.public_path(),
            problem:
                "no LMS public key with SHA-256 that is known; make a pair with wattseal firmware keygen"
                    .into(),
        })
    }

    /// Signs a message, and uses a leaf up for it. Returns the signature once the file says that
    /// the leaf is used, and how many are left.
    ///
    /// # Errors
    /// [`UpdateError::File`], [`UpdateError::BadFile`] where the file is no key, all its leaves are
    /// used, or it is another's than the public key beside it. The leaf may be used up all the
    /// same.
    pub fn sign(&self, message: &[u8]) -> Result<(Vec<u8>, u64), UpdateError> {
        let _locked = self.lock()?;
        let state = self.load()?;
        let mut kept = Ok(());
        let mut keep = |next: &[u8]| {
            kept = self.store(next);
            kept.as_ref().map_or(Err(()), |()| Ok(()))
        };
        let signed = hbs_lms::sign::<Sha256_256>(message, &state, &mut keep, None);
        kept?;
        let signature = signed.map_err(|_| self.bad("a key whose leaves are all used, or of no type that is known; make another with wattseal firmware keygen"))?;
        let signature = signature.as_ref().strip_prefix(&SIGNED_KEYS).ok_or_else(library)?.to_vec();
        // What is released is good under the key that the bootloader has.
        if !self.public()?.verifies(message, &signature) {
            return Err(
                self.bad("another key than the public one beside it; put the two of one keygen together")
            );
        }
        let used = u64::from_be_bytes(state[..8].try_into().map_err(|_| library())?) + 1;
        Ok((signature, self.images(&state).saturating_sub(used)))
    }

    /// Images that the whole key signs.
    fn images(&self, state: &[u8]) -> u64 {
        // hbs-lms's parameters: types of tree and of one-time signature, four bits each.
        match state[8] >> 4 {
            kind @ 5..=9 => 1 << (5 * (kind - 4)),
            _ => 0,
        }
    }

    fn bad(&self, problem: &str) -> UpdateError {
        UpdateError::BadFile { path: self.path.clone(), problem: problem.into() }
    }

    fn load(&self) -> Result<Zeroizing<Vec<u8>>, UpdateError> {
        let failed = |error| UpdateError::File { path: self.path.clone(), error };
        let metadata = fs::symlink_metadata(&self.path).map_err(failed)?;
        if !metadata.is_file() || metadata.nlink() != 1 {
            // The file is replaced when it is written anew, and the one of the other name would
            // sign with the same leaves.
            return Err(self.bad(
                "a link, or a file of two names; name the file itself, which must have one name alone",
            ));
        }
        let mode = metadata.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(self.bad(&format!("its mode is {mode:o}, and others may read it: chmod 600")));
        }
        let text = Zeroizing::new(fs::read_to_string(&self.path).map_err(failed)?);
        let digits = text.strip_prefix(TITLE).and_then(|rest| rest.strip_prefix('\n')).map(str::trim_end);
        let state = digits.and_then(from_hexadecimal).filter(|state| state.len() == STATE_BYTES);
        state.ok_or_else(|| self.bad("no private key; wattseal firmware keygen writes one"))
    }

    /// Writes the file anew, durably.
    fn store(&self, state: &[u8]) -> Result<(), UpdateError> {
        let mut text = Zeroizing::new(String::with_capacity(TITLE.len() + 2 * state.len() + 2));
        text.push_str(TITLE);
        text.push('\n');
        for byte in state {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
            }
        }
        text.push('\n');
        write_durably(&self.path, text.as_bytes(), FILE_MODE)
    }

    /// Waits until nobody else signs with it; others wait until what is returned is dropped.
    fn lock(&self) -> Result<File, UpdateError> {
        let path = with_end(&self.path, ".lock");
        let failed = |error| UpdateError::File { path: path.clone(), error };
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FILE_MODE)
            .open(&path)
            .map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }
}

fn library() -> UpdateError {
    UpdateError::Program("the library that signs did what it never does; report this".into())
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn from_hexadecimal(digits: &str) -> Option<Zeroizing<Vec<u8>>> {
    let digits = digits.as_bytes();
    let value = |digit: u8| char::from(digit).to_digit(16);
    let mut bytes = Zeroizing::new(Vec::with_capacity(digits.len() / 2));
    for pair in digits.chunks(2) {
        let [high, low] = pair else { return None };
        bytes.push((value(*high)? << 4 | value(*low)?) as u8);
    }
    Some(bytes)
}

/// Writes a file beside its place, and moves it there when it is durable.
fn write_durably(path: &Path, bytes: &[u8], mode: u32) -> Result<(), UpdateError> {
    let failed = |error| UpdateError::File { path: path.into(), error };
    let beside = with_end(path, ".new");
    let write = || {
        // One that a crash left.
        let _ = fs::remove_file(&beside);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        // A name is durable when its folder is.
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()
    };
    write().map_err(failed)
}
