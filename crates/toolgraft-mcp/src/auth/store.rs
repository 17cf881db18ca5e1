//! Tokens in files that only their owner may read: one for each resource and issuer.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};

use super::error::LoginError;
use super::resource::Resource;
use crate::config::OAuthConfig;
use toolgraft::Cause;
use toolgraft_files::{self as files, Lock, Mode};

/// Version of the file format of stored logins; files of other versions are ignored.
const VERSION: u32 = 1;

/// Maximum size in bytes of a file with a login; larger files are ignored.
const MAX_FILE: u64 = 1024 * 1024;

/// A stored login at a server (its OAuth client and tokens), as it is in its file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredLogin {
    toolgraft: u32,
    pub(super) resource: String,
    pub(super) issuer: Option<String>,
    /// The secret of an OAuth client that was registered for this login; `None` if the client of the server's entry was
    /// used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    pub(super) redirect_uri: String,
    /// Scopes for lack of which a request was refused; the next login requests them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) wanted: Vec<String>,
    pub(super) credentials: StoredCredentials,
}

impl StoredLogin {
    pub(super) fn new(resource: &Resource, issuer: Option<String>, credentials: StoredCredentials) -> Self {
        StoredLogin {
            toolgraft: VERSION,
            resource: resource.as_str().to_owned(),
            issuer,
            client_secret: None,
            redirect_uri: String::new(),
            wanted: Vec::new(),
            credentials,
        }
    }

    /// Returns the secret of the OAuth client that logged in; `None` if it has none. The server's entry may name
    /// another client by now, whose secret does not fit.
    pub(super) fn secret(&self, oauth: &OAuthConfig) -> Option<String> {
        let named =
            oauth.client_secret.as_ref().filter(|_| oauth.client_id.as_ref() == Some(&self.credentials.client_id));
        self.client_secret.as_ref().or(named).cloned()
    }
}

/// The store of logins at servers over HTTP, with the remedy that errors name where a login is
/// missing.
///
/// Tokens are in files of mode 0600 in this folder, which gets mode 0700 when it is created. Each
/// file is for one resource (a server's URL without its query) and one issuer; the names of servers
/// do not matter.
///
/// ```no_run
/// # async fn connect(config: toolgraft_mcp::Config) -> Result<(), toolgraft_mcp::McpError> {
/// use toolgraft_mcp::Hub;
/// use toolgraft_mcp::Logins;
///
/// let logins = Logins::new("/home/ada/.local/state/app/logins").remedy(|server| format!("choose Log in for {server}"));
/// let hub = Hub::builder().config(config).logins(logins).connect().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Logins {
    folder: PathBuf,
    remedy: Arc<dyn Fn(&str) -> String + Send + Sync>,
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logins").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Logins {
    /// Creates a store of logins in this folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Logins { folder: folder.into(), remedy: Arc::new(|_| "log in again".to_owned()) }
    }

    /// Sets the text of the remedy in errors about a missing login. `words` gets the server's name and returns that
    /// text.
    #[must_use]
    pub fn remedy(mut self, words: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.remedy = Arc::new(words);
        self
    }

    pub(super) fn words(&self, server: &str) -> String {
        (self.remedy)(server)
    }

    /// Removes the login at the server with this URL from the store, and returns `true` if there was one. It does not
    /// revoke the tokens; [`log_out`](Self::log_out) does so at the authorization server.
    ///
    /// # Errors
    /// [`LoginError::Store`] if a file cannot be removed.
    pub fn remove(&self, url: &str) -> Result<bool, LoginError> {
        let resource = Resource::of(url)?;
        let files = self.files(&resource).map_err(|e| failed(&self.folder, "read", e))?;
        for (file, _) in &files {
            fs::remove_file(file).map_err(|e| failed(file, "remove", e))?;
        }
        Ok(!files.is_empty())
    }

    /// Returns `true` if a login at the server with this URL is stored. Its validity is not checked.
    pub fn contains(&self, url: &str) -> bool {
        Resource::of(url).is_ok_and(|resource| self.load(&resource).is_ok_and(|found| found.is_some()))
    }

    /// Returns the most recent stored login at a resource, of any issuer; `None` if there is none.
    pub(super) fn load(&self, resource: &Resource) -> Result<Option<StoredLogin>, LoginError> {
        let files = self.files(resource).map_err(|e| failed(&self.folder, "read", e))?;
        Ok(files.into_iter().map(|(_, kept)| kept).max_by_key(|kept| kept.credentials.token_received_at))
    }

    pub(super) fn save(&self, kept: &StoredLogin) -> Result<(), LoginError> {
        let resource = Resource::of(&kept.resource)?;
        let file = self.file(&resource, kept.issuer.as_deref());
        let text = serde_json::to_vec_pretty(kept).map_err(|e| failed(&file, "write", e.into()))?;
        files::private_folder(&self.folder).map_err(|e| failed(&self.folder, "make", e))?;
        files::replace(&file, &text, Mode::Private).map_err(|e| failed(&file, "write", e))
    }

    /// Locks the stored logins at a resource for one process until the guard is dropped: a refresh token may be valid
    /// for one use only. `None` if the file system has no locks.
    pub(super) async fn lock(&self, resource: &Resource) -> Result<Option<Lock>, LoginError> {
        let file = self.file(resource, Some("lock")).with_extension("lock");
        files::private_folder(&self.folder).map_err(|e| failed(&self.folder, "make", e))?;
        match tokio::task::spawn_blocking(move || Lock::wait(&file)).await {
            Ok(Ok(lock)) => Ok(Some(lock)),
            // On a file system without locks two processes may disturb each other.
            Ok(Err(_)) | Err(_) => Ok(None),
        }
    }

    /// Returns the files with a login at this resource, and the logins. Other files, and those that cannot be read, are
    /// skipped.
    fn files(&self, resource: &Resource) -> io::Result<Vec<(PathBuf, StoredLogin)>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        let mut files = Vec::new();
        for entry in entries {
            let (path, is_small) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?.len() <= MAX_FILE)))?;
            if !is_small || path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let kept = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<StoredLogin>(&text).ok());
            if let Some(kept) = kept.filter(|kept| kept.toolgraft == VERSION && kept.resource == resource.as_str()) {
                files.push((path, kept));
            }
        }
        Ok(files)
    }

    fn file(&self, resource: &Resource, issuer: Option<&str>) -> PathBuf {
        let host: String = resource.host().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let hash = fnv(&[resource.as_str(), issuer.unwrap_or_default()]);
        self.folder.join(format!("{}-{hash:016x}.json", host.chars().take(64).collect::<String>()))
    }
}

fn failed(file: &Path, action: &'static str, error: io::Error) -> LoginError {
    LoginError::Store { action, file: file.to_owned(), cause: Cause::new(error) }
}

/// Returns the FNV-1a hash of these texts, for file names. A collision does no harm to readers:
/// each file contains its resource.
fn fnv(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(resource: &str, issuer: &str, at: u64) -> StoredLogin {
        let credentials = StoredCredentials::new("client".to_owned(), None, Vec::new(), Some(at));
        StoredLogin::new(&Resource::of(resource).unwrap(), Some(issuer.to_owned()), credentials)
    }

    #[test]
    fn logins_are_kept_by_resource_and_issuer_and_the_latest_counts() {
        let here = tempfile::tempdir().unwrap();
        let logins = Logins::new(here.path().join("new/logins"));
        let (one, two) = (Resource::of("https://h/one").unwrap(), Resource::of("https://h/two").unwrap());
        assert!(logins.load(&one).unwrap().is_none());
        for login in [kept("https://h/one", "https://a", 5), kept("https://h/one", "https://b", 4)] {
            logins.save(&login).unwrap();
        }
        logins.save(&kept("https://h/two", "https://a", 9)).unwrap();
        assert_eq!(fs::read_dir(here.path().join("new/logins")).unwrap().count(), 3);
        assert_eq!(logins.load(&one).unwrap().unwrap().issuer.as_deref(), Some("https://a"));
        assert!(logins.contains("https://h/one?key=k") && !logins.contains("https://h/three"));
        assert!(logins.remove("https://h/one").unwrap() && !logins.remove("https://h/one").unwrap());
        assert!(logins.load(&one).unwrap().is_none() && logins.load(&two).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn files_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let here = tempfile::tempdir().unwrap();
        let folder = here.path().join("logins");
        let logins = Logins::new(&folder);
        for at in 1..3 {
            logins.save(&kept("https://h/one", "https://a", at)).unwrap();
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!((files.len(), mode(&files[0]), mode(&folder)), (1, 0o600, 0o700));
    }

    #[test]
    fn what_is_no_login_of_ours_is_left_alone() {
        let here = tempfile::tempdir().unwrap();
        let logins = Logins::new(here.path());
        logins.save(&kept("https://h/one", "https://a", 1)).unwrap();
        fs::write(here.path().join("other.json"), "{}").unwrap();
        fs::write(here.path().join("torn.json"), "{\"toolgraft\":1,").unwrap();
        assert!(logins.contains("https://h/one"));
        logins.remove("https://h/one").unwrap();
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 2);
    }
}
