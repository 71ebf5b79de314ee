//! The integration tests: one program, so that it is linked once.

mod advisories;
mod any_command_line;
mod book;
mod check;
mod ci;
mod commands;
mod compare;
mod contract;
mod ct;
mod debug;
mod documentation;
mod figures;
mod firmware;
mod installed;
mod json;
mod kept;
mod launcher;
mod pages;
mod plan;
mod post_quantum;
mod release;
mod reproduce;
mod run;
mod tidy;
mod tiers;
mod workflows;
