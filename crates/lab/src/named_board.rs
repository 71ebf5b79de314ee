//! Boards that people name in place of a part: `board-names.toml`.

use crate::LabError;
use crate::target::Target;
use crate::workspace::Workspace;
use serde::Deserialize;

/// The file.
const FILE: &str = "board-names.toml";

/// A board with its part, clock and supply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedBoard {
    /// Its names, as PlatformIO and its maker have them.
    pub names: Vec<String>,
    /// A target, or a sister part of one.
    pub target: String,
    /// Core clock that its programs run at, in Hz; the target's where absent.
    #[serde(default)]
    pub clock_hz: Option<u64>,
    /// Crystal or external clock that the core's is made from, in Hz; the target's where absent.
    #[serde(default)]
    pub crystal_hz: Option<u64>,
    /// Supply of the part, in volts.
    pub supply_v: f64,
    /// Whence that is.
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardsFile {
    board: Vec<NamedBoard>,
}

impl NamedBoard {
    /// The board's part with its clock and supply as the defaults.
    ///
    /// # Errors
    /// A supply that the data sheet does not allow.
    pub(crate) fn on(&self, mut target: Target) -> Result<Target, LabError> {
        let allowed = target.supply.check_supply(self.supply_v);
        allowed.map_err(|error| LabError::Supply { target: target.name().into(), error })?;
        target.supply.default_v = self.supply_v;
        target.part.default_clock_hz = self.clock_hz.unwrap_or(target.part.default_clock_hz);
        if let (Some(clock), Some(crystal_hz)) = (&mut target.part.clock, self.crystal_hz) {
            clock.crystal_hz = Some(crystal_hz);
        }
        Ok(target)
    }
}

impl Workspace {
    /// All boards that have a name.
    ///
    /// # Errors
    /// [`LabError::File`] and [`LabError::BadFile`] for their file.
    pub fn named_boards(&self) -> Result<Vec<NamedBoard>, LabError> {
        // A user's folder of targets may be without it.
        if !self.has(FILE) {
            return Ok(Vec::new());
        }
        let (path, text) = self.read(FILE)?;
        let file: BoardsFile =
            toml::from_str(&text).map_err(|error| LabError::BadFile { path, problem: error.to_string() })?;
        Ok(file.board)
    }

    /// The board of this name.
    pub(crate) fn named_board(&self, name: &str) -> Result<Option<NamedBoard>, LabError> {
        Ok(self.named_boards()?.into_iter().find(|board| board.names.iter().any(|known| known == name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_board_is_within_its_part_s_data_sheet() {
        let workspace = Workspace::find().expect("the tests run inside the project");
        let targets = workspace.target_names().expect("targets");
        let mut names = BTreeSet::new();
        for board in workspace.named_boards().expect("boards") {
            assert!(board.source.len() > 10, "{:?} has no source", board.names);
            for name in &board.names {
                assert!(names.insert(name.clone()), "{name} twice");
                assert!(
                    !targets.contains(name) && workspace.sister(name).expect("sisters").is_none(),
                    "{name}"
                );
                let target = workspace.target(name).expect(name);
                let point = target.operating_point(None, None).expect(name);
                assert!(board.clock_hz.is_none_or(|clock_hz| clock_hz == point.clock_hz), "{name}");
                assert_eq!(point.supply_v, board.supply_v, "{name}");
                let crystal = target.part.clock.as_ref().and_then(|clock| clock.crystal_hz);
                assert!(board.crystal_hz.is_none() || crystal == board.crystal_hz, "{name}");
            }
        }
        assert!(names.contains("uno") && names.contains("pico") && names.contains("bluepill"));
    }
}
