//! What a connection is: any stream of bytes in both directions.

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes in both directions.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> ByteStream for T {}

/// A connection, whatever carries it.
pub type Stream = Box<dyn ByteStream>;
