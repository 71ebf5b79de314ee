//! The rows and their columns: what is written, what is read, and the codes between them.

pub(in crate::store) mod codes;
pub(in crate::store) mod health;
pub(in crate::store) mod meter_range;
pub(in crate::store) mod query;
pub(in crate::store) mod record;
pub(in crate::store) mod telegram;
pub(in crate::store) mod write;
