//! Words of `toolgraft chat`: its first lines, its questions, what it says of a turn, and its
//! commands.

use super::Phrases;
use toolgraft::outcome::Status;
use toolgraft::prompt::{Listed, Listing};

impl Phrases {
    /// How far a server's call is.
    pub(crate) fn so_far(self, progress: f64, total: Option<f64>, message: Option<&str>) -> String {
        let so_far = total.map_or_else(|| progress.to_string(), |total| self.progress_of(progress, total));
        let words: Vec<String> = [Some(so_far), message.map(str::to_owned)].into_iter().flatten().collect();
        self.listed(&words)
    }

    /// How many tools are listed in which style.
    pub(crate) fn listed_as(self, listed: &Listed) -> String {
        if !self.is_chinese() {
            return listed.to_string();
        }
        let styles = Listing::ALL.iter().filter(|style| listed.count(**style) > 0);
        let mut parts: Vec<String> =
            styles.map(|style| format!("{} 个以 {style} 列出", listed.count(*style))).collect();
        parts.extend((listed.unlisted > 0).then(|| format!("{} 个由 find_tool 查找", listed.unlisted)));
        if parts.is_empty() { self.no_tools().to_owned() } else { parts.join("，") }
    }

    /// What became of a call, in front of its tool's name.
    pub(crate) fn box_of_outcome(self, number: usize, status: Status, name: &str, took: Option<&str>) -> String {
        let (english, chinese) = match status {
            Status::Result => ("result of", "结果"),
            Status::Displayed => ("shown:", "已显示"),
            // By a person, by a rule, or since it was made before.
            Status::Denied => ("not run:", "未运行"),
            Status::Cancelled => ("cancelled:", "已取消"),
            Status::ToolError => ("error of", "出错"),
            Status::TimedOut => ("no answer of", "超时"),
            _ => ("outcome of", "结束"),
        };
        match self.is_chinese() {
            true => format!("#{number} {chinese} {name}{}", took.map(|took| format!("，{took}")).unwrap_or_default()),
            false => format!("#{number} {english} {name}{}", took.map(|took| format!(", {took}")).unwrap_or_default()),
        }
    }
}
