//! The mouse of a real terminal: clicks on what relight draws, and what programs in panes get of it.

use crate::support::Home;
use crate::support::home::text;
use crate::support::kill;
use crate::support::terminal::{PREFIX, Terminal};
use crate::support::told::Told;

const SIZE: (u16, u16) = (80, 24);

/// A program that shows what it reads, after it has asked for something.
fn shows_input(home: &Home, name: &str) -> String {
    text(&home.json(&["new", "--agent", "shell", "--name", name, "--detach"]), "session_id")
}

fn ask(home: &Home, terminal: &mut Terminal, number: u8, what: &str) {
    // The word is not on the screen before the program has run.
    let line = format!("stty -echo; printf '\\033[H\\033[2J{what}seeing%s\\n' {number}; cat -v");
    terminal.keys(&format!("{line}\r"));
    terminal.until_text(home, &format!("seeing{number}"));
    terminal.until_quiet();
}

#[test]
fn clicks_choose_tabs_sessions_and_panes_and_answer_questions() {
    let home = Home::new();
    let (first, second) = (shows_input(&home, "first"), shows_input(&home, "second"));
    let mut terminal = Terminal::new(SIZE);
    terminal.start(&home, &["attach", &first]);
    let chosen = |t: &mut Terminal, id: &str| {
        // Whatever is typed goes into the chosen session.
        let mark = format!("to-{}", &id[..4]);
        t.keys(&format!("echo {mark}\r"));
        home.until(&format!("{mark} in {id}"), || home.screen(id).matches(&mark).count() >= 2);
    };
    terminal.until_text(&home, "2 ");
    chosen(&mut terminal, &first);
    terminal.click_on("second");
    chosen(&mut terminal, &second);
    // The list at the side.
    terminal.keys(&format!("{PREFIX}s"));
    terminal.until(&home, "the sidebar", |t| t.text().matches("first").count() == 3);
    let row = terminal.rows().iter().skip(1).position(|row| row.starts_with("  ") && row.contains(" first")).unwrap();
    terminal.click(5, row + 1);
    home.run(&["send", &first, "clear"]).ok();
    home.run(&["send", &second, "clear"]).ok();
    chosen(&mut terminal, &first);
    terminal.keys(&format!("{PREFIX}ss"));
    // Two panes: a click in the other one gives it the keys.
    terminal.keys(&format!("{PREFIX}%"));
    terminal.until_text(&home, "▶ shell");
    terminal.click(5, 5);
    terminal.until(&home, "the focus on the left", |t| t.rows()[1].starts_with("─ ▶"));
    terminal.click(60, 5);
    terminal.until(&home, "the focus on the right", |t| t.text().contains("▶ shell"));
    terminal.click(5, 5);
    terminal.until(&home, "the focus on the left", |t| t.rows()[1].starts_with("─ ▶"));
    // A question is answered.
    terminal.keys(&format!("{PREFIX}X"));
    terminal.until_text(&home, "[y] yes");
    terminal.click_on("[n]");
    terminal.until(&home, "no question", |t| !t.text().contains("[y] yes"));
    terminal.keys(&format!("{PREFIX}X"));
    terminal.until_text(&home, "[y] yes");
    terminal.click_on("[y]");
    home.until_session(&first, "an end", |line| line["state"] == "CANCELLED");
    assert!(home.session(&second)["end_reason"].is_null());
}

#[test]
fn a_click_on_what_a_banner_offers_does_what_its_key_does() {
    let home = Home::new();
    home.write_config("[resume]\nauto = \"never\"\n");
    let told = Told::new(&home, "kiwi");
    let mut terminal = Terminal::new(SIZE);
    terminal.start(&home, &["attach", &told.id]);
    terminal.until_text(&home, "I will remember kiwi.");
    kill::kill(&home.agent(&told.id));
    terminal.until_text(&home, "[r] Resume");
    terminal.click_on("[r] Resume");
    home.until_alive(&told.id, 2);
    terminal.until(&home, "no banner", |t| !t.text().contains("[r]"));
    told.back_once(&home, 2);
}

#[test]
fn a_program_gets_the_mouse_it_asked_for_and_nothing_else() {
    let home = Home::new();
    let id = shows_input(&home, "mouse");
    let mut terminal = Terminal::new(SIZE);
    terminal.start(&home, &["attach", &id]);
    terminal.until_text(&home, "ready");
    ask(&home, &mut terminal, 1, "");
    // Wheel and clicks mean nothing to it; a key that follows them shows that they were taken.
    terminal.keys("\x1b[<64;10;5M\x1b[<65;10;5M\x1b[<0;10;5M\x1b[<0;10;5mend1\r");
    terminal.until_text(&home, "end1");
    let shown = |t: &Terminal| t.rows()[1..22].join(" ");
    assert!(!shown(&terminal).contains('^'), "{}", terminal.text());
    terminal.keys("\x04");
    ask(&home, &mut terminal, 2, "\\033[?1000h\\033[?1006h");
    terminal.keys("\x1b[<64;10;5M\x1b[<0;10;5M\x1b[<0;10;5mend2\r");
    terminal.until_text(&home, "end2");
    // Row 5 of the terminal is row 4 of the pane, which begins below the tab bar.
    assert!(shown(&terminal).contains("^[[<64;10;4M^[[<0;10;4M^[[<0;10;4mend2"), "{}", terminal.text());
    terminal.keys("\x04");
    // The alternate screen: arrows, in the form that it asked for.
    ask(&home, &mut terminal, 3, "\\033[?1000l\\033[?1049h\\033[?1007h\\033[?1h");
    terminal.keys("\x1b[<64;10;5Mend3\r");
    terminal.until_text(&home, "end3");
    assert!(shown(&terminal).contains("^[OA^[OA^[OAend3"), "{}", terminal.text());
    terminal.keys("\x04");
    ask(&home, &mut terminal, 4, "\\033[?1049h\\033[?1007l");
    terminal.keys("\x1b[<64;10;5Mend4\r");
    terminal.until_text(&home, "end4");
    assert!(!shown(&terminal).contains('^'), "{}", terminal.text());
}

#[test]
fn the_mouse_is_taken_as_the_settings_say() {
    for (mouse, asked, before) in [("true", true, true), ("\"program\"", true, false), ("false", false, false)] {
        let home = Home::new();
        home.write_config(&format!("[ui]\nmouse = {mouse}\n"));
        let id = shows_input(&home, "mouse");
        let mut terminal = Terminal::new(SIZE);
        terminal.start(&home, &["attach", &id]);
        terminal.until_text(&home, "ready");
        terminal.until_quiet();
        assert_eq!(terminal.modes.is_on(1000), before, "{mouse}");
        ask(&home, &mut terminal, 1, "\\033[?1000h");
        assert_eq!(terminal.modes.is_on(1000), asked, "{mouse}");
        assert!(!terminal.modes.is_on(1003), "moves with no button held are nobody's business");
    }
}
