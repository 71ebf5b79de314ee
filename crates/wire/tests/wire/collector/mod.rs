//! The collector's end of the link, against a meter that is made of this crate's own sealing. The
//! long ones: `cargo test --release -p wattseal-wire --test wire collector -- --ignored
//! --nocapture`

mod apart;
mod exchanges;
mod fixture;
mod hostile;
mod learned;
mod opening_times;
mod renewed;
mod rest;
mod restarts;
mod updated;
