//! A small model server on loopback that real agent CLIs accept: Anthropic Messages and OpenAI Responses, streaming. Its answer
//! says which code words (`CODE-…`) the request carried, so that a test sees whether a conversation came back.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// What one request carried.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Path.
    pub path: String,
    /// Code words anywhere in it.
    pub words: BTreeSet<String>,
    /// Text of its last user turn.
    pub last: String,
}

/// A running server.
pub struct ModelServer {
    /// Port on 127.0.0.1.
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    _runtime: tokio::runtime::Runtime,
}

impl ModelServer {
    /// Starts it on a free port.
    pub fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime for the model server");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port on loopback");
        let port = listener.local_addr().expect("its address").port();
        let app = Router::new().fallback(answer).with_state(Arc::clone(&seen));
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self { port, seen, _runtime: runtime }
    }

    /// Everything asked so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("the log").clone()
    }

    /// Requests whose last user turn contains `text`, with the words that the whole conversation carried.
    pub fn words_with(&self, text: &str) -> Option<BTreeSet<String>> {
        self.seen().into_iter().rev().find(|s| s.last.contains(text)).map(|s| s.words)
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(map) => {
            ["text", "content", "parts"].iter().find_map(|key| map.get(*key)).map(text_of).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn words_in(text: &str) -> BTreeSet<String> {
    text.match_indices("CODE-")
        .map(|(at, _)| {
            text[at..].chars().take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '-').collect()
        })
        .collect()
}

fn last_user(body: &Value) -> String {
    let turns = ["messages", "input"].iter().find_map(|key| body.get(*key));
    match turns {
        Some(Value::Array(turns)) => turns
            .iter()
            .rev()
            .find(|turn| turn.get("role").and_then(Value::as_str) == Some("user"))
            .map(text_of)
            .unwrap_or_default(),
        Some(other) => text_of(other),
        None => String::new(),
    }
}

async fn answer(State(seen): State<Arc<Mutex<Vec<Seen>>>>, uri: Uri, body: String) -> Response {
    let value: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
    let words = words_in(&body);
    let path = uri.path().to_owned();
    let text = format!("MOCK-ANSWER words=[{}] END", words.iter().cloned().collect::<Vec<_>>().join(","));
    seen.lock().expect("the log").push(Seen { path: path.clone(), words, last: last_user(&value) });
    let stream = value.get("stream").and_then(Value::as_bool).unwrap_or(false);
    if path.ends_with("/count_tokens") {
        axum::Json(json!({"input_tokens": 10})).into_response()
    } else if path.ends_with("/messages") {
        anthropic(&value, &text, stream)
    } else if path.ends_with("/responses") {
        responses(&text)
    } else if value.is_null() {
        axum::Json(json!({"object": "list", "data": [{"id": "mock-model", "object": "model"}], "models": []}))
            .into_response()
    } else {
        (StatusCode::NOT_FOUND, axum::Json(json!({}))).into_response()
    }
}

fn sse(events: &[(&str, Value)]) -> Response {
    let mut body = String::new();
    for (name, data) in events {
        let mut data = data.clone();
        data["type"] = json!(name);
        // Writing to a string does not fail.
        let _ = write!(body, "event: {name}\ndata: {data}\n\n");
    }
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn anthropic(request: &Value, text: &str, stream: bool) -> Response {
    let mut message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"),
        "stop_sequence": null, "stop_reason": null, "content": [],
        "usage": {"input_tokens": 10, "output_tokens": 5},
    });
    if !stream {
        message["content"] = json!([{"type": "text", "text": text}]);
        message["stop_reason"] = json!("end_turn");
        return axum::Json(message).into_response();
    }
    sse(&[
        ("message_start", json!({"message": message})),
        ("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}})),
        ("content_block_delta", json!({"index": 0, "delta": {"type": "text_delta", "text": text}})),
        ("content_block_stop", json!({"index": 0})),
        (
            "message_delta",
            json!({"delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 5}}),
        ),
        ("message_stop", json!({})),
    ])
}

fn responses(text: &str) -> Response {
    let item = json!({"type": "message", "id": "item_1", "role": "assistant",
        "content": [{"type": "output_text", "text": text}]});
    let mut begun = item.clone();
    begun["content"] = json!([]);
    sse(&[
        ("response.created", json!({"response": {"id": "resp_1"}})),
        ("response.output_item.added", json!({"output_index": 0, "item": begun})),
        (
            "response.output_text.delta",
            json!({"item_id": "item_1", "output_index": 0, "content_index": 0, "delta": text}),
        ),
        ("response.output_item.done", json!({"output_index": 0, "item": item})),
        (
            "response.completed",
            json!({"response": {"id": "resp_1", "usage": {"input_tokens": 10, "input_tokens_details": null,
                "output_tokens": 5, "output_tokens_details": null, "total_tokens": 15}}}),
        ),
    ])
}
