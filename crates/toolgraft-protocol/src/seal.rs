//! Identifiers of calls that carry their client, and whether the conversation holds possible text
//! of third parties.
//!
//! Nothing has to be stored for that, so neither other requests nor another instance can displace
//! it: an identifier is signed, and its signature shows whether it can be trusted. One that cannot
//! says nothing, and the caller has to assume the worst.

use crate::fault::Fault;
use crate::ids::new_id;
use ring::hmac::{Context, HMAC_SHA256, Key};
use ring::rand::SystemRandom;

/// Length of the signature at the end of a call's identifier, in hexadecimal digits. With it an identifier stays
/// below the 40 characters that OpenAI's interface allows.
const SIGNATURE: usize = 16;

/// Identity of a client: a keyed hash of its API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub(crate) struct Client(pub(crate) u64);

/// The key that signs identifiers of calls, of one instance or of several instances of a service.
pub(crate) struct Seal {
    key: Key,
}

impl Seal {
    /// Makes the signing key: from the secret, so that it is the same for every instance with that secret, or else a
    /// random one.
    ///
    /// # Errors
    /// Fails if the system provides no random numbers.
    pub(crate) fn new(secret: Option<&str>) -> Result<Self, Fault> {
        let key = match secret {
            Some(secret) => Key::new(HMAC_SHA256, secret.as_bytes()),
            None => Key::generate(HMAC_SHA256, &SystemRandom::new())
                .map_err(|_| Fault::internal("the system has no random numbers"))?,
        };
        Ok(Seal { key })
    }

    /// Returns the identity of the client with this API key; all clients without a key are one.
    pub(crate) fn client(&self, key: Option<&str>) -> Client {
        Client(self.sign(&["client", key.unwrap_or_default()]))
    }

    /// Returns a new signed identifier for a call, which also says whether the conversation holds possible text of
    /// third parties.
    pub(crate) fn id(&self, client: Client, untrusted: bool) -> String {
        let mark = if untrusted { 'u' } else { 'c' };
        // 21 characters are the prefix and the random digits: with mark and signature 38.
        let head = format!("{}{mark}", &new_id("call_")[..21]);
        format!("{head}{:0SIGNATURE$x}", self.of_id(client, &head))
    }

    /// Reads from an identifier whether its conversation holds possible text of third parties.
    /// `None` if it was not signed with this key for this client.
    pub(crate) fn read(&self, client: Client, id: &str) -> Option<bool> {
        let (head, signature) = id.split_at_checked(id.len().checked_sub(SIGNATURE)?)?;
        let signature = u64::from_str_radix(signature, 16).ok()?;
        let ours = self.of_id(client, head) ^ signature == 0;
        match head.chars().last().filter(|_| ours)? {
            'u' => Some(true),
            'c' => Some(false),
            _ => None,
        }
    }

    /// Returns the keyed hash by which an answer to a client is recognized later; white space does not count, since
    /// clients change it.
    pub(crate) fn answer(&self, client: Client, text: &str) -> u64 {
        let text: String = text.split_whitespace().collect();
        self.sign(&["answer", &client.0.to_string(), &text])
    }

    fn of_id(&self, client: Client, head: &str) -> u64 {
        self.sign(&["id", &client.0.to_string(), head])
    }

    /// Returns the first eight bytes of the parts' HMAC. Each part is preceded by its length, so
    /// that no two lists have the same input.
    fn sign(&self, parts: &[&str]) -> u64 {
        let mut context = Context::with_key(&self.key);
        for part in parts {
            context.update(&part.len().to_le_bytes());
            context.update(part.as_bytes());
        }
        context.sign().as_ref().iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_believed_by_its_own_instance_and_client_alone() {
        let (seal, other) = (Seal::new(None).unwrap(), Seal::new(None).unwrap());
        let (ours, theirs) = (seal.client(Some("one")), seal.client(Some("two")));
        for untrusted in [false, true] {
            let id = seal.id(ours, untrusted);
            assert!(id.len() <= 40 && id.starts_with("call_"), "{id}");
            assert_eq!(seal.read(ours, &id), Some(untrusted));
            assert_eq!((seal.read(theirs, &id), other.read(ours, &id)), (None, None));
            // The mark is part of the signed text.
            let turned = match untrusted {
                true => id.replacen('u', "c", 1),
                false => [&id[..21], "u", &id[22..]].concat(),
            };
            assert_eq!(seal.read(ours, &turned), None, "{id} {turned}");
        }
        for id in ["", "call_1", "ü", "call_ü0123456789abcdef", "0123456789abcdef"] {
            assert_eq!(seal.read(ours, id), None);
        }
    }

    #[test]
    fn instances_with_the_same_secret_believe_each_other() {
        let [one, other, third] = ["s", "s", "t"].map(|secret| Seal::new(Some(secret)).unwrap());
        let client = one.client(None);
        assert_eq!(other.read(other.client(None), &one.id(client, true)), Some(true));
        assert_ne!(one.answer(client, "a"), third.answer(client, "a"));
        assert_eq!(one.answer(client, "a b\n\nc"), one.answer(client, " a  b c\n"));
    }
}
