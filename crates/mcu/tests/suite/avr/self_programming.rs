//! Self-programming and the signature row behind SPMCSR, by avr-libc's macros.
//!
//! Sources: DS40002061, chapter 27; 2586Q, chapter 19.

use super::programs::{ATMEGA32U4, ATMEGA128L, ATMEGA328P, ATMEGA2560, ATTINY85, compile, image, loaded};
use mcu::{Image, Mcu, Stop, Until};

const PROLOGUE: &str = "#include <avr/io.h>
    #include <avr/boot.h>
    #include <avr/fuse.h>
    #include <avr/interrupt.h>
    #include <avr/pgmspace.h>
    #include <stdint.h>
    #ifndef SIGRD
    #define SIGRD 5 /* the ATtiny85's RSIG */
    #endif
    static volatile uint8_t out[8] __attribute__((section(\".noinit\")));
    #define BOOT __attribute__((section(\".boot\"), noinline, used))
    #define STEP(action) do { action; boot_spm_busy_wait(); } while (0)\n";

fn built(mcu: &str, boot: &str, body: &str) -> Image {
    let section = format!("-Wl,--section-start=.boot={boot}");
    image(&compile("self-programming", mcu, &format!("{PROLOGUE}{body}"), &["-Os", &section]))
}

fn run(machine: &mut dyn Mcu) -> Result<Stop, mcu::Fault> {
    machine.run(&Until { cycles: Some(10_000_000), addresses: vec![] })
}

fn bytes<const N: usize>(machine: &dyn Mcu, address: u32) -> [u8; N] {
    let mut bytes = [0; N];
    assert!(machine.peek(address, &mut bytes));
    bytes
}

/// Erases the page at 0x4000, and writes two of its words.
const WRITE: &str = "BOOT void write(void) {
        STEP(boot_page_erase(0x4000));
        boot_page_fill(0x4002, 0x1234); boot_page_fill(0x4000, 0xABCD);
        out[0] = SPMCSR; boot_page_write(0x4000); out[1] = SPMCSR; boot_spm_busy_wait();
        out[2] = SPMCSR; boot_rww_enable(); out[3] = SPMCSR;
    }
    int main(void) { write(); out[4] = pgm_read_byte(0x4001); return 0; }";

/// Two times 4.5 ms at 16 MHz are 144,000 cycles. RWWSB (0x40) is set by the write and cleared by
/// RWWSRE; PGWRT and SPMEN (5) stay set until it is done. "The RWWSB bit will automatically be
/// cleared if a page load operation is initiated."
#[test]
fn a_boot_loader_writes_a_page() {
    let mut machine = loaded(ATMEGA328P, &built("atmega328p", "0x7e00", WRITE));
    assert!(machine.poke(0x3FFE, &[0x55; 0x84]));
    assert_eq!(run(&mut *machine), Ok(Stop::Halted));
    assert_eq!(bytes(&*machine, 0x80_0100), [0, 0x45, 0x40, 0, 0xAB]);
    assert_eq!(bytes(&*machine, 0x3FFE), [0x55, 0x55, 0xCD, 0xAB, 0x34, 0x12, 0xFF]);
    assert_eq!(bytes(&*machine, 0x407F), [0xFF, 0x55]);
    let cycles = machine.cycles();
    assert!((144_000..144_300).contains(&cycles), "{cycles}");
}

/// The written words are executed, also with a breakpoint in them and under an observer.
#[test]
fn written_instructions_are_executed() {
    let body = "BOOT void write(void) {
            STEP(boot_page_erase(0x4000));
            boot_page_fill(0x4000, 0xE58A); boot_page_fill(0x4002, 0x9508);
            STEP(boot_page_write(0x4000)); boot_rww_enable();
        }
        int main(void) { out[0] = ((uint8_t (*)(void))(0x4000 / 2))(); write();
            out[1] = ((uint8_t (*)(void))(0x4000 / 2))(); return 0; }";
    // LDI r24, 0x11 and RET; then LDI r24, 0x5A and RET.
    let mut machine = loaded(ATMEGA328P, &built("atmega328p", "0x7e00", body));
    assert!(machine.poke(0x4000, &[0x81, 0xE1, 0x08, 0x95]));
    let mut observed = machine.snapshot();
    let mut stopped = machine.snapshot();
    assert_eq!(run(&mut *machine), Ok(Stop::Halted));
    assert_eq!(bytes(&*machine, 0x80_0100), [0x11, 0x5A]);

    struct Any;
    impl mcu::Observer for Any {}
    let until = Until { cycles: Some(10_000_000), addresses: vec![] };
    assert_eq!(observed.run_observed(&until, &mut Any), Ok(Stop::Halted));
    assert_eq!(bytes(&*observed, 0x80_0100), [0x11, 0x5A]);
    assert_eq!(observed.cycles(), machine.cycles());

    let until = Until { cycles: Some(10_000_000), addresses: vec![0x4002] };
    for _ in 0..2 {
        assert_eq!(stopped.run(&until), Ok(Stop::Address(0x4002)));
    }
    assert_eq!(stopped.run(&until), Ok(Stop::Halted));
    assert_eq!(bytes(&*stopped, 0x80_0100), [0x11, 0x5A]);
    assert_eq!(bytes(&*stopped, 0x4000), [0x8A, 0xE5, 0x08, 0x95]);
}

/// A page above the RWW section: the core stands still, nothing is closed (27.3.2).
#[test]
fn the_core_stands_still_while_its_own_section_is_written() {
    let body = "BOOT void write(void) {
            TCCR1B = 1; boot_page_erase(0x7000); out[0] = SPMCSR; out[1] = TCNT1 >> 8; out[2] = TIFR1 & 1; }
        int main(void) { write(); return 0; }";
    let mut machine = loaded(ATMEGA328P, &built("atmega328p", "0x7e00", body));
    assert!(machine.poke(0x7000, &[0; 2]));
    assert_eq!(run(&mut *machine), Ok(Stop::Halted));
    // 72,000 cycles are 65,536 and 25 times 256 and a little.
    assert_eq!(bytes(&*machine, 0x80_0100), [0, 25, 1]);
    assert_eq!(bytes(&*machine, 0x7000), [0xFF, 0xFF]);
}

#[test]
fn misuse_is_a_fault() {
    let said = |body: &str| {
        let mut machine = loaded(ATMEGA328P, &built("atmega328p", "0x7e00", body));
        run(&mut *machine).expect_err(body).to_string()
    };
    // From the application section; too late; a read and a call of what is closed; a word filled
    // twice.
    let late =
        "BOOT void f(void) { SPMCSR = 1; asm(\"nop\\nnop\\nnop\\nnop\\nspm\"); } int main(void) { f(); }";
    for (body, what) in [
        ("int main(void) { boot_page_erase(0x4000); }", "outside the boot section"),
        ("BOOT void f(void) { boot_lock_bits_set(1); } int main(void) { f(); }", "LB1"),
        (late, "four cycles"),
        (
            "BOOT void f(void) { boot_page_erase(0x4000); out[0] = pgm_read_byte(0); } int main(void) { f(); }",
            "RWWSB",
        ),
        ("BOOT void f(void) { STEP(boot_page_erase(0x4000)); } int main(void) { f(); }", "RWWSB"),
        (
            "BOOT void f(void) { boot_page_fill(0x4000, 1); boot_page_fill(0x4000, 1); } int main(void) { f(); }",
            "second time",
        ),
    ] {
        let said = said(body);
        assert!(said.contains(what), "{body}: {said}");
    }
}

/// 27.8.8: zeros in R0 program boot lock bits, which takes as long as a page (4.5 ms, 72,000
/// cycles); the flash can be read meanwhile, and LPM reads the lock bits afterwards.
#[test]
fn a_boot_loader_sets_its_lock_bits() {
    let body = "BOOT void f(void) { boot_lock_bits_set(1 << BLB11); out[0] = SPMCSR; out[1] = pgm_read_byte(0x4000);
            boot_spm_busy_wait(); out[2] = SPMCSR; out[3] = boot_lock_fuse_bits_get(GET_LOCK_BITS);
            boot_lock_bits_set(1 << BLB01); boot_spm_busy_wait(); out[4] = boot_lock_fuse_bits_get(GET_LOCK_BITS); }
        int main(void) { f(); return 0; }";
    for (part, mcu, boot, base) in [
        (ATMEGA328P, "atmega328p", "0x7e00", 0x80_0100),
        (ATMEGA32U4, "atmega32u4", "0x7e00", 0x80_0100),
        (ATMEGA2560, "atmega2560", "0x3fc00", 0x80_0200),
        (ATMEGA128L, "atmega128", "0x1fc00", 0x80_0100),
    ] {
        let mut machine = loaded(part, &built(mcu, boot, body));
        assert!(machine.poke(0x4000, &[0x5A]));
        assert_eq!(run(&mut *machine), Ok(Stop::Halted), "{mcu}");
        assert_eq!(bytes(&*machine, base), [0x09, 0x5A, 0, 0xEF, 0xEB], "{mcu}");
        assert_eq!(bytes(&*machine, 0x83_0000), [0xEB], "{mcu}");
        let page = 9 * machine.clock_hz() / 1000;
        assert!((page..page + 500).contains(&machine.cycles()), "{mcu}: {}", machine.cycles());
    }
}

/// Tables 27-2 and 27-3: what each boot lock bit keeps from whom, and what it lets through. The
/// boot section begins at 0x7000 where BOOTSZ is programmed.
#[test]
fn boot_lock_bits_keep_the_sections_apart() {
    let boot = |body: &str| format!("BOOT void f(void) {{ {body} }} int main(void) {{ f(); return 0; }}");
    let erases =
        |page: &str| boot(&format!("boot_page_erase({page}); boot_spm_busy_wait(); boot_rww_enable();"));
    let (application, own) = (erases("0x4000"), erases("0x7400"));
    let (down, across) = (boot("out[0] = pgm_read_byte(0x4000);"), boot("out[0] = pgm_read_byte(0x7400);"));
    let up = "int main(void) { out[0] = pgm_read_byte(0x7400); return 0; }".to_string();
    let cases = [
        // BLB0 mode 2, 3 and 4; BLB1 mode 2, 3 and 4.
        (0xFB, [Some("BLB01"), None, None, None, None]),
        (0xF3, [Some("BLB01"), None, Some("BLB02"), None, None]),
        (0xF7, [None, None, Some("BLB02"), None, None]),
        (0xEF, [None, Some("BLB11"), None, None, None]),
        (0xCF, [None, Some("BLB11"), None, None, Some("BLB12")]),
        (0xDF, [None, None, None, None, Some("BLB12")]),
    ];
    let images = [application, own, down, across, up].map(|body| built("atmega328p", "0x7000", &body));
    for (lock, kept) in cases {
        for (image, kept) in images.iter().zip(kept) {
            let mut machine = loaded(ATMEGA328P, image);
            assert!(machine.poke(0x83_0000, &[lock]) && machine.poke(0x82_0001, &[0xD9]));
            match (run(&mut *machine), kept) {
                (Ok(Stop::Halted), None) => {}
                (Err(fault), Some(bit)) if fault.to_string().contains(bit) => {}
                other => panic!("{lock:#04x}: {other:?}"),
            }
        }
    }
}

/// BLB12 with the vectors in the application section: an interrupt waits until the program has left
/// the boot section.
#[test]
fn interrupts_wait_for_the_end_of_a_locked_boot_section() {
    let body = "ISR(TIMER0_OVF_vect) { out[1] = out[0]; TIMSK0 = 0; }
        BOOT void f(void) { TIMSK0 = 1; TCCR0B = 1; for (uint16_t i = 0; i < 1000; i++) out[0] = i >> 2; out[0] = 99; }
        int main(void) { sei(); f(); asm(\"nop\"); return 0; }";
    let image = built("atmega328p", "0x7000", body);
    for (lock, seen) in [(0xFF, false), (0xDF, true)] {
        let mut machine = loaded(ATMEGA328P, &image);
        assert!(machine.poke(0x83_0000, &[lock]) && machine.poke(0x82_0001, &[0xD9]));
        assert_eq!(run(&mut *machine), Ok(Stop::Halted));
        let [last, at_interrupt] = bytes(&*machine, 0x80_0100);
        assert_eq!((last, at_interrupt == 99), (99, seen), "{lock:#04x}");
    }
}

/// Three NOPs after an OUT are within the four cycles.
#[test]
fn the_window_has_four_cycles() {
    let body = "BOOT void f(void) { asm(\"ldi r30, 0\\nldi r31, 0x40\\nldi r24, 3\\nout 0x37, r24\\nnop\\nnop\\nnop\\nspm\");
            boot_spm_busy_wait(); boot_rww_enable(); SPMCSR = 1; asm(\"nop\\nnop\\nnop\"); out[0] = SPMCSR; out[1] = SPMCSR; }
        int main(void) { f(); return 0; }";
    let mut machine = loaded(ATMEGA328P, &built("atmega328p", "0x7e00", body));
    assert!(machine.poke(0x4000, &[0; 2]));
    assert_eq!(run(&mut *machine), Ok(Stop::Halted));
    assert_eq!(bytes(&*machine, 0x4000), [0xFF, 0xFF]);
    // SPMEN "will auto-clear [...] if no SPM instruction is executed within four clock cycles".
    assert_eq!(bytes(&*machine, 0x80_0100), [1, 0]);
}

/// Table 27-5: signature at 0, 2 and 4, calibration at 1; 27.8.9: fuses and lock bits by BLBSET.
#[test]
fn fuses_lock_bits_and_signature_row_are_read() {
    let read = "int main(void) {
            for (uint8_t i = 0; i < 3; i++) out[i] = boot_signature_byte_get(2 * i);
            out[3] = boot_signature_byte_get(1) == OSCCAL;
            out[4] = boot_lock_fuse_bits_get(GET_LOW_FUSE_BITS); out[5] = boot_lock_fuse_bits_get(GET_HIGH_FUSE_BITS);
            out[6] = boot_lock_fuse_bits_get(GET_EXTENDED_FUSE_BITS); out[7] = boot_lock_fuse_bits_get(GET_LOCK_BITS);
            return 0; }";
    let parts = [
        (ATMEGA328P, "atmega328p", "0x7e00", 0x80_0100, [0x1E, 0x95, 0x0F]),
        (ATMEGA32U4, "atmega32u4", "0x7e00", 0x80_0100, [0x1E, 0x95, 0x87]),
        (ATMEGA2560, "atmega2560", "0x3e000", 0x80_0200, [0x1E, 0x98, 0x01]),
        (ATTINY85, "attiny85", "0x1e00", 0x80_0060, [0x1E, 0x93, 0x0B]),
    ];
    for (part, mcu, boot, ram, signature) in parts {
        let body = format!("FUSES = {{ .low = 0xE2, .high = 0xD7, .extended = 0xFD }};\n{read}");
        let mut machine = loaded(part, &built(mcu, boot, &body));
        assert!(machine.poke(0x83_0000, &[0xFC]));
        assert_eq!(run(&mut *machine), Ok(Stop::Halted), "{mcu}");
        let expected = [signature[0], signature[1], signature[2], 1, 0xE2, 0xD7, 0xFD, 0xFC];
        assert_eq!(bytes(&*machine, ram), expected, "{mcu}");
    }
}

/// Fuses of the ATmega128 are at the same places; its pages have 256 bytes, in the upper half of
/// the flash, too.
#[test]
fn the_atmega128_and_the_atmega2560_write_by_rampz() {
    let body = "BOOT void write(void) {
            STEP(boot_page_erase(0x12300ul)); boot_page_fill(0x12302ul, 0x1234);
            STEP(boot_page_write(0x12300ul)); boot_rww_enable(); }
        int main(void) { write(); out[0] = pgm_read_byte_far(0x12303ul); return 0; }";
    for (part, mcu, boot, ram) in
        [(ATMEGA128L, "atmega128", "0x1fc00", 0x80_0100), (ATMEGA2560, "atmega2560", "0x3fc00", 0x80_0200)]
    {
        let mut machine = loaded(part, &built(mcu, boot, body));
        assert!(machine.poke(0x1_22FF, &[0x55; 0x102]));
        assert_eq!(run(&mut *machine), Ok(Stop::Halted), "{mcu}");
        assert_eq!(bytes(&*machine, ram), [0x12]);
        assert_eq!(bytes(&*machine, 0x1_22FF), [0x55, 0xFF, 0xFF, 0x34, 0x12, 0xFF]);
        assert_eq!(bytes(&*machine, 0x1_23FF), [0xFF, 0x55]);
    }
}

/// 2586Q, chapter 19: `SPM` from anywhere, the core stands still, pages of 64 bytes, CTPB empties
/// the buffer: 4.5 ms at 8 MHz are 36,000 cycles.
#[test]
fn the_attiny85_writes_a_page() {
    let body = "int main(void) {
            boot_page_erase(0x1000); boot_page_fill(0x1000, 0x1111); SPMCSR = 1 << CTPB; boot_page_fill(0x1000, 0xABCD);
            out[1] = 1; boot_page_write(0x1000); out[0] = pgm_read_byte(0x1001); return 0; }";
    let mut machine = loaded(ATTINY85, &built("attiny85", "0x1e00", body));
    assert!(machine.poke(0x0FFF, &[0x55; 66]));
    assert_eq!(run(&mut *machine), Ok(Stop::Halted));
    assert_eq!(bytes(&*machine, 0x80_0060), [0xAB, 1]);
    assert_eq!(bytes(&*machine, 0x0FFF), [0x55, 0xCD, 0xAB, 0xFF]);
    assert_eq!(bytes(&*machine, 0x103F), [0xFF, 0x55]);
    let cycles = machine.cycles();
    assert!((72_000..72_200).contains(&cycles), "{cycles}");
}

/// SPMIE asks for as long as nothing is under way; here it comes when the erasing is done.
#[test]
fn an_interrupt_says_that_it_is_done() {
    let body = "ISR(SPM_READY_vect) { out[0]++; SPMCSR = 0; }
        BOOT void f(void) { STEP(boot_page_erase(0x4000)); boot_rww_enable(); }
        BOOT void g(void) { boot_page_erase(0x7000); SPMCSR |= 1 << SPMIE; out[1] = out[0]; sei(); asm(\"nop\\nnop\"); cli(); }
        int main(void) { out[0] = 0; f(); g(); return 0; }";
    let mut machine = loaded(ATMEGA328P, &built("atmega328p", "0x7e00", body));
    assert_eq!(run(&mut *machine), Ok(Stop::Halted));
    assert_eq!(bytes(&*machine, 0x80_0100), [1, 0]);
}

/// "If a reset occurs while a write operation is in progress, the write operation will be
/// completed"; where the supply fails, it stays half done.
#[test]
fn a_reset_lets_it_complete_and_a_failing_supply_does_not() {
    let body =
        "BOOT void f(void) { boot_page_erase(0x4000); for (;;) asm(\"nop\"); } int main(void) { f(); }";
    let start = || {
        let mut machine = loaded(ATMEGA328P, &built("atmega328p", "0x7e00", body));
        assert!(machine.poke(0x4000, &[0; 2]));
        machine.run(&Until { cycles: Some(1_000), addresses: vec![] }).unwrap();
        machine
    };
    let mut reset = start();
    reset.reset_by(mcu::ResetCause::External);
    assert_eq!(bytes(&*reset, 0x4000), [0xFF, 0xFF]);
    let mut cut = start();
    cut.cut_power(0xaa);
    assert_eq!(bytes(&*cut, 0x4000), [0xAA, 0xAA]);
}
