//! Tests of the journal's file: damage at every byte, a full disk, reading in batches.

use super::*;
use crate::domain::ids::TerminalId;
use crate::domain::journal::Signal;

fn stamp() -> Stamp {
    Stamp { boot_ms: 1, boot_id: "b".into(), at: 2 }
}

fn body(n: u32) -> Body {
    let terminal = TerminalId::new(format!("t{n}")).unwrap();
    Body::Prompted { terminal, generation: n }
}

fn open(path: &Path) -> (Journal, Damage, Vec<Record>) {
    let mut seen = Vec::new();
    let (journal, damage) = Journal::open(path, &mut |r| seen.push(r.clone())).unwrap();
    (journal, damage, seen)
}

#[test]
fn records_come_back_and_incarnations_count() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let (mut journal, damage, seen) = open(&path);
    assert_eq!((damage, seen.len(), journal.incarnation(), journal.seq()), (Damage::None, 0, 1, 0));
    let first = journal.append(&stamp(), body(1)).unwrap();
    assert_eq!((first.seq, first.incarnation), (1, 1));
    let id = journal.id().to_owned();
    drop(journal);
    let (mut journal, damage, seen) = open(&path);
    assert_eq!((damage, journal.incarnation(), journal.seq(), journal.id()), (Damage::None, 2, 1, id.as_str()));
    assert_eq!(seen, [first]);
    assert_eq!(journal.append(&stamp(), body(2)).unwrap().seq, 2);
}

#[test]
fn a_tail_torn_at_any_byte_loses_only_the_unfinished_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let (mut journal, ..) = open(&path);
    let mut ends = vec![journal.end];
    for n in 1..=3 {
        journal.append(&stamp(), body(n)).unwrap();
        ends.push(journal.end);
    }
    let whole = fs::read(&path).unwrap();
    for cut in HEADER_BYTES..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let _ = fs::remove_file(path.with_extension("torn"));
        let (mut journal, damage, seen) = open(&path);
        let good = ends.iter().filter(|end| **end <= cut as u64).count() - 1;
        assert_eq!(seen.len(), good, "cut at {cut}");
        let left = cut as u64 - ends[good];
        assert_eq!(damage, if left == 0 { Damage::None } else { Damage::Torn(left) }, "cut at {cut}");
        let aside = fs::read(path.with_extension("torn")).unwrap_or_default();
        assert_eq!(aside, &whole[ends[good] as usize..cut], "cut at {cut}");
        assert_eq!(journal.append(&stamp(), body(9)).unwrap().seq, good as u64 + 1);
        drop(journal);
        assert_eq!(open(&path).2.len(), good + 1, "cut at {cut}");
    }
}

#[test]
fn a_torn_header_begins_anew_and_a_newer_format_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    drop(open(&path));
    let whole = fs::read(&path).unwrap();
    for cut in 1..HEADER_BYTES {
        fs::write(&path, &whole[..cut]).unwrap();
        let (journal, damage, _) = open(&path);
        assert_eq!((damage, journal.seq()), (Damage::Lost(cut as u64), 0));
    }
    fs::write(&path, "relight-journal 2 and other things\n").unwrap();
    let error = Journal::open(&path, &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("update relight"), "{error}");
    assert!(fs::read_to_string(&path).unwrap().contains("other things"), "it is left alone");
}

#[test]
fn a_flipped_byte_anywhere_keeps_what_lies_before_under_a_new_id() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let (mut journal, ..) = open(&path);
    let mut ends = vec![journal.end as usize];
    for n in 1..=3 {
        journal.append(&stamp(), body(n)).unwrap();
        ends.push(journal.end as usize);
    }
    let id = journal.id().to_owned();
    let whole = fs::read(&path).unwrap();
    for at in ends[0]..ends[2] {
        let mut bad = whole.clone();
        bad[at] ^= 0x01;
        fs::write(&path, &bad).unwrap();
        let (journal, damage, seen) = open(&path);
        let good = ends.iter().filter(|end| **end <= at).count() - 1;
        assert_eq!(seen.len(), good, "flipped {at}");
        assert_eq!(damage, Damage::Lost((whole.len() - ends[good]) as u64), "flipped {at}");
        assert_ne!(journal.id(), id, "its reader must start over");
        assert_eq!((journal.seq(), journal.incarnation()), (good as u64, if good == 0 { 1 } else { 2 }));
        let copied = journal.read(0, u64::MAX, 10).unwrap();
        assert_eq!(
            copied.iter().map(|r| &r.body).collect::<Vec<_>>(),
            seen.iter().map(|r| &r.body).collect::<Vec<_>>()
        );
        assert!(copied.iter().all(|r| r.journal == journal.id()));
    }
}

#[test]
fn reading_after_a_number_is_exact_in_batches() {
    let dir = tempfile::tempdir().unwrap();
    let (mut journal, ..) = open(&dir.path().join("journal"));
    for n in 0..1000 {
        journal.append(&stamp(), body(n)).unwrap();
    }
    for after in [0, 1, 126, 127, 128, 129, 500, 999, 1000, 5000] {
        let mut at = after;
        let mut seen = Vec::new();
        loop {
            let batch = journal.read(at, 990, 100).unwrap();
            let Some(last) = batch.last() else { break };
            at = last.seq;
            seen.extend(batch.into_iter().map(|r| r.seq));
        }
        assert_eq!(seen, (after + 1..=990).collect::<Vec<_>>(), "after {after}");
    }
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_half_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let (mut journal, ..) = open(&path);
    journal.append(&stamp(), body(1)).unwrap();
    let good = Arc::clone(&journal.file);
    journal.file = Arc::new(OpenOptions::new().read(true).write(true).open("/dev/full").unwrap());
    let error = journal.append(&stamp(), body(2)).unwrap_err();
    assert_eq!(error.code(), crate::domain::words::ErrorCode::DiskFull, "{error}");
    journal.file = good;
    assert_eq!(journal.seq(), 1);
    let signal =
        Body::Signal { terminal: TerminalId::new("t").unwrap(), generation: 1, signal: Signal::Ready, spool: Some(7) };
    assert_eq!(journal.append(&stamp(), signal).unwrap().seq, 2);
    assert_eq!(open(&path).2.len(), 2);
}
