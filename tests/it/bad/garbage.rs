//! Garbage and half requests on the sockets of the host and of an agentctl: only the connection that sent them ends.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use crate::support::Home;
use crate::support::told::Told;

use super::support::{Unharmed, agentctl_socket, ends, request, say, upgraded};

/// Both sockets of an instance, each with paths that upgrade to a WebSocket.
fn sockets(home: &Home, told: &Told) -> [(PathBuf, Vec<String>); 2] {
    let terminal = home.session(&told.id)["terminal_id"].as_str().expect("a terminal").to_owned();
    [
        (home.path().join("state/host.sock"), vec!["/ws".into()]),
        (
            agentctl_socket(home, &told.id),
            vec!["/journal/stream?after=0".into(), format!("/terminals/{terminal}/stream")],
        ),
    ]
}

/// Bytes that mean nothing, the same in each run.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[test]
fn bytes_that_are_no_request_end_their_connection_only() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let head = "host: x\r\nrelight-protocol: 1\r\n";
    let many = (0..2_000).fold(String::new(), |all, n| all + &format!("x-{n}: y\r\n"));
    let long = "x".repeat(200_000);
    let text = |text: String| text.into_bytes();
    let bad = [
        noise(64 * 1024),
        vec![0; 70_000],
        vec![b'\n'; 70_000],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"GET".to_vec(),
        text(format!("GET /hello HTTP/9.9\r\n{head}\r\n")),
        text(format!("GET /{long} HTTP/1.1\r\n{head}\r\n")),
        text(format!("GET /hello HTTP/1.1\r\n{head}x: {long}\r\n\r\n")),
        text(format!("GET /hello HTTP/1.1\r\n{head}{many}\r\n")),
        text(format!("POST /terminals HTTP/1.1\r\n{head}content-length: 5\r\n\r\n{{")),
        text(format!("POST /terminals HTTP/1.1\r\n{head}content-length: -5\r\n\r\n{{")),
        text(format!("POST /terminals HTTP/1.1\r\n{head}content-length: 99999999999999999999\r\n\r\n{{")),
        text(format!("POST /terminals HTTP/1.1\r\n{head}content-length: 104857600\r\n\r\n{long}")),
        text(format!("POST /terminals HTTP/1.1\r\n{head}transfer-encoding: chunked\r\n\r\nffffffffff\r\n{long}")),
        text(format!("GET /ws HTTP/1.1\r\n{head}connection: upgrade\r\nupgrade: websocket\r\n\r\n")),
        text(format!("GET /ws HTTP/1.1\r\n{head}connection: upgrade\r\nupgrade: nothing\r\n\r\n")),
    ];
    for (path, _) in sockets(&home, &told) {
        for bytes in &bad {
            let said = String::from_utf8_lossy(&say(&path, bytes)).into_owned();
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
            assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{start}: {said}");
        }
    }
    unharmed.check();
}

#[test]
fn requests_of_the_wrong_shape_are_refused_with_a_code() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let path = agentctl_socket(&home, &told.id);
    let [_, (_, streams)] = sockets(&home, &told);
    let terminal = streams[1].trim_end_matches("/stream").to_owned();
    let deep = "[".repeat(100_000);
    for (method, at, body, status, code) in [
        ("POST", "/terminals", "{}", 400, "bad_request"),
        ("POST", "/terminals", "null", 400, "bad_request"),
        ("POST", "/terminals", "{\"terminal\": \"../../x\"}", 400, "bad_request"),
        ("POST", "/terminals", &deep, 400, "bad_request"),
        ("GET", "/nothing", "", 404, "unknown_method"),
        ("GET", "/shutdown", "", 404, "unknown_method"),
        ("DELETE", "/terminals", "", 404, "unknown_method"),
        ("GET", "/terminals/..%2f..%2fshutdown/fate", "", 400, "bad_request"),
        ("GET", "/terminals/%00/capture", "", 400, "bad_request"),
        ("GET", "/terminals/%ff%fe/capture", "", 400, "bad_request"),
        ("GET", "/terminals/nobody/capture", "", 404, "terminal_not_found"),
        ("POST", "/terminals/nobody/close", "", 400, "bad_request"),
        ("GET", &format!("/terminals/{}/capture", "x".repeat(9_000)), "", 400, "bad_request"),
        ("GET", &format!("{terminal}/capture?history=-1"), "", 400, "bad_request"),
        ("POST", &format!("{terminal}/resize"), "{\"cols\": 99999, \"rows\": 1}", 400, "bad_request"),
        ("POST", &format!("{terminal}/input"), "{\"text\": 5}", 400, "bad_request"),
        ("GET", "/journal?after=-1", "", 400, "bad_request"),
        ("GET", "/journal?after=x", "", 400, "bad_request"),
    ] {
        let said = String::from_utf8_lossy(&say(&path, &request(method, at, "1", body))).into_owned();
        let at = at.chars().take(80).collect::<String>();
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {at}: {said}");
        assert!(said.contains(&format!("\"code\":\"{code}\"")), "{method} {at}: {said}");
    }
    for file in ["../../../../etc/passwd", "/etc/passwd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "%00", ""] {
        let at = format!("/workspace/file?path={file}");
        let said = String::from_utf8_lossy(&say(&path, &request("GET", &at, "1", ""))).into_owned();
        assert!(
            said.starts_with("HTTP/1.1 4") && said.contains("\"code\":") && !said.contains("root:"),
            "{at}: {said}"
        );
    }
    for (at, body) in [
        (format!("{terminal}/capture?history=18446744073709551615"), ""),
        (format!("{terminal}/resize"), "{\"cols\": 65535, \"rows\": 65535}"),
        (format!("{terminal}/resize"), "{\"cols\": 0, \"rows\": 0}"),
        (format!("{terminal}/resize"), "{\"cols\": 80, \"rows\": 24}"),
        ("/journal?after=18446744073709551615".to_owned(), ""),
    ] {
        let method = if body.is_empty() { "GET" } else { "POST" };
        let said = String::from_utf8_lossy(&say(&path, &request(method, &at, "1", body))).into_owned();
        assert!(said.starts_with("HTTP/1.1 200 "), "{at}: {said}");
    }
    unharmed.check();
}

/// A masked frame as clients send them.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        short @ 0..126 => out.push(0x80 | short as u8),
        middle @ 126..65_536 => {
            out.push(0x80 | 0x7e);
            out.extend((middle as u16).to_be_bytes());
        }
        long => {
            out.push(0x80 | 0x7f);
            out.extend((long as u64).to_be_bytes());
        }
    }
    out.extend([0; 4]);
    out.extend(payload);
    out
}

/// The head of a masked frame that announces `bytes`.
fn announce(first: u8, bytes: u64) -> Vec<u8> {
    let mut out = vec![first, 0x80 | 0x7f];
    out.extend(bytes.to_be_bytes());
    out.extend([0; 4]);
    out
}

#[test]
fn frames_that_are_none_end_their_connection_only() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let hundred_megabytes = 100 * 1024 * 1024;
    let bad = [
        ("noise", [vec![0xff], noise(4096)].concat()),
        ("an unknown opcode", frame(0x83, b"x")),
        ("an unknown control opcode", frame(0x8f, b"")),
        ("reserved bits", frame(0xf1, b"x")),
        ("no mask", vec![0x81, 0x01, b'x']),
        ("a long ping", frame(0x89, &[0; 200])),
        ("a ping in pieces", frame(0x09, b"x")),
        ("a continuation of nothing", frame(0x80, b"x")),
        ("a text within a text", [frame(0x01, b"x"), frame(0x81, b"y")].concat()),
        ("text that is no UTF-8", frame(0x81, b"\xff\xfe\xfd")),
        ("a text of 100 MB", [announce(0x81, hundred_megabytes), noise(1000)].concat()),
        ("the longest frame", announce(0x81, u64::MAX)),
        ("a long frame with the highest bit", announce(0x82, 1 << 63)),
        ("5 MiB in pieces", {
            let piece = vec![b'x'; 1 << 20];
            [frame(0x01, &piece), (0..5).flat_map(|_| frame(0x00, &piece)).collect()].concat()
        }),
        ("a close frame with half a code", frame(0x88, b"\x03")),
        ("a close frame with no code at all", frame(0x88, b"")),
        ("a close frame with a code that is none", frame(0x88, &5_u16.to_be_bytes())),
    ];
    for (path, streams) in sockets(&home, &told) {
        for at in &streams {
            for (what, bytes) in &bad {
                let mut stream = upgraded(&path, at);
                let _ = stream.write_all(bytes);
                ends(stream, &format!("{what} at {at}"));
            }
        }
    }
    unharmed.check();
}

#[test]
fn messages_that_say_nothing_end_their_connection_only() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let deep = format!("{{\"id\":1,\"method\":\"session.list\",\"params\":{}}}", "[".repeat(100_000));
    let bad: Vec<Vec<u8>> = vec![
        frame(0x82, b"binary"),
        frame(0x81, b""),
        frame(0x81, b"{"),
        frame(0x81, b"[]"),
        frame(0x81, b"null"),
        frame(0x81, b"{\"id\":1}"),
        frame(0x81, b"{\"id\":-1,\"method\":\"session.list\"}"),
        frame(0x81, b"{\"id\":1e300,\"method\":\"session.list\"}"),
        frame(0x81, b"{\"id\":\"1\",\"method\":\"session.list\"}"),
        frame(0x81, b"{\"id\":1,\"method\":5}"),
        frame(0x81, deep.as_bytes()),
    ];
    let [(host, _), (agentctl, streams)] = sockets(&home, &told);
    for (path, at) in [(&host, "/ws"), (&agentctl, streams[1].as_str())] {
        for bytes in &bad {
            let mut stream = upgraded(path, at);
            stream.write_all(bytes).unwrap();
            let what = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
            ends(stream, &format!("{what} at {at}"));
        }
    }
    unharmed.check();
}

#[test]
fn connections_that_stop_in_the_middle_leave_nothing() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let call = frame(0x81, b"{\"id\":1,\"method\":\"session.list\"}");
    for (path, streams) in sockets(&home, &told) {
        for length in [0, 1, 10, 40] {
            let mut half = UnixStream::connect(&path).unwrap();
            half.write_all(&request("GET", "/health", "1", "")[..length]).unwrap();
        }
        for at in &streams {
            for length in [0, 1, 3, 8, call.len() - 1, call.len()] {
                upgraded(&path, at).write_all(&call[..length]).unwrap();
            }
            // In the middle of what the other side sends.
            let mut attached = upgraded(&path, at);
            attached
                .write_all(&frame(0x81, b"{\"id\":1,\"method\":\"events.subscribe\",\"params\":{\"since\":0}}"))
                .unwrap();
        }
    }
    unharmed.check();
}

#[test]
fn two_hundred_idle_connections_are_no_burden_and_are_ended_in_time() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let mut idle = Vec::new();
    let mut upgrades = Vec::new();
    for (path, streams) in sockets(&home, &told) {
        for number in 0..200 {
            let mut stream = UnixStream::connect(&path).unwrap();
            // Some say nothing at all, the others half of something.
            let half = request("GET", "/health", "1", "");
            stream.write_all(&half[..number % half.len().min(50)]).unwrap();
            idle.push(stream);
        }
        upgrades.extend((0..20).map(|_| upgraded(&path, &streams[0])));
    }
    home.ask(&told.id, "hello there", "You said: hello there");
    for stream in idle {
        ends(stream, "an idle connection");
    }
    // A client that looks and says nothing stays; half a frame is its own affair.
    for stream in &mut upgrades {
        stream.write_all(&announce(0x81, 100)).unwrap();
    }
    home.ask(&told.id, "hello again", "You said: hello again");
    drop(upgrades);
    unharmed.check();
}
