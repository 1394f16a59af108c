//! Which bytes of a log a reader gets.

use reeve_store::logs::{Chunk, Extent};

/// Bytes `from..to` of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: i64,
    pub(super) to: i64,
}

/// The last `bytes` of what is there.
pub(super) fn tail(extent: Extent, bytes: i64) -> Window {
    Window { from: extent.end.saturating_sub(bytes).max(extent.start), to: extent.end }
}

/// At most `bytes` from `offset` on; what was dropped at the beginning is skipped.
pub(super) fn onwards(extent: Extent, offset: i64, bytes: i64) -> Window {
    let from = offset.max(extent.start);
    Window { from, to: from.saturating_add(bytes).min(extent.end).max(from) }
}

/// Bytes of a log: where the first of them lies, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: i64,
    pub(super) bytes: Vec<u8>,
    pub(super) next: i64,
}

impl Stretch {
    /// Nothing yet, at the window's beginning.
    pub(super) const fn at(window: Window) -> Self {
        Self { start: window.from, bytes: Vec::new(), next: window.from }
    }

    /// Adds what the chunks have of the window from `next` on. Over a gap between chunks it goes on after it.
    pub(super) fn add(&mut self, window: Window, chunks: &[Chunk]) {
        for chunk in chunks {
            let begins = chunk.start_offset;
            let ends = begins + i64::try_from(chunk.bytes.len()).unwrap_or(0);
            let (from, to) = (begins.max(self.next), ends.min(window.to));
            if from < to {
                if self.bytes.is_empty() {
                    self.start = from;
                }
                self.bytes.extend_from_slice(&chunk.bytes[index(from - begins)..index(to - begins)]);
                self.next = to;
            }
        }
    }
}

fn index(offset: i64) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(start: i64, end: i64) -> Extent {
        Extent { start, end, complete: false }
    }

    fn chunk(start_offset: i64, text: &str) -> Chunk {
        Chunk { start_offset, bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn windows_stay_inside_what_is_there() {
        assert_eq!(tail(extent(0, 100), 30), Window { from: 70, to: 100 });
        assert_eq!(tail(extent(90, 100), 30), Window { from: 90, to: 100 });
        assert_eq!(onwards(extent(0, 100), 40, 10), Window { from: 40, to: 50 });
        assert_eq!(onwards(extent(60, 100), 40, 10), Window { from: 60, to: 70 });
        assert_eq!(onwards(extent(0, 100), 100, 10), Window { from: 100, to: 100 });
        assert_eq!(onwards(extent(0, 100), 500, 10), Window { from: 500, to: 500 });
    }

    #[test]
    fn bytes_are_cut_across_chunks_and_gaps() {
        let chunks = [chunk(0, "hello "), chunk(6, "world"), chunk(20, "again")];
        for (from, to, start, bytes, next) in
            [(4, 8, 4, "o wo", 8), (9, 22, 9, "ldag", 22), (12, 24, 20, "agai", 24), (25, 25, 25, "", 25)]
        {
            let window = Window { from, to };
            let mut stretch = Stretch::at(window);
            stretch.add(window, &chunks);
            assert_eq!(stretch, Stretch { start, bytes: bytes.as_bytes().to_vec(), next });
        }
    }
}
