//! Contents of linked firmware, whatever the format of its file: names, marks, sizes.

/// A function or another code label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name (one of them where there are several; global before local).
    pub name: String,
    /// First instruction (Thumb: bit 0 clear).
    pub address: u32,
    /// Bytes; 0 where the ELF does not tell.
    pub size: u32,
}

/// A symbol of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its address (Thumb functions: bit 0 clear).
    pub address: u32,
    /// Bytes; 0 where the ELF does not tell.
    pub size: u32,
}

/// A label `<kernel>.<module>.<number>` in code: the module's instructions stand from here to the
/// next mark or to the end of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// First instruction.
    pub address: u32,
    /// The module's name.
    pub module: String,
}

impl Mark {
    pub(crate) fn of(name: &str, address: u32) -> Option<Mark> {
        let mut parts = name.rsplit('.');
        let number = parts.next()?;
        let module = parts.next()?;
        parts.next().filter(|kernel| !kernel.is_empty())?;
        number.parse::<u32>().ok()?;
        Some(Mark { address, module: module.into() })
    }
}

/// Memory of a program, the bench's own `ws_bench_*` symbols left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes of code, constants and initial values.
    pub flash: i64,
    /// Bytes of initialised and zeroed data.
    pub ram: i64,
}
