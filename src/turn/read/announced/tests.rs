use super::*;

const AHEAD: &[&str] = &[
    "I'll read the configuration file to see what is set:",
    "The first file has no error. Now I look at the second one.",
    "Sure! I will search the web for that. One moment please...",
    "I see the problem: the import is missing. Let me fix it.\n",
    "First, I need to list the files. Then I will open the one that matters.\n\n**Step 1: list the files**",
    "Calling `bash` with `ls -la` ...",
    "Plan:\n1. Read a.txt\n2. Count the words\n\nStarting with step 1.",
    "Let me take a look at the logs.",
    "Okay, the file is there, so I'll open it now.",
    "To answer this, I’ll use the `search` tool.",
    "I'm going to run the tests. This will tell us whether the change works.",
    "Great, now let me update the README:",
    "Reading the file now…",
    "I am now checking the weather in Paris.",
    "I'll run the following command:\n\n```bash\nls -la\n```",
    "Here's the plan:\n1. Read\n2. Write\n\nLet me start with the first step.",
    "I'll get the weather for you. Hold on!",
    "Next, I'll go ahead and create the folder.",
    "Let me do that for you.",
    "I will now proceed with the deletion.",
    "我先查看一下这个文件的内容。",
    "好的，我来搜索一下相关资料，请稍等。",
    "正在查询巴黎的天气……",
    "现在读取第二个文件：",
    "让我看看日志。",
    "步骤1：列出文件",
    "我将使用 bash 工具运行这个命令。",
    "接下来，我会修改 config.toml 文件。",
    "Ich lese jetzt die Konfigurationsdatei.",
    "Das Problem ist klar. Ich werde die Datei jetzt öffnen.",
    "Lass mich kurz in der Datei nachsehen.",
    "Einen Moment bitte, ich suche im Web danach.",
    "Zuerst muss ich die Dateien auflisten:",
    "Dann rufe ich das Werkzeug `read` auf.",
    "Schritt 1: Dateien auflisten",
    "Je vais lire le fichier maintenant.",
    "Voy a buscar el archivo.",
    "好的，let me read the file:",
    "OK, ich rufe jetzt `read_file` auf.",
];

const DONE: &[&str] = &[
    "I've saved your note.  Anything else?",
    "The light in the kitchen is now on.",
    "Done! The file has been created.",
    "I have added milk to your shopping list. It now has three items.",
    "Your meeting is scheduled for 3 pm.",
    "I've turned off the lights in the bedroom.",
    "File created successfully.",
    "The email has been sent to Anna.",
    "Reminder set.",
    "Done.",
    "我已经保存了您的笔记。",
    "文件创建成功。",
    "已为您打开厨房的灯。还需要别的吗？",
    "好了，提醒已设置好。",
    "Ich habe die Datei gespeichert.",
    "Das Licht in der Küche ist jetzt an.",
    "Die E-Mail wurde verschickt.",
    "Erledigt! Der Termin ist jetzt eingetragen.",
];

const NEITHER: &[&str] = &[
    "",
    "Shall I read the configuration file first?",
    "The file holds three settings: a, b and c. All of them are at their defaults.",
    "I will remember that for the rest of our talk. What else can I do for you?",
    "I will remember that.",
    "I'll be glad to help. Tell me what the program should do.",
    "Here is the poem you asked for:\n\nI will go down to the sea again.",
    "Here is the poem:\n\nI will open every door,\nand let me read the stars.",
    "I will open every door\nand call the wind by name,\nI will write upon the shore.",
    "Before I go on I need your permission to delete the folder.",
    "Es sind 12 Grad in Paris, morgen wird es wärmer.",
    "My plan would be: read a.txt, count its words, write the number to b.txt. Do you agree?",
    "Now let me tell you a story: once there was a king.",
    "Two of the three builds work. I could not finish the third, because the disk is full.",
    "I can read the file for you.",
    "I'd be happy to search the web if you like.",
    "Once you upload the file, I'll read it.",
    "Send me the file and I'll check it.",
    "I will not delete the folder.",
    "I can't open that page.",
    "Let me know if you need anything else.",
    "Let me explain: a list is a sequence.",
    "I'll do my best.",
    "Let me check the numbers: 3 + 4 = 7.",
    "To open the settings, follow these steps:\n\nStep 1: Open the menu\nStep 2: Select Settings",
    "Reading the file is easy with `open`.",
    "She said, \"I will open the door.\"",
    "He writes: “Let me read the letter.”",
    "Here's a draft:\n\nHi Bob,\n\nI will send the report.\n\nBest regards",
    "Here's a draft:\n\nHi Bob,\n\nI will send the report.",
    "You can run it with `cargo run`.",
    "I'll create a function:\n\n```python\ndef f(): pass\n```",
    "I will check back tomorrow.",
    "Next time I will search first.",
    "I'm looking forward to it.",
    "I recommend that you update the driver.",
    "I've read your text and like it.",
    "I have not saved the note.",
    "I have updated the wording of the paragraph.",
    "Python was created in 1991 by Guido van Rossum.",
    "The museum has been closed since May.",
    "I could not save the note.",
    "要我先查看这个文件吗？",
    "我会记住的。",
    "我来给你讲个故事。",
    "如果您同意，我会删除这个文件夹。",
    "文件里有三个设置，都是默认值。",
    "我可以帮您查看文件。",
    "抱歉，我无法打开这个网页。",
    "我没有保存这个文件。",
    "在删除文件夹之前，我需要您的许可。",
    "Soll ich die Datei zuerst lesen?",
    "Ich werde mir das merken.",
    "Ich kann die Datei leider nicht öffnen.",
    "Wenn Sie zustimmen, lösche ich den Ordner.",
    "Ich lese gern Bücher.",
    "Ich erkläre es: Eine Liste ist eine Folge.",
    "Die Datei hat drei Zeilen.",
    "Ich habe die Datei nicht gespeichert.",
    "Ich brauche Ihre Erlaubnis, um den Ordner zu löschen.",
];

fn wrong(texts: &[&'static str], right: Option<Announced>) -> Vec<&'static str> {
    texts.iter().copied().filter(|text| announced(text) != right).collect()
}

#[test]
fn an_act_that_is_said_to_come_is_told_from_answers() {
    assert_eq!(wrong(AHEAD, Some(Announced::Ahead)), Vec::<&str>::new());
}

#[test]
fn a_report_of_a_change_is_told_from_answers() {
    assert_eq!(wrong(DONE, Some(Announced::Done)), Vec::<&str>::new());
}

#[test]
fn promises_questions_refusals_and_texts_are_answers() {
    assert_eq!(wrong(NEITHER, None), Vec::<&str>::new());
}

#[test]
fn every_list_of_the_table_is_asked_for_and_every_pattern_finds_its_lists() {
    let (code, table) = (include_str!("../announced.rs"), include_str!("../announced.txt"));
    let in_table: Vec<&str> = table.split("\n[").skip(1).filter_map(|rest| Some(rest.split_once(']')?.0)).collect();
    let is_asked = |name: &&&str| {
        let in_pattern = format!("{{{name}}}");
        code.contains(&format!("\"{name}\"")) || code.contains(&in_pattern) || table.contains(&in_pattern)
    };
    assert_eq!(in_table.iter().find(|name| !is_asked(name)), None);
    let mut in_patterns = table.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let is_there = |name: &&str| matches!(*name, "act" | "changed" | "any" | "list") || in_table.contains(name);
    assert_eq!(in_patterns.find(|name| !is_there(name)), None);
}
