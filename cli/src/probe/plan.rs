//! How many tasks each cell gets: rounds of elimination.

use super::cell::Cell;

/// Rounds: the first so many tasks for each cell that is left, then only the best go on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    rounds: Vec<Stage>,
}

/// One round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stage {
    /// Tasks that each cell has been given when it is over.
    pub(crate) tasks: usize,
    /// Cells that go on.
    pub(crate) keep: usize,
}

impl Plan {
    /// 8 tasks for all, 16 for the best six, 40 for the best two.
    pub(crate) fn usual() -> Plan {
        Plan { rounds: vec![Stage { tasks: 8, keep: 6 }, Stage { tasks: 16, keep: 2 }, Stage { tasks: 40, keep: 2 }] }
    }

    /// 8 tasks for all.
    pub(crate) fn quick() -> Plan {
        Plan { rounds: vec![Stage { tasks: 8, keep: usize::MAX }] }
    }

    /// Every task for all.
    pub(crate) fn full(tasks: usize) -> Plan {
        Plan { rounds: vec![Stage { tasks, keep: usize::MAX }] }
    }

    pub(crate) fn rounds(&self) -> &[Stage] {
        &self.rounds
    }

    /// Trials of the rounds behind this one, at most, if it has this many cells.
    pub(crate) fn trials_behind(&self, round: usize, cells: usize) -> usize {
        let (mut left, mut trials) = (cells, 0);
        for pair in self.rounds[round..].windows(2) {
            left = left.min(pair[0].keep);
            trials += left * (pair[1].tasks - pair[0].tasks);
        }
        trials
    }
}

/// The cells that go on: the best of them.
pub(crate) fn keep(ranked: &[Cell], stage: Stage) -> Vec<Cell> {
    ranked.iter().take(stage.keep).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_and_fewer_cells_get_more_tasks() {
        assert_eq!(Plan::usual().trials_behind(0, 13), 6 * 8 + 2 * 24);
        assert_eq!(Plan::usual().trials_behind(1, 6), 2 * 24);
        assert_eq!(Plan::usual().trials_behind(2, 2), 0);
        assert_eq!(Plan::quick().trials_behind(0, 13), 0);
        assert_eq!(Plan::full(70).trials_behind(0, 25), 0);
        let cells = Cell::all(false);
        assert_eq!(keep(&cells, Plan::usual().rounds()[0]), cells[..6]);
        assert_eq!(keep(&cells, Plan::quick().rounds()[0]), cells);
    }
}
