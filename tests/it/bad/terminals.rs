//! Terminals that are none, that can do nothing, or that have odd sizes.

use serde_json::json;

use crate::support::Home;
use crate::support::client::Client;
use crate::support::told::Told;
use crate::support::tui::Tui;

/// The prefix and `d`.
const DETACH: &[u8] = b"\x00d";

#[test]
fn a_terminal_that_cannot_show_the_screen_is_refused_before_anything_is_written() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    for args in [&[][..], &["attach"], &["attach", &told.id], &["attach", "--read-only"]] {
        home.run(args).exits(2).says(&["needs a terminal", "`relight capture`"]);
    }
    let mut dumb = Tui::on(&home, &told.id, Some("dumb"), (100, 30));
    dumb.until_text(&home, "TERM=`dumb`");
    dumb.until_text(&home, "`relight ls`");
    assert_eq!(dumb.until_end(&home, b""), 2);
    // Nothing is known of it: the common sequences.
    let mut unset = Tui::on(&home, &told.id, None, (100, 30));
    unset.until_text(&home, "I will remember kiwi.");
    assert_eq!(unset.until_end(&home, DETACH), 0);
}

/// Named by the fault: the client asked for 200 GB of memory for its picture and was ended, its terminal left as it was.
#[test]
fn a_terminal_of_any_size_is_drawn_on_and_left_as_it_was() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let agent = home.agent(&told.id);
    for size in [(0, 0), (1, 1), (1, 300), (300, 1), (2, 2), (u16::MAX, u16::MAX)] {
        let mut tui = Tui::on(&home, &told.id, Some("xterm"), size);
        assert_eq!(tui.until_end(&home, DETACH), 0, "{size:?}: {:?}", tui.rows().iter().find(|row| !row.is_empty()));
    }
    assert_eq!(home.agent(&told.id), agent);
    let mut tui = Tui::attach(&home, &told.id);
    tui.until_text(&home, "kiwi");
    home.ask(&told.id, "what is the code word?", "The code word is kiwi.");
}

#[test]
fn sizes_that_a_client_names_are_brought_within_bounds() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let agent = home.agent(&told.id);
    for (cols, rows) in [(0, 0), (1, 1), (u16::MAX, u16::MAX), (u16::MAX, 1), (1, u16::MAX)] {
        let client = Client::connect(&home);
        let attach = json!({"session": told.id, "size": {"cols": cols, "rows": rows}});
        let stream = client.call("terminal.attach", attach).unwrap()["stream"].clone();
        client.call("terminal.detach", json!({"stream": stream})).unwrap();
        home.run(&["capture", &told.id]).ok();
        let params = json!({"agent": "shell", "cwd": home.project(), "size": {"cols": cols, "rows": rows}});
        let id = client.call("session.create", params).unwrap()["session_id"].as_str().unwrap().to_owned();
        home.until_alive(&id, 1);
        home.run(&["send", &id, "stty size | tr ' ' x"]).ok();
        let within = |n: u16, min: u16| n.clamp(min, 1_000);
        home.until_screen(&id, "x");
        let size = format!("{}x{}", within(rows, 1), within(cols, 2));
        if cols > 20 {
            home.until_screen(&id, &size);
        }
        home.run(&["kill", &id]).ok();
    }
    // What is no size at all is refused.
    let client = Client::connect(&home);
    for size in [json!({"cols": -1, "rows": 5}), json!({"cols": 70_000, "rows": 5}), json!("80x24")] {
        let error = client.call("terminal.attach", json!({"session": told.id, "size": size})).unwrap_err();
        assert_eq!(error.code, relight::domain::words::ErrorCode::BadRequest, "{error:?}");
    }
    assert_eq!(home.agent(&told.id), agent);
    Tui::attach(&home, &told.id).until_text(&home, "kiwi");
    home.ask(&told.id, "what is the code word?", "The code word is kiwi.");
}
