//! As much of HTTP/1.1 as both ends need.

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// The next request or answer on a connection that stays open: its head, and its body without
/// the framing of its chunks only where it has a length. `None` where the other end has gone.
pub(crate) async fn message(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    buffer.drain(..head_end);
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    loop {
        let end = match length {
            Some(length) => (buffer.len() >= length).then_some(length),
            None if chunked => buffer.ends_with(b"0\r\n\r\n").then_some(buffer.len()),
            None => Some(0),
        };
        if let Some(end) = end {
            return Some((head, buffer.drain(..end).collect()));
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}
