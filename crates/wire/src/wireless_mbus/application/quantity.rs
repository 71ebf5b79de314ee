//! Quantities of records by their VIF, and how their data are coded. EN 13757-3, 6.4.2 to 6.4.5:
//! Table 10 (primary), 12 (extension FDh), 14 (extension FBh); not compared.

use super::Unit;

/// The coding of a record's integers. EN 13757-3, Annex A; not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// Type B: with a sign. The lowest number says that there is none.
    Signed,
    /// Type C: without a sign. The highest number says that there is none.
    Unsigned,
    /// Type D: bits.
    Flags,
    /// Types F, G, I, J, by length.
    Date,
    /// Bytes that are not read.
    Bytes,
}

macro_rules! quantities {
    ($($variant:ident $name:literal,)*) => {
        /// The quantity of a record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Quantity {
            $(#[doc = concat!("The ", $name, ".")] $variant,)*
        }

        impl Quantity {
            /// The name in plain words.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Quantity::$variant => $name,)*
                }
            }
        }
    };
}

quantities! {
    Energy "energy",
    Volume "volume",
    Mass "mass",
    OnTime "on time",
    OperatingTime "operating time",
    Power "power",
    VolumeFlow "volume flow",
    MassFlow "mass flow",
    FlowTemperature "flow temperature",
    ReturnTemperature "return temperature",
    TemperatureDifference "temperature difference",
    ExternalTemperature "external temperature",
    Pressure "pressure",
    Date "date",
    DateTime "date and time",
    HeatCostUnits "units of heat cost allocation",
    AveragingDuration "averaging duration",
    ActualityDuration "actuality duration",
    FabricationNumber "fabrication number",
    EnhancedIdentification "enhanced identification",
    Address "bus address",
    PlainText "quantity in plain text",
    AnyQuantity "any quantity",
    ReactiveEnergy "reactive energy",
    ApparentEnergy "apparent energy",
    ReactivePower "reactive power",
    ApparentPower "apparent power",
    RelativeHumidity "relative humidity",
    VoltageAngle "angle between voltages",
    CurrentAngle "angle between voltage and current",
    Frequency "frequency",
    TemperatureLimit "temperature limit",
    MaximumPower "accumulated maximum of power",
    Credit "credit",
    Debit "debit",
    MessageIdentification "message identification",
    DeviceType "device type",
    Manufacturer "maker",
    ParameterSet "parameter set",
    ModelVersion "model or version",
    HardwareVersion "hardware version",
    FirmwareVersion "firmware version",
    SoftwareVersion "software version",
    CustomerLocation "location at the customer",
    Customer "customer",
    AccessCode "access code",
    Password "password",
    ErrorFlags "error flags",
    ErrorMask "error mask",
    SecurityKey "security key",
    DigitalOutput "digital output",
    DigitalInput "digital input",
    BaudRate "baud rate",
    ResponseDelay "response delay",
    Retry "retries",
    RemoteControl "remote control",
    FirstStorage "first storage number of cyclic storage",
    LastStorage "last storage number of cyclic storage",
    StorageBlock "size of a storage block",
    StorageDescriptor "descriptor of tariff and subunit",
    StorageInterval "storage interval",
    OperatorData "operator's data",
    TimePoint "time point",
    SinceReadout "duration since the last readout",
    TariffStart "start of tariff",
    TariffDuration "duration of tariff",
    TariffPeriod "period of tariff",
    Dimensionless "number without unit",
    Container "wireless container",
    TransmissionPeriod "nominal period of transmissions",
    Voltage "voltage",
    Current "current",
    ResetCounter "reset counter",
    CumulationCounter "cumulation counter",
    ControlSignal "control signal",
    DayOfWeek "day of week",
    WeekNumber "week number",
    DayChange "time point of day change",
    ParameterActivation "state of parameter activation",
    SupplierInformation "supplier's information",
    SinceCumulation "duration since the last cumulation",
    BatteryOperation "operating time on battery",
    BatteryChange "date of battery change",
    RadioLevel "radio level",
    DaylightSaving "daylight saving",
    ListeningWindow "listening window",
    BatteryRemaining "remaining life of battery",
    Stops "times that the meter stopped",
    ManufacturerContainer "maker's container",
    ManufacturerSpecific "maker's own quantity",
}

/// The step from one code of a row to the next one.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Ten times as much, from this power of ten.
    Decade(i8),
    /// Seconds, minutes, hours, days.
    Duration,
    /// Hours, days, months, years.
    LongDuration,
}

/// A row of a table: codes with one quantity.
struct Row {
    first: u8,
    last: u8,
    quantity: Quantity,
    unit: Unit,
    coding: Coding,
    step: Step,
}

/// The meaning of a code for its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) quantity: Quantity,
    pub(super) unit: Unit,
    pub(super) coding: Coding,
    pub(super) exponent: i8,
}

/// A row of powers of ten.
const fn decades(codes: (u8, u8), quantity: Quantity, exponent: i8, unit: Unit) -> Row {
    let (first, last) = codes;
    Row { first, last, quantity, unit, coding: Coding::Signed, step: Step::Decade(exponent) }
}

/// A row of durations.
const fn durations(first: u8, quantity: Quantity, coding: Coding, step: Step) -> Row {
    Row { first, last: first + 3, quantity, unit: Unit::Second, coding, step }
}

/// A row of one code without a unit.
const fn one(code: u8, quantity: Quantity, coding: Coding) -> Row {
    unit(code, quantity, coding, Unit::One)
}

/// A row of one code with a unit.
const fn unit(code: u8, quantity: Quantity, coding: Coding, unit: Unit) -> Row {
    Row { first: code, last: code, quantity, unit, coding, step: Step::Decade(0) }
}

/// Finds a code, without its extension bit, in the primary table.
pub(super) fn primary(code: u8) -> Option<Meaning> {
    find(PRIMARY, code)
}

/// Finds a code, without its extension bit, in the table behind FBh.
pub(super) fn extension_fb(code: u8) -> Option<Meaning> {
    find(EXTENSION_FB, code)
}

/// Finds a code, without its extension bit, in the table behind FDh.
pub(super) fn extension_fd(code: u8) -> Option<Meaning> {
    find(EXTENSION_FD, code)
}

fn find(table: &[Row], code: u8) -> Option<Meaning> {
    let row = table.iter().find(|row| (row.first..=row.last).contains(&code))?;
    let offset = code - row.first;
    let (unit, exponent) = match row.step {
        Step::Decade(exponent) => (row.unit, exponent + offset as i8),
        Step::Duration => (duration_unit(offset), 0),
        Step::LongDuration => ([Unit::Hour, Unit::Day, Unit::Month, Unit::Year][usize::from(offset & 3)], 0),
    };
    Some(Meaning { quantity: row.quantity, unit, coding: row.coding, exponent })
}

/// Returns the unit of a duration by its two bits.
pub(super) fn duration_unit(code: u8) -> Unit {
    [Unit::Second, Unit::Minute, Unit::Hour, Unit::Day][usize::from(code & 3)]
}

const PRIMARY: &[Row] = &[
    decades((0x00, 0x07), Quantity::Energy, -3, Unit::WattHour),
    decades((0x08, 0x0f), Quantity::Energy, 0, Unit::Joule),
    decades((0x10, 0x17), Quantity::Volume, -6, Unit::CubicMetre),
    decades((0x18, 0x1f), Quantity::Mass, -3, Unit::Kilogram),
    durations(0x20, Quantity::OnTime, Coding::Signed, Step::Duration),
    durations(0x24, Quantity::OperatingTime, Coding::Signed, Step::Duration),
    decades((0x28, 0x2f), Quantity::Power, -3, Unit::Watt),
    decades((0x30, 0x37), Quantity::Power, 0, Unit::JoulePerHour),
    decades((0x38, 0x3f), Quantity::VolumeFlow, -6, Unit::CubicMetrePerHour),
    decades((0x40, 0x47), Quantity::VolumeFlow, -7, Unit::CubicMetrePerMinute),
    decades((0x48, 0x4f), Quantity::VolumeFlow, -9, Unit::CubicMetrePerSecond),
    decades((0x50, 0x57), Quantity::MassFlow, -3, Unit::KilogramPerHour),
    decades((0x58, 0x5b), Quantity::FlowTemperature, -3, Unit::DegreeCelsius),
    decades((0x5c, 0x5f), Quantity::ReturnTemperature, -3, Unit::DegreeCelsius),
    decades((0x60, 0x63), Quantity::TemperatureDifference, -3, Unit::Kelvin),
    decades((0x64, 0x67), Quantity::ExternalTemperature, -3, Unit::DegreeCelsius),
    decades((0x68, 0x6b), Quantity::Pressure, -3, Unit::Bar),
    one(0x6c, Quantity::Date, Coding::Date),
    one(0x6d, Quantity::DateTime, Coding::Date),
    one(0x6e, Quantity::HeatCostUnits, Coding::Signed),
    durations(0x70, Quantity::AveragingDuration, Coding::Signed, Step::Duration),
    durations(0x74, Quantity::ActualityDuration, Coding::Signed, Step::Duration),
    one(0x78, Quantity::FabricationNumber, Coding::Unsigned),
    one(0x79, Quantity::EnhancedIdentification, Coding::Unsigned),
    one(0x7a, Quantity::Address, Coding::Unsigned),
    unit(0x7c, Quantity::PlainText, Coding::Signed, Unit::PlainText),
    one(0x7e, Quantity::AnyQuantity, Coding::Bytes),
    one(0x7f, Quantity::ManufacturerSpecific, Coding::Bytes),
];

const EXTENSION_FB: &[Row] = &[
    decades((0x00, 0x01), Quantity::Energy, 5, Unit::WattHour),
    decades((0x02, 0x03), Quantity::ReactiveEnergy, 3, Unit::VarHour),
    decades((0x04, 0x05), Quantity::ApparentEnergy, 3, Unit::VoltAmpereHour),
    decades((0x08, 0x09), Quantity::Energy, 8, Unit::Joule),
    decades((0x0c, 0x0f), Quantity::Energy, 5, Unit::Calorie),
    decades((0x10, 0x11), Quantity::Volume, 2, Unit::CubicMetre),
    decades((0x14, 0x17), Quantity::ReactivePower, 0, Unit::Var),
    Row { coding: Coding::Unsigned, ..decades((0x18, 0x19), Quantity::Mass, 5, Unit::Kilogram) },
    Row { coding: Coding::Unsigned, ..decades((0x1a, 0x1b), Quantity::RelativeHumidity, -1, Unit::Percent) },
    decades((0x20, 0x20), Quantity::Volume, 0, Unit::CubicFoot),
    decades((0x21, 0x21), Quantity::Volume, -1, Unit::CubicFoot),
    decades((0x28, 0x29), Quantity::Power, 5, Unit::Watt),
    unit(0x2a, Quantity::VoltageAngle, Coding::Signed, Unit::Degree),
    unit(0x2b, Quantity::CurrentAngle, Coding::Signed, Unit::Degree),
    decades((0x2c, 0x2f), Quantity::Frequency, -3, Unit::Hertz),
    decades((0x30, 0x31), Quantity::Power, 8, Unit::JoulePerHour),
    decades((0x34, 0x37), Quantity::ApparentPower, 0, Unit::VoltAmpere),
    decades((0x74, 0x77), Quantity::TemperatureLimit, -3, Unit::DegreeCelsius),
    decades((0x78, 0x7f), Quantity::MaximumPower, -3, Unit::Watt),
];

const EXTENSION_FD: &[Row] = &[
    decades((0x00, 0x03), Quantity::Credit, -3, Unit::Currency),
    decades((0x04, 0x07), Quantity::Debit, -3, Unit::Currency),
    one(0x08, Quantity::MessageIdentification, Coding::Unsigned),
    one(0x09, Quantity::DeviceType, Coding::Unsigned),
    one(0x0a, Quantity::Manufacturer, Coding::Unsigned),
    one(0x0b, Quantity::ParameterSet, Coding::Unsigned),
    one(0x0c, Quantity::ModelVersion, Coding::Unsigned),
    one(0x0d, Quantity::HardwareVersion, Coding::Unsigned),
    one(0x0e, Quantity::FirmwareVersion, Coding::Unsigned),
    one(0x0f, Quantity::SoftwareVersion, Coding::Unsigned),
    one(0x10, Quantity::CustomerLocation, Coding::Unsigned),
    one(0x11, Quantity::Customer, Coding::Unsigned),
    one(0x12, Quantity::AccessCode, Coding::Unsigned),
    one(0x13, Quantity::AccessCode, Coding::Unsigned),
    one(0x14, Quantity::AccessCode, Coding::Unsigned),
    one(0x15, Quantity::AccessCode, Coding::Unsigned),
    one(0x16, Quantity::Password, Coding::Unsigned),
    one(0x17, Quantity::ErrorFlags, Coding::Flags),
    one(0x18, Quantity::ErrorMask, Coding::Flags),
    one(0x19, Quantity::SecurityKey, Coding::Bytes),
    one(0x1a, Quantity::DigitalOutput, Coding::Flags),
    one(0x1b, Quantity::DigitalInput, Coding::Flags),
    unit(0x1c, Quantity::BaudRate, Coding::Unsigned, Unit::Baud),
    unit(0x1d, Quantity::ResponseDelay, Coding::Unsigned, Unit::BitTime),
    one(0x1e, Quantity::Retry, Coding::Unsigned),
    one(0x1f, Quantity::RemoteControl, Coding::Bytes),
    one(0x20, Quantity::FirstStorage, Coding::Unsigned),
    one(0x21, Quantity::LastStorage, Coding::Unsigned),
    one(0x22, Quantity::StorageBlock, Coding::Unsigned),
    one(0x23, Quantity::StorageDescriptor, Coding::Unsigned),
    durations(0x24, Quantity::StorageInterval, Coding::Signed, Step::Duration),
    unit(0x28, Quantity::StorageInterval, Coding::Unsigned, Unit::Month),
    unit(0x29, Quantity::StorageInterval, Coding::Unsigned, Unit::Year),
    one(0x2a, Quantity::OperatorData, Coding::Bytes),
    unit(0x2b, Quantity::TimePoint, Coding::Unsigned, Unit::Second),
    durations(0x2c, Quantity::SinceReadout, Coding::Unsigned, Step::Duration),
    one(0x30, Quantity::TariffStart, Coding::Date),
    unit(0x31, Quantity::TariffDuration, Coding::Unsigned, Unit::Minute),
    unit(0x32, Quantity::TariffDuration, Coding::Unsigned, Unit::Hour),
    unit(0x33, Quantity::TariffDuration, Coding::Unsigned, Unit::Day),
    durations(0x34, Quantity::TariffPeriod, Coding::Signed, Step::Duration),
    unit(0x38, Quantity::TariffPeriod, Coding::Unsigned, Unit::Month),
    unit(0x39, Quantity::TariffPeriod, Coding::Unsigned, Unit::Year),
    one(0x3a, Quantity::Dimensionless, Coding::Signed),
    one(0x3b, Quantity::Container, Coding::Bytes),
    durations(0x3c, Quantity::TransmissionPeriod, Coding::Unsigned, Step::Duration),
    decades((0x40, 0x4f), Quantity::Voltage, -9, Unit::Volt),
    decades((0x50, 0x5f), Quantity::Current, -12, Unit::Ampere),
    one(0x60, Quantity::ResetCounter, Coding::Signed),
    one(0x61, Quantity::CumulationCounter, Coding::Signed),
    one(0x62, Quantity::ControlSignal, Coding::Unsigned),
    one(0x63, Quantity::DayOfWeek, Coding::Unsigned),
    one(0x64, Quantity::WeekNumber, Coding::Unsigned),
    one(0x65, Quantity::DayChange, Coding::Unsigned),
    one(0x66, Quantity::ParameterActivation, Coding::Unsigned),
    one(0x67, Quantity::SupplierInformation, Coding::Bytes),
    durations(0x68, Quantity::SinceCumulation, Coding::Unsigned, Step::LongDuration),
    durations(0x6c, Quantity::BatteryOperation, Coding::Unsigned, Step::LongDuration),
    one(0x70, Quantity::BatteryChange, Coding::Date),
    unit(0x71, Quantity::RadioLevel, Coding::Signed, Unit::DecibelMilliwatt),
    one(0x72, Quantity::DaylightSaving, Coding::Bytes),
    one(0x73, Quantity::ListeningWindow, Coding::Bytes),
    unit(0x74, Quantity::BatteryRemaining, Coding::Unsigned, Unit::Day),
    one(0x75, Quantity::Stops, Coding::Unsigned),
    one(0x76, Quantity::ManufacturerContainer, Coding::Bytes),
];
