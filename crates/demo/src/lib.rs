//! The whole system alive: meters on processor models, one for each suite, their radio channel, and a collector that they talk to,
//! paced to real time; and what a reading costs each of them, measured meanwhile.
//!
//! - [`household`]: which meters there are, and what they measure
//! - [`meter`]: a meter on its models, watched; [`ledger`]: what its readings took
//! - [`radio`]: the collector's radio; [`collecting`]: the collector behind it; [`attached`]: the collector's service as one
//! - [`world`]: all of them in virtual time; [`pace`]: beside the clock on the wall
//! - [`setup`]: meters made, provisioned and switched on; [`service`]: the service with its dashboard
//! - [`cost`]: from cycles and states to microjoules, a row for each suite; [`measure`]: the same without losses, for the collector's
//!   data file
//! - [`live`]: the demonstration; [`stop`]: its end; [`report`]: its figures, [`terminal`]: as they come

pub mod attached;
pub mod collecting;
pub mod cost;
pub mod household;
pub mod ledger;
pub mod live;
pub mod measure;
pub mod meter;
pub mod pace;
pub mod radio;
pub mod report;
pub mod service;
pub mod setup;
pub mod stop;
pub mod terminal;
pub mod world;
