//! Parts that differ from a target only in the sizes of their memories, or in their package.
//!
//! They stand in the target's file, as `[[sister]]`, and each of their names goes wherever a
//! target's does.

use crate::target::Target;
use crate::workspace::Workspace;
use crate::{LabError, names};
use firmware::Firmware;
use mcu::Part;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A `[[sister]]` table of a target file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sister {
    /// Its names, as on the command line: one for each package.
    pub names: Vec<String>,
    /// The sizes of the target's memories that are others, in bytes, by the memory's name.
    #[serde(default)]
    pub sizes: BTreeMap<String, u32>,
    /// Its signature, where that is another one (AVR).
    #[serde(default)]
    pub signature: Option<[u8; 3]>,
    /// Differences that the model does not have.
    #[serde(default)]
    pub differs: Option<String>,
    /// Whence the sizes are.
    pub source: String,
}

impl Sister {
    /// Makes the target's part this one.
    ///
    /// # Errors
    /// A statement of the table that does not hold for the part.
    pub(crate) fn put_on(&self, name: &str, part: &mut Part) -> Result<(), String> {
        part.description = format!("{name}, a sister of {} ({})", part.name, part.description);
        name.clone_into(&mut part.name);
        for (memory, size) in &self.sizes {
            let named = part.memories.iter_mut().find(|candidate| candidate.name == *memory);
            named.ok_or_else(|| format!("sister {name}: there is no memory '{memory}'"))?.size = *size;
        }
        match (self.signature, &mut part.fuses) {
            (None, _) => Ok(()),
            (Some(signature), Some(fuses)) => {
                fuses.signature = signature;
                Ok(())
            }
            (Some(_), None) => Err(format!("sister {name}: the part has no [fuses] with a signature")),
        }
    }
}

/// The part of a target file that sisters are in.
#[derive(Deserialize)]
struct SisterFile {
    #[serde(rename = "sister", default)]
    sisters: Vec<Sister>,
}

impl Workspace {
    /// All sisters of the project's targets: the target's name, and the table.
    ///
    /// # Errors
    /// [`LabError::File`] and [`LabError::BadFile`] for a target file.
    pub fn sisters(&self) -> Result<Vec<(String, Sister)>, LabError> {
        let mut sisters = Vec::new();
        for target in self.target_names()? {
            let (path, text) = self.read(format!("targets/{target}.toml"))?;
            if text.contains("[[sister]]") {
                let file: SisterFile = toml::from_str(&text)
                    .map_err(|error| LabError::BadFile { path, problem: error.to_string() })?;
                sisters.extend(file.sisters.into_iter().map(|sister| (target.clone(), sister)));
            }
        }
        Ok(sisters)
    }

    /// The sister of this name, with the target that it is one of.
    pub(crate) fn sister(&self, name: &str) -> Result<Option<(String, Sister)>, LabError> {
        Ok(self.sisters()?.into_iter().find(|(_, sister)| sister.names.iter().any(|known| known == name)))
    }

    /// The error of a name that no target and no sister has.
    pub(crate) fn no_target(&self, name: &str) -> Result<LabError, LabError> {
        let mut known = self.target_names()?;
        known.extend(self.sisters()?.into_iter().flat_map(|(_, sister)| sister.names));
        known.extend(self.named_boards()?.into_iter().flat_map(|board| board.names));
        let suggestion = names::suggestion(name, known.iter().map(String::as_str));
        Ok(LabError::UnknownName { what: "target", name: name.into(), suggestion })
    }
}

/// The sisters of a target into which its firmware fits, as the end of a sentence, where it does
/// not fit into the target itself.
pub(crate) fn roomier(workspace: &Workspace, target: &Target, firmware: &Firmware) -> Option<String> {
    let fits = |part: &Part| {
        firmware.image().segments.iter().filter(|segment| !segment.bytes.is_empty()).all(|segment| {
            let last = segment.address.saturating_add(segment.bytes.len() as u32 - 1);
            part.memory_at(segment.address).is_some() && part.memory_at(last).is_some()
        })
    };
    if fits(&target.part) {
        return None;
    }
    let base = target.sister_of.as_deref().unwrap_or(target.name());
    let sisters = workspace.sisters().ok()?.into_iter().filter(|(of, _)| of == base);
    let roomy: Vec<String> = sisters
        .filter(|(_, sister)| {
            let mut part = target.part.clone();
            sister.put_on(base, &mut part).is_ok() && fits(&part)
        })
        .flat_map(|(_, sister)| sister.names)
        .collect();
    (!roomy.is_empty()).then(|| format!("; it fits into --target {}", roomy.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::workspace::Workspace;
    use std::collections::BTreeSet;

    /// Each name belongs to one part, the sizes are others than the target's, and the part runs.
    #[test]
    fn each_sister_is_a_part_of_its_own() {
        let workspace = Workspace::find().expect("the tests run inside the project");
        let mut names: BTreeSet<String> = workspace.target_names().expect("targets").into_iter().collect();
        let sisters = workspace.sisters().expect("target files");
        assert!(sisters.len() >= 10, "{}", sisters.len());
        for (base, sister) in sisters {
            let base = workspace.target(&base).expect("a target");
            for name in &sister.names {
                assert!(names.insert(name.clone()), "{name} is the name of two parts");
                let target = workspace.target(name).expect("a target");
                assert_eq!((target.name(), target.sister_of.as_deref()), (name.as_str(), Some(base.name())));
                assert_eq!(target.file(), base.file());
                let same = target.part.memories.iter().zip(&base.part.memories);
                let others = same.filter(|(own, theirs)| own.size != theirs.size).count();
                assert_eq!(others, sister.sizes.len(), "{name} has sizes that are the target's");
                let machine = mcu::new_machine(&target.part, target.part.default_clock_hz);
                assert!(machine.is_ok(), "{name}: {:?}", machine.err());
            }
        }
    }

    /// A firmware of 100 kB is none for an STM32F103C8, and is one for the RB.
    #[test]
    fn stm32f103rb_has_128_kb() {
        let workspace = Workspace::find().expect("the tests run inside the project");
        let flash = |name: &str| {
            let target = workspace.target(name).expect("a target");
            target.part.memory_at(0x0801_9000).map(|memory| memory.size)
        };
        assert_eq!(
            [flash("stm32f103"), flash("stm32f103c8"), flash("stm32f103rb")],
            [None, None, Some(0x2_0000)]
        );
    }

    /// A difference that the model does not have is said of each run.
    #[test]
    fn differences_are_reserved() {
        let workspace = Workspace::find().expect("the tests run inside the project");
        let reserved = |name: &str| {
            let target = workspace.target(name).expect("a target");
            let machine = mcu::new_machine(&target.part, target.part.default_clock_hz).expect("a machine");
            crate::user_firmware::reservations(&*machine, &target)
        };
        assert!(reserved("samd21").is_empty() && reserved("samd21g17").is_empty());
        let said = reserved("samd21e17");
        assert!(said.len() == 1 && said[0].contains("no SERCOM4, SERCOM5"), "{said:?}");
    }

    #[test]
    fn an_operation_is_built_for_the_target_and_not_for_its_sister() {
        let workspace = Workspace::find().expect("the tests run inside the project");
        let error = workspace.targets_with_operations(&["stm32f103rb".into()]).unwrap_err();
        assert!(error.is_usage());
        let said = error.to_string();
        assert!(said.contains("stm32f103rb") && said.contains("--target stm32f103 "), "{said}");
        let error = workspace.target("stm32f103rx").unwrap_err().to_string();
        assert!(error.contains("stm32f103rb"), "{error}");
    }
}
