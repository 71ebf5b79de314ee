//! HTTP requests of any kind to the API of a whole service, from an administrator, a viewer and nobody: `asked.rs` says what has to hold.
#![no_main]

mod asked;

use asked::House;
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

thread_local! {
    static HOUSE: RefCell<House> = RefCell::new(House::new());
}

fuzz_target!(|bytes: &[u8]| {
    let _ = HOUSE.with_borrow_mut(|house| house.ask(bytes));
});
