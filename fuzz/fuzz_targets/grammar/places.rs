//! Places that quote a call, and places that only look like that.

/// Requirements on a call in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// One call that may be within a line.
    InLine,
    /// One call at the beginning of a line, apart from the delimiter of the line.
    Marked,
    /// None: the place takes any lines.
    Lines,
}

/// A place in a message.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) before: &'static str,
    /// Prefix of each further line of the call.
    pub(crate) each_line: &'static str,
    pub(crate) after: &'static str,
    pub(crate) needs: Needs,
}

const fn place(before: &'static str, after: &'static str, needs: Needs) -> Place {
    Place { before, each_line: "", after, needs }
}

/// Places in which a call is an example.
pub(crate) const QUOTING: &[Place] = &[
    place("Write `", "` to ask.", Needs::InLine),
    place("Write ``", "`` to ask.", Needs::InLine),
    place("Write ```", "``` to ask.", Needs::InLine),
    place("Write `like this: ", "` to ask.", Needs::InLine),
    place("``e.g. ", " ``", Needs::InLine),
    place("`a` or `b: ", " c`.", Needs::InLine),
    place("Write <code>", "</code> to ask.", Needs::InLine),
    place("Write <code>like ", " this</code> to ask.", Needs::InLine),
    place("\"", "\"", Needs::InLine),
    place("It is '", "'.", Needs::InLine),
    place("Say \"please send ", " to it.\" So it is said.", Needs::InLine),
    place("Say (\"please send ", " now\").", Needs::InLine),
    place("“It is as ", " says it.”", Needs::InLine),
    place("请写“例如 ", " 这样”。", Needs::InLine),
    place("写「", "」。", Needs::InLine),
    place("Dites « ", " ».", Needs::InLine),
    place("> ", "", Needs::Marked),
    place("> so ", " it is", Needs::InLine),
    Place { each_line: "> ", ..place("> ", "\n> That is it.", Needs::Marked) },
    Place { each_line: "    ", ..place("It is:\n\n    ", "", Needs::Marked) },
    Place { each_line: "    ", ..place("It is:\n\n    # so\n    ", "\n    # or so", Needs::Marked) },
    Place { each_line: "\t", ..place("It is:\n\n\t", "", Needs::Marked) },
    place("<!-- ", " -->", Needs::InLine),
    place("<!--\n", "\n-->", Needs::Lines),
    place("<!-- a -- b\n", "\n--> c", Needs::Lines),
    place("<![CDATA[\n", "\n]]>", Needs::Lines),
    place("<blockquote>\n", "\n</blockquote>\nThat is how.", Needs::Lines),
    place("It is <script>\n", "\n</script>", Needs::Lines),
    place("[quote=me]\n", "\n[/quote]\nThat is how.", Needs::Lines),
    place("#+BEGIN_EXAMPLE\n", "\n#+END_EXAMPLE\nThat is how.", Needs::Lines),
    place("\\begin{verbatim}\n", "\n\\end{verbatim}\nThat is how.", Needs::Lines),
    place("cat > f <<'EOF'\n", "\nEOF\nThat is how.", Needs::Lines),
    place("/*\n", "\n*/\nThat is how.", Needs::Lines),
    place("// ", "", Needs::Marked),
    place("1. > ", "\n2. no", Needs::Marked),
    place("```\n", "\n```\nThat is how.", Needs::Lines),
    place("```xml\nIt is:\n", "\n```", Needs::Lines),
    place("~~~\n", "\n~~~\nThat is how.", Needs::Lines),
    place("'''\n", "\n'''\nThat is how.", Needs::Lines),
    place("````text\n", "\n````\nThat is how.", Needs::Lines),
    place("<pre>\n", "\n</pre>\nThat is how.", Needs::Lines),
    place("<code>\n", "\nso\n</code>", Needs::Lines),
    place("<pre><code class=\"x\">\n", "\n</code></pre> is how.", Needs::Lines),
];

/// Places with delimiters in which a call is not an example.
pub(crate) const PLAIN: &[Place] = &[
    place("Write ` ", "\n", Needs::InLine),
    place("Write `a` and `b`: ", " is `it`.", Needs::InLine),
    place("Write ``a ` b`` ", " `", Needs::InLine),
    place("Three ``` of them ", " and ```.", Needs::InLine),
    place("Write `this:\n", "`", Needs::InLine),
    place("Write <code>a</code>: ", " </code>", Needs::InLine),
    place("\" ", "\n", Needs::InLine),
    place("Say \"a\" then ", " and \"b\".", Needs::InLine),
    place("5\" of ", " and 6\".", Needs::InLine),
    place("The dogs' ", " don't.", Needs::InLine),
    place("写「a」", " 」", Needs::InLine),
    place("a > b ", "", Needs::InLine),
    place("> a quote\n", "", Needs::InLine),
    place("It is:\n    ", "", Needs::InLine),
    place("- It is:\n\n    ", "", Needs::InLine),
    place("<!-- a -->", "", Needs::InLine),
    place("The mark `<!--` begins one. ", "", Needs::InLine),
    place("<pre>\nx\n</pre>\n", "", Needs::InLine),
    place("For example: ", "", Needs::InLine),
];
