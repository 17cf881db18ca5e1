//! The context of a call: the same contexts around a call of each dialect, at every split.

use std::sync::{Arc, LazyLock};

use serde_json::json;
use toolgraft::dialect::write_tool_call;
use toolgraft::event::{Assembled, Provenance, QuotedIn, RejectedKind};
use toolgraft::message::ReasoningMode;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Dialect, Tool};
use toolgraft_testkit::laws::{self, Input};

pub(super) static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    Arc::new(Catalog::from_tools([Tool::new("delete_it").with_server("files").with_schema(schema)]))
});

pub(super) fn call(dialect: Dialect) -> String {
    let arguments = json!({"path": "notes"});
    bare(write_tool_call(dialect, &CATALOG, CATALOG.tools().next().unwrap(), arguments.as_object().unwrap()).trim_end())
}

/// Removes the fence of the dialect that is taught as an object in a fence.
fn bare(call: &str) -> String {
    call.strip_prefix("```json\n").and_then(|call| call.strip_suffix("\n```")).unwrap_or(call).to_owned()
}

/// Parses the text with the call at `{}`, at every split.
fn read(text: &str, call: &str, dialect: Dialect) -> Assembled {
    let text = text.replace("{}", call);
    // There are thousands of texts, so each is split at every third offset, beginning with one that
    // depends on its length; the fixtures are split at all.
    let cuts = (1 + text.len() % 3..text.len()).step_by(3).map(|at| vec![at]).collect::<Vec<_>>();
    let config = Config::default().with_catalog(CATALOG.clone()).with_reasoning(ReasoningMode::Auto);
    let input = Input { text: text.clone(), config, ..Input::default() };
    laws::check(&input, &cuts).unwrap_or_else(|law| panic!("{dialect}: {text}\n{law}"))
}

/// Returns `true` if the dialect's calls count within a line; those of others are prose there.
fn stands_in_a_line(dialect: Dialect) -> bool {
    !matches!(dialect, Dialect::TypeMarker | Dialect::React | Dialect::Json)
}

/// Contexts that quote, with their kinds.
const QUOTED: &[(&str, QuotedIn)] = &[
    ("Write `{}` to ask.", QuotedIn::CodeSpan),
    ("Write `like this: {}` to ask.", QuotedIn::CodeSpan),
    ("`` e.g. {} ``", QuotedIn::CodeSpan),
    ("`a` or `b: {} c`.", QuotedIn::CodeSpan),
    ("Write <code>{}</code> to ask.", QuotedIn::CodeSpan),
    ("Write <code>like {} this</code> to ask.", QuotedIn::CodeSpan),
    ("\"{}\"", QuotedIn::Quotation),
    ("It is '{}'.", QuotedIn::Quotation),
    ("Say \"please send {}\" to it.", QuotedIn::Quotation),
    ("Say (\"please send {} now\").", QuotedIn::Quotation),
    ("请写“例如 {} 这样”。", QuotedIn::Quotation),
    ("写「{}」。", QuotedIn::Quotation),
    ("Dites « {} ».", QuotedIn::Quotation),
    ("> {}\n", QuotedIn::BlockQuote),
    ("It says:\n   > so {} it is", QuotedIn::BlockQuote),
    ("It is:\n\n    {}\n\nThat is all.", QuotedIn::IndentedCode),
    ("It is:\n\n    # first\n    {}\n", QuotedIn::IndentedCode),
    ("It is:\n\n\t{}\n", QuotedIn::IndentedCode),
    ("<!-- {} -->", QuotedIn::Comment),
    ("<!-- a -- b\n{}\n--> c", QuotedIn::Comment),
    ("<!--\n{}", QuotedIn::Comment),
    ("Like this:\n<pre>\n{}\n</pre>\nIs it clear?", QuotedIn::Fence),
    ("<pre><code class=\"x\">{}</code></pre> is how.", QuotedIn::Fence),
    ("Example:\n\n{}\n", QuotedIn::OwnWords),
    ("**Example of a call:**\n{}", QuotedIn::OwnWords),
    ("示例：\n\n{}", QuotedIn::OwnWords),
];

/// Their counterparts, in which nothing is quoted.
const PLAIN: &[&str] = &[
    "Write ` {}",
    "Write `a` and `b`: {} is `it`.",
    "Write ``a ` b`` {} `",
    "Three ``` of them {} and ```.",
    "Write \\`this: {} `",
    "Write `this:\n{}`",
    "Write <code>a</code>: {} </code>",
    "\" {}",
    "Say \"a\" then {} and \"b\".",
    "5\" of {} and 6\".",
    "The dogs' {} don't.",
    "'tis {} don't",
    "写「a」{} 」",
    "a > b {}",
    "> a quote\n{}",
    "It is:\n    {}",
    "    {}",
    "- It is:\n\n    {}",
    "1. It is:\n\n   then\n\n    {}",
    "<!-- a -->{}",
    "<!-- a --> b <!-- c -->\n{}",
    "The mark `<!--` begins one. {}",
    "<pre>\nx\n</pre>\n{}",
    "<code>x</code> {}",
    "For example: {}",
    "An Example:\nis\n{}",
    "Example:\n\nIt is here. {}",
];

#[test]
fn what_quotes_a_call_quotes_it_in_every_dialect() {
    for dialect in Dialect::ALL.iter().copied() {
        let call = call(dialect);
        for (text, quoted_in) in QUOTED {
            let message = read(text, &call, dialect);
            assert_eq!(message.calls().count(), 0, "{dialect}: {text}\n{message:#?}");
            let rejected: Vec<_> = message.rejected().collect();
            if stands_in_a_line(dialect) {
                assert_eq!(rejected.len(), 1, "{dialect}: {text}\n{message:#?}");
            }
            for rejected in rejected {
                let told = (rejected.kind, rejected.quoted_in);
                assert_eq!(told, (RejectedKind::Quoted, Some(*quoted_in)), "{dialect}: {text}");
                assert!(message.content.contains(&rejected.raw), "{dialect}: {text}\n{}", message.content);
            }
        }
    }
}

#[test]
fn what_quotes_nothing_leaves_a_call_in_every_dialect() {
    for dialect in Dialect::ALL.iter().copied().filter(|dialect| stands_in_a_line(*dialect)) {
        let call = call(dialect);
        for text in PLAIN {
            let message = read(text, &call, dialect);
            let kinds: Vec<_> = message.rejected().map(|rejected| rejected.kind).collect();
            assert_eq!((message.calls().count(), kinds), (1, vec![]), "{dialect}: {text}\n{message:#?}");
        }
    }
}

#[test]
fn a_call_alone_in_its_tag_is_one_as_in_its_fence() {
    for dialect in Dialect::ALL.iter().copied() {
        for text in ["<pre>\n{}\n</pre>", "<pre><code>\n{}\n</code></pre>\n", "<code>\n{}\n</code>"] {
            let message = read(text, &call(dialect), dialect);
            assert_eq!(message.calls().count(), 1, "{dialect}: {text}\n{message:#?}");
        }
    }
}

#[test]
fn each_call_has_a_line_of_its_own_making() {
    for dialect in Dialect::ALL.iter().copied().filter(|dialect| stands_in_a_line(*dialect)) {
        let call = call(dialect);
        for (text, calls) in [
            // The delimiter that quotes the first call continues after it until it is closed.
            ("Write `{} or {}` to ask.", 0),
            ("Write `{}`, then {}", 1),
            ("Write \"{}\" and {} or \"{}\".", 1),
            ("Write `{} or {}", 1),
            ("> {} and {}\n{}", 1),
            ("It is:\n\n    {}\n\n    {}\n\n{}", 1),
            ("Example:\n{}\n{}\nNow:\n{}", 1),
        ] {
            let message = read(text, &call, dialect);
            assert_eq!(message.calls().count(), calls, "{dialect}: {text}\n{message:#?}");
            let quoted = message.rejected().all(|rejected| rejected.kind == RejectedKind::Quoted);
            assert!(quoted, "{dialect}: {text}\n{message:#?}");
        }
    }
}

#[test]
fn a_draft_that_is_only_mentioned_is_not_promoted() {
    // Harmony's header of a call ends the reasoning.
    let is_draft = |dialect: &Dialect| stands_in_a_line(*dialect) && *dialect != Dialect::Harmony;
    for dialect in Dialect::ALL.iter().copied().filter(is_draft) {
        for (text, promoted) in [("<think>{}</think>", 1), ("<think>I could write `{}` here</think>", 0)] {
            let text = text.replace("{}", &call(dialect));
            let config = Config::default()
                .with_catalog(CATALOG.clone())
                .with_reasoning_calls(toolgraft::message::ReasoningCalls::LastResort);
            let message = laws::read(&text, &config);
            assert_eq!(
                message.entries.iter().filter(|entry| entry.provenance() == Provenance::Promoted).count(),
                promoted,
                "{text}"
            );
            let drafts = message.rejected().all(|rejected| rejected.kind == RejectedKind::InReasoning);
            assert!(drafts, "{text}");
        }
    }
}

#[test]
fn code_around_a_list_is_code() {
    let call = call(Dialect::Python);
    assert!(call.starts_with('['), "{call}");
    for (text, calls) in [
        ("x{}", 0),
        ("f(){}", 0),
        ("return {}", 0),
        ("# {}", 0),
        ("  // so {}", 0),
        ("calls = {}", 0),
        ("{}: a link", 0),
        ("I return {}", 1),
        ("Call #1 {}", 1),
        ("a == b {}", 1),
        ("请调用 {}", 1),
        ("请调用{}", 1),
        ("{} is called", 1),
    ] {
        let message = read(text, &call, Dialect::Python);
        assert_eq!((message.calls().count(), message.rejected().count()), (calls, 0), "{text}\n{message:#?}");
    }
}

#[test]
fn think_tags_and_tokens_are_mentioned_by_the_same_rule() {
    for (text, reasoning) in [
        ("The `<think> tag` is one.</think>", "The `<think> tag` is one."),
        (
            "<think>Then `</think>` or \"a </think> tag\" come.</think>So.",
            "Then `</think>` or \"a </think> tag\" come.",
        ),
        ("<think>I say \"yes\"</think>\"Yes\"", "I say \"yes\""),
        ("<think>the dogs' 'food</think>It's there.", "the dogs' 'food"),
    ] {
        assert_eq!(read(text, "", Dialect::Json).reasoning, reasoning, "{text}");
    }
    for (text, content) in [
        ("It ends with `a <|im_end|> token`.", "It ends with `a <|im_end|> token`."),
        ("He said \"yes.\"<|im_end|>", "He said \"yes.\""),
        ("He said `yes<|im_end|>", "He said `yes"),
    ] {
        assert_eq!(read(text, "", Dialect::Json).content, content, "{text}");
    }
}

#[test]
fn a_mention_that_breaks_off_takes_nothing_with_it() {
    for dialect in Dialect::ALL.iter().copied().filter(|dialect| stands_in_a_line(*dialect)) {
        let call = call(dialect);
        for end in call.char_indices().map(|(at, _)| at).take_while(|at| !call[..*at].contains('\n')) {
            let text = format!("It begins with `{}` as said.\n\n{{}}", &call[..end]);
            let message = read(&text, &call, dialect);
            assert_eq!(message.calls().count(), 1, "{dialect}: {text}\n{message:#?}");
        }
    }
}
