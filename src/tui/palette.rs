//! The few colours that relight itself draws with. Nothing is said by colour alone.

use ratatui::style::{Color, Modifier, Style};

use super::badge::Tone;

/// Styles by what they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// Tab bar and status line.
    pub bar: Style,
    /// The chosen tab, the focused field.
    pub chosen: Style,
    /// Keys.
    pub key: Style,
    /// Things of lesser weight.
    pub faint: Style,
    /// Goes on by itself.
    pub busy: Style,
    /// Wants a person.
    pub wants: Style,
    /// Went wrong.
    pub bad: Style,
    /// Lines that were added.
    pub added: Style,
    /// Lines that were taken away.
    pub removed: Style,
    /// Pills, banners, forms.
    pub panel: Style,
}

impl Palette {
    /// With colours of the terminal's own sixteen, so that they suit its background.
    #[must_use]
    pub const fn colour() -> Self {
        Self {
            bar: Style::new(),
            chosen: Style::new().add_modifier(Modifier::REVERSED),
            key: Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD),
            faint: Style::new().fg(Color::DarkGray),
            busy: Style::new().fg(Color::Blue),
            wants: Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD),
            bad: Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
            added: Style::new().fg(Color::Green),
            removed: Style::new().fg(Color::Red),
            panel: Style::new(),
        }
    }

    /// Without any colour.
    #[must_use]
    pub const fn plain() -> Self {
        let plain = Style::new();
        let bold = Style::new().add_modifier(Modifier::BOLD);
        Self {
            bar: plain,
            chosen: Style::new().add_modifier(Modifier::REVERSED),
            key: bold,
            faint: plain,
            busy: plain,
            wants: bold,
            bad: bold,
            added: plain,
            removed: plain,
            panel: plain,
        }
    }

    /// The style of a tone.
    #[must_use]
    pub const fn tone(&self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => self.bar,
            Tone::Busy => self.busy,
            Tone::Wants => self.wants,
            Tone::Bad => self.bad,
            Tone::Faint => self.faint,
        }
    }
}
