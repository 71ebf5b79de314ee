//! Models of other chips on a board, one folder or file each.

pub mod cc2500;
pub mod fm25;
pub mod rfm12b;
