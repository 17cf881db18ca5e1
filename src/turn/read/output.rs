//! Finds the value of an answer that must match a schema, and checks it.

use serde_json::{Map, Value};

use crate::event::Repair;
use crate::parse::find_values;
use crate::validate::OutputSchema;

/// The value of an answer, with the repairs that were needed to read it.
pub(in crate::turn) type Output = (Value, Vec<Repair>);

/// Finds the value of an answer: the first one that the schema accepts, values in code fences before others.
///
/// # Errors
/// The reason why there is none, as a message to the model.
pub(in crate::turn) fn find(schema: &OutputSchema, answer: &str) -> Result<Output, String> {
    let found = find_values(answer);
    let (fenced, bare): (Vec<_>, Vec<_>) = found.values.into_iter().partition(|value| value.fenced);
    let mut refused: Option<(usize, String)> = None;
    for value in fenced.into_iter().chain(bare) {
        let length = value.range.len();
        match schema.check(&value.value, &answer[value.range.clone()]) {
            Ok((checked, coerced)) => {
                let mut repairs = value.around(answer);
                repairs.extend(value.repairs);
                repairs.extend(coerced);
                return Ok((checked, repairs));
            }
            // The longest value is most likely the intended one.
            Err(problem) if refused.as_ref().is_none_or(|(longest, _)| *longest < length) => {
                refused = Some((length, problem.message));
            }
            Err(_) => {}
        }
    }
    let refused_length = refused.as_ref().map_or(0, |(length, _)| *length);
    Err(match (found.broken, refused) {
        // The longer of the two is what was meant: a small value beside a broken object is a part of the
        // explanation.
        (Some(broken), _) if broken.range.len() > refused_length => match broken.unfinished {
            true => format!("the JSON is not complete: {}", broken.message),
            false => format!("the JSON cannot be read: {}", broken.message),
        },
        (_, Some((_, problem))) => problem,
        _ => "there is no JSON value in the answer".to_owned(),
    })
}

/// Returns the value of an answer without JSON if the schema requires an object with a single text: a title, say. A
/// model that wrote only a line twice will not write JSON the third time, and the line can have no other meaning.
pub(in crate::turn) fn only_text(schema: &OutputSchema, answer: &str) -> Option<Output> {
    let found = find_values(answer);
    let text = match found.values.as_slice() {
        [] if found.broken.is_none() => answer.trim(),
        [value] => value.value.as_str()?,
        _ => return None,
    };
    let mut properties = schema.schema().get("properties")?.as_object()?.keys();
    let (Some(only), None) = (properties.next(), properties.next()) else { return None };
    // Several lines are prose, not the one text.
    if text.is_empty() || text.contains('\n') {
        return None;
    }
    let value = Value::Object(Map::from_iter([(only.clone(), Value::from(text))]));
    // A value that was coerced to another type was not meant (`{"days": "3"}`).
    let (checked, _) = schema.check(&value, "").ok().filter(|(checked, _)| *checked == value)?;
    Some((checked, vec![Repair::Other(format!("positional:{only}"))]))
}
