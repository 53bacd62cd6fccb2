//! A local workerd: its configuration's text, and the process.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use oncekey::http::target::is_web_origin;

use crate::{
    package::{self, Target, worker},
    tools,
};

/// The date of the runtime's behaviour, the same as in `wrangler.toml`: a test compares them.
pub const DATE: &str = "2026-11-01";
/// Names another date: set by the test of the oldest that the gate runs on.
const OTHER_DATE: &str = "ONCEKEY_DATE";
/// What of its behaviour is asked for by name, as there.
const FLAG: &str = "enable_request_signal";
/// Names the folder of another build of the worker: set by the tests that need one.
pub const PACKAGE: &str = "ONCEKEY_PACKAGE";
/// Names the folder of a build that has the objects, in a service of their own: set by the tests in which two builds meet.
pub const OBJECTS: &str = "ONCEKEY_OBJECTS";
/// Names a folder whose `main.mjs` stands before the entry of what has the objects, and may watch or change what it does:
/// set by the tests.
pub const AROUND: &str = "ONCEKEY_AROUND";
/// Secrets that the gate gets from the environment.
const PASSED_ON: [&str; 3] = ["ONCEKEY_SEAL", "ONCEKEY_SEAL_OLD", "ONCEKEY_NAMES"];
/// Names a class that gets no `SQLite` storage: set by the tests.
const WITHOUT_SQLITE: &str = "ONCEKEY_WITHOUT_SQLITE";
/// Names the web origin to which each point of measurement goes as JSON: set by the tests.
const METRICS: &str = "ONCEKEY_METRICS";
/// Names a web origin that plays the queue of `on_unknown`: set by the tests.
const TOLD: &str = "ONCEKEY_TOLD";
/// The objects' bindings, classes and keys.
const CLASSES: [(&str, &str, &str); 2] =
    [("KEYS", "KeyObject", "oncekey"), ("MACHINES", "MachineObject", "oncekey-machine")];
/// How long requests that hang are waited for once workerd is told to stop.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long workerd may take until its port answers.
const START: Duration = Duration::from_secs(30);

/// A configuration in the making.
#[derive(Default)]
pub struct Config {
    services: String,
    sockets: String,
    workers: String,
    /// The rate limits, by name, with their periods, and how many calls each lets pass.
    limits: (Vec<(String, u32)>, u32),
    /// Bindings of the gate's that its policy names.
    named: Vec<String>,
}

impl Config {
    /// A port of this machine, served by a service.
    pub fn socket(&mut self, port: u16, service: &str) {
        self.sockets.push_str(&format!(
            "    (name = \"{service}\", address = \"127.0.0.1:{port}\", http = (), service = \"{service}\"),\n"
        ));
    }

    /// A service as Cap'n Proto text, the name left out.
    pub fn service(&mut self, name: &str, definition: &str) {
        self.services.push_str(&format!("    (name = \"{name}\", {definition}),\n"));
    }

    /// A folder where objects keep their storage, the service `disk`.
    pub fn disk(&mut self, dir: &Path) {
        self.service("disk", &format!("disk = (path = {}, writable = true)", path(dir)));
    }

    /// Lets Workers fetch URLs, of this machine too.
    pub fn internet(&mut self) {
        self.service(
            "internet",
            "network = (allow = [\"public\", \"private\"], tlsOptions = (trustBrowserCas = true))",
        );
    }

    /// A web origin as a service.
    pub fn external(&mut self, name: &str, url: &str) -> Result<()> {
        let (address, tls) = address(url)?;
        let kind = if tls {
            let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
            format!("https = (options = (), tlsOptions = (trustBrowserCas = true), certificateHost = {})", text(host))
        } else {
            "http = ()".to_owned()
        };
        self.service(name, &format!("external = (address = {}, {kind})", text(&address)));
        Ok(())
    }

    /// A Worker, whose service has its name. `modules`: name, kind and file; `classes`: its objects' classes and keys.
    pub fn worker(
        &mut self,
        name: &str,
        modules: &[(&str, &str, &Path)],
        bindings: &[String],
        classes: &[(&str, &str)],
    ) {
        let modules: String = modules
            .iter()
            .map(|(name, kind, file)| format!("    (name = {}, {kind} = embed {}),\n", text(name), path(file)))
            .collect();
        let bindings: String = bindings.iter().map(|binding| format!("    {binding},\n")).collect();
        let listed: Vec<String> = classes
            .iter()
            .map(|(class, key)| {
                let without = std::env::var(WITHOUT_SQLITE).is_ok_and(|named| named == *class);
                format!("(className = \"{class}\", uniqueKey = \"{key}\", enableSql = {})", !without)
            })
            .collect();
        let objects = if listed.is_empty() {
            String::new()
        } else {
            let listed = listed.join(", ");
            format!("  durableObjectNamespaces = [{listed}],\n  durableObjectStorage = (localDisk = \"disk\"),\n")
        };
        let date = std::env::var(OTHER_DATE).unwrap_or_else(|_| DATE.to_owned());
        self.service(name, &format!("worker = .{name}"));
        self.workers.push_str(&format!(
            "\nconst {name} :Workerd.Worker = (\n  modules = [\n{modules}  ],\n  compatibilityDate = \"{date}\",\n  compatibilityFlags = [\"{FLAG}\"],\n  bindings = [\n{bindings}  ],\n{objects});\n"
        ));
    }

    /// Gives the gate rate limits of these names and periods, each of which lets so many calls pass.
    pub fn limit(&mut self, limits: Vec<(String, u32)>, most: u32) {
        self.limits = (limits, most);
    }

    /// A secret that the gate's policy names.
    pub fn secret(&mut self, name: &str, value: &str) {
        self.named.push(text_binding(name, value));
    }

    /// A queue to which the gate sends what its policy's `on_unknown` says: each message becomes a line of the output, or a
    /// POST to the origin that a test names.
    pub fn told_queue(&mut self, binding: &str) -> Result<()> {
        if let Ok(url) = std::env::var(TOLD) {
            self.external("told", &url)?;
        } else {
            let module = tools::root().join("crates/xtask/src/told.mjs");
            self.worker("told", &[("told.mjs", "esModule", &module)], &[], &[]);
        }
        self.named.push(format!("(name = {}, queue = \"told\")", text(binding)));
        Ok(())
    }

    /// The gate, from `target/pkg/`. `policy`: the binding `ONCEKEY`; `origin`: the binding `ORIGIN`; `service`: the
    /// secret of the backends, where there is one.
    pub fn gate(&mut self, policy: &str, origin: &str, service: Option<&str>) -> Result<()> {
        let package = package::packages()?
            .into_iter()
            .find(|package| package.target == Target::Module)
            .context("wasm-pack.toml lists no worker")?;
        let name = std::env::var(PACKAGE).unwrap_or(package.name);
        let mut bindings = vec![origin.to_owned(), policy.to_owned()];
        bindings.append(&mut self.named);
        let admin = std::env::var("ONCEKEY_ADMIN").ok();
        for (name, secret) in [("ONCEKEY_ADMIN", admin.as_deref()), ("ONCEKEY_SERVICE", service)] {
            bindings.extend(secret.map(|secret| text_binding(name, secret)));
        }
        for name in PASSED_ON {
            bindings.extend(std::env::var(name).ok().map(|secret| text_binding(name, &secret)));
        }
        let (limits, most) = &self.limits;
        bindings.extend(limits.iter().map(|(name, period)| {
            let inner =
                [("most", most), ("period", period)].map(|(name, value)| json_binding(name, &value.to_string()));
            format!(
                "(name = {}, wrapped = (moduleName = \"oncekey:limit\", innerBindings = [{}]))",
                text(name),
                inner.join(", ")
            )
        }));
        if let Ok(sink) = std::env::var(METRICS) {
            self.external("metrics", &sink)?;
            bindings.push("(name = \"METRICS\", analyticsEngine = \"metrics\")".to_owned());
        }
        let around = std::env::var_os(AROUND).map(PathBuf::from);
        match std::env::var(OBJECTS) {
            Err(_) => self.build_of_gate("gate", &name, around.as_deref(), "gate", &bindings),
            Ok(objects) => {
                self.build_of_gate("gate", &name, None, "objects", &bindings);
                self.build_of_gate("objects", &objects, around.as_deref(), "objects", &bindings);
            }
        }
        Ok(())
    }

    /// The worker of that folder as a service beside the gate, with objects of its own and the service `origin`.
    pub fn other_gate(&mut self, name: &str, dir: &Path, policy: &str) {
        self.build_of_gate(name, &dir.display().to_string(), None, name, &[TO_SERVICE.to_owned(), policy.to_owned()]);
    }

    /// One build of the gate as a service; `objects` names the service that has the objects, this or another.
    fn build_of_gate(&mut self, name: &str, build: &str, around: Option<&Path>, objects: &str, bindings: &[String]) {
        let dir = tools::target_dir().join("pkg").join(build);
        let around =
            around.into_iter().flat_map(|dir| ["main.mjs", "spy.mjs"].map(|name| (name, "esModule", dir.join(name))));
        let files: Vec<_> = around
            .chain(worker::MODULES.map(|(name, kind)| (name, kind, dir.join(name))))
            // An older build has fewer.
            .filter(|(_, _, file)| file.is_file())
            .collect();
        let modules: Vec<_> = files.iter().map(|(name, kind, file)| (*name, *kind, file.as_path())).collect();
        let mut bindings = bindings.to_vec();
        for (binding, class, _) in CLASSES {
            let place = if name == objects {
                format!("\"{class}\"")
            } else {
                format!("(className = \"{class}\", serviceName = \"{objects}\")")
            };
            bindings.push(format!("(name = \"{binding}\", durableObjectNamespace = {place})"));
        }
        // Objects of one key are the same objects, whatever service has them.
        let keys = CLASSES.map(|(_, _, key)| match name {
            "gate" | "objects" => key.to_owned(),
            other => format!("{key}-{other}"),
        });
        let classes: Vec<_> = CLASSES.iter().zip(&keys).map(|((_, class, _), key)| (*class, key.as_str())).collect();
        self.worker(name, &modules, &bindings, if name == objects { &classes } else { &[] });
    }

    /// A port that takes messages for the gate's queues and hands them over as the runtime does.
    pub fn queue(&mut self, port: u16) {
        let module = tools::root().join("crates/xtask/src/queue.mjs");
        self.service("queue", "worker = .queue");
        self.workers.push_str(&format!(
            "\nconst queue :Workerd.Worker = (\n  modules = [(name = \"queue.mjs\", esModule = embed {})],\n  compatibilityDate = \"{DATE}\",\n  compatibilityFlags = [\"service_binding_extra_handlers\"],\n  bindings = [(name = \"GATE\", service = \"gate\")],\n);\n",
            path(&module)
        ));
        self.socket(port, "queue");
    }

    /// What plays the platform's rate limit, where one is bound.
    fn extensions(&self) -> String {
        if self.limits.0.is_empty() {
            return String::new();
        }
        let module = path(&tools::root().join("crates/xtask/src/limit.mjs"));
        format!(
            "  extensions = [(modules = [(name = \"oncekey:limit\", esModule = embed {module}, internal = true)])],\n"
        )
    }

    /// The whole text.
    pub fn to_text(&self) -> String {
        format!(
            "using Workerd = import \"/workerd/workerd.capnp\";\n\nconst config :Workerd.Config = (\n  services = [\n{}  ],\n  sockets = [\n{}  ],\n{});\n{}",
            self.services,
            self.sockets,
            self.extensions(),
            self.workers
        )
    }
}

/// The service `origin` as the gate's origin.
pub const TO_SERVICE: &str = "(name = \"ORIGIN\", service = \"origin\")";

/// A variable.
pub fn text_binding(name: &str, value: &str) -> String {
    format!("(name = \"{name}\", text = {})", text(value))
}

/// A variable that comes as what its JSON says.
pub fn json_binding(name: &str, value: &str) -> String {
    format!("(name = \"{name}\", json = {})", text(value))
}

/// A variable that holds a file's text.
pub fn file_binding(name: &str, file: &Path) -> String {
    format!("(name = \"{name}\", text = embed {})", path(file))
}

/// Whether `--origin` is one that a gate can have.
pub fn check_origin(url: &str) -> Result<()> {
    if !is_web_origin(url) {
        bail!("--origin takes http://HOST[:PORT][/PATH] or https://HOST[:PORT][/PATH], not {url}");
    }
    Ok(())
}

/// Host and port of an origin, and whether it speaks TLS.
fn address(url: &str) -> Result<(String, bool)> {
    let (rest, tls) = match url.split_once("://") {
        Some(("http", rest)) => (rest, false),
        Some(("https", rest)) => (rest, true),
        _ => bail!("--origin takes http://HOST[:PORT] or https://HOST[:PORT], not {url}"),
    };
    let host = rest.strip_suffix('/').unwrap_or(rest);
    if host.is_empty() || host.contains(['/', '?', '#', '@']) {
        bail!("--origin takes a web origin without a path, not {url}");
    }
    let ported = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let address = if ported { host.to_owned() } else { format!("{host}:{}", if tls { 443 } else { 80 }) };
    Ok((address, tls))
}

/// A string in Cap'n Proto's text form.
fn text(value: &str) -> String {
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                for byte in c.to_string().bytes() {
                    out.push_str(&format!("\\x{byte:02x}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn path(path: &Path) -> String {
    text(&path.display().to_string())
}

/// A running workerd, which dies with this process however that ends.
pub struct Gate(Child);

impl Gate {
    /// Starts workerd on a configuration file.
    pub fn start(workerd: &Path, config: &Path) -> Result<Self> {
        let mut command = Command::new(workerd);
        command
            .arg("serve")
            // Embedded files are named by absolute paths.
            .args(["--import-path=/", "--experimental"])
            .arg(config)
            // A group of its own: Ctrl-C is for serve, which then lets requests end.
            .process_group(0);
        #[expect(unsafe_code, reason = "only the kernel can end a child whose parent was killed by SIGKILL")]
        // SAFETY: prctl is async-signal-safe, and nothing else runs between fork and exec.
        unsafe {
            command.pre_exec(|| {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0 {
                    Ok(())
                } else {
                    Err(std::io::Error::last_os_error())
                }
            });
        }
        Ok(Self(command.spawn().context("cannot start workerd")?))
    }

    /// Waits until the gate at the port answers; `interrupted` ends the wait early.
    pub fn wait_until_ready(&mut self, port: u16, mut interrupted: impl FnMut() -> bool) -> Result<()> {
        let end = Instant::now() + START;
        while !answers(port) {
            self.still_runs()?;
            if interrupted() {
                return Ok(());
            }
            if Instant::now() > end {
                bail!("workerd's port {port} does not answer");
            }
            thread::sleep(Duration::from_millis(20));
        }
        // What answers may be another process on that port: then our own has ended.
        self.still_runs()
    }

    /// An error once workerd has ended.
    pub fn still_runs(&mut self) -> Result<()> {
        match self.0.try_wait()? {
            Some(status) => bail!("workerd ended ({status}); its own words are above"),
            None => Ok(()),
        }
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Lets requests end for a moment, then ends workerd.
    pub fn stop(&mut self) {
        self.signal(libc::SIGTERM);
        let end = Instant::now() + LAST_WORDS;
        while Instant::now() < end {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        self.kill();
    }

    fn signal(&self, signal: i32) {
        let Ok(pid) = i32::try_from(self.0.id()) else {
            return;
        };
        #[expect(unsafe_code, reason = "the standard library sends SIGKILL only")]
        // SAFETY: the child has not been waited for, so the id is its own.
        unsafe {
            libc::kill(pid, signal);
        }
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}

/// Whether the gate answers a request for its policy.
fn answers(port: u16) -> bool {
    let ask = || -> std::io::Result<bool> {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut socket = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        socket.write_all(b"GET /.well-known/idempotency HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        let mut head = [0; 12];
        socket.read_exact(&mut head)?;
        Ok(&head == b"HTTP/1.1 200")
    };
    ask().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::{DATE, FLAG, text};

    #[test]
    fn what_is_tested_is_what_is_deployed() {
        let deployed = include_str!("../../oncekey-worker/wrangler.toml");
        assert!(deployed.contains(&format!("compatibility_date = \"{DATE}\"")));
        assert!(deployed.contains(&format!("compatibility_flags = [\"{FLAG}\"]")));
    }

    #[test]
    fn any_text_stays_one_string() {
        assert_eq!(text("a\"b\\c\nd\u{1}é"), "\"a\\\"b\\\\c\\nd\\x01é\"");
    }
}
