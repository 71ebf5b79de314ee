//! HTTP requests of any kind to the API of a whole service, from an administrator, a viewer and
//! nobody: `asked.rs` says what has to hold.
#![no_main]

mod asked;

use asked::Fixture;
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

thread_local! {
    static FIXTURE: RefCell<Fixture> = RefCell::new(Fixture::new());
}

fuzz_target!(|bytes: &[u8]| {
    let _ = FIXTURE.with_borrow_mut(|fixture| fixture.ask(bytes));
});
