//! Servers that are killed and started again.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::task::JoinHandle;

use super::ACCOUNT;
use crate::client::{Client, eventually};
use crate::process::Process;

/// What tests set otherwise is as it is by default.
const ARGUMENTS: [&str; 2] = ["--lease=10s", "--poll-interval=500ms"];

/// Several servers.
pub(super) struct Replicas {
    aws: String,
    replicas: Vec<Mutex<Replica>>,
    /// What those that were killed have logged.
    logs: Mutex<Vec<String>>,
}

struct Replica {
    database: String,
    up: Option<(Process, Client)>,
    /// The task that starts it again.
    starting: Option<JoinHandle<()>>,
}

impl Replicas {
    /// Starts a server for each URL of the database.
    pub(super) async fn start(databases: Vec<String>, aws: &str) -> Arc<Self> {
        let replicas = databases.into_iter().map(|database| {
            Mutex::new(Replica {
                database,
                up: None,
                starting: None,
            })
        });
        let replicas = Arc::new(Self {
            aws: aws.to_owned(),
            replicas: replicas.collect(),
            logs: Mutex::default(),
        });
        for index in 0..replicas.count() {
            replicas.start_one(index);
        }
        replicas.are_up().await;
        replicas
    }

    pub(super) fn count(&self) -> usize {
        self.replicas.len()
    }

    fn replica(&self, index: usize) -> MutexGuard<'_, Replica> {
        self.replicas[index]
            .lock()
            .expect("no panic holds the lock")
    }

    /// Kills the first server that is up, beginning with one, and starts it again. Returns the number of kills.
    pub(super) fn kill(self: &Arc<Self>, first: usize) -> usize {
        for index in (0..self.count()).map(|offset| (first + offset) % self.count()) {
            let Some((process, _)) = self.replica(index).up.take() else {
                continue;
            };
            self.log(index, &process);
            process.kill();
            self.start_one(index);
            return 1;
        }
        0
    }

    fn start_one(self: &Arc<Self>, index: usize) {
        let replicas = Arc::clone(self);
        let database = self.replica(index).database.clone();
        let starting = tokio::spawn(async move {
            loop {
                let mut process =
                    Process::serve_hoping(&ARGUMENTS, &database, &replicas.aws, ACCOUNT);
                if let Some(url) = process.listens().await {
                    replicas.replica(index).up = Some((process, Client::new(&url, ACCOUNT)));
                    return;
                }
                replicas.log(index, &process);
            }
        });
        self.replica(index).starting = Some(starting);
    }

    /// Waits until all are up.
    pub(super) async fn are_up(&self) {
        eventually(async || {
            let up = |index| self.replica(index).up.is_some();
            (0..self.count()).all(up).then_some(())
        })
        .await;
    }

    /// A client of the server with this number, if that is up.
    pub(super) fn client(&self, index: usize) -> Option<Client> {
        let replica = self.replica(index % self.count());
        replica.up.as_ref().map(|(_, client)| client.clone())
    }

    /// A client of any server that is up.
    pub(super) fn any(&self) -> Option<Client> {
        (0..self.count()).find_map(|index| self.client(index))
    }

    fn log(&self, index: usize, process: &Process) {
        let log = format!("server {index}\n{}", process.output());
        let mut logs = self.logs.lock().expect("no panic holds the lock");
        logs.push(log);
    }

    /// What all have logged.
    fn logs(&self) -> Vec<String> {
        let mut logs = self.logs.lock().expect("no panic holds the lock").clone();
        for index in 0..self.count() {
            if let Some((process, _)) = &self.replica(index).up {
                logs.push(format!("server {index}\n{}", process.output()));
            }
        }
        logs
    }

    /// The lines that tell of panics.
    pub(super) fn panics(&self) -> Vec<String> {
        let logs = self.logs();
        let lines = logs.iter().flat_map(|log| log.lines());
        let panics = lines.filter(|line| line.contains("panicked"));
        panics.map(str::to_owned).collect()
    }

    /// Writes what all have logged into a folder that stays.
    pub(super) fn keep_logs(&self, name: &str) -> PathBuf {
        let prefix = format!("ucp-chaos-{}-", name.replace(' ', "-"));
        let folder = tempfile::TempDir::with_prefix(prefix).expect("a folder");
        let folder = folder.keep();
        for (index, log) in self.logs().iter().enumerate() {
            let file = folder.join(format!("{index:03}.log"));
            std::fs::write(file, log).expect("the file is written");
        }
        folder
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        if let Some(starting) = &self.starting {
            starting.abort();
        }
    }
}
