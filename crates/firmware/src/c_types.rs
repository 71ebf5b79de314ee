//! Types of C as a compiler understood them, by the debug information of what it made (DWARF 4 and
//! 5, section 5).

use crate::FirmwareError;
use addr2line::gimli::{
    AttributeValue, DwAt, DwTag, Dwarf, DwarfSections, EndianSlice, Error, LittleEndian, SectionId, Unit,
    UnitOffset, constants as dw,
};
use object::{Object, ObjectSection};
use std::collections::HashMap;
use std::path::Path;

/// Depth that a member adds; what a parameter points to is at 1.
const MEMBER: usize = 2;

/// Depth to which structures in structures are looked at.
const DEEPEST: usize = 8 * MEMBER;

/// A type, spelled as its author did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Integer {
        spelled: String,
        /// Bytes where it was compiled.
        bytes: u8,
        signed: bool,
        /// Bits that it has on every part.
        portable_bits: u8,
    },
    Float {
        spelled: String,
        /// Bytes where it was compiled.
        bytes: u8,
    },
    /// The address of data; `to` is none where it is of `void` or lies in a structure.
    Pointer {
        to: Option<Box<Type>>,
        is_reference: bool,
    },
    Structure {
        spelled: String,
        /// Names and types; a member that cannot be named or assigned is left out.
        members: Vec<(String, Type)>,
        /// Members were left out: those of unions, addresses and what has no name.
        is_partial: bool,
    },
    Array {
        of: Box<Type>,
        count: usize,
    },
    /// Something else, as a noun.
    Other(String),
}

/// Parameters and result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub parameters: Vec<Type>,
    /// Names of the parameters, where the definition is there.
    pub names: Vec<String>,
    /// None for `void`.
    pub result: Option<Type>,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The functions that are defined in a linked file with debug information.
///
/// # Errors
/// [`FirmwareError::File`] or [`FirmwareError::BadFile`] where it cannot be read.
pub fn defined(path: &Path) -> Result<Vec<String>, FirmwareError> {
    with_dwarf(path, |dwarf| {
        let mut names = Vec::new();
        each_entry(dwarf, |die, tag| {
            if tag == dw::DW_TAG_subprogram && die.has(dw::DW_AT_low_pc)? {
                // A definition outside of its namespace names its declaration.
                let declared = die.reference(dw::DW_AT_specification)?.unwrap_or(die);
                names.extend(declared.scoped_name()?);
            }
            Ok(())
        })?;
        Ok(names)
    })
}

/// The signature that the variable `probe` points to, in a linked file; `function` is the
/// function's name.
///
/// # Errors
/// [`FirmwareError::File`] or [`FirmwareError::BadFile`] where it cannot be read or has no such
/// variable.
pub fn signature(path: &Path, probe: &str, function: &str) -> Result<Signature, FirmwareError> {
    let (found, names) = with_dwarf(path, |dwarf| {
        let (mut found, mut names) = (None, Vec::new());
        each_entry(dwarf, |die, tag| {
            let name = die.name()?;
            if tag == dw::DW_TAG_variable && name.as_deref() == Some(probe) && found.is_none() {
                let pointer = die.reference(dw::DW_AT_type)?;
                let routine = pointer.map(|pointer| pointer.reference(dw::DW_AT_type)).transpose()?;
                found = routine.flatten().map(|routine| routine.signature()).transpose()?;
            } else if tag == dw::DW_TAG_subprogram && name.as_deref() == Some(function) {
                names = die.parameter_names()?;
            }
            Ok(())
        })?;
        Ok((found, names))
    })?;
    let problem = || FirmwareError::BadFile {
        path: path.into(),
        problem: format!("its debug information has no type of {function}"),
    };
    let mut signature: Signature = found.ok_or_else(problem)?;
    signature.names = names;
    signature.names.resize(signature.parameters.len(), String::new());
    Ok(signature)
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; empty where there is none.
    pub name: String,
    /// Its bytes, where the file tells.
    pub bytes: Option<u64>,
    pub is_pointer: bool,
}

/// The parameters of a function that is defined in a linked file; none where it does not tell.
///
/// # Errors
/// [`FirmwareError::File`] or [`FirmwareError::BadFile`] where it cannot be read.
pub fn parameters(path: &Path, function: &str) -> Result<Vec<Parameter>, FirmwareError> {
    with_dwarf(path, |dwarf| {
        let mut found = Vec::new();
        each_entry(dwarf, |die, tag| {
            // What inlining and LTO leave of it may have the parameters alone.
            if tag == dw::DW_TAG_subprogram && found.is_empty() && die.name()?.as_deref() == Some(function) {
                found = die.parameters()?;
            }
            Ok(())
        })?;
        Ok(found)
    })
}

fn with_dwarf<T>(
    path: &Path,
    take: impl FnOnce(&Dwarf<Slice<'_>>) -> Result<T, Error>,
) -> Result<T, FirmwareError> {
    let bytes = std::fs::read(path).map_err(|error| FirmwareError::File { path: path.into(), error })?;
    let bad = |problem: String| FirmwareError::BadFile { path: path.into(), problem };
    let file = object::File::parse(bytes.as_slice()).map_err(|error| bad(error.to_string()))?;
    let section = |id: SectionId| {
        let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        Ok::<_, Error>(data.unwrap_or_default())
    };
    let unreadable = |error: Error| bad(format!("its debug information cannot be read: {error}"));
    let sections = DwarfSections::load(section).map_err(unreadable)?;
    let dwarf = sections.borrow(|data| EndianSlice::new(data, LittleEndian));
    take(&dwarf).map_err(unreadable)
}

fn each_entry<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    mut see: impl FnMut(Die<'_, 'd>, DwTag) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let scopes = scopes(dwarf, &unit)?;
        let mut entries = unit.entries();
        while let Some((_, entry)) = entries.next_dfs()? {
            see(Die { dwarf, unit: &unit, scopes: &scopes, offset: entry.offset() }, entry.tag())?;
        }
    }
    Ok(())
}

/// Prefixes of the names of types in namespaces and classes: `dsp::`.
type Scopes = HashMap<UnitOffset, String>;

fn scopes(dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>) -> Result<Scopes, Error> {
    let mut scopes = Scopes::new();
    // The name of each entry above the one at hand that makes a scope.
    let mut above: Vec<Option<String>> = Vec::new();
    let mut depth = 0;
    let mut entries = unit.entries();
    while let Some((step, entry)) = entries.next_dfs()? {
        depth += step;
        above.truncate(usize::try_from(depth).unwrap_or(0));
        let before: String = above.iter().flatten().map(|name| format!("{name}::")).collect();
        if !before.is_empty() {
            scopes.insert(entry.offset(), before);
        }
        let is_scope =
            matches!(entry.tag(), dw::DW_TAG_namespace | dw::DW_TAG_structure_type | dw::DW_TAG_class_type);
        let name = entry.attr_value(dw::DW_AT_name)?.filter(|_| is_scope);
        let name = name.map(|name| dwarf.attr_string(unit, name)).transpose()?;
        above.push(name.map(|name| name.to_string_lossy().into_owned()));
    }
    Ok(scopes)
}

#[derive(Clone, Copy)]
struct Die<'u, 'd> {
    dwarf: &'u Dwarf<Slice<'d>>,
    unit: &'u Unit<Slice<'d>>,
    scopes: &'u Scopes,
    offset: UnitOffset,
}

impl<'d> Die<'_, 'd> {
    fn tag(&self) -> Result<DwTag, Error> {
        Ok(self.unit.entry(self.offset)?.tag())
    }

    fn value(&self, attribute: DwAt) -> Result<Option<AttributeValue<Slice<'d>>>, Error> {
        self.unit.entry(self.offset)?.attr_value(attribute)
    }

    fn has(&self, attribute: DwAt) -> Result<bool, Error> {
        Ok(self.value(attribute)?.is_some())
    }

    fn number(&self, attribute: DwAt) -> Result<Option<u64>, Error> {
        Ok(self.value(attribute)?.and_then(|value| value.udata_value()))
    }

    fn name(&self) -> Result<Option<String>, Error> {
        let Some(name) = self.value(dw::DW_AT_name)? else { return Ok(None) };
        Ok(Some(self.dwarf.attr_string(self.unit, name)?.to_string_lossy().into_owned()))
    }

    fn reference(&self, attribute: DwAt) -> Result<Option<Self>, Error> {
        match self.value(attribute)? {
            Some(AttributeValue::UnitRef(offset)) => Ok(Some(Die { offset, ..*self })),
            None => Ok(None),
            Some(_) => Err(Error::UnsupportedOffset),
        }
    }

    fn children(&self) -> Result<Vec<Self>, Error> {
        let mut tree = self.unit.entries_tree(Some(self.offset))?;
        let mut children = tree.root()?.children();
        let mut all = Vec::new();
        while let Some(child) = children.next()? {
            all.push(Die { offset: child.entry().offset(), ..*self });
        }
        Ok(all)
    }

    fn parameters(&self) -> Result<Vec<Parameter>, Error> {
        let mut parameters = Vec::new();
        for child in self.children()? {
            if child.tag()? == dw::DW_TAG_formal_parameter {
                let (bytes, is_pointer) = child.size_of_type()?;
                parameters.push(Parameter { name: child.name()?.unwrap_or_default(), bytes, is_pointer });
            }
        }
        Ok(parameters)
    }

    /// Bytes of the type that this entry's attribute names, and whether it is a pointer.
    fn size_of_type(&self) -> Result<(Option<u64>, bool), Error> {
        let mut die = self.reference(dw::DW_AT_type)?;
        while let Some(kind) = die {
            let bytes = kind.number(dw::DW_AT_byte_size)?;
            let is_pointer = matches!(kind.tag()?, dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type);
            if is_pointer || bytes.is_some() {
                return Ok((bytes, is_pointer));
            }
            die = kind.reference(dw::DW_AT_type)?;
        }
        Ok((None, false))
    }

    fn parameter_names(&self) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        for child in self.children()? {
            if child.tag()? == dw::DW_TAG_formal_parameter {
                names.push(child.name()?.unwrap_or_default());
            }
        }
        Ok(names)
    }

    fn signature(&self) -> Result<Signature, Error> {
        let mut parameters = Vec::new();
        for child in self.children()? {
            if child.tag()? == dw::DW_TAG_formal_parameter {
                parameters.push(child.type_of(0)?.unwrap_or_else(|| Type::Other("unknown type".into())));
            }
        }
        let result = self.type_of(0)?;
        Ok(Signature { parameters, names: Vec::new(), result })
    }

    /// The type that this entry's attribute names; none for `void`.
    fn type_of(&self, depth: usize) -> Result<Option<Type>, Error> {
        self.reference(dw::DW_AT_type)?.map_or(Ok(None), |die| die.c_type(None, depth))
    }

    /// Its name with the scopes around it, of C++.
    fn scoped_name(&self) -> Result<Option<String>, Error> {
        let scope = self.scopes.get(&self.offset).map_or("", String::as_str);
        Ok(self.name()?.map(|name| format!("{scope}{name}")))
    }

    /// The type that this entry is; `alias` is the outermost name of the author's for it.
    fn c_type(&self, alias: Option<&str>, depth: usize) -> Result<Option<Type>, Error> {
        let name = self.name()?;
        let scoped = self.scoped_name()?;
        let spelled = |kind: &str| {
            let tagged = scoped.as_ref().map(|name| format!("{kind} {name}").trim_start().to_owned());
            alias.map(str::to_owned).or(tagged)
        };
        let bytes = self.number(dw::DW_AT_byte_size)?.unwrap_or(0) as u8;
        Ok(Some(match self.tag()? {
            dw::DW_TAG_const_type | dw::DW_TAG_volatile_type | dw::DW_TAG_restrict_type => {
                match self.reference(dw::DW_AT_type)? {
                    Some(die) => return die.c_type(alias, depth),
                    None => return Ok(None),
                }
            }
            dw::DW_TAG_typedef => {
                let Some(die) = self.reference(dw::DW_AT_type)? else { return Ok(None) };
                let own = name.clone().unwrap_or_default();
                let mut named = die.c_type(alias.or(scoped.as_deref()), depth)?;
                if let (Some(Type::Integer { portable_bits, .. }), Some(bits)) =
                    (&mut named, fixed_bits(&own))
                {
                    *portable_bits = bits;
                }
                return Ok(named);
            }
            dw::DW_TAG_base_type => self.base(spelled("").unwrap_or_default(), name.as_deref(), bytes)?,
            dw::DW_TAG_enumeration_type => match spelled("enum") {
                Some(spelled) => Type::Integer { spelled, bytes, signed: false, portable_bits: 7 },
                None => Type::Other("enumeration without a name".into()),
            },
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type => match spelled("struct") {
                _ if depth >= DEEPEST => Type::Other("structure in too many others".into()),
                Some(spelled) => self.structure(spelled, depth)?,
                // In another one it needs no name.
                None if depth >= MEMBER => self.structure(String::new(), depth)?,
                None => Type::Other("structure without a name".into()),
            },
            dw::DW_TAG_union_type => Type::Other("union".into()),
            dw::DW_TAG_array_type => self.array(depth)?,
            dw::DW_TAG_subroutine_type => Type::Other("function".into()),
            tag @ (dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type) => {
                let is_reference = tag == dw::DW_TAG_reference_type;
                let to = if depth == 0 { self.type_of(1)?.map(Box::new) } else { None };
                Type::Pointer { to, is_reference }
            }
            _ => Type::Other("type that C does not have".into()),
        }))
    }

    fn base(&self, spelled: String, name: Option<&str>, bytes: u8) -> Result<Type, Error> {
        let Some(AttributeValue::Encoding(encoding)) = self.value(dw::DW_AT_encoding)? else {
            return Ok(Type::Other("type without an encoding".into()));
        };
        let signed = matches!(encoding, dw::DW_ATE_signed | dw::DW_ATE_signed_char);
        Ok(match encoding {
            dw::DW_ATE_boolean => Type::Integer { spelled, bytes, signed: false, portable_bits: 1 },
            dw::DW_ATE_float if bytes <= 8 => Type::Float { spelled, bytes },
            dw::DW_ATE_signed
            | dw::DW_ATE_signed_char
            | dw::DW_ATE_unsigned
            | dw::DW_ATE_unsigned_char
            | dw::DW_ATE_UTF
                if bytes <= 8 =>
            {
                let name = name.unwrap_or_default();
                let portable_bits = match name {
                    // Signed on some parts, unsigned on others.
                    "char" => 7,
                    _ if name.contains("char") => 8,
                    _ if name.contains("long long") => 64,
                    _ if name.contains("long") => 32,
                    _ => 16,
                };
                Type::Integer { spelled, bytes, signed, portable_bits }
            }
            _ => Type::Other(format!("{spelled}, a number of an unusual kind")),
        })
    }

    fn structure(&self, spelled: String, depth: usize) -> Result<Type, Error> {
        let (mut members, mut is_partial) = (Vec::new(), false);
        for child in self.children()? {
            if child.tag()? != dw::DW_TAG_member || child.has(dw::DW_AT_external)? {
                continue;
            }
            let mut kind = child.type_of(depth + MEMBER)?;
            if let (Some(Type::Integer { portable_bits, .. }), Some(bits)) =
                (&mut kind, child.number(dw::DW_AT_bit_size)?)
            {
                *portable_bits = (*portable_bits).min(bits as u8);
            }
            match (child.name()?, kind) {
                (Some(name), Some(kind)) if is_assignable(&kind) => members.push((name, kind)),
                // C11's members without a name are reached as if their own were in this one.
                (None, Some(Type::Structure { members: own, is_partial: partial, .. })) => {
                    members.extend(own);
                    is_partial |= partial;
                }
                _ => is_partial = true,
            }
        }
        Ok(Type::Structure { spelled, members, is_partial })
    }

    fn array(&self, depth: usize) -> Result<Type, Error> {
        let of = self.type_of(depth + 1)?.unwrap_or_else(|| Type::Other("nothing".into()));
        let mut counts = Vec::new();
        for child in self.children()? {
            let bound = child.number(dw::DW_AT_upper_bound)?.map(|bound| bound.wrapping_add(1));
            counts.push(bound.or(child.number(dw::DW_AT_count)?).unwrap_or(0) as usize);
        }
        let wrap = |of, count: &usize| Type::Array { of: Box::new(of), count: *count };
        Ok(counts.iter().rev().fold(of, wrap))
    }
}

fn is_assignable(kind: &Type) -> bool {
    match kind {
        Type::Integer { .. } | Type::Float { .. } | Type::Structure { .. } => true,
        Type::Array { of, count } => *count > 0 && is_assignable(of),
        Type::Pointer { .. } | Type::Other(_) => false,
    }
}

/// The bits of a type whose name says them (C99, 7.18.1), and of sizes on the smallest part.
fn fixed_bits(name: &str) -> Option<u8> {
    match name {
        "size_t" | "ssize_t" | "ptrdiff_t" | "uintptr_t" | "intptr_t" | "wchar_t" => return Some(16),
        "bool" => return Some(1),
        _ => {}
    }
    let name = name.trim_start_matches('_').strip_suffix("_t")?;
    let digits = name.strip_prefix('u').unwrap_or(name).strip_prefix("int")?;
    let digits = digits.strip_prefix("_fast").or(digits.strip_prefix("_least")).unwrap_or(digits);
    digits.parse().ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64))
}
