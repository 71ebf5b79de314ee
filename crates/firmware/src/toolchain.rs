//! Toolchain of a target's firmware, as its target file states it.

use serde::Deserialize;

/// The `[toolchain]` table of a target file: how firmware for it is built.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolchain {
    /// Folder under `device/ports`.
    pub port: String,
    /// Folder under the port of the drivers of the target's board, where there are any.
    #[serde(default)]
    pub drivers: Option<String>,
    /// Folder of assembly kernels under the port.
    pub kernels: String,
    /// Family of the port's start-up files, where they differ.
    #[serde(default)]
    pub family: Option<String>,
    /// The compiler's command.
    pub compiler: String,
    /// Its flags for this target.
    pub flags: String,
    /// Sets of `device/ops.toml` that exist on it; of two operations of one name the later set's
    /// counts.
    #[serde(default = "every_compiler_s_operations")]
    pub operations: Vec<String>,
    /// Variants of its operations.
    #[serde(default = "every_compiler_s_variants")]
    pub variants: Vec<String>,
    /// Variants of the sets [`PUBLIC_KEY`] and [`PUBLIC_KEY_OLDER`].
    #[serde(default = "every_compiler_s_public_key_variants")]
    public_key_variants: Vec<String>,
}

impl Toolchain {
    /// Returns true if it has a compiler of C, and not an assembler alone.
    #[must_use]
    pub fn has_c(&self) -> bool {
        !self.compiler.ends_with("-as")
    }

    /// Returns the variants of a set of `device/ops.toml`.
    #[must_use]
    pub fn variants_of(&self, set: &str) -> Vec<String> {
        if [PUBLIC_KEY, PUBLIC_KEY_OLDER].contains(&set) {
            return self.public_key_variants.clone();
        }
        let mut variants = self.variants.clone();
        if set == DECRYPTION_KEYS {
            variants.retain(|variant| variant == "fast");
        }
        variants.retain(|variant| variant != "O0" || !OPTIMISED.contains(&set));
        variants
    }
}

/// The set of `device/ops.toml` that has variants of its own.
pub const PUBLIC_KEY: &str = "public-key";

/// The set of the curves that serve comparisons with published figures alone, in the same variants.
pub const PUBLIC_KEY_OLDER: &str = "public-key-older";

/// The set of `device/ops.toml` whose functions the fast kernels alone have.
const DECRYPTION_KEYS: &str = "decryption-keys";

/// The sets of `device/ops.toml` that are not built without optimisation.
const OPTIMISED: [&str; 17] = [
    "chacha20",
    "p384",
    "ml-kem-512",
    "ml-kem-512-pieces",
    "ml-kem-512-decapsulate-pieces",
    "ml-kem-768",
    "p256-ml-kem-512",
    "x25519-ml-kem-512",
    "x25519-ml-kem-768",
    "ml-dsa-44",
    "ml-dsa-44-verify",
    "ml-dsa-65",
    "hash-based",
    "hss",
    "lms-sign",
    "slh-dsa",
    "slh-dsa-128f",
];

fn every_compiler_s_operations() -> Vec<String> {
    vec!["c".into()]
}

fn every_compiler_s_variants() -> Vec<String> {
    ["O0", "portable", "small", "fast"].map(str::to_owned).into()
}

/// A curve without optimisation says nothing to anyone, and takes minutes.
fn every_compiler_s_public_key_variants() -> Vec<String> {
    ["portable", "small", "fast"].map(str::to_owned).into()
}
