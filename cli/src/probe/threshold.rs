//! From which probability on a message is to be a call: set on some tasks, counted on others.

use toolgraft::turn::CALL_THRESHOLD;

use super::score::{TaskKind, Trial};

/// Value in place of the logarithm of a probability if the call's first token is not among those that the endpoint
/// reports.
pub(crate) const UNLIKELY: f64 = -99.0;

/// A call threshold above every logarithm of a probability: with it, no message counts as a call.
pub(crate) const NEVER: f64 = 1.0;

/// Returns the threshold at which a call is four times as likely wanted as unwanted, by the logistic curve that fits
/// these trials best: a call that nobody wanted is worse than one that the user has to ask for once more. `None` if no
/// probability was measured; [`NEVER`] if the endpoint reported no probability of a call in any of the trials.
///
/// The curve depends on all trials, whereas a threshold chosen by counting wrong decisions depends on the few trials
/// next to it, and is arbitrary within a gap between them. On 65 tasks used for neither (docs/models.md), the curve's
/// threshold (-5.3) led to 30 of 40 right calls and 1 of 25 false ones, the counted one (-3.5) to 28 and 1. Wrong calls
/// in tasks that want one are ignored: more of these help nobody.
pub(crate) fn fitting<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<f64> {
    let counted = trials.filter(|trial| trial.kind == TaskKind::None || trial.right);
    let mut points: Vec<(f64, bool)> =
        counted.filter_map(|trial| Some((trial.likely?, trial.kind != TaskKind::None))).collect();
    let told = points.iter().map(|(likely, _)| *likely).filter(|likely| *likely > UNLIKELY);
    let Some(least) = told.min_by(f64::total_cmp) else { return (!points.is_empty()).then_some(NEVER) };
    // What is not among the alternatives lies below all that are, nobody knows how far.
    points.iter_mut().for_each(|(likely, _)| *likely = likely.max(least - 1.0));
    let most = points.iter().map(|(likely, _)| *likely).max_by(f64::total_cmp)?;
    let wanted = points.iter().filter(|(_, is_wanted)| *is_wanted).count();
    // One sort of tasks alone has no curve: the threshold is then beside all of its points.
    Some(match wanted {
        0 => most + 1.0,
        all if all == points.len() => least - 1.0,
        _ => middle(&points).unwrap_or(most + 1.0),
    })
}

/// Number of tasks of each kind that the default threshold counts as in the weighted mean.
const USUAL_COUNTS: f64 = 2.0;

/// Returns the threshold to save: the [`fitting`] one, moved towards the default where there are few tasks of either
/// kind. With three wanted calls and one unwanted, -0.08 fitted a model for which 50 tasks give -0.8, and the model
/// then answered questions that only a call could answer.
pub(crate) fn settled(trials: &[Trial]) -> Option<f64> {
    let fits = fitting(trials.iter())?;
    let of = |is: fn(&Trial) -> bool| trials.iter().filter(|trial| trial.likely.is_some() && is(trial)).count();
    let fewer = of(|trial| trial.kind == TaskKind::None).min(of(|trial| trial.kind != TaskKind::None && trial.right));
    let counts = fewer as f64;
    Some(if fits == NEVER { fits } else { (counts * fits + USUAL_COUNTS * CALL_THRESHOLD) / (counts + USUAL_COUNTS) })
}

/// Number of steps of Newton's method; each about doubles the correct digits.
const STEPS: usize = 30;

/// Odds of wanted to unwanted calls at the threshold.
const ODDS: f64 = 4.0;

/// Weight of the penalty on the squared slope, without which two fully separated classes have no best slope.
const RIDGE: f64 = 0.03;

/// Returns the logarithm of a probability at which the logistic curve fitted to these points has the odds `ODDS`. A
/// point is such a logarithm, and `true` if a call was wanted. `None` if calls are wanted less with rising probability.
fn middle(points: &[(f64, bool)]) -> Option<f64> {
    let all = points.len() as f64;
    let mean = points.iter().map(|(x, _)| x).sum::<f64>() / all;
    let spread = (points.iter().map(|(x, _)| (x - mean).powi(2)).sum::<f64>() / all).sqrt();
    let (mut height, mut slope) = (0.0_f64, 0.0_f64);
    for _ in 0..STEPS {
        let (mut by_height, mut by_slope) = (0.0, -RIDGE * slope);
        // Where all points are certain the weights are zero, and so would the determinant be.
        let (mut hh, mut hs, mut ss) = (1e-9, 0.0, RIDGE);
        for (x, is_wanted) in points {
            let x = (x - mean) / spread.max(1e-9);
            let part = 1.0 / (1.0 + (-(height + slope * x)).exp());
            let (miss, weight) = (f64::from(u8::from(*is_wanted)) - part, part * (1.0 - part));
            by_height += miss;
            by_slope += miss * x;
            hh += weight;
            hs += weight * x;
            ss += weight * x * x;
        }
        let determinant = hh * ss - hs * hs;
        height += (ss * by_height - hs * by_slope) / determinant;
        slope += (hh * by_slope - hs * by_height) / determinant;
    }
    let middle = mean + spread * (ODDS.ln() - height) / slope;
    (slope > 0.0 && middle.is_finite()).then_some(middle)
}

/// Returns a trial as judged with this call threshold: below it no call counts as made. Unchanged if no probability was
/// measured.
pub(crate) fn within(trial: &Trial, threshold: f64) -> Trial {
    let Some(likely) = trial.likely else { return trial.clone() };
    let calls = likely >= threshold;
    let is_none = trial.kind == TaskKind::None;
    match calls {
        true if is_none => Trial { accepted: true, right: false, ..trial.clone() },
        true => trial.clone(),
        false => Trial { accepted: false, right_tool: false, right: is_none, used: false, ..trial.clone() },
    }
}

/// Returns the trials of the strategy `measured` as judged with a call threshold: the given one; else trials of even
/// tasks with the threshold that fits the odd ones and the reverse, so that no task is judged by a threshold fitted to
/// it.
pub(crate) fn counted(trials: &[Trial], given: Option<f64>) -> Vec<Trial> {
    if let Some(given) = given {
        return trials.iter().map(|trial| within(trial, given)).collect();
    }
    let half = |even: bool| trials.iter().filter(move |trial| trial.task.is_multiple_of(2) == even);
    // Of few tasks none may have been told in a half.
    let fits = |even| fitting(half(even)).filter(|found| *found < NEVER);
    let (of_even, of_odd) = (fits(true), fits(false));
    let other = |is_even: bool| if is_even { of_odd.or(of_even) } else { of_even.or(of_odd) };
    let of = |trial: &Trial| match other(trial.task.is_multiple_of(2)) {
        Some(threshold) => within(trial, threshold),
        None => within(trial, NEVER),
    };
    trials.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(task: usize, kind: TaskKind, likely: f64, right: bool) -> Trial {
        Trial { task, kind, likely: Some(likely), right, accepted: true, right_tool: right, ..Trial::default() }
    }

    fn fits(trials: &[Trial]) -> f64 {
        fitting(trials.iter()).unwrap()
    }

    #[test]
    fn a_threshold_parts_wanted_calls_from_unwanted_ones() {
        let trials = [
            trial(0, TaskKind::Call, -1.0, true),
            trial(1, TaskKind::Call, -5.0, true),
            trial(2, TaskKind::None, -7.0, false),
            trial(3, TaskKind::None, -20.0, false),
        ];
        assert!((-5.0..-3.0).contains(&fits(&trials)), "few tasks say little: {}", fits(&trials));
        // A call that would be wrong is no reason to take more of them.
        let wrong = [trials[0].clone(), trial(1, TaskKind::Call, -9.0, false), trials[2].clone()];
        let without = [trials[0].clone(), trials[2].clone()];
        assert_eq!(fits(&wrong), fits(&without));
        // One that is not among the alternatives lies just below those that are.
        let unseen = [trial(0, TaskKind::Call, -3.0, true), trial(1, TaskKind::None, UNLIKELY, false)];
        assert!((-4.0..-3.0).contains(&fits(&unseen)), "{}", fits(&unseen));
        assert_eq!(fitting([].iter()), None);
        assert!(fits(&trials[..2]) < -5.0 && fits(&trials[2..]) > -7.0);
        // Where likelier calls are wanted less, none is made.
        let upside_down = [trial(0, TaskKind::Call, -9.0, true), trial(1, TaskKind::None, -1.0, false)];
        assert!(fits(&upside_down) > -1.0);
    }

    #[test]
    fn few_tasks_leave_the_threshold_near_the_usual_one() {
        let wanted = |task| trial(task, TaskKind::Call, -0.01, true);
        let unwanted = |task| trial(task, TaskKind::None, -0.4, false);
        let few: Vec<Trial> = (0..3).map(wanted).chain([unwanted(3)]).collect();
        let many: Vec<Trial> = (0..30).map(wanted).chain((30..50).map(unwanted)).collect();
        let kept = |trials: &[Trial]| settled(trials).unwrap();
        assert!(fits(&few) > -0.3 && kept(&few) < -1.2, "{} {}", fits(&few), kept(&few));
        assert!(kept(&many) > fits(&many) - 0.2, "{} {}", fits(&many), kept(&many));
        assert_eq!(settled(&few[..3]), Some(CALL_THRESHOLD), "no task of one kind says nothing");
        assert_eq!(settled(&[trial(0, TaskKind::Call, UNLIKELY, true)]), Some(NEVER));
        assert_eq!(settled(&[]), None);
    }

    #[test]
    fn what_the_endpoint_never_tells_is_never_called() {
        let unseen = |task, kind, right| trial(task, kind, UNLIKELY, right);
        let all = [unseen(0, TaskKind::Call, true), unseen(1, TaskKind::Call, true), unseen(2, TaskKind::None, false)];
        assert_eq!(fitting(all.iter()), Some(NEVER));
        assert!(
            counted(&all, None).iter().all(|trial| !trial.accepted && trial.right == (trial.kind == TaskKind::None))
        );
        // Where it is told in one half, that half's threshold counts for both.
        let told = [
            all[0].clone(),
            trial(1, TaskKind::Call, -1.0, true),
            trial(3, TaskKind::None, -9.0, false),
            trial(4, TaskKind::Call, -1.0, true),
        ];
        let right: Vec<bool> = counted(&told, None).iter().map(|trial| trial.right).collect();
        assert_eq!(right, [false, true, true, true]);
    }

    #[test]
    fn one_stray_task_hardly_moves_it() {
        let wanted = (0..30).map(|at| trial(at, TaskKind::Call, -0.1 * at as f64, true));
        let unwanted = (30..40).map(|at| trial(at, TaskKind::None, -9.0 - 0.3 * at as f64, false));
        let mut trials: Vec<Trial> = wanted.chain(unwanted).collect();
        let before = fits(&trials);
        trials.push(trial(40, TaskKind::None, -1.0, false));
        let after = fits(&trials);
        assert!((-13.0..-2.0).contains(&before) && (before - after).abs() < 3.5, "{before} {after}");
    }

    #[test]
    fn a_trial_counts_by_the_threshold_of_the_other_half() {
        let all = [
            trial(0, TaskKind::Call, -1.0, true),
            trial(2, TaskKind::None, -3.0, false),
            trial(1, TaskKind::Call, -1.5, true),
            trial(3, TaskKind::None, -8.0, false),
        ];
        // Even ones: about -2; odd ones: about -4.7, by which the unwanted call of the even ones counts.
        let marks: Vec<(bool, bool)> = counted(&all, None).iter().map(|trial| (trial.accepted, trial.right)).collect();
        assert_eq!(marks, [(true, true), (true, false), (true, true), (false, true)]);
        let free = Trial { likely: None, ..all[0].clone() };
        assert_eq!(counted(std::slice::from_ref(&free), None), std::slice::from_ref(&free));
        assert_eq!(within(&free, 0.0), free);
        let none = Trial { kind: TaskKind::None, likely: None, right: true, ..Trial::default() };
        assert_eq!(counted(std::slice::from_ref(&none), Some(-3.0)), std::slice::from_ref(&none));
        // Below a threshold that is given nothing is a call.
        assert!(counted(&all, Some(0.0)).iter().all(|trial| !trial.accepted));
    }
}
