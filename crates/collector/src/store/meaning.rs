//! The meaning of the rows, which is the same for both engines: registers, rollups, retention, and
//! what a batch writes.

pub(in crate::store) mod batch;
pub(in crate::store) mod by_time;
pub(in crate::store) mod check;
pub(in crate::store) mod interval;
pub(in crate::store) mod latest;
pub(in crate::store) mod marker;
pub(in crate::store) mod read;
pub(in crate::store) mod register;
pub(in crate::store) mod retention;
pub(in crate::store) mod tables;
pub(in crate::store) mod telegrams;
pub(in crate::store) mod zone;
