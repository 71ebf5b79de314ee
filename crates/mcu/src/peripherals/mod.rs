//! Models of peripherals: a folder for each vendor, a file for each block. `targets/*.toml` names
//! them by [`new_peripheral`]'s table; [`stub`] stands in for those without one.

pub mod freescale;
pub mod intel;
pub mod microchip;
pub mod nordic;
pub mod raspberrypi;
pub(crate) mod register;
pub mod renesas;
pub mod st;
pub mod stub;
pub mod ti;
pub mod wch;

use crate::{Part, Peripheral, PeripheralSpec};

/// The highest base: whatever registers a model has behind it, their addresses stay within 32 bits.
const HIGHEST_BASE: u32 = 0xffff_0000;

/// The name of the AVR port whose PINx is at the address that the setting `port` gives.
fn avr_port(part: &Part, spec: &PeripheralSpec, setting: &str) -> Result<String, String> {
    let base = spec.settings.get(setting).copied();
    let port = part
        .peripherals
        .iter()
        .find(|port| port.model == "avr-gpio" && base == Some(port.base.into()))
        .ok_or_else(|| format!("{}: {} needs {setting}, the PINx of a port", part.name, spec.name))?;
    Ok(port.name.clone())
}

/// Makes a peripheral; a sentence where its settings do not allow it.
type New = fn(&Part, &PeripheralSpec) -> Result<Box<dyn Peripheral>, String>;

/// A peripheral's model, as `targets/*.toml` names it.
struct Model {
    name: &'static str,
    /// The settings that it knows, with `#` for a number.
    settings: &'static [&'static str],
    new: New,
}

/// Among the settings of a model: it looks at `pins`.
const PINS: &str = "pins";

const MODELS: &[Model] = &[
    Model {
        name: "avr-adc",
        settings: &[
            "adcsrb",
            "admux",
            "bandgap",
            "didr#",
            "differential",
            "ground",
            "inputs",
            "mux",
            "mux#",
            "prr",
            "reference#_mv",
            "refs#",
            "temperature",
            "temperature_uv",
            "temperature_reference_mv",
            "trigger#",
        ],
        new: |_, spec| Ok(Box::new(microchip::adc::Adc::new(spec)?)),
    },
    Model {
        name: "avr-comparator",
        settings: &["ain#", "port"],
        new: |part, spec| Ok(Box::new(microchip::comparator::Comparator::new(part, spec)?)),
    },
    Model {
        name: "avr-eeprom",
        settings: &["split_us", "write_us"],
        new: |part, spec| Ok(Box::new(microchip::eeprom::Eeprom::new(part, spec)?)),
    },
    Model {
        name: "avr-external",
        settings: &["asynchronous", "change_irq", "int#", "int#_port", "pcicr", "port#", "port#_first"],
        new: |part, spec| Ok(Box::new(microchip::external_interrupts::External::new(part, spec)?)),
    },
    Model {
        name: "avr-general-interrupts",
        settings: &["int#", "mcucr", "pcmsk", "port"],
        new: |part, spec| Ok(Box::new(microchip::general_interrupts::GeneralInterrupts::new(part, spec)?)),
    },
    Model {
        name: "avr-gpio",
        settings: &["pins", "stray_ddr", "stray_port", "toggle"],
        new: |_, spec| Ok(Box::new(microchip::gpio::Gpio::new(spec))),
    },
    Model {
        name: "avr-self-programming",
        settings: &["page", "signature_row", "write_us"],
        new: |part, spec| Ok(Box::new(microchip::self_programming::SelfProgramming::new(part, spec)?)),
    },
    Model {
        name: "avr-spi",
        settings: &["mosi", "port", "prr", "sck", "ss"],
        new: |part, spec| Ok(Box::new(microchip::spi::Spi::new(part, spec)?)),
    },
    Model {
        name: "avr-system",
        settings: &[
            "acsr_register",
            "clkpr_register",
            "didr#_register",
            "gpior#_register",
            "mcucr_#_register",
            "mcucr_register",
            "mcusr_register",
            "osccal_register",
            "prr#_register",
            "prr_register",
            "reset_sp",
            "sleep_adc",
            "sleep_enable",
            "sleep_extended_standby",
            "sleep_mode",
            "sleep_power_down",
            "sleep_power_save",
            "sleep_register",
            "sleep_standby",
            "smcr_register",
        ],
        new: |part, spec| Ok(Box::new(microchip::system::System::new(part, spec))),
    },
    Model {
        name: "avr-timer8",
        settings: &[
            "oca", "oca_port", "ocb", "ocb_port", "ocfa", "ocfb", "ocra", "ocrb", "overflow", "prr", "t",
            "t_port", "tccrb", "tcnt", "tifr", "timer#", "timsk", "tov",
        ],
        new: |part, spec| {
            Ok(Box::new(microchip::timer::Timer::new(part, spec, microchip::timer::Width::Eight)?))
        },
    },
    Model {
        name: "avr-timer16",
        settings: &[
            "channels",
            "comparator",
            "icp",
            "icp_port",
            "oca",
            "oca_port",
            "ocb",
            "ocb_port",
            "occ",
            "occ_port",
            "overflow",
            "prr",
            "t",
            "t_port",
            "tifr",
            "timsk",
        ],
        new: |part, spec| {
            Ok(Box::new(microchip::timer::Timer::new(part, spec, microchip::timer::Width::Sixteen)?))
        },
    },
    Model {
        name: "avr-timer4",
        settings: &["prr", "tifr", "timsk"],
        new: |_, spec| Ok(Box::new(microchip::timer4::Timer4::new(spec)?)),
    },
    Model {
        name: "avr-tiny-timer1",
        settings: &[
            "compare_a",
            "compare_b",
            "noca",
            "nocb",
            "oca",
            "ocb",
            "overflow",
            "port",
            "prr",
            "tifr",
            "timsk",
        ],
        new: |part, spec| Ok(Box::new(microchip::timer::tiny::TinyTimer::new(part, spec)?)),
    },
    Model {
        name: "avr-twi",
        settings: &["mask", "prr"],
        new: |part, spec| Ok(Box::new(microchip::twi::Twi::new(part, spec)?)),
    },
    Model {
        name: "avr-usart",
        settings: &["a", "b", "c", "d", "prr", "ubrrh", "ubrrl"],
        new: |_, spec| Ok(Box::new(microchip::usart::Usart::new(spec)?)),
    },
    Model {
        name: "avr-usb",
        settings: &["lock_us", "pllcsr", "pllfrq", "prr"],
        new: |_, spec| Ok(Box::new(microchip::usb::Usb::new(spec)?)),
    },
    Model {
        name: "avr-watchdog",
        settings: &["mcusr"],
        new: |_, spec| Ok(Box::new(microchip::watchdog::Watchdog::new(spec))),
    },
    Model {
        name: "ch32-debug-data",
        settings: &[],
        new: |_, spec| Ok(Box::new(wch::debug_data::DebugData::new(spec))),
    },
    Model { name: "ch32-pfic", settings: &[], new: |_, spec| Ok(Box::new(wch::pfic::Pfic::new(spec))) },
    Model {
        name: "ch32-rcc",
        settings: &["flash_base"],
        new: |part, spec| Ok(Box::new(wch::rcc::Rcc::new(part, spec)?)),
    },
    Model {
        name: "ch32-systick",
        settings: &["software_irq"],
        new: |_, spec| Ok(Box::new(wch::systick::SysTick::new(spec))),
    },
    Model {
        name: "hc08-config",
        settings: &[],
        new: |_, spec| Ok(Box::new(freescale::config::Config::new(spec))),
    },
    Model {
        name: "hc08-port",
        settings: &["direction"],
        new: |_, spec| Ok(Box::new(freescale::port::Port::new(spec)?)),
    },
    Model {
        name: "mcs51-port",
        settings: &["bus", "strobes"],
        new: |_, spec| Ok(Box::new(intel::port::Port::new(spec))),
    },
    Model {
        name: "mcs51-system",
        settings: &[],
        new: |_, spec| Ok(Box::new(intel::system::System::new(spec))),
    },
    Model { name: "r8c-ports", settings: &[], new: |_, spec| Ok(Box::new(renesas::ports::Ports::new(spec))) },
    Model {
        name: "r8c-system",
        settings: &[],
        new: |part, spec| Ok(Box::new(renesas::system::System::new(part, spec))),
    },
    Model { name: "mpy32", settings: &[], new: |_, spec| Ok(Box::new(ti::mpy32::Mpy32::new(spec))) },
    Model {
        name: "msp430-adc12",
        settings: &[
            "dma_adc_#",
            "oscillator_hz",
            "reference_#_mv",
            "reference_#_supply_mv",
            "reference_base",
            "reference_settle_us",
            "supply_mv",
        ],
        new: |part, spec| Ok(Box::new(ti::adc12_a::Adc12::new(part, spec)?)),
    },
    Model {
        name: "msp430-aes256",
        settings: &[],
        new: |_, spec| Ok(Box::new(ti::aes256::Aes256::new(spec))),
    },
    Model {
        name: "msp430-crc16",
        settings: &[],
        new: |_, spec| Ok(Box::new(ti::crc::Crc::new(spec, ti::crc::Kind::Crc16))),
    },
    Model {
        name: "msp430-crc32",
        settings: &[],
        new: |_, spec| Ok(Box::new(ti::crc::Crc::new(spec, ti::crc::Kind::Crc32))),
    },
    Model { name: "msp430-cs", settings: &[], new: |part, spec| Ok(Box::new(ti::cs::Cs::new(part, spec))) },
    Model {
        name: "msp430-eusci-a",
        settings: &["dma_rx_#", "dma_tx_#"],
        new: |part, spec| Ok(Box::new(ti::usci::Usci::new(part, spec, ti::usci::Block::EusciA)?)),
    },
    Model {
        name: "msp430-eusci-b",
        settings: &["dma_rx_#", "dma_tx_#"],
        new: |part, spec| Ok(Box::new(ti::usci::Usci::new(part, spec, ti::usci::Block::EusciB)?)),
    },
    Model {
        name: "msp430-dma",
        settings: &["channels"],
        new: |part, spec| Ok(Box::new(ti::dma::Dma::new(part, spec)?)),
    },
    Model {
        name: "msp430-flash",
        settings: &["erase_us", "word_us"],
        new: |part, spec| Ok(Box::new(ti::flash_controller::Flash::new(part, spec)?)),
    },
    Model {
        name: "msp430-frctl-a",
        settings: &[],
        new: |_, spec| Ok(Box::new(ti::frctl_a::FrctlA::new(spec))),
    },
    Model {
        name: "msp430-mpu",
        settings: &["information_base", "information_size", "main_base", "main_size"],
        new: |_, spec| Ok(Box::new(ti::mpu::Mpu::new(spec)?)),
    },
    Model {
        name: "msp430-pmm",
        settings: &["bor_mv", "bor_off_mv", "clock_#_khz", "svsh_#_mv", "svsh_off_#_mv", "vcc_#_mv"],
        new: |part, spec| Ok(Box::new(ti::pmm::Pmm::new(part, spec)?)),
    },
    Model {
        name: "msp430-pmm-fr",
        settings: &["bor_mv", "bor_off_mv", "svsh_mv", "svsh_off_mv", "vcc_mv", "wake_us"],
        new: |part, spec| Ok(Box::new(ti::pmm_fr::PmmFr::new(part, spec)?)),
    },
    Model {
        name: "msp430-ports",
        settings: &["first", "fr", "second_irq"],
        new: |_, spec| Ok(Box::new(ti::digital_io::Ports::new(spec))),
    },
    Model {
        name: "msp430-rtc-a",
        settings: &[],
        new: |part, spec| Ok(Box::new(ti::rtc::Rtc::new(part, spec, ti::rtc::Kind::A))),
    },
    Model {
        name: "msp430-rtc-c",
        settings: &[],
        new: |part, spec| Ok(Box::new(ti::rtc::Rtc::new(part, spec, ti::rtc::Kind::C))),
    },
    Model { name: "msp430-sys", settings: &[], new: |_, spec| Ok(Box::new(ti::sys::Sys::new(spec))) },
    Model {
        name: "msp430-timer-a",
        settings: &["channels", "dma_ccr#_#", PINS],
        new: |part, spec| Ok(Box::new(ti::timer_a::Timer::new(part, spec, ti::timer_a::Kind::A)?)),
    },
    Model {
        name: "msp430-timer-b",
        settings: &["channels", "dma_ccr#_#", PINS],
        new: |part, spec| Ok(Box::new(ti::timer_a::Timer::new(part, spec, ti::timer_a::Kind::B)?)),
    },
    Model {
        name: "msp430-ucs",
        settings: &["dco_#_#_khz"],
        new: |part, spec| Ok(Box::new(ti::ucs::Ucs::new(part, spec)?)),
    },
    Model {
        name: "msp430-usci-a",
        settings: &["dma_rx_#", "dma_tx_#"],
        new: |part, spec| Ok(Box::new(ti::usci::Usci::new(part, spec, ti::usci::Block::UsciA)?)),
    },
    Model {
        name: "msp430-usci-b",
        settings: &["dma_rx_#", "dma_tx_#"],
        new: |part, spec| Ok(Box::new(ti::usci::Usci::new(part, spec, ti::usci::Block::UsciB)?)),
    },
    Model {
        name: "msp430-watchdog",
        settings: &[],
        new: |part, spec| Ok(Box::new(ti::wdt_a::Watchdog::new(part, spec))),
    },
    Model { name: "nrf-clock", settings: &[], new: |_, spec| Ok(Box::new(nordic::clock::Clock::new(spec))) },
    Model { name: "nrf-ecb", settings: &[], new: |_, spec| Ok(Box::new(nordic::ecb::Ecb::new(spec))) },
    Model { name: "nrf-ficr", settings: &[], new: |_, spec| Ok(Box::new(nordic::ficr::Ficr::new(spec))) },
    Model {
        name: "nrf-gpio",
        settings: &["gpiote_irq", "pins"],
        new: |_, spec| Ok(Box::new(nordic::gpio::Gpio::new(spec))),
    },
    Model {
        name: "nrf-gpiote",
        settings: &[],
        new: |_, spec| Ok(Box::new(nordic::gpiote::Gpiote::new(spec)?)),
    },
    Model {
        name: "nrf-nvmc",
        settings: &[],
        new: |part, spec| Ok(Box::new(nordic::nvmc::Nvmc::new(part, spec)?)),
    },
    Model { name: "nrf-rng", settings: &[], new: |_, spec| Ok(Box::new(nordic::rng::Rng::new(spec))) },
    Model {
        name: "nrf-rtc",
        settings: &["channels"],
        new: |_, spec| Ok(Box::new(nordic::rtc::Rtc::new(spec))),
    },
    Model { name: "nrf-temp", settings: &[], new: |_, spec| Ok(Box::new(nordic::temp::Temp::new(spec))) },
    Model {
        name: "nrf-timer",
        settings: &["channels"],
        new: |_, spec| Ok(Box::new(nordic::timer::Timer::new(spec))),
    },
    Model {
        name: "nrf-uart",
        settings: &["uarte_only"],
        new: |_, spec| Ok(Box::new(nordic::uart::Uart::new(spec))),
    },
    Model { name: "nrf-wdt", settings: &[], new: |_, spec| Ok(Box::new(nordic::wdt::Wdt::new(spec))) },
    Model {
        name: "rp2040-dma",
        settings: &[],
        new: |_, spec| Ok(Box::new(raspberrypi::rp2040::dma::Dma::new(spec)?)),
    },
    Model {
        name: "rp2040-pins",
        settings: &["io_bank#", "io_qspi", "pads_bank#", "pads_qspi"],
        new: |part, spec| Ok(Box::new(raspberrypi::rp2040::pins::Pins::new(part, spec)?)),
    },
    Model {
        name: "rp2040-pwm",
        settings: &[],
        new: |_, spec| Ok(Box::new(raspberrypi::rp2040::pwm::Pwm::new(spec)?)),
    },
    Model {
        name: "rp2040-system",
        settings: &[
            "busctrl", "pll_sys", "pll_usb", "psm", "resets", "rosc", "syscfg", "sysinfo", "tbman", "vreg",
            "watchdog", "xosc",
        ],
        new: |part, spec| Ok(Box::new(raspberrypi::rp2040::system::System::new(part, spec)?)),
    },
    Model {
        name: "rp2040-timer",
        settings: &[],
        new: |_, spec| Ok(Box::new(raspberrypi::rp2040::timer::Timer::new(spec)?)),
    },
    Model {
        name: "rp2040-uart",
        settings: &["reset"],
        new: |part, spec| Ok(Box::new(raspberrypi::rp2040::uart::Uart::new(part, spec)?)),
    },
    Model {
        name: "rp2040-usb",
        settings: &[],
        new: |_, spec| Ok(Box::new(raspberrypi::rp2040::usb::Usb::new(spec))),
    },
    Model {
        name: "rp2040-xip",
        settings: &["ssi"],
        new: |part, spec| Ok(Box::new(raspberrypi::rp2040::xip::Xip::new(part, spec)?)),
    },
    Model {
        name: "samd21-adc",
        settings: &["clock"],
        new: |part, spec| Ok(Box::new(microchip::samd21::adc::Adc::new(part, spec)?)),
    },
    Model {
        name: "samd21-port",
        settings: &["io_port"],
        new: |part, spec| Ok(Box::new(microchip::samd21::port::Port::new(part, spec)?)),
    },
    Model {
        name: "samd21-sercom",
        settings: &["clock"],
        new: |part, spec| Ok(Box::new(microchip::samd21::sercom::Sercom::new(part, spec)?)),
    },
    Model {
        name: "samd21-system",
        settings: &["gclk", "nvmctrl", "sysctrl"],
        new: |part, spec| Ok(Box::new(microchip::samd21::system::System::new(part, spec)?)),
    },
    Model {
        name: "samd21-tcc",
        settings: &["bits", "channels", "clock", PINS],
        new: |part, spec| Ok(Box::new(microchip::samd21::tcc::Tcc::new(part, spec)?)),
    },
    Model {
        name: "samd21-timer",
        settings: &["clock", "paired"],
        new: |part, spec| Ok(Box::new(microchip::samd21::timer::Timer::new(part, spec)?)),
    },
    Model {
        name: "samd21-watchdog",
        settings: &["clock"],
        new: |part, spec| Ok(Box::new(microchip::samd21::watchdog::Watchdog::new(part, spec)?)),
    },
    Model {
        name: "stm32-adc",
        settings: &["dma_#", "limit_khz", "reference_mv", "sensor_mv", "start_ns", "software_only"],
        new: |part, spec| Ok(Box::new(st::adc::v1::Adc::f4(part, spec)?)),
    },
    Model {
        name: "stm32f0-adc",
        settings: &["dma_#", "limit_khz", "reference_mv", "sensor_mv", "start_ns"],
        new: |part, spec| Ok(Box::new(st::adc::v2::Adc::f0(part, spec)?)),
    },
    Model {
        name: "stm32f1-adc",
        settings: &["dma_#", "limit_khz", "reference_mv", "sensor_mv", "start_ns"],
        new: |part, spec| Ok(Box::new(st::adc::v1::Adc::f1(part, spec)?)),
    },
    Model {
        name: "stm32l4-adc",
        settings: &["dma_#", "limit_khz", "reference_mv", "sensor_mv"],
        new: |part, spec| Ok(Box::new(st::adc::v2::Adc::l4(part, spec)?)),
    },
    Model {
        name: "stm32-backup-sram",
        settings: &[],
        new: |_, spec| Ok(Box::new(st::backup_sram::BackupSram::new(spec))),
    },
    Model { name: "stm32-crc", settings: &["layout"], new: |_, spec| Ok(Box::new(st::crc::Crc::new(spec)?)) },
    Model {
        name: "stm32-dac",
        settings: &["channels", "dma_c#_#", "layout", "trigger#"],
        new: |_, spec| Ok(Box::new(st::dac::Dac::new(spec)?)),
    },
    Model {
        name: "stm32-dbgmcu",
        settings: &["dev_id", "freeze_registers", "rev_id"],
        new: |_, spec| Ok(Box::new(st::dbgmcu::Dbgmcu::new(spec)?)),
    },
    Model {
        name: "stm32-dma",
        settings: &["channels", "controller", "irq#", "multiplexed", "selections"],
        new: |_, spec| Ok(Box::new(st::dma::Dma::new(spec)?)),
    },
    Model { name: "stm32-dmamux", settings: &[], new: |_, spec| Ok(Box::new(st::dma::mux::Mux::new(spec))) },
    Model {
        name: "stm32-exti",
        settings: &["layout", "syscfg_base"],
        new: |_, spec| Ok(Box::new(st::exti::Exti::new(spec)?)),
    },
    Model {
        name: "stm32-flash",
        settings: &[
            "boot_addresses",
            "erase_#k_x#_ms",
            "erase_ms",
            "layout",
            "mass_ms",
            "mass_x#_ms",
            "option_bytes",
            "page_size",
            "program_us",
        ],
        new: |part, spec| Ok(Box::new(st::flash::Flash::new(part, spec)?)),
    },
    Model {
        name: "stm32-flash-l4",
        settings: &["erase_us", "mass_us", "option_bytes", "page_size", "program_ns"],
        new: |part, spec| Ok(Box::new(st::flash::l4::FlashL4::new(part, spec)?)),
    },
    Model {
        name: "stm32-gpio",
        settings: &["layout"],
        new: |_, spec| Ok(Box::new(st::gpio::Gpio::new(spec))),
    },
    Model {
        name: "stm32-i2c",
        settings: &["error_irq"],
        new: |_, spec| Ok(Box::new(st::i2c::v1::I2c::new(spec)?)),
    },
    Model {
        name: "stm32-i2c-v2",
        settings: &["clock", "error_irq", "rx_dma_#", "tx_dma_#"],
        new: |_, spec| Ok(Box::new(st::i2c::v2::I2c::new(spec)?)),
    },
    Model {
        name: "stm32-iwdg",
        settings: &["lsi_hz", "window"],
        new: |_, spec| Ok(Box::new(st::iwdg::Iwdg::new(spec)?)),
    },
    Model { name: "stm32-pwr-l4", settings: &[], new: |_, spec| Ok(Box::new(st::pwr_l4::PwrL4::new(spec))) },
    Model { name: "stm32-pwr", settings: &["layout"], new: |_, spec| Ok(Box::new(st::pwr::Pwr::new(spec))) },
    Model { name: "stm32-rng", settings: &[], new: |_, spec| Ok(Box::new(st::rng::Rng::new(spec))) },
    Model {
        name: "stm32-rtc-calendar",
        settings: &["layout"],
        new: |_, spec| Ok(Box::new(st::rtc::calendar::Rtc::new(spec)?)),
    },
    Model {
        name: "stm32-rtc-counter",
        settings: &[],
        new: |_, spec| Ok(Box::new(st::rtc::counter::Rtc::new(spec))),
    },
    Model {
        name: "stm32-signature",
        settings: &["flash_size"],
        new: |part, spec| Ok(Box::new(st::signature::Signature::new(part, spec)?)),
    },
    Model {
        name: "stm32-spi",
        settings: &["layout", "mapr_bits", "mapr_shift", PINS, "rx_dma_#", "tx_dma_#"],
        new: |_, spec| Ok(Box::new(st::spi::Spi::new(spec)?)),
    },
    Model {
        name: "stm32-timer",
        settings: &[
            "bits",
            "channels",
            "compare_irq",
            "dma_c#_#",
            "dma_up_#",
            "itr#",
            "mapr#_shift",
            "mapr_bits",
            "mapr_shift",
            PINS,
            "repetition",
            "trigger_irq",
        ],
        new: |_, spec| Ok(Box::new(st::timer::Timer::new(spec)?)),
    },
    Model {
        name: "stm32-usart",
        settings: &["clock", "layout", "prescaler", "rx_dma_#", "tx_dma_#"],
        new: |_, spec| Ok(Box::new(st::usart::Usart::new(spec)?)),
    },
    Model { name: "stm32-wwdg", settings: &[], new: |_, spec| Ok(Box::new(st::wwdg::Wwdg::new(spec))) },
];

/// Builds the peripheral that `spec` asks for, or its stub.
///
/// # Errors
/// A sentence that names the unknown model, or the setting that it cannot have.
pub fn new_peripheral(part: &Part, spec: &PeripheralSpec) -> Result<Box<dyn Peripheral>, String> {
    if spec.base > HIGHEST_BASE {
        return Err(format!("{}: {}: no registers can be at {:#x}", part.name, spec.name, spec.base));
    }
    let Some(model) = MODELS.iter().find(|model| model.name == spec.model) else {
        return Err(format!("{}: no model {} for peripheral {}", part.name, spec.model, spec.name));
    };
    for name in spec.settings.keys() {
        if !model.settings.contains(&pattern(name).as_str()) {
            let known =
                if model.settings.is_empty() { "none".to_string() } else { model.settings.join(", ") };
            let Part { name: part, .. } = part;
            return Err(format!(
                "{part}: {}: {} has no setting {name}; it has {known}",
                spec.name, spec.model
            ));
        }
    }
    if !spec.pins.is_empty() && !model.settings.contains(&PINS) {
        return Err(format!("{}: {}: {} has no pins", part.name, spec.name, spec.model));
    }
    let device = (model.new)(part, spec)?;
    Ok(if spec.stub { Box::new(stub::Stub::new(&spec.name, device.spec().ranges)) } else { device })
}

/// The name of a setting with `#` for each number in it.
fn pattern(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '0'..='9' if pattern.ends_with('#') => {}
            '0'..='9' => pattern.push('#'),
            _ => pattern.push(letter),
        }
    }
    pattern
}
