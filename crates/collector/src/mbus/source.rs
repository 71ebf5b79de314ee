//! The sources of telegrams: standard input, a serial line, and UDP.

use crate::gateway::serial::SerialLine;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// A sender of telegrams: limits count each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sender {
    /// The number of its source, in the order of the command line.
    pub source: usize,
    /// Its address, of IPv6 its /64, for a source with several.
    pub peer: Option<IpAddr>,
}

/// A source of lines with telegrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TelegramSource {
    /// Standard input.
    Input,
    /// Datagrams, each with one line or several.
    Udp(SocketAddr),
    /// A receiver's serial line.
    Serial(SerialLine),
}

impl FromStr for TelegramSource {
    type Err = String;

    fn from_str(text: &str) -> Result<TelegramSource, String> {
        if text == "-" {
            return Ok(TelegramSource::Input);
        }
        if let Ok(address) = text.parse() {
            return Ok(TelegramSource::Udp(address));
        }
        // Else a name such as localhost:7880 would be a device.
        if !text.contains('/') {
            return Err(
                "write - for standard input, ADDR:PORT for UDP, or a device such as /dev/ttyUSB0:57600"
                    .into(),
            );
        }
        text.parse().map(TelegramSource::Serial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_told_by_its_form() {
        let parse = |text: &str| text.parse::<TelegramSource>();
        assert_eq!(parse("-"), Ok(TelegramSource::Input));
        assert!(matches!(parse("127.0.0.1:7880"), Ok(TelegramSource::Udp(_))));
        assert!(matches!(parse("[::1]:7880"), Ok(TelegramSource::Udp(_))));
        let Ok(TelegramSource::Serial(line)) = parse("/dev/ttyUSB0:57600") else { panic!("a device") };
        assert_eq!((line.device.to_str(), line.baud), (Some("/dev/ttyUSB0"), 57_600));
        assert!(parse("localhost:7880").is_err() && parse("").is_err() && parse("/dev/ttyUSB0:1").is_err());
    }
}
