//! A connection to a PostgreSQL server: its URL, its password, TLS, and what is asked by it.

mod connection;
pub(in crate::store) mod error;
mod passwords;
mod server;
mod tls;
mod wait;

pub(crate) use connection::Connection;
pub(crate) use error::ConnectionError;
pub use server::Server;
