//! The name of an image of meters' firmware: the SHA-256 of all its bytes, 64 hex digits in text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// SHA-256 of all bytes of an image.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageDigest(pub [u8; 32]);

impl fmt::Display for ImageDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ImageDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that names no image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an image is named by its SHA-256, in 64 hex digits")]
pub struct NoDigest;

impl FromStr for ImageDigest {
    type Err = NoDigest;

    fn from_str(text: &str) -> Result<ImageDigest, NoDigest> {
        let mut digest = [0; 32];
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8).ok_or(NoDigest);
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != digest.len() || !rest.is_empty() {
            return Err(NoDigest);
        }
        for (byte, [high, low]) in digest.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(ImageDigest(digest))
    }
}

impl Serialize for ImageDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ImageDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ImageDigest, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn encoded_value_decodes_unchanged(bytes: [u8; 32]) {
            let digest = ImageDigest(bytes);
            prop_assert_eq!(digest.to_string().parse(), Ok(digest));
            prop_assert_eq!(digest.to_string().to_uppercase().parse(), Ok(digest));
        }

        #[test]
        fn anything_else_names_no_image(text: String) {
            let is_one = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            prop_assert_eq!(text.parse::<ImageDigest>().is_ok(), is_one);
        }
    }

    #[test]
    fn a_digit_more_or_less_names_none() {
        let text = ImageDigest([0xab; 32]).to_string();
        assert!(text.parse::<ImageDigest>().is_ok());
        for wrong in
            [&text[1..], &format!("{text}0"), &format!("+{}", &text[1..]), &format!(" {}", &text[1..])]
        {
            assert_eq!(wrong.parse::<ImageDigest>(), Err(NoDigest), "{wrong}");
        }
    }
}
