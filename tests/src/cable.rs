//! The network between an agent and its server, to be cut in the middle: what is on its way is lost without a word, as by a
//! pulled cable, and not refused, as by a server that is down.
//!
//! With the right to make network namespaces, the agent lives in one of its own, behind a real pair of interfaces whose
//! far end is taken down. Without it, the proxy between the two keeps every byte to itself. The test is the same; which way
//! it went is said on standard error.

use crate::processes::Process;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::gettid;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What the proxy lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passes {
    Everything,
    /// The server hears the agent, the agent does not hear the server.
    Requests,
    Nothing,
}

/// A line to one server.
#[derive(Debug)]
pub struct Cable {
    /// Where the agent finds the server.
    pub url: String,
    passes: watch::Sender<Passes>,
    namespaces: Option<Namespaces>,
    _proxy: JoinSet<()>,
}

impl Cable {
    /// Lays a cable to the server at `url` (`http://address:port`), through network namespaces where they can be made.
    ///
    /// # Panics
    /// When not even a loopback listener can be had.
    #[must_use]
    pub fn lay(url: &str) -> Self {
        match Namespaces::make() {
            Ok((namespaces, listener)) => Self::through(url, listener, Some(namespaces)),
            Err(error) => {
                eprintln!("no network namespaces here ({error}): cutting in a proxy instead");
                Self::through_proxy(url)
            }
        }
    }

    /// The same by a proxy on loopback alone, which can also be cut in one direction.
    ///
    /// # Panics
    /// When no loopback listener can be had.
    #[must_use]
    pub fn through_proxy(url: &str) -> Self {
        Self::through(url, StdListener::bind("127.0.0.1:0").expect("a loopback listener"), None)
    }

    fn through(url: &str, listener: StdListener, namespaces: Option<Namespaces>) -> Self {
        let server: SocketAddr = url.trim_start_matches("http://").parse().expect("an address and a port");
        let here = format!("http://{}", listener.local_addr().expect("bound"));
        listener.set_nonblocking(true).expect("a listener that waits for nobody");
        let listener = TcpListener::from_std(listener).expect("a runtime");
        let (passes, watched) = watch::channel(Passes::Everything);
        let mut proxy = JoinSet::new();
        proxy.spawn(forward(listener, server, watched));
        Self { url: here, passes, namespaces, _proxy: proxy }
    }

    /// Starts a process at the agent's end.
    #[must_use]
    pub fn start(&self, command: Command, log: &Path) -> Process {
        match &self.namespaces {
            Some(namespaces) => {
                let log = log.to_path_buf();
                namespaces.far.does(move || Process::start(command, &log))
            }
            None => Process::start(command, log),
        }
    }

    /// Nothing gets through.
    ///
    /// # Panics
    /// When the interface can't be taken down.
    pub fn cut(&self) {
        match &self.namespaces {
            Some(namespaces) => namespaces.near.does(|| ip("link set near down").expect("taken down")),
            None => self.let_pass(Passes::Nothing),
        }
    }

    /// The server still hears the agent, which hears nothing any more.
    pub fn cut_answers(&self) {
        self.let_pass(Passes::Requests);
    }

    /// As it was.
    ///
    /// # Panics
    /// When the interface can't be taken up.
    pub fn mend(&self) {
        if let Some(namespaces) = &self.namespaces {
            namespaces.near.does(|| ip("link set near up").expect("taken up"));
        }
        self.let_pass(Passes::Everything);
    }

    fn let_pass(&self, passes: Passes) {
        self.passes.send_replace(passes);
    }
}

async fn forward(listener: TcpListener, server: SocketAddr, passes: watch::Receiver<Passes>) {
    let mut connections = JoinSet::new();
    while let Ok((agent, _)) = listener.accept().await {
        let Ok(server) = TcpStream::connect(server).await else { continue };
        let ((from_agent, to_agent), (from_server, to_server)) = (agent.into_split(), server.into_split());
        connections.spawn(pump(from_agent, to_server, passes.clone(), |passes| passes != Passes::Nothing));
        connections.spawn(pump(from_server, to_agent, passes.clone(), |passes| passes == Passes::Everything));
    }
}

/// Carries bytes as long as they may pass. What may not waits, as TCP would send it again.
async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut passes: watch::Receiver<Passes>,
    may: impl Fn(Passes) -> bool,
) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut buffer).await.unwrap_or(0);
        // An end is news as well.
        if passes.wait_for(|passes| may(*passes)).await.is_err() || read == 0 {
            return;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

/// Two namespaces and the cable between them: the server's end is `near`, the agent's `far`.
#[derive(Debug)]
struct Namespaces {
    near: Namespace,
    far: Namespace,
}

impl Namespaces {
    fn make() -> io::Result<(Self, StdListener)> {
        let (near, far) = (Namespace::make()?, Namespace::make()?);
        let near_end = near.thread;
        far.does(move || {
            ip("link add name far type veth peer name near")?;
            ip(&format!("link set near netns {near_end}"))?;
            ip("addr add 10.254.0.2/30 dev far")?;
            ip("link set far up")
        })?;
        let listener = near.does(|| {
            ip("addr add 10.254.0.1/30 dev near")?;
            ip("link set near up")?;
            StdListener::bind("10.254.0.1:0")
        })?;
        Ok((Self { near, far }, listener))
    }
}

/// A network namespace: a thread that lives in it. Sockets and processes that it makes stay there.
#[derive(Debug)]
struct Namespace {
    thread: i32,
    work: mpsc::Sender<Box<dyn FnOnce() + Send>>,
}

impl Namespace {
    fn make() -> io::Result<Self> {
        let (work, to_do) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let (ready, made) = mpsc::channel();
        std::thread::spawn(move || {
            let outcome = unshare(CloneFlags::CLONE_NEWNET).map_err(io::Error::from);
            let _ = ready.send(outcome.and_then(|()| ip("link set lo up")).map(|()| gettid().as_raw()));
            for task in to_do {
                task();
            }
        });
        let thread = made.recv().map_err(io::Error::other)??;
        Ok(Self { thread, work })
    }

    /// Does it inside, and waits for it.
    fn does<T: Send + 'static>(&self, task: impl FnOnce() -> T + Send + 'static) -> T {
        let (tell, done) = mpsc::channel();
        let task = move || {
            let _ = tell.send(task());
        };
        self.work.send(Box::new(task)).expect("the namespace's thread lives");
        done.recv().expect("it was done")
    }
}

/// `ip` in the namespace of the calling thread.
fn ip(arguments: &str) -> io::Result<()> {
    let output = Command::new("ip").args(arguments.split(' ')).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}
