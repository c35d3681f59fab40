//! The picture of the screen in README.md is one that the screen makes.

use super::pictures::picture;
use super::tests::write_to;
use crate::domain::ids::TerminalId;
use crate::domain::launch::Size;
use crate::domain::words::Activity;
use crate::tui::desk::Shows;
use crate::tui::msg::{Answer, Call, Effect, Msg};
use crate::tui::samples::{after_prefix, id, line, listed};
use crate::tui::state::State;
use crate::tui::update::update;
use crate::wire::host::Attached;

const COLS: u16 = 100;
const ROWS: u16 = 15;

fn screen() -> State {
    let lines = [
        line("api", Activity::NeedsPermission, "wants to run `cargo test`", 1),
        line("docs", Activity::Working, "a turn is running", 2),
        line("shop", Activity::Ready, "waiting for your next prompt", 3),
    ];
    let mut state = listed((COLS, ROWS), &lines);
    after_prefix(&mut state, '1');
    let mut effects = after_prefix(&mut state, '3');
    let shell = TerminalId::new("shell").unwrap();
    let tab = state.tabs.iter_mut().find(|tab| *tab.id() == id("shop")).unwrap();
    tab.desk.open(Shows::Shell(shell.clone()));
    tab.desk.away = false;
    effects.extend(update(&mut state, Msg::Connected));
    let mut stream = 20;
    for effect in effects {
        if let Effect::Call(call @ Call::Attach { .. }) = effect {
            let attached = Attached { stream, session_id: id("shop"), terminal_id: Some(shell.clone()) };
            update(&mut state, Msg::Answered(call, Ok(Answer::Attached(attached))));
            stream += 1;
        }
    }
    let agent = "* Welcome to Claude Code\r\n\r\n> where is the price rounded?\r\n\r\n\u{25cf} In `cart/total.rs`, once per line:\r\n  \
                 the sum is rounded again.\r\n\r\n> ";
    let shell = "anna@box:~/src/shop$ cargo test -q\r\nrunning 41 tests\r\n........................................F\r\n\
                 anna@box:~/src/shop$ ";
    let streams: Vec<(u32, Shows)> =
        state.panes.iter().filter_map(|p| p.stream.map(|s| (s, p.shows.clone()))).collect();
    for (stream, shows) in streams {
        let text = if shows == Shows::Agent { agent } else { shell };
        let size = state.wanted_panes().into_iter().find(|(wanted, _)| *wanted == shows).map_or(Size::DEFAULT, |w| w.1);
        write_to(&mut state, stream, size, text.as_bytes());
    }
    state.said = None;
    state
}

#[test]
fn the_picture_in_the_readme_is_made_by_the_screen() {
    let made = picture(&screen());
    let made = made.rsplit_once("cursor:").map_or(made.as_str(), |(screen, _)| screen);
    let block = format!("```text\n{made}```\n");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (before, rest) = readme.split_once("```text\n").expect("README.md has a block of text");
    let (_, after) = rest.split_once("```\n").expect("its end");
    let wanted = format!("{before}{block}{after}");
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        std::fs::write(path, &wanted).unwrap();
        return;
    }
    assert!(
        readme == wanted,
        "README.md shows another screen; `INSTA_UPDATE=always cargo test --lib readme` writes it anew:\n{made}"
    );
}
