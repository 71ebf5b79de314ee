//! Wireless M-Bus: published telegrams, the rules that protect a reading, and any bytes.

mod fixture;
mod fragments;
mod frames;
mod hostile;
mod receivers;
mod records;
mod security;
mod telegrams;
