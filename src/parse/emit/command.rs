//! A shell's command that was written as XML text: `make &amp;&amp; make install`.

use quick_xml::escape::unescape;
use serde_json::Value;

use crate::event::Repair;
use crate::parse::emit::unresolved::UnresolvedCall;

/// Parameters that hold a shell's command, by the tools of agents: Cline, Roo Code, Claude Code, Codex and
/// the servers that run one. Roo Code decodes entities in commands for every model
/// (`src/core/tools/ExecuteCommandTool.ts`).
const COMMANDS: [&str; 2] = ["command", "cmd"];

/// Entities of the characters that are syntax both in XML and in a shell.
const OPERATORS: [&str; 3] = ["&amp;", "&lt;", "&gt;"];

/// Decodes the call's commands that were written as XML text. A shell reads the `&` of an entity as its own:
/// `cd build &amp;&amp; rm -r *` removes the files of the current folder, whether there is a `build` or not.
pub(crate) fn decode_commands(call: &mut UnresolvedCall) {
    let Value::Object(arguments) = &mut call.arguments else { return };
    let mut is_decoded = false;
    // A call has few arguments: comparing their names costs less than to hash one of them.
    for (name, value) in arguments {
        if let Value::String(command) = value
            && COMMANDS.contains(&name.as_str())
            && let Some(decoded) = decoded(command)
        {
            *command = decoded;
            is_decoded = true;
        }
    }
    if is_decoded {
        call.restated = true;
        call.note(Repair::Entities);
    }
}

/// Returns the decoded command if it is XML text that a shell cannot have been meant to read: an operator's entity is
/// outside quotes, and each `<`, `>` and `&` is written as an entity.
fn decoded(command: &str) -> Option<String> {
    if !OPERATORS.iter().any(|entity| command.contains(entity)) || command.contains(['<', '>']) {
        return None;
    }
    let text = unescape(command).ok()?;
    has_operator(command).then(|| text.into_owned())
}

/// Returns `true` if `&amp;`, `&lt;` or `&gt;` occurs outside a shell's quotes.
fn has_operator(command: &str) -> bool {
    let (mut quote, mut is_escaped) = (None, false);
    command.char_indices().any(|(at, c)| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match (c, quote) {
            // Between single quotes a shell knows no backslash.
            ('\\', None | Some('"')) => is_escaped = true,
            ('"' | '\'', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            ('&', None) => return OPERATORS.iter().any(|entity| command[at..].starts_with(entity)),
            _ => {}
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_cannot_have_been_meant_to_read_is_decoded_once() {
        let meant = [
            ("cat ci.yml 2&gt;/dev/null || echo none", "cat ci.yml 2>/dev/null || echo none"),
            ("cd build &amp;&amp; grep &quot;a b&quot; &lt; in", "cd build && grep \"a b\" < in"),
            ("sort &lt;&lt;E\n&amp;lt;\nE", "sort <<E\n&lt;\nE"),
            ("grep 'a &gt; b' f &amp;&amp; ls", "grep 'a > b' f && ls"),
        ];
        for (written, read) in meant {
            assert_eq!(decoded(written).as_deref(), Some(read));
        }
    }

    #[test]
    fn what_a_shell_reads_as_it_stands_stays() {
        for written in [
            "grep -c \"a &amp;&amp; b\" x.xml",
            "grep 'a &gt; b' x.html",
            "echo a\\&gt; b",
            "grep -c \"a &amp; b\" x.xml && echo &lt;ok&gt;",
            "echo &lt;b&gt; > x.html",
            "make & wait",
            "echo &quot;x&quot;",
            "a &amp;&amp; b & c",
            "x &amp &gt;",
        ] {
            assert_eq!(decoded(written), None, "{written}");
        }
    }
}
