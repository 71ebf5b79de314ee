//! Users of the servers.
