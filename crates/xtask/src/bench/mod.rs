//! `cargo xtask bench`: the gate beside a bare proxy and a JavaScript twin, in one workerd, round by round.

mod cost;
mod load;
mod page;

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use self::load::{Batch, Origin};
use crate::{
    args::{self, Flag, Told, Usage, misuse},
    package, tools,
    workerd::{Config, Gate, TO_SERVICE, text_binding},
};

/// Keys of the memory measurement.
const MANY: usize = 20_000;

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Proxy,
    Twin,
    Gate,
    /// The gate of another commit.
    Against,
}

const SUBJECTS: [Subject; 4] = [Subject::Proxy, Subject::Twin, Subject::Gate, Subject::Against];

impl Subject {
    fn name(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Twin => "twin",
            Self::Gate => "gate",
            Self::Against => "against",
        }
    }
}

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// No key.
    Keyless,
    /// A new key each.
    First,
    /// A key that is completed.
    Replay,
    /// A completed key with other content.
    Conflict,
}

const CELLS: [Cell; 4] = [Cell::Keyless, Cell::First, Cell::Replay, Cell::Conflict];

impl Cell {
    fn name(self) -> &'static str {
        match self {
            Self::Keyless => "keyless",
            Self::First => "first",
            Self::Replay => "replay",
            Self::Conflict => "conflict",
        }
    }

    fn status(self) -> u16 {
        if self == Self::Conflict { 422 } else { 201 }
    }
}

/// What `bench` takes.
pub const USAGE: Usage = Usage {
    command: "bench",
    does: "Measures the gate beside a bare proxy and a JavaScript twin, and prints the figures as a table.",
    flags: &[
        Flag { name: "--rounds", value: "N", does: "of which each figure is the median, 7 unless told" },
        Flag { name: "--requests", value: "N", does: "in each round, 1500 unless told, at least 16" },
        Flag { name: "--quick", value: "", does: "leaves out the disk and the memory of many keys" },
        Flag { name: "--against", value: "REV", does: "measures the gate of another commit in the same rounds" },
    ],
    words: "[CELL ...]",
    more: "CELL is one of keyless, first, replay, conflict, page; all of them without one.\ncost alone counts what each kind of request costs on the platform.",
};

/// What `bench` is told.
pub struct Options {
    rounds: usize,
    requests: usize,
    disk: bool,
    many: bool,
    /// The commit beside which the gate is measured.
    against: Option<String>,
    only: Vec<String>,
    /// What requests cost is counted, and nothing is measured.
    cost: bool,
}

impl Options {
    /// Reads what was told.
    pub fn read(told: &Told) -> Result<Self> {
        let mut options =
            Self { rounds: 7, requests: 1_500, disk: true, many: true, against: None, only: Vec::new(), cost: false };
        for (flag, value) in &told.flags {
            match *flag {
                "--rounds" => options.rounds = args::number(flag, value, 1, 1_000)? as usize,
                "--requests" => options.requests = args::number(flag, value, 16, 1_000_000)? as usize,
                "--against" => options.against = Some(package::old::commit_of(value)?),
                _ => (options.disk, options.many) = (false, false),
            }
        }
        for cell in &told.words {
            match cell.as_str() {
                cost::CELL => options.cost = true,
                named if named == page::CELL || CELLS.iter().any(|known| known.name() == named) => {
                    options.only.push(cell.clone());
                }
                _ => return Err(misuse(format!("bench has no cell {cell}; {}", USAGE.more))),
            }
        }
        Ok(options)
    }

    /// Whether the page is measured, and whether nothing else is.
    fn page(&self) -> (bool, bool) {
        let named = self.only.iter().filter(|only| *only == page::CELL).count();
        (named > 0 || self.only.is_empty(), named > 0 && named == self.only.len())
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        CELLS.into_iter().filter(|cell| self.only.is_empty() || self.only.iter().any(|only| only == cell.name()))
    }
}

/// Runs it all and prints the table.
pub fn bench(options: &Options) -> Result<()> {
    package::build_all(false)?;
    if options.cost {
        return cost::bench();
    }
    let (page, page_alone) = options.page();
    if page {
        page::bench(options.rounds)?;
    }
    if page_alone {
        return Ok(());
    }
    let workerd = tools::workerd()?;
    let origin = Origin::start()?;
    let against = options.against.as_deref().map(package::old::worker_of).transpose()?;
    let (titles, rule) = match &options.against {
        Some(commit) => (format!(" {commit:.7} p50/p99 | its CPU µs | gate : {commit:.7} |"), "---|---|---|"),
        None => (String::new(), ""),
    };
    println!(
        "| storage | callers | cell | proxy µs p50/p99 | twin p50/p99 | gate p50/p99 | gate CPU µs | gate : proxy | gate : twin |{titles}"
    );
    println!("|---|---|---|---|---|---|---|---|---|{rule}");
    let memory = Path::new("/dev/shm").join(format!("oncekey-bench-{}", std::process::id()));
    let mut folders = vec![("memory", memory)];
    if options.disk {
        folders.push(("disk", tools::target_dir().join("bench/state")));
    }
    for (storage, folder) in folders {
        let bed = Bed::start(&workerd, &folder, &origin, against.as_deref())?;
        println!("<!-- start to first answer, {storage}: {} ms -->", bed.started.as_millis());
        for callers in [1, 16] {
            for cell in options.cells() {
                // Each new key costs an fsync there, whatever the code.
                let requests = if storage == "disk" { options.requests.min(400) } else { options.requests };
                println!("{}", bed.row(storage, callers, cell, requests, options.rounds)?);
            }
        }
    }
    if options.many {
        println!(
            "\n| {MANY} keys | resident MB before | after | after eviction | open files after |\n|---|---|---|---|---|"
        );
        for subject in [Subject::Twin, Subject::Gate] {
            let folder = Path::new("/dev/shm").join(format!("oncekey-many-{}", std::process::id()));
            println!("{}", Bed::start(&workerd, &folder, &origin, against.as_deref())?.many(subject)?);
        }
    }
    println!("\nThe origin answered {} requests.", origin.effects());
    Ok(())
}

/// One workerd with the subjects on ports of their own.
struct Bed {
    gate: Gate,
    ports: Vec<(Subject, u16)>,
    folder: PathBuf,
    started: Duration,
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.gate.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Bed {
    fn start(workerd: &Path, folder: &Path, origin: &Origin, against: Option<&Path>) -> Result<Self> {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder)?;
        let subjects = SUBJECTS.into_iter().filter(|subject| *subject != Subject::Against || against.is_some());
        let ports: Vec<_> = subjects.map(|subject| Ok((subject, free_port()?))).collect::<Result<_>>()?;
        let scripts = tools::root().join("tests/bench");
        let mut config = Config::default();
        config.disk(folder);
        config.external("origin", &format!("http://127.0.0.1:{}", origin.port))?;
        config.gate(&text_binding("ONCEKEY", "{}"), TO_SERVICE, None)?;
        let to_origin = TO_SERVICE.to_owned();
        config.worker(
            "proxy",
            &[("proxy.mjs", "esModule", &scripts.join("proxy.mjs"))],
            std::slice::from_ref(&to_origin),
            &[],
        );
        config.worker(
            "twin",
            &[("twin.mjs", "esModule", &scripts.join("twin.mjs"))],
            &[to_origin, "(name = \"KEYS\", durableObjectNamespace = \"Twin\")".to_owned()],
            &[("Twin", "twin")],
        );
        if let Some(dir) = against {
            config.other_gate(Subject::Against.name(), dir, &text_binding("ONCEKEY", "{}"));
        }
        for (subject, port) in &ports {
            config.socket(*port, subject.name());
        }
        let path = folder.join("config.capnp");
        fs::write(&path, config.to_text())?;
        let start = Instant::now();
        let mut gate = Gate::start(workerd, &path)?;
        gate.wait_until_ready(port_of(&ports, Subject::Gate), || false)?;
        Ok(Self { gate, ports, folder: folder.to_path_buf(), started: start.elapsed() })
    }

    fn batch(
        &self,
        subject: Subject,
        cell: Cell,
        callers: usize,
        requests: usize,
        round: usize,
    ) -> Result<load::Taken> {
        let each = (requests / callers).max(1);
        let status = if subject == Subject::Proxy { 201 } else { cell.status() };
        let batch = Batch { port: port_of(&self.ports, subject), callers, each, status };
        if matches!(cell, Cell::Replay | Cell::Conflict) {
            Batch { port: batch.port, callers, each: 1, status: 201 }
                .run(move |caller, _| request(Some(&key("replay", round, caller, 0)), "{\"n\":1,\"sku\":\"cup\"}"))?;
        }
        batch.run(move |caller, n| match cell {
            Cell::Keyless => request(None, "{\"n\":1,\"sku\":\"cup\"}"),
            Cell::First => request(Some(&key("first", round, caller, n)), "{\"n\":1,\"sku\":\"cup\"}"),
            Cell::Replay => request(Some(&key("replay", round, caller, 0)), "{\"n\":1,\"sku\":\"cup\"}"),
            Cell::Conflict => request(Some(&key("replay", round, caller, 0)), "{\"n\":2,\"sku\":\"cup\"}"),
        })
    }

    fn row(&self, storage: &str, callers: usize, cell: Cell, requests: usize, rounds: usize) -> Result<String> {
        let salt = usize::from(callers == 16) * 1000 + cell as usize * 100_000;
        for (subject, _) in &self.ports {
            self.batch(*subject, cell, callers, requests / 4, salt + 999)?;
        }
        let mut runs: Vec<_> = self.ports.iter().map(|(subject, _)| Run::new(*subject)).collect();
        for round in 0..rounds {
            // Each round begins with another, so that none is always the first after a pause.
            runs.rotate_left(1);
            for run in &mut runs {
                let before = cpu_time(self.gate.id());
                let batch = self.batch(run.subject, cell, callers, requests, salt + round)?;
                let spent = cpu_time(self.gate.id()).saturating_sub(before);
                run.add(&batch, spent);
            }
        }
        runs.sort_by_key(|run| run.subject);
        let [proxy, twin, gate, others @ ..] = &*runs else {
            bail!("three subjects at least");
        };
        let ratio = |other: &Run| median(other.per_round.iter().zip(&gate.per_round).map(|(o, g)| o / g).collect());
        let against = others
            .iter()
            .map(|other| format!(" {} | {:.0} | {:.2} |", other.times(), median(other.cpu.clone()), ratio(other)));
        Ok(format!(
            "| {storage} | {callers} | {} | {} | {} | {} | {:.0} | {:.2} | {:.2} |{}",
            cell.name(),
            proxy.times(),
            twin.times(),
            gate.times(),
            median(gate.cpu.clone()),
            ratio(proxy),
            ratio(twin),
            against.collect::<String>()
        ))
    }

    fn many(&self, subject: Subject) -> Result<String> {
        self.batch(subject, Cell::First, 16, 1_000, 500)?;
        thread::sleep(Duration::from_secs(20));
        let before = resident(self.gate.id());
        self.batch(subject, Cell::First, 16, MANY, 501)?;
        let after = resident(self.gate.id());
        let files = fs::read_dir(format!("/proc/{}/fd", self.gate.id()))?.count();
        thread::sleep(Duration::from_secs(30));
        let evicted = resident(self.gate.id());
        Ok(format!("| {} | {before} | {after} | {evicted} | {files} |", subject.name()))
    }
}

/// The batches of one subject in one cell.
struct Run {
    subject: Subject,
    each: Vec<Duration>,
    /// Seconds a request, by round.
    per_round: Vec<f64>,
    /// Microseconds of CPU a request, by round.
    cpu: Vec<f64>,
}

impl Run {
    fn new(subject: Subject) -> Self {
        Self { subject, each: Vec::new(), per_round: Vec::new(), cpu: Vec::new() }
    }

    fn add(&mut self, batch: &load::Taken, spent: Duration) {
        let count = float(batch.each.len().max(1));
        self.per_round.push(batch.all.as_secs_f64() / count);
        self.cpu.push(spent.as_secs_f64() * 1e6 / count);
        self.each.extend(&batch.each);
    }

    fn times(&self) -> String {
        let mut sorted = self.each.clone();
        sorted.sort_unstable();
        format!("{} / {}", percentile(&sorted, 50), percentile(&sorted, 99))
    }
}

fn key(kind: &str, round: usize, caller: usize, n: usize) -> String {
    format!("{kind}-{round}-{caller}-{n}-0123456789abcdef")
}

/// A request as a small API's client sends it.
fn request(key: Option<&str>, content: &str) -> String {
    let key = key.map_or_else(String::new, |key| format!("Idempotency-Key: \"{key}\"\r\n"));
    format!(
        "POST /orders?via=bench HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer bench\r\nUser-Agent: bench/1\r\nAccept: application/json\r\nAccept-Encoding: gzip, br\r\nContent-Type: application/json\r\n{key}Content-Length: {}\r\n\r\n{content}",
        content.len()
    )
}

fn port_of(ports: &[(Subject, u16)], subject: Subject) -> u16 {
    ports.iter().find(|(other, _)| *other == subject).map_or(0, |(_, port)| *port)
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn float(n: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of requests")]
    let n = n as f64;
    n
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn percentile(sorted: &[Duration], percent: usize) -> u128 {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(0, Duration::as_micros)
}

/// CPU time of a process so far, all its threads.
fn cpu_time(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let ticks: u64 = text
        .rsplit(')')
        .next()
        .map_or(0, |rest| rest.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum());
    // Linux counts in hundredths of a second.
    Duration::from_millis(ticks * 10)
}

/// Resident memory of a process in MB.
fn resident(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kb| kb / 1024)
}
