//! Both ends of a measurement: an origin that answers at once, and callers that keep their connections.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// What the origin sends as content, as long as a small API's answer.
const ANSWER: &str = r#"{"id":"ord_01J9ZC4T","status":"created","total":{"amount":4200,"currency":"EUR"},"items":[{"sku":"cup","count":2}]}"#;

/// An HTTP server in this process. It answers every request at once, but one whose path begins with `/slow` late.
pub struct Origin {
    pub port: u16,
    effects: Arc<AtomicU64>,
}

impl Origin {
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let effects = Arc::new(AtomicU64::new(0));
        let counted = effects.clone();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let counted = counted.clone();
                thread::spawn(move || {
                    let _ = serve(socket, &counted);
                });
            }
        });
        Ok(Self { port, effects })
    }

    /// How many requests have been answered.
    pub fn effects(&self) -> u64 {
        self.effects.load(Ordering::Relaxed)
    }
}

fn serve(mut socket: TcpStream, effects: &AtomicU64) -> Result<()> {
    socket.set_nodelay(true)?;
    let mut buffer = Vec::new();
    let answer = format!(
        "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nLocation: /orders/1\r\nX-Request-Id: 7f3a\r\nCache-Control: no-store\r\nContent-Length: {}\r\n\r\n{ANSWER}",
        ANSWER.len()
    );
    while let Some(head) = message(&mut socket, &mut buffer)? {
        effects.fetch_add(1, Ordering::Relaxed);
        if head.split(' ').nth(1).is_some_and(|path| path.starts_with("/slow")) {
            thread::sleep(Duration::from_secs(20));
        }
        socket.write_all(answer.as_bytes())?;
    }
    Ok(())
}

/// Reads one message with a `Content-Length`, or chunked; gives its head.
fn message(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Option<String>> {
    let mut chunk = [0; 16_384];
    let end = loop {
        if let Some(at) = find(buffer, b"\r\n\r\n") {
            break at + 4;
        }
        let n = socket.read(&mut chunk)?;
        if n == 0 {
            return Ok(None);
        }
        buffer.extend(chunk.iter().take(n));
    };
    let rest = buffer.split_off(end);
    let head = String::from_utf8_lossy(buffer).to_ascii_lowercase();
    *buffer = rest;
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
    let whole = |buffer: &[u8]| -> Option<usize> {
        if field("transfer-encoding:").is_some() {
            return find(buffer, b"0\r\n\r\n").map(|at| at + 5);
        }
        let length = field("content-length:").and_then(|v| v.parse().ok()).unwrap_or(0);
        (buffer.len() >= length).then_some(length)
    };
    loop {
        if let Some(length) = whole(buffer) {
            *buffer = buffer.split_off(length);
            return Ok(Some(head));
        }
        let n = socket.read(&mut chunk)?;
        if n == 0 {
            bail!("a message broke off");
        }
        buffer.extend(chunk.iter().take(n));
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// One batch of requests.
pub struct Batch {
    pub port: u16,
    pub callers: usize,
    /// Requests of each caller.
    pub each: usize,
    /// The status that every answer must have.
    pub status: u16,
}

/// How long each request took, and all of them.
pub struct Taken {
    pub each: Vec<Duration>,
    pub all: Duration,
}

impl Batch {
    /// Sends `text(caller, n)` for each request and checks the answers' status.
    pub fn run(&self, text: impl Fn(usize, usize) -> String + Send + Sync + 'static) -> Result<Taken> {
        let text = Arc::new(text);
        let (port, each, status) = (self.port, self.each, self.status);
        let start = Instant::now();
        let callers: Vec<_> = (0..self.callers)
            .map(|caller| {
                let text = text.clone();
                thread::spawn(move || -> Result<Vec<Duration>> {
                    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
                    socket.set_nodelay(true)?;
                    let mut buffer = Vec::new();
                    let mut taken = Vec::with_capacity(each);
                    for n in 0..each {
                        let request = text(caller, n);
                        let at = Instant::now();
                        socket.write_all(request.as_bytes())?;
                        let head = message(&mut socket, &mut buffer)?.context("the gate closed the connection")?;
                        taken.push(at.elapsed());
                        let got: u16 = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
                        if got != status {
                            bail!("wanted {status}, got {head}");
                        }
                    }
                    Ok(taken)
                })
            })
            .collect();
        let mut all = Vec::new();
        for caller in callers {
            all.extend(caller.join().map_err(|_| anyhow::anyhow!("a caller panicked"))??);
        }
        Ok(Taken { each: all, all: start.elapsed() })
    }
}
