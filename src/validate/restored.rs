//! Restores text that a prompt escaped, in arguments that repeat it.
//!
//! In results and files only control tokens are escaped; in the names and values of a schema, also text that a dialect
//! could read as a call.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::event::{Call, Repair};
use crate::json::map_texts;
use crate::outcome::{BREAK, Neutraliser, restore_tokens};
use crate::tools::Catalog;

/// Maps the text that prompts show to the original text of a schema.
pub(super) type ShownTexts = HashMap<String, String>;

/// Returns the keys and texts of a catalog's schemas that prompts show in escaped form.
pub(super) fn shown(catalog: &Catalog) -> ShownTexts {
    let neutraliser = Neutraliser::new(catalog);
    let mut shown = ShownTexts::new();
    for schema in catalog.tools().filter_map(|tool| tool.input_schema.as_ref()) {
        map_texts(schema.clone(), &mut |text| {
            if let Cow::Owned(broken) = neutraliser.neutralise(&text) {
                shown.insert(broken, text.clone());
            }
            text
        });
    }
    shown
}

/// Restores the texts and keys of a call's arguments. It runs only once for each call, since a restored text may itself
/// look escaped.
pub(super) fn restore<'s>(call: &mut Call, shown: impl FnOnce() -> &'s ShownTexts) {
    // JSON may contain the character as an escape.
    let may_hold = call.raw_arguments.contains(BREAK) || call.raw_arguments.contains("\\u2060");
    if !may_hold || call.repairs.contains(&Repair::TokensRestored) {
        return;
    }
    let (shown, mut is_changed) = (shown(), false);
    call.arguments = map_texts(std::mem::take(&mut call.arguments), &mut |text| {
        if !text.contains(BREAK) {
            return text;
        }
        let restored = shown.get(&text).cloned().unwrap_or_else(|| restore_tokens(&text).into_owned());
        is_changed |= restored != text;
        restored
    });
    if is_changed {
        call.repairs.push(Repair::TokensRestored);
    }
}
