//! Programs of different versions meet: both numbers are told, and nobody is ended or replaced for it.

use std::fs;

use crate::support::Home;
use crate::support::kill;
use crate::support::told::Told;

use super::support::{Fake, Holder, Unharmed, agentctl_socket, request, say};

const REFUSES: &str = "HTTP/1.1 426 Upgrade Required\r\nrelight-protocol: 999\r\ncontent-length: 2\r\n\r\n{}";
const TALKS: &str = "HTTP/1.1 200 OK\r\nrelight-protocol: 999\r\ncontent-length: 2\r\n\r\n{}";

#[test]
fn clients_of_other_versions_are_refused_with_both_numbers() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let agentctl = agentctl_socket(&home, &told.id);
    for (path, at) in [(home.path().join("state/host.sock"), "/hello"), (agentctl, "/health")] {
        for (version, says) in [("999", "protocol 999"), ("0", "protocol 0"), ("x", "names none"), ("-1", "names none")]
        {
            let said = String::from_utf8_lossy(&say(&path, &request("GET", at, version, ""))).into_owned();
            assert!(said.starts_with("HTTP/1.1 426 ") && said.contains("version_mismatch"), "{said}");
            assert!(said.contains("speaks protocol 1") && said.contains(says), "{said}");
        }
        let said = String::from_utf8_lossy(&say(&path, &request("GET", at, "1", ""))).into_owned();
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    }
    unharmed.check();
}

#[test]
fn a_host_of_another_version_is_named_left_alone_and_can_be_stopped() {
    for answer in [REFUSES, TALKS] {
        let home = Home::new();
        fs::create_dir_all(home.path().join("state")).unwrap();
        let mut holder = Holder::of(&home.path().join("state/host.lock"));
        let fake = Fake::answering(home.path().join("state/host.sock"), answer);
        for args in [
            &["ls"][..],
            &["new", "--agent", "demo", "--detach"],
            &["send", "x", "y"],
            &["resume", "x"],
            &["kill", "x"],
            &["events"],
            &["host", "start"],
            &["host", "status"],
        ] {
            home.run(args).exits(8).says(&["protocol 1", "protocol 999", "relight host stop"]);
        }
        let error = home.run(&["ls", "--json"]).exits(8).error();
        assert_eq!(error["code"], "version_mismatch", "{error}");
        assert!(holder.lives(), "it is not ours to end unasked");
        assert_eq!(home.living(), [], "nothing is started beside it");
        // Asked for: what its version is does not matter to a signal.
        home.run(&["host", "stop"]).ok();
        home.until("its end", || !holder.lives());
        drop(fake);
        home.run(&["ls"]).ok();
    }
}

#[test]
fn an_agentctl_of_another_version_is_left_alone_until_it_is_gone() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let (agentctl, agent) = (home.agentctl(&told.id), home.agent(&told.id));
    home.run(&["host", "stop"]).ok();
    kill::kill(&agentctl);
    kill::kill(&agent);
    let mut holder = Holder::of(&agentctl_socket(&home, &told.id).with_extension("lock"));
    let fake = Fake::answering(agentctl_socket(&home, &told.id), REFUSES);
    home.run(&["host", "start"]).ok();
    let told_so = |line: &serde_json::Value| line["why"].as_str().is_some_and(|why| why.contains("protocol 999"));
    let line = home.until_session(&told.id, "words about the version", told_so);
    assert_eq!(line["activity"], "unreachable", "{line}");
    for args in [&["resume", &told.id][..], &["send", &told.id, "x"], &["capture", &told.id]] {
        let reply = home.run(args);
        assert!(matches!(reply.code, Some(5 | 8)), "{reply:#?}");
        assert!(!reply.err.is_empty(), "{reply:#?}");
    }
    home.run(&["resume", &told.id]).says(&["protocol 1", "protocol 999"]);
    assert!(holder.lives());
    let started = home.living().into_iter().filter(|(_, line)| line.contains("agentctl serve")).count();
    assert_eq!((started, home.agents_with(&told.token).len()), (0, 0), "{}", home.report());
    told.token_is_kept(&home);
    drop((holder, fake));
    told.back_once(&home, 2);
}
