//! Differences of the STM32F401 from the STM32F411.
//!
//! Sources: data sheet DS9716, ST's CMSIS header stm32f401xc.h.

use super::programs::{assemble, part};
use super::steps::{self, KEPT, Step, machine, word};
use super::stm32_peripherals::Bench;
use mcu::{Fault, Image, Mcu, Segment, Stop, Until, new_clocked_machine};

const FLASH: u32 = 0x4002_3c00;
const RCC: u32 = 0x4002_3800;
const SPI4: u32 = 0x4001_3400;
const SPI5: u32 = 0x4001_5000;

/// MCU device ID code: DEV_ID 0x423; 256 kB of flash; the regulator in scale 2; no SPI5.
#[test]
fn stm32f401_identifies_itself_and_has_no_spi5() {
    let mut bench = Bench::new("stm32f401");
    assert_eq!((bench.read(0xe004_2000), bench.read(0x4000_7000)), (0x1000_0423, 0x8000));
    assert_eq!(bench.bus.read(0x1fff_7a22, 2, 0, 0, None), Ok(256));
    // CR2.TXEIE.
    bench.write(SPI4 + 4, 1 << 7);
    bench.write(SPI4, 1 << 6 | 1 << 2 | 3 << 8);
    assert_eq!(bench.bus.requests, 1 << 84);
    assert!(matches!(bench.try_write(SPI5 + 4, 1 << 7), Err(Fault::Unmapped { .. })));
}

/// RM0368 and RM0383: RCC_DCKCFGR, which the STM32F407 does not have, and which has TIMPRE alone.
/// Start-up code that leaves the timers' clock as it is writes it.
#[test]
fn the_timers_clock_can_be_left_as_it_is() {
    const DCKCFGR: u32 = RCC + 0x8c;
    for target in ["stm32f401", "stm32f411"] {
        let kept = [Step::Write(DCKCFGR, 1), Step::Copy(KEPT, DCKCFGR)];
        let mut machine = machine(target, &kept);
        steps::run(&mut *machine, 500);
        assert_eq!(word(&*machine, KEPT), 0);
        let fault = faults(target, DCKCFGR, 1 << 24);
        assert!(fault.contains("TIMPRE"), "{fault}");
    }
    // There it is zero, which embassy's start-up writes back.
    let mut machine = machine("stm32f407", &[Step::Write(DCKCFGR, 0), Step::Copy(KEPT, DCKCFGR)]);
    steps::run(&mut *machine, 500);
    assert_eq!(word(&*machine, KEPT), 0);
    assert!(faults("stm32f407", DCKCFGR, 1).contains("only others of the series"));
}

/// Fault with which a write ends the run.
fn faults(target: &str, address: u32, value: u32) -> String {
    let mut machine = machine(target, &[Step::Write(address, value)]);
    machine.run(&Until { cycles: Some(500), ..Until::default() }).expect_err("a fault").to_string()
}

/// STM32_open_pin_data: SPI4_NSS is at PE4 and PE11 alone; at the STM32F411 at PB12, too.
#[test]
fn spi4_is_selected_at_port_e_alone() {
    let pins = |target: &str| {
        let part = part(target);
        let spi4 = part.peripherals.iter().find(|spec| spec.name == "SPI4").expect("an interface");
        spi4.pins["NSS"].clone()
    };
    assert_eq!(pins("stm32f401"), ["PE4 AF5", "PE11 AF5"]);
    assert_eq!(pins("stm32f411"), ["PB12 AF6", "PE4 AF5", "PE11 AF5"]);
}

/// RM0368, section 3: sectors 0 to 5; DS9716, table 45: by words the last, of 128 kB, takes a
/// second.
#[test]
fn its_flash_ends_with_sector_5() {
    const LAST: u32 = 0x0803_fffc;
    let erase = |sector: u32| {
        let control = 2 << 8 | sector << 3 | 1 << 1;
        let mut steps: Vec<Step> = [0x4567_0123, 0xcdef_89ab].map(|key| Step::Write(FLASH + 4, key)).into();
        steps.extend([0, 1 << 16].map(|start| Step::Write(FLASH + 0x10, start | control)));
        steps.push(Step::Copy(KEPT, FLASH + 0x10));
        let mut machine = machine("stm32f401", &steps);
        assert!(machine.poke(LAST, &[0]));
        machine
    };
    let mut last = erase(5);
    let hz = last.clock_hz();
    assert_eq!(hz, 84_000_000);
    for (ms, ended) in [(999, false), (1001, true)] {
        steps::run(&mut *last, hz * ms / 1000);
        assert_eq!(word(&*last, KEPT) != 0, ended, "{ms} ms");
    }
    assert_eq!(word(&*last, LAST), u32::MAX);
    let beyond = erase(6).run(&Until { cycles: Some(hz), ..Until::default() });
    assert!(format!("{beyond:?}").contains("nothing that could be erased"), "{beyond:?}");
}

fn run(name: &str, source: &str) -> (Result<Stop, Fault>, Box<dyn Mcu>) {
    let source = format!(".word 0x20004000, _start + 1\n.thumb_func\n_start:\n{source}\nbkpt 0\n.ltorg");
    let bytes = assemble("cortex-m4", &format!("f401-{name}"), &source);
    let mut machine = new_clocked_machine(&part("stm32f401"), None).expect("a machine");
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    let stop = machine.run(&Until { cycles: Some(1000), ..Until::default() });
    (stop, machine)
}

/// Table 15: 84 MHz need two wait states; 25 MHz of HSE by PLLM 25, times PLLN 336, by PLLP 4. More
/// than 84 MHz (PLLN 400) it refuses.
#[test]
fn stm32f401_reaches_84_mhz_with_two_wait_states() {
    let program = |multiplier: u32, wait_states: u32| {
        let source = format!(
            "ldr r0, ={FLASH:#x}\nldr r1, ={:#x}\nstr r1, [r0]\nldr r0, ={RCC:#x}\nldr r1, =0x00010083\nstr r1, [r0]\n\
             ldr r1, ={:#x}\nstr r1, [r0, #4]\nldr r1, =0x01010083\nstr r1, [r0]\nldr r1, =0x1002\nstr r1, [r0, #8]",
            0x700 | wait_states,
            7 << 24 | 1 << 22 | 1 << 16 | multiplier << 6 | 25
        );
        let (stop, machine) = run(&format!("{multiplier}-{wait_states}"), &source);
        (stop, machine.clock_hz())
    };
    assert_eq!(program(336, 2), (Ok(Stop::Breakpoint), 84_000_000));
    for (multiplier, wait_states, words) in
        [(336, 1, "1 wait states are too few: the flash needs 2 at 84 MHz"), (400, 4, "100 MHz")]
    {
        let (stop, _) = program(multiplier, wait_states);
        let said = format!("{stop:?}");
        // A program for a board with another crystal asks for such a clock, too.
        assert!(said.contains(words) && said.contains("a crystal of 25 MHz"), "{said}");
    }
}

/// 64 kB of RAM.
#[test]
fn its_ram_ends_at_64_kb() {
    let (stop, _) = run("ram", "ldr r0, =0x2000fffc\nstr r0, [r0]");
    assert_eq!(stop, Ok(Stop::Breakpoint));
    let (stop, _) = run("beyond", "ldr r0, =0x20010000\nstr r0, [r0]");
    assert!(matches!(stop, Err(Fault::Unmapped { address: 0x2001_0000, .. })), "{stop:?}");
}

/// Ports A to E and H alone.
#[test]
fn stm32f401_has_ports_a_to_e_and_h() {
    let mut bench = Bench::new("stm32f401");
    for (port, exists) in
        [(0, true), (1, true), (2, true), (3, true), (4, true), (5, false), (6, false), (7, true)]
    {
        let idr = bench.bus.read(0x4002_0010 + 0x400 * port, 4, 0, 0, None);
        assert_eq!(idr.is_ok(), exists, "port {port}");
    }
}
