//! Recognises messages that ask for nothing, or only for information.

/// Greetings and thanks in the most common languages.
const GREETINGS: &[&str] = &[
    "hi", "hi there", "hello", "hello there", "hey", "hey there", "good morning", "good afternoon", "good evening",
    "how are you", "thanks", "thank you", "many thanks", "你好", "您好", "嗨", "早上好", "晚上好", "谢谢", "hallo",
    "guten tag", "guten morgen", "danke", "bonjour", "bonsoir", "salut", "merci", "hola", "buenos días", "gracias",
    "ciao", "grazie", "olá", "obrigado", "привет", "спасибо", "こんにちは", "ありがとう", "안녕하세요", "감사합니다",
];

/// Returns `true` if a text consists only of greetings and thanks, for which no tool is useful.
pub(crate) fn is_greeting(text: &str) -> bool {
    let parts = text.split(|c: char| c.is_ascii_punctuation() || matches!(c, '，' | '。' | '！' | '？' | '¡' | '\n'));
    let mut said = parts.map(|part| part.trim().to_lowercase()).filter(|part| !part.is_empty()).peekable();
    said.peek().is_some() && said.all(|part| GREETINGS.contains(&part.as_str()))
}

/// Words of a question that asks for an action.
const REQUESTS: &[&str] = &["please", "why don't you", "请", "麻烦", "帮", "bitte"];

/// Words of a question that asks for an action, unless it asks for a time, a place, a person or a number: "When can you
/// check in?"
const ABILITIES: &[&str] = &[
    "can you", "could you", "would you", "will you", "can we", "is it possible", "能不能", "可以", "能否", "kannst du",
    "könntest du", "können sie", "könnten sie", "peux-tu", "pouvez-vous", "pourrais-tu", "puedes", "podrías",
    "puede usted", "puoi", "você pode", "можешь", "можете",
];

/// Words that ask for a time, a place, a person or a number: first words of a question, and Chinese words anywhere in it.
const ASKING: &[&str] = &[
    "when ", "where ", "who ", "at what ", "what time ", "how many ", "how much ", "how long ", "how far ",
    "how often ", "几", "多少", "多久", "什么时候", "何时", "哪里", "哪儿", "谁",
];

/// Chinese words of a question about what the user may do, which contain words of a request for an action.
const MAY_I: [&str; 3] = ["我可以", "我能不能", "我能否"];

/// First words of a statement that requests nothing.
const TELLING: &[&str] = &[
    "a ", "an ", "her ", "his ", "it ", "its ", "my ", "our ", "somewhere ", "that ", "the ", "their ", "there ",
    "these ", "this ", "those ", "我的", "我们的", "这", "那", "它", "有",
];

/// Returns `true` if a text is a single question that asks for no action, so that its answer changes nothing. It may have
/// statements next to the question.
pub(crate) fn is_question(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let is_end = |(at, c): &(usize, char)| match c {
        '\n' | '。' | '！' | '？' => true,
        // A dot may be inside a name.
        '.' | '!' | '?' => text[at + 1..].starts_with([' ', '\n']),
        _ => false,
    };
    let ends = text.char_indices().filter(is_end).map(|(at, c)| at + c.len_utf8()).chain([text.len()]);
    let mut from = 0;
    let sentences = ends.map(|end| text[std::mem::replace(&mut from, end)..end].trim());
    // A mark alone is no sentence.
    let sentences = sentences.filter(|one| one.len() > 1);
    let (asked, told): (Vec<&str>, Vec<&str>) = sentences.partition(|one| one.ends_with(['?', '？']));
    let tells = |one: &&str| TELLING.iter().any(|word| one.starts_with(word));
    let rest = MAY_I.iter().fold(text.clone(), |rest, words| rest.replace(words, ""));
    let asks = |words: &&str| if words.is_ascii() { asked[0].starts_with(*words) } else { asked[0].contains(*words) };
    let requests = |words: &[&str]| words.iter().any(|words| rest.contains(words));
    // Of two questions or a question and an instruction, one may ask for a change: `Close T-1. What is left?`
    asked.len() == 1
        && told.iter().all(tells)
        && !requests(REQUESTS)
        && (ASKING.iter().any(asks) || !requests(ABILITIES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_says_nothing_else() {
        for text in ["Hi", "hello!", "Hey there, how are you?", "你好！", "Thanks.", "¡Hola!"] {
            assert!(is_greeting(text), "{text}");
        }
        for text in ["", "!", "Hi, what is the weather?", "Say hello to Ann", "History"] {
            assert!(!is_greeting(text), "{text}");
        }
    }

    #[test]
    fn a_question_asks_for_nothing_to_be_done() {
        for text in [
            "Which priority does ticket T-204 have?",
            "What is in /home/kim/a.txt?",
            "工单由谁负责？",
            "我在京都订的那家酒店几点可以办理入住？",
            "When can you check in at the hotel in Kyoto?",
            "When does it begin for a colleague in Tokyo? My calendar is in Berlin time.",
            "我的日历用柏林时间。它几点开始？",
            "Somewhere under /a is a letter to Ito. Which invoice is overdue?",
            "Can I get lunch at the station?",
            "我可以在车站吃午饭吗？",
        ] {
            assert!(is_question(text), "{text}");
        }
        for text in [
            "",
            "?",
            "Close it.",
            "Could you close it?",
            "Close T-1. What is left?",
            "可以关闭它吗？",
            "我请你关闭它，好吗？",
            "Read a\nWhy?",
            "What is T-1? Close it then.",
            "What is it? Why?",
        ] {
            assert!(!is_question(text), "{text}");
        }
    }
}
