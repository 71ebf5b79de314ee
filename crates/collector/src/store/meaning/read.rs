//! Rows as records, series of readings, and images of firmware.

pub(in crate::store) mod firmware;
pub(in crate::store) mod rows;
pub(in crate::store) mod series;

pub(in crate::store) use firmware::update;
pub(crate) use rows::kept_from_s;
pub(in crate::store) use rows::{alert, command, meters_of};
pub(in crate::store) use series::rollups;
pub(crate) use series::{Stored, stored};
