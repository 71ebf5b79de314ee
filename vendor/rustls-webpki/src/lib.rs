//! What rumqttc 0.25 uses of rustls-webpki 0.102, of 0.103. `Cargo.toml` says why.

pub use current::Error;
