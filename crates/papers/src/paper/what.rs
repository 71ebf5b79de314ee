//! Figures of a run that a column can have.

use super::FigureKind;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    Cycles,
    /// Bytes of program memory.
    Flash,
    /// Bytes of RAM, stack included.
    Ram,
    /// Seconds.
    Time,
    /// Standard deviation of the time over the runs as a population (1/N, not 1/(N − 1)), in
    /// seconds.
    Deviation,
    /// Standard error of the mean time: that deviation over the root of the number of runs, in
    /// seconds.
    Error,
    /// Watts.
    Power,
    /// Power of the published program that draws least, in watts; nothing where none draws less
    /// than [`What::Power`].
    LeastPower,
    /// Power of the published program that draws most, in watts; nothing where none draws more.
    MostPower,
    /// Share of a run's cycles at which the part's read cache misses.
    CacheMisses,
    /// Power by those misses, in watts.
    CachePower,
    /// Energy by those misses, in joules.
    CacheEnergy,
    /// Reading of the paper's oscilloscope for [`What::Power`], in watts.
    ScopePower,
    /// Standard deviation of such a reading that its steps alone cause, in watts.
    ScopeDeviation,
    /// Standard error of the mean reading: that deviation over the root of the number of runs, in
    /// watts.
    ScopeError,
    /// Joules.
    Energy,
    /// Standard deviation of the energy, that of the time at a power that does not vary, in joules.
    EnergyDeviation,
    /// Standard error of the mean energy, in joules.
    EnergyError,
    /// The lowest clock, in Hz, in steps of 0.1 MHz, at which the row's `within` is kept.
    LeastClock,
    /// Packets of the paper's radio that hold what the operation puts out.
    Packets,
    /// Joules of the radio on the air alone, with every packet filled, as papers count it.
    AirEnergy,
    /// Joules of the radio from sleep to sleep, each packet as long as its data.
    RadioEnergy,
    /// [`What::Energy`] and [`What::AirEnergy`] together, in joules.
    TotalEnergy,
    /// [`What::AirEnergy`] over [`What::Energy`].
    AirShare,
    /// Reading of the paper's meter for [`What::Energy`], in joules.
    MeterEnergy,
    /// Joules that the part takes behind the meter's shunt.
    MeterPart,
    /// Joules that turn to heat in the meter's shunt.
    MeterShunt,
    /// By how much the meter's reading is off what the part takes behind its shunt, as a share of
    /// that.
    MeterError,
    /// Share of the meter's samples at the end of its converter.
    MeterSaturated,
    /// The lowest supply that the part sees behind the meter's shunt, in volts.
    MeterSupply,
    /// Volts at which the row's `capacitance_f` holds what equation (6.1) of Mane (2014) asks for.
    Voltage,
    /// Mean power that a source must give by equation (6.2) of Mane (2014): sleeping, and the
    /// operation with its transmission at the row's `every_s`. In watts.
    SourcePower,
    /// Time by equation (6.3) of Mane (2014) in which the row's `capacitance_f`, full at its
    /// `full_v`, carries that power. In seconds.
    DarkTime,
    /// Operations with their transmission that fit into a second, one after the other.
    Throughput,
    /// The least time of the runs, in seconds.
    LeastTime,
    /// A quarter of the runs takes at most this, in seconds.
    LowerQuartile,
    /// Median time of the runs, in seconds.
    Median,
    /// A quarter of the runs takes at least this, in seconds.
    UpperQuartile,
    /// The greatest time of the runs, in seconds.
    MostTime,
    /// Bytes that the operation puts out, or the row's `sent_bytes`.
    Output,
    /// Number of times that a module is entered; compiled code does not tell.
    Executions,
    /// In how many places a module stands; compiled code does not tell.
    Copies,
    /// Of a delivery: from the plain message to what is ready to be sent, in seconds.
    Preparing,
    /// Standard deviation of that, as a share of it.
    PreparingDeviation,
    /// Of a delivery: from what was received to the plain message, in seconds.
    Unpacking,
    /// Standard deviation of that, as a share of it.
    UnpackingDeviation,
    /// Of a delivery: until its acknowledgement or answer is unpacked, in seconds.
    RoundTrip,
    /// Standard deviation of that, as a share of it.
    RoundTripDeviation,
    /// The part of it in which some processor works, in seconds.
    RoundTripComputation,
    /// The part of it in which something is on the air, in seconds.
    RoundTripRadio,
    /// The part of it in which non-volatile memory is being written, in seconds.
    RoundTripNonvolatile,
    /// Of a delivery: bytes of the sealed message.
    MessageBytes,
    /// Of a delivery: packets that the message took.
    MessagePackets,
    /// Of a delivery's suite: median of the times in which the collector's own code opens a
    /// measurement on the machine that runs this program, in seconds.
    NativeMedian,
    /// A quarter of those times is at most this, in seconds.
    NativeLowerQuartile,
    /// A quarter of those times is at least this, in seconds.
    NativeUpperQuartile,
    /// The least of those times, in seconds.
    NativeLeast,
    /// The greatest of those times, in seconds.
    NativeMost,
    /// Mean of those times, in seconds.
    NativeMean,
    /// Standard deviation of those times as a population, in seconds.
    NativeDeviation,
}

impl What {
    /// The kind of number that this figure of a run is, if the run's cycles are ours.
    #[must_use]
    pub fn kind(self) -> FigureKind {
        match self {
            What::Power | What::LeastPower | What::MostPower => FigureKind::Quoted,
            What::ScopePower | What::ScopeDeviation | What::ScopeError => FigureKind::Derived,
            _ if self.is_native() => FigureKind::Native,
            What::Energy
            | What::CachePower
            | What::CacheEnergy
            | What::EnergyDeviation
            | What::EnergyError
            | What::AirEnergy
            | What::RadioEnergy
            | What::TotalEnergy
            | What::AirShare
            | What::MeterEnergy
            | What::MeterPart
            | What::MeterShunt
            | What::MeterError
            | What::MeterSaturated
            | What::MeterSupply
            | What::Voltage
            | What::SourcePower
            | What::DarkTime
            | What::Throughput
            | What::RoundTrip
            | What::RoundTripDeviation
            | What::RoundTripRadio => FigureKind::Modelled,
            _ => FigureKind::Measured,
        }
    }

    /// True for figures that need the runs at other wait states, too: the cycles that those wait
    /// more are the cache's misses.
    #[must_use]
    pub fn is_of_cache(self) -> bool {
        matches!(self, What::CacheMisses | What::CachePower | What::CacheEnergy)
    }

    /// True for figures that depend on the program whose runs they are of, beside its cycles.
    #[must_use]
    pub fn is_of_program(self) -> bool {
        self.is_of_cache() || matches!(self, What::LeastPower | What::MostPower)
    }

    /// True for times of the machine that runs this program.
    #[must_use]
    pub fn is_native(self) -> bool {
        matches!(
            self,
            What::NativeMedian
                | What::NativeLowerQuartile
                | What::NativeUpperQuartile
                | What::NativeLeast
                | What::NativeMost
                | What::NativeMean
                | What::NativeDeviation
        )
    }

    /// The table of the paper's file without which there is no such figure.
    pub(super) fn needs(self) -> Option<&'static str> {
        match self {
            What::Packets
            | What::AirEnergy
            | What::RadioEnergy
            | What::TotalEnergy
            | What::AirShare
            | What::Voltage
            | What::SourcePower
            | What::DarkTime
            | What::Throughput => Some("radio"),
            What::MeterEnergy
            | What::MeterPart
            | What::MeterShunt
            | What::MeterError
            | What::MeterSaturated
            | What::MeterSupply => Some("meter"),
            What::ScopePower | What::ScopeDeviation | What::ScopeError => Some("oscilloscope"),
            What::Preparing
            | What::PreparingDeviation
            | What::Unpacking
            | What::UnpackingDeviation
            | What::RoundTrip
            | What::RoundTripDeviation
            | What::RoundTripComputation
            | What::RoundTripRadio
            | What::RoundTripNonvolatile
            | What::MessageBytes
            | What::MessagePackets => Some("ends"),
            _ => None,
        }
    }
}
