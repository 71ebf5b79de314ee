//! Integers of a C type.

use crate::errors::UsageError;
use firmware::CType;
use pyo3::prelude::*;

/// An integer of a C type, as ``u16(5)`` makes it.
#[pyclass(frozen, module = "wattseal")]
pub struct Number {
    pub number: i128,
    pub kind: CType,
}

#[pymethods]
impl Number {
    fn __repr__(&self) -> String {
        format!("{}({})", self.kind, self.number)
    }
}

/// The integer `value` of the C type `kind`, such as `u16`.
#[pyfunction]
pub fn number(kind: &str, value: i128) -> PyResult<Number> {
    Ok(Number { number: value, kind: c_type(kind)? })
}

/// The type that a name says.
pub fn c_type(name: &str) -> PyResult<CType> {
    let integer = |bytes, signed| Ok(CType::Integer { bytes, signed });
    match name {
        "u8" => integer(1, false),
        "u16" => integer(2, false),
        "u32" => integer(4, false),
        "u64" => integer(8, false),
        "i8" => integer(1, true),
        "i16" => integer(2, true),
        "i32" => integer(4, true),
        "i64" => integer(8, true),
        _ => Err(UsageError::new_err(format!(
            "'{name}' is no type that is passed; there are u8, u16, u32, u64, i8, i16, i32 and i64"
        ))),
    }
}
