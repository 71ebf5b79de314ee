//! Reads of a function's secrets: a check that saw no instruction read one has not checked it.

use mcu::{SecretReads, Taint};
use std::collections::BTreeSet;

/// The function by which a program marks bytes as secret: `device/ct/ws_ct.h`.
pub(super) const MARK: &str = "ws_ct_secret";

/// Bytes of a secret that instructions read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRead {
    /// The secret, as it was named.
    pub secret: String,
    /// Its bytes, with what was made of them before the call.
    pub bytes: u32,
    /// Of them, those that an instruction read.
    pub read: u32,
}

/// Reads of all secrets of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Each secret, in the order in which they were named.
    pub secrets: Vec<SecretRead>,
    /// Bytes of any secret.
    pub bytes: u32,
    /// Of them, those that an instruction read.
    pub read: u32,
    /// The addresses of the instructions that read one.
    readers: BTreeSet<u32>,
}

impl Reads {
    /// Returns the reads in one call, of secrets with a label each.
    pub(super) fn of(taint: &Taint, secrets: &[&str]) -> Reads {
        let of_one = |(index, secret): (usize, &&str)| {
            let SecretReads { labelled, read } = taint.reads_of(1 << index);
            SecretRead { secret: (*secret).to_owned(), bytes: labelled, read }
        };
        let SecretReads { labelled, read } = taint.reads_of(!0);
        Reads {
            secrets: secrets.iter().enumerate().map(of_one).collect(),
            bytes: labelled,
            read,
            readers: taint.readers().iter().copied().collect(),
        }
    }

    /// Adds what another call read: of each secret the call counts that read most.
    pub(super) fn merge(&mut self, other: Reads) {
        if self.secrets.is_empty() {
            *self = other;
            return;
        }
        for (known, more) in self.secrets.iter_mut().zip(other.secrets) {
            known.bytes = known.bytes.max(more.bytes);
            known.read = known.read.max(more.read);
        }
        self.bytes = self.bytes.max(other.bytes);
        self.read = self.read.max(other.read);
        self.readers.extend(other.readers);
    }

    /// Counts `bytes` bytes of a secret as read.
    pub(super) fn count(&mut self, secret: usize, bytes: u32) {
        let known = &mut self.secrets[secret];
        self.bytes += bytes.saturating_sub(known.bytes);
        self.read += bytes.saturating_sub(known.read);
        (known.bytes, known.read) = (known.bytes.max(bytes), known.read.max(bytes));
    }

    /// Leaves out the program's marks where it made none and other secrets were named.
    pub(super) fn without_unused_marks(&mut self) {
        if self.secrets.len() > 1 {
            self.secrets.retain(|secret| secret.bytes > 0 || secret.secret != MARK);
        }
    }

    /// Number of instructions that read a secret byte.
    #[must_use]
    pub fn readers(&self) -> u32 {
        u32::try_from(self.readers.len()).unwrap_or(u32::MAX)
    }

    /// The secrets of which nothing was read, each with what to do about it.
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        let unread = self.secrets.iter().filter(|secret| secret.read == 0);
        let said = |secret: &SecretRead| match secret.bytes {
            0 if secret.secret == MARK => format!("{MARK} was called neither before the function nor in it"),
            0 => format!("none of {} is secret: --public or --declassify covers all of it", secret.secret),
            bytes => format!(
                "no instruction read any of the {bytes} bytes of {}, so nothing is known of it: it may be in registers when the function \
                 is called, or the function uses another object",
                secret.secret
            ),
        };
        unread.map(said).collect()
    }
}
