//! What a person says who wants nothing done.

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
}
