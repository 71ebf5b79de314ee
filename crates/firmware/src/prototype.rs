//! Parameters and result of a function, by its debug information (DWARF 4 and 5, sections 3.3 and
//! 5). Without any, only its author knows them.

use crate::{Firmware, FirmwareError};
use addr2line::gimli::{
    AttributeValue, DebuggingInformationEntry, DwAt, Dwarf, DwarfSections, EndianSlice, Error, LittleEndian,
    SectionId, Unit, UnitOffset, constants as dw,
};
use object::{Object, ObjectSection};
use std::fmt;

/// The type of a parameter or a result, as far as a calling convention tells it from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CType {
    /// An integer, a character, a truth value or an enumeration.
    Integer {
        /// 1, 2, 4 or 8.
        bytes: u8,
        signed: bool,
    },
    /// The address of data or of a function.
    Pointer { bytes: u8 },
    /// A type with its own way of passing; as a noun.
    Other(&'static str),
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CType::Integer { bytes, signed } => {
                write!(f, "{}{}", if *signed { 'i' } else { 'u' }, 8 * u32::from(*bytes))
            }
            CType::Pointer { .. } => f.write_str("pointer"),
            CType::Other(what) => f.write_str(what),
        }
    }
}

/// Parameters and result of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prototype {
    /// The names, empty where the source gives none, and types.
    pub parameters: Vec<(String, CType)>,
    /// More arguments may follow (`...`).
    pub variadic: bool,
    /// None for `void`.
    pub result: Option<CType>,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

impl Firmware {
    /// The prototype of a function, by its index in [`Firmware::functions`]; none where the file
    /// does not tell.
    ///
    /// # Errors
    /// [`FirmwareError::File`] where the file is there no more, [`FirmwareError::BadFile`] for
    /// debug information that cannot be read.
    pub fn prototype(&self, function: usize) -> Result<Option<Prototype>, FirmwareError> {
        let path = self.path();
        let bytes = std::fs::read(path).map_err(|error| FirmwareError::File { path: path.into(), error })?;
        // A hex file has no debug information.
        let Ok(file) = object::File::parse(bytes.as_slice()) else { return Ok(None) };
        let section = |id: SectionId| {
            let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
            Ok::<_, Error>(data.unwrap_or_default())
        };
        let bad = |error: Error| FirmwareError::BadFile {
            path: path.into(),
            problem: format!("its debug information cannot be read: {error}"),
        };
        let sections = DwarfSections::load(section).map_err(bad)?;
        let dwarf = sections.borrow(|data| EndianSlice::new(data, LittleEndian));
        find(&dwarf, self.functions()[function].address).map_err(bad)
    }
}

/// The prototype of the function that begins at an address.
fn find(dwarf: &Dwarf<Slice<'_>>, address: u32) -> Result<Option<Prototype>, Error> {
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let mut entries = unit.entries();
        while let Some((_, entry)) = entries.next_dfs()? {
            // Declarations have no code, functions that the linker left out keep theirs at 0
            // without an end.
            if entry.tag() != dw::DW_TAG_subprogram || entry.attr_value(dw::DW_AT_high_pc)?.is_none() {
                continue;
            }
            let Some(low) = entry.attr_value(dw::DW_AT_low_pc)? else { continue };
            if dwarf.attr_address(&unit, low)?.is_some_and(|low| low as u32 & !1 == address) {
                return Die { dwarf, unit: &unit, offset: entry.offset() }.prototype().map(Some);
            }
        }
    }
    Ok(None)
}

/// An entry of the debug information.
#[derive(Clone, Copy)]
struct Die<'u, 'd> {
    dwarf: &'u Dwarf<Slice<'d>>,
    unit: &'u Unit<Slice<'d>>,
    offset: UnitOffset,
}

impl<'u, 'd> Die<'u, 'd> {
    fn entry(&self) -> Result<DebuggingInformationEntry<'u, 'u, Slice<'d>>, Error> {
        self.unit.entry(self.offset)
    }

    fn at(&self, offset: UnitOffset) -> Self {
        Die { offset, ..*self }
    }

    /// The entry that an attribute of this one names, or of the entry that this one is an instance
    /// of.
    fn named(&self, attribute: DwAt) -> Result<Option<Self>, Error> {
        if let Some(one) = self.reference(attribute)? {
            return Ok(Some(one));
        }
        self.instance_of()?.map_or(Ok(None), |abstract_one| abstract_one.named(attribute))
    }

    /// The entry that an attribute of this one names: in its unit. Between units, as link-time
    /// optimisation has them, none is followed.
    fn reference(&self, attribute: DwAt) -> Result<Option<Self>, Error> {
        match self.entry()?.attr_value(attribute)? {
            None => Ok(None),
            Some(AttributeValue::UnitRef(offset)) => Ok(Some(self.at(offset))),
            Some(_) => Err(Error::UnsupportedOffset),
        }
    }

    /// Compiled code may be an instance of an abstract entry, and that the definition of a
    /// declaration (DWARF 5, 3.3.8.2 and 2.13.2).
    fn instance_of(&self) -> Result<Option<Self>, Error> {
        match self.reference(dw::DW_AT_abstract_origin)? {
            Some(origin) => Ok(Some(origin)),
            None => self.reference(dw::DW_AT_specification),
        }
    }

    fn name(&self) -> Result<String, Error> {
        if let Some(name) = self.entry()?.attr_value(dw::DW_AT_name)? {
            return Ok(self.dwarf.attr_string(self.unit, name)?.to_string_lossy().into_owned());
        }
        self.instance_of()?.map_or(Ok(String::new()), |abstract_one| abstract_one.name())
    }

    fn prototype(&self) -> Result<Prototype, Error> {
        let mut prototype = Prototype {
            result: self.named(dw::DW_AT_type)?.map(|kind| kind.c_type()).transpose()?,
            ..Prototype::default()
        };
        let mut tree = self.unit.entries_tree(Some(self.offset))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            match child.entry().tag() {
                dw::DW_TAG_formal_parameter => {
                    let parameter = self.at(child.entry().offset());
                    let kind = parameter.named(dw::DW_AT_type)?;
                    let kind =
                        kind.map_or(Ok(CType::Other("parameter of unknown type")), |kind| kind.c_type())?;
                    prototype.parameters.push((parameter.name()?, kind));
                }
                dw::DW_TAG_unspecified_parameters => prototype.variadic = true,
                _ => {}
            }
        }
        Ok(prototype)
    }

    fn c_type(&self) -> Result<CType, Error> {
        let entry = self.entry()?;
        let bytes = entry.attr_value(dw::DW_AT_byte_size)?.and_then(|size| size.udata_value());
        let integer = |signed| match bytes {
            Some(bytes @ (1 | 2 | 4 | 8)) => CType::Integer { bytes: bytes as u8, signed },
            _ => CType::Other("integer of an unusual size"),
        };
        Ok(match entry.tag() {
            dw::DW_TAG_typedef
            | dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_restrict_type
            | dw::DW_TAG_atomic_type => match self.named(dw::DW_AT_type)? {
                Some(named) => named.c_type()?,
                None => CType::Other("void"),
            },
            dw::DW_TAG_base_type => match entry.attr_value(dw::DW_AT_encoding)? {
                Some(AttributeValue::Encoding(dw::DW_ATE_signed | dw::DW_ATE_signed_char)) => integer(true),
                Some(AttributeValue::Encoding(
                    dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char | dw::DW_ATE_boolean | dw::DW_ATE_UTF,
                )) => integer(false),
                _ => CType::Other("floating-point number"),
            },
            dw::DW_TAG_enumeration_type => match self.named(dw::DW_AT_type)? {
                Some(underlying) => underlying.c_type()?,
                None => integer(false),
            },
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
                CType::Pointer { bytes: bytes.map_or(self.unit.encoding().address_size, |bytes| bytes as u8) }
            }
            _ => CType::Other("structure"),
        })
    }
}
