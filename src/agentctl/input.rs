//! What goes into a program: in order, each piece whole or not at all, however slowly it reads.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

use crate::pty::error::SendError;
use crate::pty::writer::Writer;

/// A larger piece is given on in parts of this size, each when the one before was taken.
const PART_BYTES: usize = 1024 * 1024;
/// Most bytes that wait behind such a piece: the largest paste, and what is typed meanwhile.
const WAITING_MAX_BYTES: usize = 80 * 1024 * 1024;

type Sending = Pin<Box<dyn Future<Output = Result<(), SendError>> + Send>>;

/// The way into one program.
pub struct Input {
    writer: Writer,
    waiting: VecDeque<Bytes>,
    waiting_bytes: usize,
    sending: Option<Sending>,
}

impl Input {
    /// Into `writer`.
    #[must_use]
    pub fn new(writer: Writer) -> Self {
        Self { writer, waiting: VecDeque::new(), waiting_bytes: 0, sending: None }
    }

    /// Writes a piece.
    ///
    /// # Errors
    /// When the program has not read for long, or is gone; nothing of the piece is written then.
    pub fn write(&mut self, bytes: Bytes) -> Result<(), SendError> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.sending.is_none() && bytes.len() <= PART_BYTES {
            return self.writer.try_send(bytes);
        }
        if self.waiting_bytes + bytes.len() > WAITING_MAX_BYTES {
            return Err(SendError::Full { queued: self.waiting_bytes, limit: WAITING_MAX_BYTES });
        }
        self.waiting_bytes += bytes.len();
        let mut rest = bytes;
        while !rest.is_empty() {
            self.waiting.push_back(rest.split_to(rest.len().min(PART_BYTES)));
        }
        self.next();
        Ok(())
    }

    fn next(&mut self) {
        if self.sending.is_some() {
            return;
        }
        if let Some(part) = self.waiting.pop_front() {
            self.waiting_bytes -= part.len();
            let writer = self.writer.clone();
            self.sending = Some(Box::pin(async move { writer.send(part).await }));
        }
    }

    /// Gives on what waits, part by part; never returns while nothing waits. Safe to cancel.
    pub async fn pump(&mut self) {
        loop {
            let Some(sending) = &mut self.sending else { return std::future::pending().await };
            let sent = sending.await;
            self.sending = None;
            if sent.is_err() {
                self.waiting.clear();
                self.waiting_bytes = 0;
            }
            self.next();
        }
    }
}
