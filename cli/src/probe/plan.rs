//! The number of tasks that each cell gets: rounds of elimination.

use super::cell::Cell;

/// The rounds of elimination: in each, every remaining way to offer tools is tried on the first tasks, and only the
/// best remain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub(crate) rounds: Vec<Stage>,
}

/// One round of elimination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stage {
    /// Number of tasks that each way to offer tools has been tried on by the end of the round.
    pub(crate) tasks: usize,
    /// Maximum number of ways to offer tools that remain after the round.
    pub(crate) keep: usize,
}

impl Plan {
    /// Returns the default plan: 4 tasks for all ways to offer tools, 8 for the best eight, 16 for the best four, all
    /// tasks that serve to choose for the best two, and every task for the best.
    pub(crate) fn usual(tasks: usize) -> Plan {
        let choosing = Split::Choose.end(tasks);
        let rounds = [(4, 8), (8, 4), (16, 2), (choosing, 1)].map(|(tasks, keep)| Stage { tasks, keep });
        // Of few tasks an early round would have as many as the one that chooses.
        let shorter = rounds.into_iter().filter(|stage| stage.tasks < choosing || stage.keep == 1);
        Plan { rounds: shorter.chain([Stage { tasks, keep: 1 }]).collect() }
    }

    /// Returns the plan of `--full`: one round with every task for all ways to offer tools.
    pub(crate) fn full(tasks: usize) -> Plan {
        Plan { rounds: vec![Stage { tasks, keep: usize::MAX }] }
    }

    /// Returns the maximum number of trials in the rounds after this one, if this many ways to offer tools take part in
    /// it.
    pub(crate) fn trials_after(&self, round: usize, cells: usize) -> usize {
        let (mut left, mut trials) = (cells, 0);
        for pair in self.rounds[round..].windows(2) {
            left = left.min(pair[0].keep);
            trials += left * (pair[1].tasks - pair[0].tasks);
        }
        trials
    }
}

/// The purpose of a task in a probe. No result is reported on tasks that served to choose or to set a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    /// Tasks that serve to choose the best way to offer tools: the first third.
    Choose,
    /// Tasks that serve, with those of the first third, to set the call threshold: the second third.
    Set,
    /// Tasks on which results are reported: the last third.
    Report,
}

impl Split {
    /// Returns the purpose of the task with index `id` among `tasks` tasks.
    pub(crate) fn of(id: usize, tasks: usize) -> Split {
        let all = [Split::Choose, Split::Set, Split::Report];
        all.into_iter().find(|split| id < split.end(tasks)).unwrap_or(Split::Report)
    }

    /// Returns the index after the last task with this purpose, among `tasks` tasks.
    pub(crate) fn end(self, tasks: usize) -> usize {
        match self {
            Split::Choose => tasks.div_ceil(3),
            Split::Set => (2 * tasks).div_ceil(3),
            Split::Report => tasks,
        }
    }
}

/// Returns the ways to offer tools that remain after a round: the first `keep` of the ranked ones.
pub(crate) fn keep(ranked: &[Cell], stage: Stage) -> Vec<Cell> {
    ranked.iter().take(stage.keep).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_and_fewer_cells_get_more_tasks() {
        let usual = Plan::usual(75);
        let rounds: Vec<(usize, usize)> = usual.rounds.iter().map(|stage| (stage.tasks, stage.keep)).collect();
        assert_eq!(rounds, [(4, 8), (8, 4), (16, 2), (25, 1), (75, 1)]);
        assert_eq!(usual.trials_after(0, 21), 8 * 4 + 4 * 8 + 2 * 9 + 50);
        assert_eq!(usual.trials_after(3, 2), 50);
        assert_eq!(Plan::usual(9).rounds.iter().map(|stage| stage.tasks).collect::<Vec<_>>(), [3, 9]);
        assert_eq!(Plan::full(70).trials_after(0, 25), 0);
        let cells = Cell::all(None);
        assert_eq!(keep(&cells, usual.rounds[0]), cells[..8]);
        assert_eq!(keep(&cells, Plan::full(8).rounds[0]), cells);
    }

    #[test]
    fn each_task_is_for_one_thing() {
        let of = |id| Split::of(id, 75);
        assert_eq!([of(0), of(24), of(25), of(49), of(50), of(74)].map(|split| split as u8), [0, 0, 1, 1, 2, 2]);
        assert_eq!((Split::of(0, 1), Split::of(1, 2)), (Split::Choose, Split::Set));
    }
}
