//! `cargo xtask serve`: the gate in a local workerd, in front of the demo shop or of any HTTP server.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use oncekey::{
    identity::SHORTEST_SECRET,
    policy::{OnUnknown, Policy},
};
use signal_hook::{consts::TERM_SIGNALS, iterator::Signals};

use crate::{
    args::{self, Flag, Told, Usage, misuse},
    package, tools,
    workerd::{Config, Gate, TO_SERVICE, check_origin, file_binding, json_binding, text_binding},
};

/// Set by the tests: the gate gets its policy as a JSON variable, as deployments may have it.
const AS_JSON: &str = "ONCEKEY_POLICY_AS_JSON";

/// What `serve` is told.
pub struct Options {
    pub port: u16,
    /// Any HTTP server; the demo shop without one.
    pub origin: Option<String>,
    /// The policy as JSON; the demo's for the demo shop, else the defaults.
    pub config: Option<PathBuf>,
    /// Where objects keep their storage.
    pub state: Option<PathBuf>,
    /// Takes messages for the policy's queues on this port.
    pub queue_port: Option<u16>,
    /// Lets so many new keys of each caller pass in a period, where the policy has limits.
    pub limits: Option<u32>,
    /// Keep it on a memory file system, for load measurements.
    pub memory: bool,
}

/// What `serve` takes.
pub const USAGE: Usage = Usage {
    command: "serve",
    does: "Builds both modules and runs them in a local workerd: the demo, or the gate in front of any HTTP server.",
    flags: &[
        Flag { name: "--port", value: "N", does: "listens on 127.0.0.1:N, 8787 unless told" },
        Flag { name: "--origin", value: "URL", does: "the HTTP server behind the gate, instead of the demo shop" },
        Flag { name: "--config", value: "FILE", does: "the policy as JSON" },
        Flag { name: "--state", value: "DIR", does: "where objects keep their storage, below target/ unless told" },
        Flag { name: "--memory", value: "", does: "keeps it on a memory file system, for load measurements" },
        Flag { name: "--queue-port", value: "N", does: "takes messages for the policy's queues on 127.0.0.1:N" },
        Flag {
            name: "--limits",
            value: "N",
            does: "lets N new keys of each caller pass in a period, where the policy has limits",
        },
    ],
    words: "",
    more: "From the environment: ONCEKEY_ADMIN and ONCEKEY_SERVICE, the secrets of the operator and of backends;\nONCEKEY_SEAL, ONCEKEY_SEAL_OLD, ONCEKEY_NAMES; and what the policy names.",
};

impl Options {
    /// Reads what was told.
    pub fn read(told: &Told) -> Result<Self> {
        let mut options =
            Self { port: 8787, origin: None, config: None, state: None, queue_port: None, limits: None, memory: false };
        for (flag, value) in &told.flags {
            match *flag {
                "--port" => options.port = args::port(flag, value)?,
                "--origin" => options.origin = Some(value.clone()),
                "--config" => options.config = Some(value.into()),
                "--state" => options.state = Some(value.into()),
                "--queue-port" => options.queue_port = Some(args::port(flag, value)?),
                "--limits" => options.limits = Some(args::number(flag, value, 0, u32::MAX)?),
                _ => options.memory = true,
            }
        }
        if options.memory && options.state.is_some() {
            return Err(misuse("--memory keeps no state: leave --state out"));
        }
        if options.queue_port == Some(options.port) {
            return Err(misuse("--port and --queue-port are two ports"));
        }
        if let Some(url) = &options.origin {
            check_origin(url).map_err(|error| misuse(error.to_string()))?;
        }
        Ok(options)
    }

    /// Refuses what this machine has no place for, before anything is built.
    fn check_places(&self) -> Result<()> {
        for (flag, port) in [("--port", Some(self.port)), ("--queue-port", self.queue_port)] {
            let Some(port) = port else { continue };
            if let Err(error) = bind(port) {
                let why = match error.kind() {
                    ErrorKind::AddrInUse => "another program holds it".to_owned(),
                    ErrorKind::PermissionDenied => "it takes more rights than yours".to_owned(),
                    _ => error.to_string(),
                };
                bail!("{flag} {port}: {why}");
            }
        }
        if let Some(state) = &self.state {
            let named = || format!("--state {}", state.display());
            fs::create_dir_all(state).with_context(named)?;
            // What may not be written to is found now, not by the first request.
            let probe = state.join(".oncekey");
            fs::write(&probe, "").and_then(|()| fs::remove_file(&probe)).with_context(named)?;
        }
        Ok(())
    }
}

/// Takes a port for a moment, as workerd will. A workerd whose `serve` was killed gives its own back within moments.
fn bind(port: u16) -> std::io::Result<()> {
    for _ in 0..20 {
        match TcpListener::bind(("127.0.0.1", port)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => thread::sleep(Duration::from_millis(50)),
            other => return other.map(drop),
        }
    }
    TcpListener::bind(("127.0.0.1", port)).map(drop)
}

/// Set by `cargo xtask test` for the gates that its specs start: what they serve was built a moment ago.
pub const BUILT: &str = "ONCEKEY_BUILT";

/// Runs until it is told to stop.
pub fn serve(options: &Options) -> Result<()> {
    // Before anything else, so that a signal during the build ends it the same way.
    let mut signals = Signals::new(TERM_SIGNALS)?;
    options.check_places()?;
    let policy = policy(options)?;
    if std::env::var_os(BUILT).is_none() {
        package::build_all(false)?;
    }
    let workerd = tools::workerd()?;
    let room = Room::new(options)?;
    let config = room.write_config(options, &policy)?;
    let mut gate = Gate::start(&workerd, &config)?;
    let mut told = || signals.pending().next().is_some();
    gate.wait_until_ready(options.port, &mut told)?;
    println!("ready http://127.0.0.1:{}", options.port);
    std::io::stdout().flush()?;
    while !told() {
        gate.still_runs()?;
        thread::sleep(Duration::from_millis(50));
    }
    gate.stop();
    Ok(())
}

/// Reads and checks the policy here, so that what is wrong is said before anything starts.
fn policy(options: &Options) -> Result<String> {
    let path = match (&options.config, &options.origin) {
        (Some(path), _) => path.clone(),
        (None, None) => tools::root().join("www/policy.json"),
        (None, Some(_)) => return Ok(String::new()),
    };
    let text = fs::read_to_string(&path).with_context(|| format!("--config {}", path.display()))?;
    let policy = text.parse::<Policy>().with_context(|| format!("--config {}", path.display()))?;
    if !policy.limit_bindings().is_empty() && options.limits.is_none() {
        bail!("{}: /limits: --limits N says how many keys pass, since there is no rate limit here", path.display());
    }
    for name in policy.secrets() {
        if secret_of(name).is_none() {
            bail!(
                "the policy verifies tokens by {name}: the environment needs it, of at least {SHORTEST_SECRET} bytes"
            );
        }
    }
    Ok(text)
}

/// A secret that the policy names, from the environment.
fn secret_of(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|secret| secret.len() >= SHORTEST_SECRET)
}

/// The folders of one `serve`.
struct Room {
    dir: PathBuf,
    state: PathBuf,
    passing: bool,
}

impl Room {
    fn new(options: &Options) -> Result<Self> {
        let dir = tools::target_dir().join("serve").join(options.port.to_string());
        let state = match (&options.state, options.memory) {
            (Some(state), _) => state.clone(),
            (None, true) => PathBuf::from(format!("/dev/shm/oncekey-{}", std::process::id())),
            (None, false) => dir.join("state"),
        };
        fs::create_dir_all(&dir)?;
        fs::create_dir_all(&state).with_context(|| format!("{}", state.display()))?;
        Ok(Self { dir, state: fs::canonicalize(state)?, passing: options.memory })
    }

    fn write_config(&self, options: &Options, policy: &str) -> Result<PathBuf> {
        let text = config(options, policy, &self.state)?;
        let path = self.dir.join("config.capnp");
        fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.passing {
            let _ = fs::remove_dir_all(&self.state);
        }
    }
}

/// The gate before an external origin, or the demo page, the gate and the shop in a row.
fn config(options: &Options, policy: &str, state: &Path) -> Result<String> {
    let mut config = Config::default();
    config.disk(state);
    let known = policy.parse::<Policy>()?;
    for name in known.secrets() {
        config.secret(name, &secret_of(name).unwrap_or_default());
    }
    if options.origin.is_some() || known.identity.iter().any(|identity| identity.key_set().is_some()) {
        config.internet();
    }
    if let Some(port) = options.queue_port {
        config.queue(port);
    }
    if let Some(most) = options.limits {
        let bound = known.limit_bindings().into_iter().map(|(_, limit)| (limit.binding.clone(), limit.period));
        config.limit(bound.collect(), most);
    }
    if let Some(OnUnknown::Queue(binding)) = &known.on_unknown {
        config.told_queue(binding)?;
    }
    let service = std::env::var("ONCEKEY_SERVICE").ok();
    if let Some(url) = &options.origin {
        let service = service.as_deref();
        let policy = if std::env::var_os(AS_JSON).is_some() {
            json_binding("ONCEKEY", policy)
        } else {
            text_binding("ONCEKEY", policy)
        };
        config.gate(&policy, &text_binding("ORIGIN", url), service)?;
        config.socket(options.port, "gate");
        return Ok(config.to_text());
    }
    // The demo's backend needs one.
    let service = service.map_or_else(secret, Ok)?;
    config.gate(&text_binding("ONCEKEY", policy), TO_SERVICE, Some(&service))?;
    let www = tools::root().join("www");
    config.worker(
        "origin",
        &[("shop.mjs", "esModule", &www.join("shop.mjs"))],
        &["(name = \"SHOP\", durableObjectNamespace = \"Shop\")".to_owned()],
        &[("Shop", "shop")],
    );
    config.worker(
        "front",
        &[("front.mjs", "esModule", &www.join("front.mjs")), ("refund.mjs", "esModule", &www.join("refund.mjs"))],
        &[
            file_binding("PAGE", &www.join("index.html")),
            file_binding("SHELL", &www.join("shell.html")),
            file_binding("LOG", &www.join("log.html")),
            file_binding("ICON", &www.join("favicon.svg")),
            file_binding("CSS", &www.join("demo.css")),
            file_binding("SCRIPT", &www.join("demo.mjs")),
            file_binding("HTMX", &tools::npm()?.join("htmx2/dist/htmx.min.js")),
            file_binding("REACT_PAGE", &www.join("react.html")),
            file_binding("REACT", &react(&www)?),
            text_binding("SERVICE", &service),
            "(name = \"GATE\", service = \"gate\")".to_owned(),
            TO_SERVICE.to_owned(),
            "(name = \"SHOP\", durableObjectNamespace = (className = \"Shop\", serviceName = \"origin\"))".to_owned(),
        ],
        &[],
    );
    config.socket(options.port, "front");
    Ok(config.to_text())
}

/// A secret that nobody was told.
fn secret() -> Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The React page's script, with the npm package as its readers have it.
fn react(www: &Path) -> Result<PathBuf> {
    let out = tools::target_dir().join("serve/react.js");
    let mut bundle = tools::bundle(&www.join("react.jsx"), &out)?;
    bundle.args(["--jsx=automatic", "--define:process.env.NODE_ENV=\"production\""]);
    bundle.arg(format!("--alias:oncekey={}", tools::target_dir().join("pkg/oncekey").display()));
    tools::run_quiet(bundle.env("NODE_PATH", tools::npm()?))?;
    Ok(out)
}
