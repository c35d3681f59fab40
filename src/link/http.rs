//! One request over a connection of its own, and the upgrade of one to a WebSocket.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::domain::words::ErrorCode;
use crate::link::endpoint::Endpoint;
use crate::link::error::Error;
use crate::link::stream::Stream;
use crate::wire::host::WireError;
use crate::wire::{MAX_MESSAGE_BYTES, PROTOCOL, PROTOCOL_HEADER};

/// Longest answer read, in bytes: a page of 1,000 journal records with long messages fits.
const MAX_REPLY_BYTES: usize = 32 * 1024 * 1024;
/// How long a request may take where nothing else is said.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// A server, and what every request to it carries.
#[derive(Debug, Clone)]
pub struct Remote {
    endpoint: Endpoint,
    authorization: Option<HeaderValue>,
}

/// One request.
#[derive(Debug)]
pub struct Ask {
    method: Method,
    path: String,
    body: Option<Vec<u8>>,
    deadline: Duration,
}

impl Ask {
    /// `GET path`.
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), body: None, deadline: DEADLINE }
    }

    /// `POST path` with `body` as JSON.
    ///
    /// # Errors
    /// [`Error::Unsendable`] when it is no JSON or too long.
    pub fn post(path: impl Into<String>, body: &impl Serialize) -> Result<Self, Error> {
        let path = path.into();
        let body = serde_json::to_vec(body)
            .map_err(|error| Error::Unsendable { what: path.clone(), why: error.to_string() })?;
        if body.len() > MAX_MESSAGE_BYTES {
            let why = format!("it has {} bytes, at most {MAX_MESSAGE_BYTES} are accepted", body.len());
            return Err(Error::Unsendable { what: path, why });
        }
        Ok(Self { method: Method::POST, path, body: Some(body), deadline: DEADLINE })
    }

    /// The same with another deadline than [`DEADLINE`].
    #[must_use]
    pub fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    fn what(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

impl Remote {
    /// A server at `endpoint`, with the bearer token that it wants, if any.
    #[must_use]
    pub fn new(endpoint: Endpoint, token: Option<&str>) -> Self {
        let authorization = token.and_then(|token| HeaderValue::from_str(&format!("Bearer {token}")).ok());
        let authorization = authorization.map(|mut value| {
            value.set_sensitive(true);
            value
        });
        Self { endpoint, authorization }
    }

    /// Where it is.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Asks and reads the answer as `T`.
    ///
    /// # Errors
    /// Every kind of [`Error`] but `Closed` and `Bind`; after [`Error::Silent`] the request's fate is unknown.
    pub async fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, Error> {
        let what = ask.what();
        let deadline = ask.deadline;
        let request = self.request(ask, None)?;
        let body = self.within(&what, deadline, self.exchange(&what, request)).await?;
        serde_json::from_slice(&body).map_err(|error| self.unreadable(&what, error.to_string()))
    }

    async fn within<T>(
        &self,
        what: &str,
        deadline: Duration,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::time::timeout(deadline, work).await.unwrap_or_else(|_| {
            Err(Error::Silent { at: self.endpoint.to_string(), what: what.to_owned(), after: deadline })
        })
    }

    fn request(&self, ask: Ask, key: Option<&str>) -> Result<Request<Full<Bytes>>, Error> {
        let what = ask.what();
        let mut builder = Request::builder()
            .method(ask.method)
            .uri(ask.path)
            .header(header::HOST, "relight")
            .header(PROTOCOL_HEADER, PROTOCOL);
        if let Some(value) = &self.authorization {
            builder = builder.header(header::AUTHORIZATION, value);
        }
        if ask.body.is_some() {
            builder = builder.header(header::CONTENT_TYPE, "application/json");
        }
        if let Some(key) = key {
            builder = builder
                .header(header::CONNECTION, "Upgrade")
                .header(header::UPGRADE, "websocket")
                .header(header::SEC_WEBSOCKET_VERSION, "13")
                .header(header::SEC_WEBSOCKET_KEY, key);
        }
        let body = Full::new(Bytes::from(ask.body.unwrap_or_default()));
        builder.body(body).map_err(|error| Error::Unsendable { what, why: error.to_string() })
    }

    async fn exchange(&self, what: &str, request: Request<Full<Bytes>>) -> Result<Bytes, Error> {
        let (mut sender, connection) = self.handshake(what).await?;
        let work = async {
            let response = sender.send_request(request).await.map_err(|error| self.broken(what, &error))?;
            self.body(what, response).await
        };
        // The connection only moves while it is polled, and needs no task of its own.
        tokio::pin!(work, connection);
        tokio::select! {
            biased;
            done = &mut work => done,
            ended = &mut connection => match ended {
                Ok(()) => work.await,
                Err(error) => Err(self.broken(what, &error)),
            },
        }
    }

    /// Opens a WebSocket at `path` and gives the bytes behind the handshake.
    ///
    /// # Errors
    /// As [`Remote::ask`].
    pub async fn upgrade(&self, path: impl Into<String>) -> Result<TokioIo<hyper::upgrade::Upgraded>, Error> {
        let ask = Ask::get(path);
        let what = ask.what();
        let key = generate_key();
        let request = self.request(ask, Some(&key))?;
        self.within(&what, DEADLINE, async {
            let (mut sender, connection) = self.handshake(&what).await?;
            let work = async {
                let response = sender.send_request(request).await.map_err(|error| self.broken(&what, &error))?;
                self.upgraded(&what, response, &key).await
            };
            let connection = connection.with_upgrades();
            tokio::pin!(work, connection);
            tokio::select! {
                biased;
                done = &mut work => done,
                ended = &mut connection => match ended {
                    Ok(()) => work.await,
                    Err(error) => Err(self.broken(&what, &error)),
                },
            }
        })
        .await
    }

    async fn handshake(
        &self,
        what: &str,
    ) -> Result<(http1::SendRequest<Full<Bytes>>, http1::Connection<TokioIo<Stream>, Full<Bytes>>), Error> {
        let stream = self.endpoint.connect().await?;
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.broken(what, &error))
    }

    async fn upgraded(
        &self,
        what: &str,
        response: Response<Incoming>,
        key: &str,
    ) -> Result<TokioIo<hyper::upgrade::Upgraded>, Error> {
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            self.body(what, response).await?;
            return Err(self.unreadable(what, "it does not open a WebSocket"));
        }
        self.version(what, &response)?;
        let accept = response.headers().get(header::SEC_WEBSOCKET_ACCEPT).map(HeaderValue::as_bytes);
        if accept != Some(derive_accept_key(key.as_bytes()).as_bytes()) {
            return Err(self.unreadable(what, "its WebSocket handshake is wrong"));
        }
        let io = hyper::upgrade::on(response).await.map_err(|error| self.broken(what, &error))?;
        Ok(TokioIo::new(io))
    }

    async fn body(&self, what: &str, response: Response<Incoming>) -> Result<Bytes, Error> {
        self.version(what, &response)?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_REPLY_BYTES).collect().await;
        let body = body.map_err(|error| self.unreadable(what, error.to_string()))?.to_bytes();
        if status.is_success() {
            return Ok(body);
        }
        match serde_json::from_slice::<WireError>(&body) {
            Ok(error) if error.code == ErrorCode::VersionMismatch => {
                Err(Error::VersionMismatch { ours: PROTOCOL, theirs: 0 })
            }
            Ok(error) => Err(Error::Remote(error)),
            Err(_) => Err(self.unreadable(what, format!("it answered with status {status}"))),
        }
    }

    fn version<B>(&self, what: &str, response: &Response<B>) -> Result<(), Error> {
        let named = response.headers().get(PROTOCOL_HEADER).and_then(|value| value.to_str().ok()?.parse().ok());
        match named {
            Some(PROTOCOL) => Ok(()),
            Some(theirs) => Err(Error::VersionMismatch { ours: PROTOCOL, theirs }),
            None => Err(self.unreadable(what, "it names no protocol version, so it is no relight")),
        }
    }

    fn unreadable(&self, what: &str, why: impl Into<String>) -> Error {
        Error::Unreadable { at: self.endpoint.to_string(), what: what.to_owned(), why: why.into() }
    }

    fn broken(&self, what: &str, error: &hyper::Error) -> Error {
        let at = self.endpoint.to_string();
        if error.is_parse() {
            return self.unreadable(what, error.to_string());
        }
        let cause = std::error::Error::source(error);
        let why = cause.map_or_else(|| error.to_string(), ToString::to_string);
        // A connection that was reset is told from one that is refused: the kind is kept beside the words.
        let kind = cause.and_then(|cause| cause.downcast_ref::<std::io::Error>()).map(std::io::Error::kind);
        let kind = kind.or_else(|| error.is_incomplete_message().then_some(std::io::ErrorKind::UnexpectedEof));
        Error::Io {
            at,
            what: what.to_owned(),
            source: std::io::Error::new(kind.unwrap_or(std::io::ErrorKind::Other), why),
        }
    }
}
