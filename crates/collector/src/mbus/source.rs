//! The sources of telegrams: standard input, UDP, and serial lines, of text or of a radio module.

use crate::gateway::serial::SerialLine;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use wire::wireless_mbus::RadioModule;

/// A sender of telegrams: limits count each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sender {
    /// The number of its source, in the order of the command line.
    pub source: usize,
    /// Its address, of IPv6 its /64, for a source with several.
    pub peer: Option<IpAddr>,
}

/// A source of telegrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TelegramSource {
    /// Standard input.
    Input,
    /// Datagrams, each with one line or several.
    Udp(SocketAddr),
    /// A receiver's serial line, which carries text.
    Serial(SerialLine),
    /// A radio module's serial line, which carries its maker's frames.
    Module(RadioModule, SerialLine),
}

/// Radio modules by the name before their device, with the baud rate that they are delivered with.
const MODULES: [(&str, RadioModule, u32); 3] = [
    ("im871a:", RadioModule::Imst, 57_600),
    ("amb8465:", RadioModule::Amber { has_level: false }, 9_600),
    ("amb8465-rssi:", RadioModule::Amber { has_level: true }, 9_600),
];

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
                "write - for standard input, ADDR:PORT for UDP, a device such as /dev/ttyUSB0:57600, or a \
                        radio module with its device, such as im871a:/dev/ttyUSB0 or amb8465:/dev/ttyUSB0"
                    .into(),
            );
        }
        for (name, module, baud) in MODULES {
            if let Some(line) = text.strip_prefix(name) {
                return Ok(TelegramSource::Module(module, SerialLine::parse(line, baud)?));
            }
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
        let Ok(TelegramSource::Module(module, line)) = parse("im871a:/dev/ttyUSB0") else {
            panic!("a module")
        };
        assert_eq!((module, line.baud), (RadioModule::Imst, 57_600));
        let Ok(TelegramSource::Module(module, line)) = parse("amb8465-rssi:/dev/ttyUSB0:115200") else {
            panic!("a module")
        };
        assert_eq!((module, line.baud), (RadioModule::Amber { has_level: true }, 115_200));
        assert!(parse("im871a:").is_err() && parse("im871a:/dev/ttyUSB0:1").is_err());
        assert!(parse("localhost:7880").is_err() && parse("").is_err() && parse("/dev/ttyUSB0:1").is_err());
    }
}
