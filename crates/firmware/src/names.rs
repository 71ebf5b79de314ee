//! Names as their author wrote them, and finding one by a part of it.

use crate::symbols::Function;
use std::collections::HashMap;

/// The name of a C++ or Rust symbol without its mangling, with or without a C++ function's
/// parameters; `None` for a name of C or assembly. What the compiler puts behind a copy of a
/// function (`.constprop.0`) stays.
pub(crate) fn demangled(symbol: &str, parameters: bool) -> Option<String> {
    // Legacy Rust names look like C++'s; `#` leaves out the hash.
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return Some(format!("{name:#}"));
    }
    let (mangled, copy) = symbol.find('.').map_or((symbol, ""), |at| symbol.split_at(at));
    if !mangled.starts_with("_Z") {
        return None;
    }
    let options = cpp_demangle::DemangleOptions::new();
    let options = if parameters { options } else { options.no_params().no_return_type() };
    let name = cpp_demangle::Symbol::new(mangled).ok()?.demangle(&options).ok()?;
    Some(name + copy)
}

/// Gives each function the name that its author wrote; of overloaded ones with the parameters.
pub(crate) fn demangle(functions: &mut [Function]) {
    let mut uses: HashMap<String, usize> = HashMap::new();
    let short: Vec<Option<String>> =
        functions.iter().map(|function| demangled(&function.name, false)).collect();
    for name in short.iter().flatten() {
        *uses.entry(name.clone()).or_default() += 1;
    }
    for (function, short) in functions.iter_mut().zip(short) {
        let Some(short) = short else { continue };
        let overloaded = uses[&short] > 1;
        function.name = if overloaded { demangled(&function.name, true).unwrap_or(short) } else { short };
    }
}

/// Suffixes of GCC's copies of a function, which stand for it where they are the only one.
const COPIES: [&str; 3] = [".constprop.", ".isra.", ".lto_priv."];

/// Returns true if `wanted` names the function `name`: as a whole, or its last parts
/// (`encryptBlock`, `fw::hash`), parameters or not, also of a copy.
pub(crate) fn names(wanted: &str, name: &str) -> bool {
    let original = COPIES.iter().filter_map(|copy| name.find(copy)).min();
    if original.is_some_and(|end| names(wanted, &name[..end])) {
        return true;
    }
    let is_end = |name: &str| {
        name.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with("::"))
    };
    is_end(name) || name.find('(').is_some_and(|at| is_end(&name[..at]))
}

/// An address as a person writes it: `0x08000100`, `134217984`.
pub(crate) fn address(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Function, address, demangle, demangled, names};

    /// The mangled names are those of the Itanium C++ ABI and of the Rust reference (RFC 2603),
    /// written by g++ and rustc.
    #[test]
    fn names_are_as_their_author_wrote_them() {
        let rust = "_RNvNtCs1234_7mycrate3foo3bar";
        assert_eq!(demangled(rust, true).as_deref(), Some("mycrate::foo::bar"));
        let legacy = "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE";
        assert_eq!(demangled(legacy, true).as_deref(), Some("core::fmt::Formatter::pad"));
        let implementation =
            "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE";
        let written = demangled(implementation, true);
        assert_eq!(written.as_deref(), Some("<alloc::string::String as core::fmt::Display>::fmt"));
        let cpp = "_ZN6AES12812encryptBlockEPhPKh";
        assert_eq!(
            demangled(cpp, true).as_deref(),
            Some("AES128::encryptBlock(unsigned char*, unsigned char const*)")
        );
        assert_eq!(demangled(cpp, false).as_deref(), Some("AES128::encryptBlock"));
        let copy = demangled("_ZN6AES12812encryptBlockEPhPKh.constprop.0", false);
        assert_eq!(copy.as_deref(), Some("AES128::encryptBlock.constprop.0"));
        for plain in ["main", "_start", "ws_aes.sbox", "_Z", "__vector_16"] {
            assert_eq!(demangled(plain, false), None, "{plain}");
        }
    }

    #[test]
    fn overloaded_functions_keep_their_parameters() {
        let function = |name: &str| Function { name: name.into(), address: 0, size: 0 };
        let mut functions =
            [function("_ZN5Print5writeEh"), function("_ZN5Print5writeEPKc"), function("_ZN5Print5flushEv")];
        demangle(&mut functions);
        let shown: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(shown, ["Print::write(unsigned char)", "Print::write(char const*)", "Print::flush"]);
    }

    #[test]
    fn a_part_of_a_name_begins_at_a_path_s_segment() {
        assert!(names("hash", "fw::hash") && names("fw::hash", "app::fw::hash") && names("hash", "hash"));
        assert!(names("write", "Print::write(char const*)"));
        assert!(names("Print::write(char const*)", "Print::write(char const*)"));
        assert!(names("hash", "fw::hash.isra.0.constprop.1") && !names("hash", "hash.part.0"));
        assert!(!names("ash", "fw::hash") && !names("fw", "fw::hash") && !names("", "main"));
    }

    #[test]
    fn addresses_are_numbers() {
        assert_eq!(
            (address("0x08000100"), address("16"), address("main")),
            (Some(0x800_0100), Some(16), None)
        );
        assert_eq!((address("0x1ffffffff"), address("-1"), address("")), (None, None, None));
    }
}
