//! What a person says who wants nothing done, or only to know something.

/// Greetings and thanks of the languages that models are asked in most.
const GREETINGS: &[&str] = &[
    "hi", "hi there", "hello", "hello there", "hey", "hey there", "good morning", "good afternoon", "good evening",
    "how are you", "thanks", "thank you", "many thanks", "你好", "您好", "嗨", "早上好", "晚上好", "谢谢", "hallo",
    "guten tag", "guten morgen", "danke", "bonjour", "bonsoir", "salut", "merci", "hola", "buenos días", "gracias",
    "ciao", "grazie", "olá", "obrigado", "привет", "спасибо", "こんにちは", "ありがとう", "안녕하세요", "감사합니다",
];

/// Whether a text is nothing but greetings and thanks: no tool is of use there.
pub(crate) fn is_greeting(text: &str) -> bool {
    let parts = text.split(|c: char| c.is_ascii_punctuation() || matches!(c, '，' | '。' | '！' | '？' | '¡' | '\n'));
    let mut said = parts.map(|part| part.trim().to_lowercase()).filter(|part| !part.is_empty()).peekable();
    said.peek().is_some() && said.all(|part| GREETINGS.contains(&part.as_str()))
}

/// Words with which a question asks for something to be done.
const REQUESTS: &[&str] = &[
    "please", "can you", "could you", "would you", "will you", "can we", "can i", "请", "能不能", "可以", "能否",
    "麻烦", "帮", "bitte", "kannst du", "könntest du", "können sie", "könnten sie", "peux-tu", "pouvez-vous",
    "pourrais-tu", "puedes", "podrías", "puede usted", "puoi", "você pode", "можешь", "можете",
];

/// Whether a text is one question that asks for nothing to be done: its answer changes nothing.
pub(crate) fn is_question(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let begun = text.strip_suffix(['?', '？']).unwrap_or_default();
    let is_one = !["\n", ". ", "! ", "? ", "。", "！", "？"].iter().any(|end| begun.contains(end));
    !begun.is_empty() && is_one && !REQUESTS.iter().any(|words| begun.contains(words))
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
        for text in ["Which priority does ticket T-204 have?", "What is in /home/kim/a.txt?", "工单由谁负责？"] {
            assert!(is_question(text), "{text}");
        }
        for text in
            ["", "?", "Close it.", "Could you close it?", "Close T-1. What is left?", "可以关闭它吗？", "Read a\nWhy?"]
        {
            assert!(!is_question(text), "{text}");
        }
    }
}
