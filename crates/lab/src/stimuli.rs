//! Signals at a part's pins and at the inputs of its converter, as a file describes them: levels
//! and edges, waves, buttons, mains, recordings, transfers by a master. `docs/how-to/signals.md`
//! shows the file.

mod analog;
mod masters;

use crate::target::Target;
use crate::{LabError, pins, recorded, units};
use analog::AnalogSignal;
use masters::Transfer;
use mcu::{Board, Levels};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Contacts of a button that bounces, before it stays as it is.
const BOUNCES: u64 = 3;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stimuli {
    #[serde(default)]
    pin: Vec<PinSignal>,
    #[serde(default)]
    analog: Vec<AnalogSignal>,
    #[serde(default)]
    master: Vec<Transfer>,
}

/// Signal at a pin.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PinSignal {
    /// The pin's name.
    pin: String,
    /// Levels and the times from which on they hold.
    edges: Option<Vec<(String, Level)>>,
    wave: Option<Wave>,
    button: Option<Button>,
    vcd: Option<Recording>,
}

/// A rectangular wave, such as a PWM signal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wave {
    frequency: String,
    duty: Option<String>,
    from: Option<String>,
    until: Option<String>,
}

/// A button.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Button {
    /// The level while it is pressed.
    pressed: Level,
    /// The level while it is not; the other one where absent.
    released: Option<Level>,
    /// The times at which it is pressed.
    at: Vec<String>,
    /// Time for which it is held.
    hold: String,
    /// Time for which its contacts bounce, at the beginning and at the end.
    bounce: Option<String>,
}

/// A signal of a value change dump.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    file: PathBuf,
    /// Its name in the dump, with its scopes: `top.uart.rx`.
    signal: String,
}

/// A level as people write it: 0, 1, or "z" for a pin that is not driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "LevelText")]
struct Level(Option<bool>);

#[derive(Deserialize)]
#[serde(untagged)]
enum LevelText {
    Number(i64),
    Text(String),
}

impl TryFrom<LevelText> for Level {
    type Error = String;

    fn try_from(level: LevelText) -> Result<Level, String> {
        match level {
            LevelText::Number(0) => Ok(Level(Some(false))),
            LevelText::Number(1) => Ok(Level(Some(true))),
            LevelText::Text(text) if text.eq_ignore_ascii_case("z") => Ok(Level(None)),
            LevelText::Number(number) => Err(format!("{number} is no level: write 0, 1 or \"z\"")),
            LevelText::Text(text) => Err(format!("'{text}' is no level: write 0, 1 or \"z\"")),
        }
    }
}

/// Connects the signals of a file to the pins of the target's part.
///
/// # Errors
/// A file that cannot be read, or that says what cannot be; a pin or an input that the part does
/// not have.
pub(crate) fn connect(path: &Path, target: &Target, board: &mut Board) -> Result<(), LabError> {
    let text = std::fs::read_to_string(path).map_err(|error| LabError::File { path: path.into(), error })?;
    let bad = |problem: String| LabError::BadFile { path: path.into(), problem };
    let stimuli: Stimuli = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        bad(format!("line {line}: {}", error.message()))
    })?;
    if stimuli.pin.is_empty() && stimuli.analog.is_empty() && stimuli.master.is_empty() {
        return Err(bad("it has no signal: give it a table [[pin]], [[analog]] or [[master]]".into()));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut connected = Vec::new();
    for signal in &stimuli.pin {
        let of_pin = |problem: String| bad(format!("pin {}: {problem}", signal.pin));
        let pin = pins::find(&signal.pin, target).map_err(of_pin)?;
        if connected.contains(&pin) {
            return Err(of_pin("it has two signals; join them".into()));
        }
        connected.push(pin.clone());
        board.set_pin_signal(pin, signal.levels(folder).map_err(of_pin)?);
    }
    let inputs = pins::analog_inputs(&target.part);
    let mut channels = Vec::new();
    for signal in &stimuli.analog {
        let channel = signal.channel;
        let of_channel = |problem: String| bad(format!("channel {channel}: {problem}"));
        if channel >= inputs {
            let has = match inputs {
                0 => "has no converter with a model".into(),
                _ => format!("has the channels 0 to {}", inputs - 1),
            };
            return Err(of_channel(format!("the {} {has}", target.name())));
        }
        if channels.contains(&channel) {
            return Err(of_channel("it has two signals; leave one out".into()));
        }
        channels.push(channel);
        board.set_signal(channel, signal.signal(folder).map_err(of_channel)?);
    }
    for transfer in &stimuli.master {
        let of_bus = |problem: String| bad(format!("master at {}: {problem}", transfer.bus));
        board.add_master_transfer(transfer.transfer(&target.part).map_err(of_bus)?);
    }
    Ok(())
}

impl PinSignal {
    fn levels(&self, folder: &Path) -> Result<Levels, String> {
        match (&self.edges, &self.wave, &self.button, &self.vcd) {
            (Some(edges), None, None, None) => {
                let edges: Result<Vec<_>, String> =
                    edges.iter().map(|(at, Level(level))| Ok((units::time_ns(at)?, *level))).collect();
                in_order(edges?)
            }
            (None, Some(wave), None, None) => wave.levels(),
            (None, None, Some(button), None) => button.levels(),
            (None, None, None, Some(Recording { file, signal })) => {
                in_order(recorded::edges(&folder.join(file), signal)?)
            }
            _ => Err("give it one of edges, wave, button and vcd".into()),
        }
    }
}

/// Levels whose times ascend.
fn in_order(edges: Vec<(u64, Option<bool>)>) -> Result<Levels, String> {
    if edges.is_empty() {
        return Err("it has no edge".into());
    }
    if let Some(pair) = edges.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        return Err(format!("the edge at {} ns follows one at {} ns; times ascend", pair[1].0, pair[0].0));
    }
    Ok(Levels::Edges(edges.into()))
}

impl Wave {
    fn levels(&self) -> Result<Levels, String> {
        let time = |text: &Option<String>| text.as_deref().map(units::time_ns).transpose();
        let (from_ns, until_ns) = (time(&self.from)?.unwrap_or(0), time(&self.until)?);
        if until_ns.is_some_and(|until_ns| until_ns <= from_ns) {
            return Err("the wave ends before it begins: until is after from".into());
        }
        let duty = self.duty.as_deref().map_or(Ok(0.5), units::share)?;
        if duty >= 1.0 {
            return Err("a wave of 100% has no edge: write edges = [[\"0s\", 1]]".into());
        }
        let hz = units::signal_hertz(&self.frequency)?;
        if duty.min(1.0 - duty) * 1e9 / hz < 1.0 {
            return Err("a pulse or the pause behind it is shorter than 1 ns".into());
        }
        Ok(Levels::Wave { hz, duty, from_ns, until_ns })
    }
}

impl Button {
    fn levels(&self) -> Result<Levels, String> {
        let pressed = self.pressed.0;
        let released = self.released.map_or(pressed.map(|level| !level), |level| level.0);
        if pressed == released {
            return Err("its levels pressed and released are the same".into());
        }
        let hold_ns = units::time_ns(&self.hold)?;
        let bounce_ns = self.bounce.as_deref().map_or(Ok(0), units::time_ns)?;
        if bounce_ns >= hold_ns {
            return Err("it is held for longer than its contacts bounce".into());
        }
        let mut edges = vec![(0, released)];
        let mut change = |at_ns: u64, from, to| {
            let contacts = if bounce_ns > 0 { BOUNCES } else { 0 };
            for contact in 0..contacts {
                let part = |number: u64| at_ns + bounce_ns * number / (2 * BOUNCES);
                edges.extend([(part(2 * contact), to), (part(2 * contact + 1), from)]);
            }
            edges.push((at_ns + bounce_ns, to));
        };
        for at in &self.at {
            let at_ns = units::time_ns(at)?;
            change(at_ns, released, pressed);
            change(at_ns.saturating_add(hold_ns), pressed, released);
        }
        // A press at the very beginning.
        if edges.get(1).is_some_and(|first| first.0 == 0) {
            edges.remove(0);
        }
        in_order(edges)
    }
}
