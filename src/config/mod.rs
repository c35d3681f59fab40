//! The configuration: directories of one instance, the settings file checked with the line of every mistake, and the
//! agent profiles.

pub mod dirs;
pub mod error;
pub mod machine;
pub mod profiles;
pub mod settings;
mod text;

mod load;

pub use error::Error;
pub use load::{load, mistake, parse};
pub use settings::Config;
pub use text::nearest;
