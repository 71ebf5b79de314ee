//! Models of other chips on a board, one folder each.

pub mod cc2500;
