//! From which probability on a message is to be a call: set on some tasks, counted on others.

use serde::Serialize;

use super::score::{Kind, Trial};

/// Stands for the logarithm of a probability that is not among those that the endpoint tells.
pub(crate) const UNLIKELY: f64 = -99.0;

/// A threshold that fits these trials best: most right calls without false ones, each as a part of
/// its kind; of equal ones the highest, in the middle between its neighbours. `None` without any
/// that was measured.
pub(crate) fn fitting<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> Option<f64> {
    let best = curve(trials).into_iter().max_by(|a, b| a.gain().total_cmp(&b.gain()));
    best.map(|point| point.threshold)
}

/// What a threshold would make of trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Point {
    pub(crate) threshold: f64,
    /// Wanted calls that are right.
    pub(crate) right: usize,
    pub(crate) wanted: usize,
    /// Calls that nobody wanted.
    pub(crate) false_calls: usize,
    pub(crate) unwanted: usize,
}

impl Point {
    fn of<'a>(trials: impl Iterator<Item = &'a Trial>, threshold: f64) -> Self {
        let mut point = Point { threshold, right: 0, wanted: 0, false_calls: 0, unwanted: 0 };
        for trial in trials {
            let calls = trial.likely.is_some_and(|likely| likely >= threshold);
            let (all, counted, counts) = match trial.kind {
                Kind::None => (&mut point.unwanted, &mut point.false_calls, calls),
                Kind::Call | Kind::Calls | Kind::Result => (&mut point.wanted, &mut point.right, calls && trial.right),
            };
            *all += 1;
            *counted += usize::from(counts);
        }
        point
    }

    /// The part of wanted calls that are right, less that of unwanted ones.
    fn gain(self) -> f64 {
        let part = |of: usize, all: usize| if all > 0 { of as f64 / all as f64 } else { 0.0 };
        part(self.right, self.wanted) - part(self.false_calls, self.unwanted)
    }
}

/// All thresholds that part these trials otherwise than their neighbours, the lowest first; empty
/// without any that was measured.
pub(crate) fn curve<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> Vec<Point> {
    // What is not among the alternatives lies below all that are, nobody knows how far.
    let mut likely: Vec<f64> = trials.clone().filter_map(|trial| trial.likely).filter(|l| *l > UNLIKELY).collect();
    likely.sort_by(f64::total_cmp);
    likely.dedup();
    let (Some(least), Some(most)) = (likely.first(), likely.last()) else { return Vec::new() };
    let between = likely.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
    let all = [least - 1.0].into_iter().chain(between).chain([most + 1.0]);
    all.map(|threshold| Point::of(trials.clone(), threshold)).collect()
}

/// The trial as it is with this threshold.
pub(crate) fn within(trial: &Trial, threshold: f64) -> Trial {
    let calls = trial.likely.is_none_or(|likely| likely >= threshold);
    let is_none = trial.kind == Kind::None;
    match calls {
        true if is_none => Trial { accepted: true, right: false, ..trial.clone() },
        true => trial.clone(),
        false => Trial {
            accepted: false,
            right_tool: false,
            right: is_none,
            used: false,
            fault: (!is_none).then(|| "no call: its probability is below the threshold".to_owned()),
            ..trial.clone()
        },
    }
}

/// The trials of a measured way as they count: those with an even number with the threshold that
/// fits the others, and these with that of the even ones, so that no task is judged by a threshold
/// that was set on it. With a threshold that is given, all count by that.
pub(crate) fn counted(trials: &[Trial], given: Option<f64>) -> Vec<Trial> {
    if let Some(given) = given {
        return trials.iter().map(|trial| within(trial, given)).collect();
    }
    let half = |even: bool| trials.iter().filter(move |trial| trial.task.is_multiple_of(2) == even);
    let (of_even, of_odd) = (fitting(half(true)), fitting(half(false)));
    let other = |is_even: bool| if is_even { of_odd.or(of_even) } else { of_even.or(of_odd) };
    let of = |trial: &Trial| match other(trial.task.is_multiple_of(2)) {
        Some(threshold) => within(trial, threshold),
        None => trial.clone(),
    };
    trials.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(task: usize, kind: Kind, likely: f64, right: bool) -> Trial {
        Trial { task, kind, likely: Some(likely), right, accepted: true, right_tool: right, ..Trial::default() }
    }

    #[test]
    fn a_threshold_parts_wanted_calls_from_unwanted_ones() {
        let trials = [
            trial(0, Kind::Call, -1.0, true),
            trial(1, Kind::Call, -5.0, true),
            trial(2, Kind::None, -7.0, false),
            trial(3, Kind::None, -20.0, false),
        ];
        assert_eq!(fitting(trials.iter()), Some(-6.0));
        // A call that would be wrong is no reason to take more of them.
        let wrong = [trial(0, Kind::Call, -1.0, true), trial(1, Kind::Call, -9.0, false), trials[2].clone()];
        assert_eq!(fitting(wrong.iter()), Some(-4.0));
        assert_eq!(fitting([].iter()), None);
        // One that is not among the alternatives is no neighbour: the threshold lies just below the
        // last one that is.
        let unseen = [trial(0, Kind::Call, -3.0, true), trial(1, Kind::None, UNLIKELY, false)];
        assert_eq!(fitting(unseen.iter()), Some(-4.0));
        assert!(fitting([trial(0, Kind::None, -3.0, false)].iter()).is_some_and(|found| found > -3.0));
    }

    #[test]
    fn a_trial_counts_by_the_threshold_of_the_other_half() {
        let all = [
            trial(0, Kind::Call, -1.0, true),
            trial(2, Kind::None, -3.0, false),
            trial(1, Kind::Call, -1.5, true),
            trial(3, Kind::None, -8.0, false),
        ];
        // Even ones: -2; odd ones: -4.75, by which the unwanted call of the even ones counts.
        let marks: Vec<(bool, bool)> = counted(&all, None).iter().map(|trial| (trial.accepted, trial.right)).collect();
        assert_eq!(marks, [(true, true), (true, false), (true, true), (false, true)]);
        let free = Trial { likely: None, ..all[0].clone() };
        assert_eq!(counted(std::slice::from_ref(&free), None), [free]);
        // Below a threshold that is given nothing is a call.
        assert!(counted(&all, Some(0.0)).iter().all(|trial| !trial.accepted));
    }
}
