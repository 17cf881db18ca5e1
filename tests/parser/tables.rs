//! Every row of the tables of other roles and of quotations: a call inside, a call after, and an
//! unclosed beginning, at every split.

use toolgraft::Dialect;
use toolgraft::dialect::{
    BlockForm, LineCounts, QUOTING_BLOCKS, REASONING_MARKS, RESULT_LINES, RESULT_TAGS, THINK_TAGS, USER_LINES,
};
use toolgraft::event::{Assembled, Provenance, QuotedIn, Rejected, RejectedKind};
use toolgraft::message::ReasoningMode;
use toolgraft::parse::Config;
use toolgraft_testkit::laws::{self, Input};

use super::context::{CATALOG, call};

/// One dialect of each kind: a tag with the tool's name, an element, JSON in a tag, a name in a
/// tag.
const DIALECTS: [Dialect; 4] = [Dialect::ToolTag, Dialect::UseMcpTool, Dialect::Hermes, Dialect::FunctionTag];

/// Parses the text with the call at `{}`: as a whole and by character in each dialect, and at every
/// split in one.
fn read(text: &str, dialect: Dialect) -> Assembled {
    let is_cut = dialect == DIALECTS[text.len() % DIALECTS.len()];
    let text = text.replace("{}", &call(dialect));
    let cuts = (1..if is_cut { text.len() } else { 1 }).map(|at| vec![at]).collect::<Vec<_>>();
    let config = Config::default().with_catalog(CATALOG.clone()).with_reasoning(ReasoningMode::Auto);
    let input = Input { text: text.clone(), config, ..Input::default() };
    laws::check(&input, &cuts).unwrap_or_else(|law| panic!("{dialect}: {text}\n{law}"))
}

/// Returns the rejection of each call of a text, in order; `None` for one that only the line beside it may put in
/// doubt.
fn fates(text: &str, dialect: Dialect) -> Vec<Option<RejectedKind>> {
    let message = read(text, dialect);
    let fate = |result: &Result<toolgraft::Call, Rejected>| match result {
        Ok(call) => {
            let is_expected = matches!(call.provenance, Provenance::Plain | Provenance::Hedged);
            assert!(is_expected, "{dialect}: {text}: {:?}", call.provenance);
            None
        }
        Err(rejected) => Some(rejected.kind),
    };
    message.entries.iter().map(|entry| fate(&entry.result)).collect()
}

fn all_are(texts: &[(String, &[Option<RejectedKind>])]) {
    for dialect in DIALECTS {
        for (text, expected) in texts {
            assert_eq!(fates(text, dialect), *expected, "{dialect}: {text}");
        }
    }
}

/// Returns an example of the row's line.
fn sample(row: &str) -> String {
    row.replace("[@", "[use_mcp_tool").replace("Round #", "Round 12")
}

#[test]
fn what_a_turn_of_anothers_holds_is_invented() {
    const INVENTED: Option<RejectedKind> = Some(RejectedKind::Invented);
    for row in USER_LINES.iter() {
        let line = sample(row.text);
        all_are(&[
            (format!("{{}}\n\n{line} Now this.\n{{}}"), &[None, INVENTED]),
            (format!("{{}}\n{line}\nNow this.\n\nAssistant:\n{{}}"), &[None, INVENTED]),
            (format!("It is done.\n\n{line} Now this.\n\n### Response:\n{{}}\n{{}}"), &[INVENTED, INVENTED]),
            (format!("{line} Do it.\n{{}}"), &[INVENTED]),
            (format!("So it says {line} here.\n{{}}"), &[None]),
        ]);
        let right_after = if row.counts == LineCounts::Everywhere { INVENTED } else { None };
        all_are(&[(format!("It is done.\n{line} Now this.\n{{}}"), &[right_after])]);
    }
}

#[test]
fn what_a_result_holds_and_what_stands_after_it_is_invented() {
    const INVENTED: Option<RejectedKind> = Some(RejectedKind::Invented);
    for row in RESULT_LINES.iter() {
        let line = sample(row.text);
        let alone: &[Option<RejectedKind>] = match row.counts {
            LineCounts::AfterCall => &[None],
            _ => &[INVENTED],
        };
        all_are(&[
            (format!("{{}}\n{line} gone\n{{}}"), &[None, INVENTED]),
            (format!("{{}}\n\n{line}\ngone\n\nSo:\n{{}}"), &[None, INVENTED]),
            (format!("{line} gone\n{{}}"), alone),
        ]);
    }
    for (tag, _) in RESULT_TAGS.iter() {
        all_are(&[
            (format!("<{tag}>\nplease:\n{{}}\n</{tag}>"), &[INVENTED]),
            (format!("<{tag} id=\"1\">gone</{tag}>\n{{}}"), &[INVENTED]),
            (format!("{{}}\n<{tag}>gone</{tag}>\n{{}}"), &[None, INVENTED]),
            (format!("{{}}<{tag}>\ngone\n{{}}"), &[None, INVENTED]),
            (format!("The tag <{tag}> holds results.\n{{}}"), &[None]),
        ]);
    }
}

#[test]
fn what_a_mark_of_the_reasoning_holds_is_a_draft() {
    const DRAFT: Option<RejectedKind> = Some(RejectedKind::InReasoning);
    let tags = THINK_TAGS.iter().flat_map(|tag| {
        let spelt = [tag.to_string(), format!("{tag} "), tag.to_uppercase()];
        spelt.into_iter().map(|tag| (format!("<{tag}>"), format!("</{tag}>"), true))
    });
    let marks = REASONING_MARKS.iter().map(|mark| {
        let label = mark.label.map(|label| format!("{label}\n")).unwrap_or_default();
        (format!("{}{label}", mark.open), mark.close.to_owned(), false)
    });
    for (open, close, is_tag) in tags.chain(marks) {
        all_are(&[
            (format!("{open}I could\n{{}}\nbut no.{close}It is 4."), &[DRAFT]),
            (format!("{open}I could.{close}\n{{}}"), &[None]),
            (format!("{open}\nI could\n{{}}\n{close}\nSo:\n{{}}"), &[DRAFT, None]),
            (format!("{open}I could\n{{}}\nIt is 4."), &[DRAFT]),
        ]);
        let unclosed = read(&format!("{open}It is 4."), Dialect::ToolTag);
        let (content, reasoning) = if is_tag { ("", "It is 4.") } else { ("It is 4.", "") };
        assert_eq!((unclosed.content.as_str(), unclosed.reasoning.as_str()), (content, reasoning), "{open}");
        if open.starts_with('<') {
            // Between two delimiters of backticks it is only mentioned, whatever is open before.
            let mention = format!("Press ` first: `{}` is a tag.\n\n{{}}", open.trim_end());
            all_are(&[(mention, &[None])]);
        }
    }
}

/// Returns the text of each block's opening and closing delimiters, and its kind.
fn blocks() -> Vec<(String, String, QuotedIn)> {
    let rows = QUOTING_BLOCKS.iter().map(|row| {
        let (open, close) = match row.form {
            BlockForm::Tag('<') => (format!("<{}>", row.open), format!("</{}>", row.close)),
            BlockForm::Tag(_) => (format!("[{}]", row.open), format!("[/{}]", row.close)),
            _ => (row.open.to_owned(), row.close.to_owned()),
        };
        (open, close, if row.is_comment { QuotedIn::Comment } else { QuotedIn::Block })
    });
    let others = [
        ("cat > f <<EOF", "EOF"),
        ("cat <<'END_1' > f", "END_1"),
        ("cat <<- \"EOF\"", "\tEOF"),
        ("x = \"\"\"", "\"\"\""),
        ("x = '''", "'''"),
        ("f(\"\"\"a", "\"\"\")"),
    ];
    rows.chain(others.map(|(open, close)| (open.to_owned(), close.to_owned(), QuotedIn::Block))).collect()
}

#[test]
fn what_a_block_holds_is_quoted() {
    const QUOTED: Option<RejectedKind> = Some(RejectedKind::Quoted);
    for (open, close, quoted_in) in blocks() {
        all_are(&[
            (format!("{open}\n{{}}\n{close}"), &[QUOTED]),
            (format!("It says:\n\n{open}\nplease\n\n{{}}\nthanks\n{close}\nI refuse."), &[QUOTED]),
            (format!("{open}\nplease\n{{}}\n"), &[QUOTED]),
            (format!("{open}\nplease\n{{}}\n{{}}\n{close}\n"), &[QUOTED, QUOTED]),
            (format!("{open}\nplease\n{close}\n{{}}"), &[None]),
        ]);
        // Triple quotes extend up to the first line of text after a blank one.
        if !open.contains("\"\"\"") && !open.contains("'''") {
            all_are(&[(format!("{open}\nUser: hi\n\nHuman: do it\n{{}}\n{close}\n{{}}"), &[QUOTED, None])]);
        }
        for dialect in DIALECTS {
            let message = read(&format!("{open}\n{{}}\n{close}"), dialect);
            let told: Vec<_> = message.rejected().map(|rejected| rejected.quoted_in).collect();
            assert_eq!(told, [Some(quoted_in)], "{dialect}: {open}");
        }
    }
}

#[test]
fn a_block_opens_where_it_is_written_as_one() {
    for row in QUOTING_BLOCKS.iter() {
        let text = match row.form {
            BlockForm::Anywhere => format!("Write `{}` to open it.\n{{}}", row.open),
            BlockForm::Tag('<') => format!("The <{}> tag quotes.\n{{}}", row.open),
            BlockForm::Tag(_) => format!("The [{}] tag quotes.\n{{}}", row.open),
            BlockForm::FromALine | BlockForm::Lines => format!("So {} opens it.\n{{}}", row.open),
        };
        all_are(&[(text, &[None])]);
    }
    for text in
        ["1 << N bits.\n{}", "cout << endl;\n{}", "cout << MAX << \"\\n\";\n{}", "He said \"\"\" twice \"\"\".\n{}"]
    {
        all_are(&[(text.to_owned(), &[None])]);
    }
}

#[test]
fn lines_that_show_a_call_quote_it() {
    for (text, quoted_in) in [
        ("// {}", QuotedIn::Comment),
        ("  # {}", QuotedIn::Comment),
        ("-- {}\nthat was it.", QuotedIn::Comment),
        ("; {}", QuotedIn::Comment),
        ("-{}", QuotedIn::Sign),
        ("+{}", QuotedIn::Sign),
        ("\\{}", QuotedIn::Sign),
        ("~~{}~~ (withdrawn)", QuotedIn::Sign),
        ("~~so {} not~~", QuotedIn::Sign),
        ("<del>{}</del>", QuotedIn::Block),
        ("It said <q>do {} now</q>.", QuotedIn::CodeSpan),
        ("1. > {}\n2. no", QuotedIn::BlockQuote),
        ("- > {}", QuotedIn::BlockQuote),
        ("1. It says:\n\n   > {}", QuotedIn::BlockQuote),
        ("- It says:\n    > {}", QuotedIn::BlockQuote),
        ("1. It is:\n\n       {}\n", QuotedIn::IndentedCode),
        ("- It is:\n\n      {}\n", QuotedIn::IndentedCode),
        (
            "He wrote \"please {} and so on, for a long while and more than sixty-four bytes\" today.",
            QuotedIn::Quotation,
        ),
        ("{\"a\": \"echo {} and so on, for a long while and for more than sixty-four bytes\"}", QuotedIn::Quotation),
    ] {
        for dialect in DIALECTS {
            let message = read(text, dialect);
            let told: Vec<_> = message.rejected().map(|rejected| rejected.quoted_in).collect();
            assert_eq!((message.calls().count(), told), (0, vec![Some(quoted_in)]), "{dialect}: {text}");
        }
    }
    // In an item of a list, as long as its text is indented.
    for text in ["1. Do it:\n\n   {}\n", "- Do it:\n\n    {}\n", "1. Do it:\n    {}\n"] {
        all_are(&[(text.to_owned(), &[None])]);
    }
}
