//! Single submissions that come at the same time are kept by one statement: whoever comes while others are under way waits
//! for the end of one of them, and no longer. One that comes alone waits for nobody, and changes no task.
//!
//! A caller that goes away takes nothing with it; one that was not begun by then is not begun. Nothing is held here that
//! was answered, and nothing is answered that is not committed.

use super::keep::{self, Request};
use crate::app::AppState;
use crate::extract::Effect;
use crate::problem::{Code, Problem};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Statements under way at once: while one waits for the disk, the next are made ready, and PostgreSQL flushes their
/// commits together. More would only make each smaller: on two cores, four served eight clients a third slower than two.
const LANES: usize = 2;
/// Most submissions in one statement.
const MOST: usize = 128;

/// A request, and who waits for its effect.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(super) request: Request,
    answer: oneshot::Sender<Effect>,
}

impl Waiting {
    pub(super) fn is_awaited(&self) -> bool {
        !self.answer.is_closed()
    }

    pub(super) fn answer(self, effect: Effect) {
        // The caller may have gone: then the effect stands, as after a reply that was lost on its way.
        let _ = self.answer.send(effect);
    }
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Waiting>,
    lanes: usize,
}

/// The line of those who wait.
#[derive(Debug, Default)]
pub(crate) struct Gather(Mutex<Line>);

impl Gather {
    /// Keeps a request, together with others if some wait, and answers with its own effect.
    pub(crate) async fn keep(&self, app: &AppState, request: Request) -> Effect {
        if self.line().take_lane() {
            let lane = Lane(app.clone());
            let effect = keep::lone(&lane.0, &request).await;
            // Who must look and wait for itself does so without a lane.
            drop(lane);
            return match effect {
                Some(effect) => effect,
                None => keep::alone(app, &request).await,
            };
        }
        let (answer, effect) = oneshot::channel();
        let lane = {
            let mut line = self.line();
            line.waiting.push_back(Waiting { request, answer });
            line.open_lane()
        };
        if let Some(gathered) = lane {
            start(app, gathered);
        }
        // Only a panic drops what waits without an answer.
        effect.await.unwrap_or_else(|_| Effect::Failed(Problem::new(Code::Internal)))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    /// For one who finds nobody waiting.
    fn take_lane(&mut self) -> bool {
        let free = self.lanes < LANES && self.waiting.is_empty();
        self.lanes += usize::from(free);
        free
    }

    fn open_lane(&mut self) -> Option<Vec<Waiting>> {
        if self.lanes >= LANES || self.waiting.is_empty() {
            return None;
        }
        self.lanes += 1;
        let most = self.waiting.len().min(MOST);
        Some(self.waiting.drain(..most).collect())
    }
}

/// On a task of its own: a caller that goes away must not take the others' statement with it.
fn start(app: &AppState, gathered: Vec<Waiting>) {
    let lane = Lane(app.clone());
    tokio::spawn(async move {
        keep::together(&lane.0, gathered).await;
    });
}

/// A statement under way. When it ends, even by a panic, those who came meanwhile are next.
struct Lane(AppState);

impl Drop for Lane {
    fn drop(&mut self) {
        let next = {
            let mut line = self.0.gather.line();
            line.lanes -= 1;
            // Without a runtime the server is going down, and everybody waiting with it.
            if Handle::try_current().is_ok() { line.open_lane() } else { None }
        };
        if let Some(gathered) = next {
            start(&self.0, gathered);
        }
    }
}
