//! Many processes at once: everything that was acknowledged is there, and nobody shares a task.

use crate::fixture::{Place, random};
use crate::worker::{Acknowledged, Worker};
use baton_testing::rounds;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Reads the file again and again; it can be parsed whenever it is there.
fn parse_always(place: &Place, stop: &AtomicBool) -> usize {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        if let Ok(bytes) = std::fs::read(place.file()) {
            let parsed: Result<Value, _> = serde_json::from_slice(&bytes);
            assert!(parsed.is_ok(), "{} bytes: {parsed:?}", bytes.len());
            count += 1;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    count
}

#[test]
fn sixteen_processes_write_at_once() {
    let place = Place::in_memory();
    let start = Instant::now();
    let agents: Vec<String> = (0..16).map(|number| format!("agent-{number}")).collect();
    let mut workers: Vec<Worker> =
        agents.iter().map(|agent| Worker::start(place.board.folder(), agent, 200)).collect();
    let stop = AtomicBool::new(false);
    let (acknowledged, reads) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| parse_always(&place, &stop));
        let said: Vec<_> = workers.iter_mut().map(|worker| scope.spawn(|| worker.rest())).collect();
        let mut acknowledged = Acknowledged::default();
        for said in said {
            said.join().unwrap().iter().for_each(|line| acknowledged.note(line));
        }
        stop.store(true, Ordering::Relaxed);
        (acknowledged, reader.join().unwrap())
    });
    for mut worker in workers {
        assert!(worker.process.wait().unwrap().success());
    }
    assert!(acknowledged.count > 3_000, "{}", acknowledged.count);
    assert!(reads > 100, "{reads}");
    acknowledged.check(&place.board, false);
    println!("{} operations in {:?}, {reads} reads", acknowledged.count, start.elapsed());
}

#[test]
fn writers_that_are_killed_lose_nothing() {
    let place = Place::new();
    let mut acknowledged = Acknowledged::default();
    for round in 0..rounds(20) {
        let folder = place.board.folder();
        let mut workers: Vec<Worker> = (0..4)
            .map(|number| Worker::start(folder, &format!("agent-{round}-{number}"), 1_000_000))
            .collect();
        // Each says a few things, and is killed somewhere in what it does next.
        for worker in &mut workers {
            for _ in 0..=random() % 6 {
                acknowledged.note(&worker.next().unwrap());
            }
            std::thread::sleep(Duration::from_micros(random() % 8_000));
            worker.process.kill().unwrap();
        }
        for mut worker in workers {
            worker.rest().iter().for_each(|line| acknowledged.note(line));
            worker.process.wait().unwrap();
        }
        acknowledged.check(&place.board, true);
    }
    let left = std::fs::read_dir(place.path("sessions")).unwrap();
    let left = left.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_str().unwrap().starts_with(".active-session.")
    });
    assert_eq!(left.count(), 0, "nothing of the killed is left behind");
}
