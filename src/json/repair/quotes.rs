//! Which quotation marks begin a string, and which end it.

/// Whether a string may begin with this mark.
pub(in crate::json) fn opens(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”' | '„' | '‘' | '’' | '「')
}

/// Whether a string that `open` began may end with this mark.
pub(in crate::json) fn closes(open: char, c: char) -> bool {
    match open {
        '“' | '”' | '„' => matches!(c, '”' | '“' | '"'),
        '‘' | '’' => matches!(c, '’' | '‘' | '\''),
        '「' => c == '」',
        _ => c == open,
    }
}
