//! Questions about meters, and their answers, as they go over NATS: JSON. docs/how-to/cluster.md,
//! "Questions and events".

use crate::meters::{Question, RequestError};
use crate::network::GlobalMeterId;
use crate::tokens::is_name;
use serde::{Deserialize, Serialize};

/// The version of everything written here. Entries of another version are not read.
pub(super) const VERSION: u8 = 1;
/// A question has no more: the name of who asks is 64 characters at most.
const BYTES_MAX: usize = 2048;

/// A question about a meter.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    version: u8,
    pub(super) meter: GlobalMeterId,
    pub(super) question: Question,
}

/// The answer to a request.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// The command's name; it is durable.
    Done(i64),
    Refused(RequestError),
    /// It was no question, and why.
    NotRead(String),
}

#[derive(Serialize, Deserialize)]
struct Versioned {
    version: u8,
    #[serde(flatten)]
    answer: Answer,
}

impl About {
    pub(super) fn new(meter: GlobalMeterId, question: Question) -> About {
        About { version: VERSION, meter, question }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Strings and numbers can be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads any published bytes.
    pub(super) fn parse(bytes: &[u8]) -> Result<About, String> {
        if bytes.len() > BYTES_MAX {
            return Err(format!("{} bytes, and a question has {BYTES_MAX} at most", bytes.len()));
        }
        let about: About = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if about.version != VERSION {
            return Err(format!("version {}, and version {VERSION} is read here", about.version));
        }
        match &about.question {
            Question::Command { by, .. } | Question::Update { by, .. } if !is_name(by) => {
                Err(format!("{by:?} is no token's name"))
            }
            _ => Ok(about),
        }
    }
}

impl Answer {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        serde_json::to_vec(&Versioned { version: VERSION, answer: self }).unwrap_or_default()
    }

    /// Reads it; `None`: it is none.
    pub(super) fn parse(bytes: &[u8]) -> Option<Answer> {
        let answer: Versioned = serde_json::from_slice(bytes).ok()?;
        (answer.version == VERSION).then_some(answer.answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_digest::ImageDigest;
    use crate::network::NetworkId;
    use proptest::prelude::*;
    use wire::meter::{Command, Suite};

    fn question() -> About {
        let request = Command::Configure { interval_s: 10, suite: Suite::Aes128Gcm }.into();
        let by = "anna".to_owned();
        About::new(NetworkId(7).meter(258), Question::Command { request, by })
    }

    /// Another version's workers read it.
    #[test]
    fn as_they_are_written() {
        let text = r#"{"version":1,"meter":{"network":7,"meter":258},"question":{"command":{"request":{"configure":{"interval_s":10,"suite":"aes128-gcm"}},"by":"anna"}}}"#;
        assert_eq!(String::from_utf8(question().to_bytes()).expect("text"), text);
        let withdraw = r#"{"version":1,"meter":{"meter":258},"question":{"withdraw":{"id":5}}}"#;
        let withdraw = About::parse(withdraw.as_bytes()).expect("a question");
        assert_eq!(withdraw, About::new(258.into(), Question::Withdraw { id: 5 }));
        let image = "ab".repeat(32);
        let text = format!(
            r#"{{"version":1,"meter":{{"meter":258}},"question":{{"update":{{"image":"{image}","by":"anna"}}}}}}"#
        );
        let update = Question::Update { image: ImageDigest([0xab; 32]), by: "anna".to_owned() };
        assert_eq!(About::parse(text.as_bytes()), Ok(About::new(258.into(), update.clone())));
        assert_eq!(String::from_utf8(About::new(258.into(), update).to_bytes()).expect("text"), text);
        let forget = r#"{"version":1,"meter":{"meter":258},"question":"forget-update"}"#;
        let forget = About::parse(forget.as_bytes()).expect("a question");
        assert_eq!(forget, About::new(258.into(), Question::ForgetUpdate));
        assert_eq!(Answer::Done(5).into_bytes(), br#"{"version":1,"done":5}"#);
        let full = Answer::Refused(RequestError::QueueFull(16)).into_bytes();
        assert_eq!(full, br#"{"version":1,"refused":{"queue-full":16}}"#);
    }

    #[test]
    fn encoded_value_decodes_unchanged() {
        assert_eq!(About::parse(&question().to_bytes()), Ok(question()));
        let meter = NetworkId(7).meter(258);
        for error in [
            RequestError::UnknownMeter(meter),
            RequestError::OtherSlice { meter, name: 3, slice: 1 },
            RequestError::EpochOver { meter, known: 2, given: 1 },
            RequestError::Store("full".to_owned()),
            RequestError::ClockBehind,
            RequestError::NoUpdate(meter),
            RequestError::UnknownImage(ImageDigest([0xab; 32])),
        ] {
            assert_eq!(
                Answer::parse(&Answer::Refused(error.clone()).into_bytes()),
                Some(Answer::Refused(error))
            );
        }
        let not_read = || Answer::NotRead("why".to_owned());
        assert_eq!(Answer::parse(&not_read().into_bytes()), Some(not_read()));
    }

    #[test]
    fn malformed_request_is_refused_with_the_reason() {
        let text = String::from_utf8(question().to_bytes()).expect("text");
        for (wrong, why) in [
            (text.replace("\"version\":1", "\"version\":2"), "version 2"),
            (text.replace("\"by\"", "\"of\""), "unknown field"),
            (text.replace("configure", "explode"), "unknown variant"),
            (text.replace("anna", &"a".repeat(BYTES_MAX)), "bytes"),
            (text.replace("258", "65536"), "65536"),
            (text.replace("anna", "an\u{202e}na"), "no token's name"),
            (text.replace("anna", &"a".repeat(65)), "no token's name"),
            (String::new(), "EOF"),
        ] {
            let error = About::parse(wrong.as_bytes()).expect_err(&wrong);
            assert!(error.contains(why), "{error}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_read_without_panic(bytes: Vec<u8>) {
            let _ = (About::parse(&bytes), Answer::parse(&bytes));
        }
    }
}
