//! Sentences and blocks in English.

/// Plain sentences.
pub(super) const PROSE: &[&str] = &[
    "The ferry leaves the northern quay at seven and reaches the island before the shops have opened.",
    "Bring a coat, because the wind on the upper deck is colder than the forecast suggests.",
    "If the lighthouse is closed, the path behind the chapel gives almost the same view.",
    "Three of the five sources agree on the date; the other two copy an older mistake.",
    "I would start with the smallest change that can be measured, and only then look at the design.",
    "The report names four causes, but its own figures support just one of them.",
    "Rainfall in the valley has fallen by about 12 % since 1994, while the snow line has risen by 180 metres.",
    "You can leave the default settings as they are; they suit a house of this size.",
    "What remains open is who pays for the bridge, and when.",
    "Her second letter, written in May, says the opposite of the first.",
    "The bakery on the corner (the one with the green door) sells out of rye bread by nine.",
    "A warm oven, a heavy pot and a little patience are all that the recipe really needs.",
    "Let me check the timetable before we decide, since the last train may not run on holidays.",
    "That is a fair question, and the short answer is no.",
    "The committee met on 14 March, on 2 April and, after a long pause, on 30 September.",
    "Nobody in the village remembers why the bell is rung twice on Thursdays.",
    "The survey covers 1,248 households; 311 of them did not answer the question about heating.",
    "It's worth keeping both copies until you're sure that the second one opens.",
    "Solar panels on the east roof would earn less, yet they would work when the price is highest.",
    "Most visitors stop at the waterfall, turn round and miss the older forest behind it.",
    "The first edition has 212 pages, the second 340, and the third went back to 298.",
    "In short: the plan is sound, the budget is not, and the deadline helps neither.",
    "Put the flour in a bowl, make a hollow, and pour in the milk while you stir.",
    "The map shows two paths from the hut to the pass; the western one is easier with children.",
    "According to the minutes, the vote was 7 to 4, with one abstention.",
    "He sold the boat in the spring of 1961 and never spoke of it again.",
];

/// Paragraphs with the markup that answers have.
pub(super) const BLOCKS: &[&str] = &[
    "## What to pack\n\n- a light jacket and a scarf\n- the tickets, printed or on the phone\n- **water** for the walk back\n- a torch, *if* you stay for the fireworks",
    "1. Open the valve by a quarter turn.\n2. Wait until the gauge reads `0.8 bar`.\n3. Close it again, and note the time.",
    "> The sea was calm that night, and nobody heard the engine.\n\nSo the log of the harbour office says; see [the archive](https://example.org/archive/1961) and note [3].",
    "| month | guests | nights |\n|---|---|---|\n| May | 1,204 | 3,870 |\n| June | 1,655 | 5,012 |\n| July | 2,490 | 9,377 |",
    "Note: prices are for two people, breakfast included, and hold until the end of October.",
];

/// Sentences with `<` in them: comparisons, generics, shifts, markup.
pub(super) const ANGLES: &[&str] = &[
    "The loop ends when i < n fails, so the bound must be checked before the body runs.",
    "A Vec<String> owns its text, a Vec<&str> borrows it, and an Option<Box<Node>> may be empty.",
    "Put the title into <h1> and the rest into <p>, then close both with </h1> and </p>.",
    "The header was written with cout << \"name\" << '\\t' << \"size\" << endl; and never flushed.",
    "For small p (p < 0.05) the difference holds; for 0.05 < p < 0.1 nothing can be said.",
    "HashMap<u64, Vec<(String, f64)>> is the type that the compiler suggests.",
    "Use <br/> for a line break, <em>sparingly</em>, and never inside a <pre> block.",
    "The diff starts with <<<<<<< HEAD and ends with >>>>>>> feature/login.",
    "If a<b and b<c, then a<c; that is all that the proof needs.",
    "The element <user id=\"7\"><name>Ana</name></user> is missing its <mail> child.",
    "It hurts <3 but the branch x <= y - 1 is never taken.",
    "Mail went to Ines <ines@example.org> and to Tom <tom@example.org> on the same day.",
];
