//! Which file a path leads to, and whether the files of a room depend on each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{PathRef, Source, tokens};

/// How many re-exports are followed before a path is given up: more than any room has layers.
const MAX_HOPS: usize = 8;

/// The files below `src/`, by module path.
pub struct Modules<'a> {
    files: &'a [Source],
    by_path: BTreeMap<Vec<String>, usize>,
}

impl<'a> Modules<'a> {
    pub fn new(files: &'a [Source]) -> Self {
        let by_path = files.iter().enumerate().map(|(index, file)| (file.module(), index)).collect();
        Self { files, by_path }
    }

    /// The path from the root of the crate; `None` when it leads out of the crate.
    pub fn absolute(&self, file: &Source, path: &PathRef) -> Option<Vec<String>> {
        let mut base = file.module();
        base.extend(path.inside.iter().cloned());
        let mut rest = path.segments.as_slice();
        match rest.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|s| s == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                let mut child = base.clone();
                child.push(first.to_owned());
                if !self.by_path.contains_key(&child) {
                    return None;
                }
            }
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// The files that an absolute path leads to, re-exports followed.
    fn targets(&self, path: &[String], hops: usize) -> BTreeSet<usize> {
        let Some((length, index)) =
            (1..=path.len()).rev().find_map(|n| self.by_path.get(&path[..n]).map(|index| (n, *index)))
        else {
            return BTreeSet::new();
        };
        let file = &self.files[index];
        let own = BTreeSet::from([index]);
        let Some(name) = path.get(length).filter(|_| hops > 0) else {
            return own;
        };
        if defines(file, name) {
            return own;
        }
        let follow = |wanted: &str| -> BTreeSet<usize> {
            file.paths
                .iter()
                .filter(|p| p.import && p.name == wanted && p.inside.is_empty())
                .filter_map(|p| self.absolute(file, p))
                .filter(|p| p.first() == path.first())
                .flat_map(|p| self.targets(p.strip_suffix(&["*".to_owned()][..]).unwrap_or(&p), hops - 1))
                .collect()
        };
        let mut found = follow(name);
        if found.is_empty() {
            found = follow("*");
        }
        if found.is_empty() { own } else { found }
    }

    /// For each file of `room` the files of the same room that it needs. A public re-export is no need of its own:
    /// whoever imports through it needs the file behind it.
    pub fn edges(&self, room: &str) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut edges = BTreeMap::new();
        for (index, file) in
            self.files.iter().enumerate().filter(|(_, f)| f.module().first().is_some_and(|r| r == room))
        {
            let needs: &mut BTreeSet<usize> = edges.entry(index).or_default();
            for path in file.paths.iter().filter(|p| !(p.import && p.public)) {
                if let Some(absolute) = self.absolute(file, path)
                    && absolute.first().is_some_and(|r| r == room)
                {
                    needs.extend(self.targets(&absolute, MAX_HOPS));
                }
            }
            needs.remove(&index);
        }
        edges
    }

    /// One circle among the files of `room`, as paths, if there is any.
    pub fn circle(&self, room: &str) -> Option<Vec<String>> {
        let edges = self.edges(room);
        let mut done = BTreeSet::new();
        for start in edges.keys() {
            let mut trail = Vec::new();
            if let Some(circle) = walk(*start, &edges, &mut trail, &mut done) {
                return Some(circle.into_iter().map(|i| self.files[i].path.clone()).collect());
            }
        }
        None
    }
}

fn walk(
    at: usize,
    edges: &BTreeMap<usize, BTreeSet<usize>>,
    trail: &mut Vec<usize>,
    done: &mut BTreeSet<usize>,
) -> Option<Vec<usize>> {
    if let Some(place) = trail.iter().position(|i| *i == at) {
        let mut circle = trail[place..].to_vec();
        circle.push(at);
        return Some(circle);
    }
    if done.contains(&at) {
        return None;
    }
    trail.push(at);
    for next in edges.get(&at).into_iter().flatten() {
        if let Some(circle) = walk(*next, edges, trail, done) {
            return Some(circle);
        }
    }
    trail.pop();
    done.insert(at);
    None
}

/// Whether the file itself defines `name`.
fn defines(file: &Source, name: &str) -> bool {
    const KEYWORDS: [&str; 9] = ["struct", "enum", "union", "fn", "trait", "type", "const", "static", "macro_rules"];
    tokens(&file.shipped).windows(2).any(|pair| KEYWORDS.contains(&pair[0].text.as_str()) && pair[1].text == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(files: &[(&str, &str)]) -> Option<Vec<String>> {
        let files: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
        Modules::new(&files).circle("a")
    }

    #[test]
    fn a_circle_between_files_is_found() {
        let found = circle(&[
            ("src/a/mod.rs", "pub mod x; pub mod y; pub mod z;"),
            ("src/a/x.rs", "use super::y::Y;"),
            ("src/a/y.rs", "fn f() { crate::a::z::g() }"),
            ("src/a/z.rs", "use super::{x::X, other};"),
        ]);
        assert_eq!(found.unwrap().len(), 4);
    }

    #[test]
    fn a_re_export_is_followed_and_is_no_circle_itself() {
        let facade = "pub mod x; pub mod y; pub use x::X; pub use y::*; pub struct Error;";
        assert_eq!(
            circle(&[
                ("src/a/mod.rs", facade),
                ("src/a/x.rs", "use super::Error; pub struct X;"),
                ("src/a/y.rs", "use super::X; pub struct Y;"),
            ]),
            None
        );
        let found = circle(&[
            ("src/a/mod.rs", facade),
            ("src/a/x.rs", "use super::Y; pub struct X;"),
            ("src/a/y.rs", "use super::X; pub struct Y;"),
        ]);
        assert_eq!(found.unwrap(), ["src/a/x.rs", "src/a/y.rs", "src/a/x.rs"]);
    }

    #[test]
    fn a_parent_that_needs_its_child_and_the_other_way_round_is_a_circle() {
        let found = circle(&[
            ("src/a/mod.rs", "mod x; pub struct P; fn f() { x::g() }"),
            ("src/a/x.rs", "use super::P; pub fn g() {}"),
        ]);
        assert!(found.is_some());
    }
}
