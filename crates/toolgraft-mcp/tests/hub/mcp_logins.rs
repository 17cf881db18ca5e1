//! Logins at MCP servers over HTTP, with a scripted server, its authorization server and a foreign
//! server.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::time::Duration;

use serde_json::json;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft_mcp::{Config, HttpTransport, Hub, Login, LoginError, Logins, ServerConfig, ServerState};
use toolgraft_testkit::oauth_mcp::{OAuthMcp, Ways, browse};

const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and a folder for logins.
struct Scene {
    servers: OAuthMcp,
    folder: tempfile::TempDir,
}

impl Scene {
    fn new(ways: Ways) -> Self {
        Scene { servers: OAuthMcp::start(ways), folder: tempfile::tempdir().unwrap() }
    }

    fn logins(&self) -> Logins {
        Logins::new(self.folder.path().join("logins")).remedy(|server| format!("LOG IN AT {server}"))
    }

    fn server(&self) -> ServerConfig {
        ServerConfig::http("guarded", self.servers.url())
    }

    /// Logs in. Returns the result, and the final page in the browser.
    async fn log_in(&self, server: &ServerConfig) -> (Result<(), LoginError>, String) {
        let login = match Login::begin(server, &self.logins()).await {
            Ok(login) => login,
            Err(error) => return (Err(error), String::new()),
        };
        let url = login.url().to_owned();
        let (done, (_, page)) = tokio::join!(login.finish(PATIENCE), browse(&url));
        (done, page)
    }

    async fn logged_in(ways: Ways) -> Self {
        let scene = Scene::new(ways);
        scene.log_in(&scene.server()).await.0.unwrap();
        scene
    }

    async fn hub(&self) -> Hub {
        Hub::builder().server(self.server()).logins(self.logins()).connect().await.unwrap()
    }

    /// Returns the text of all stored files.
    fn kept(&self) -> String {
        let files = std::fs::read_dir(self.folder.path().join("logins")).into_iter().flatten();
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }
}

async fn call(hub: &Hub, tool: &str) -> String {
    hub.call(Invocation::new(tool)).await.text
}

#[tokio::test]
async fn a_person_logs_in_and_the_token_is_used() {
    let scene = Scene::new(Ways::default());
    let hub = scene.hub().await;
    let status = hub.servers().remove(0);
    assert_eq!(status.state, ServerState::NeedsAuth);
    let error = status.error.unwrap();
    assert!(error.contains("a login is required: LOG IN AT guarded"), "{error}");

    let (done, page) = scene.log_in(&scene.server()).await;
    done.unwrap();
    assert!(page.contains("You are logged in"), "{page}");
    assert!(scene.logins().contains(&scene.servers.url()));

    // The running hub finds the login with the next call.
    let named = Invocation::new("hello").with_server("guarded");
    assert_eq!(hub.call(named).await.text, "hello, you are in");
    // The login asks for the scope in the server's metadata, and names the server as the resource.
    let asked = &scene.servers.seen("as", "GET", "/authorize")[0];
    assert!(asked.query.contains("scope=basic") && asked.query.contains("client_id=registered-client"), "{asked:?}");
    let registered: serde_json::Value =
        serde_json::from_str(&scene.servers.seen("as", "POST", "/register")[0].body).unwrap();
    assert!(registered["redirect_uris"][0].as_str().unwrap().starts_with("http://127.0.0.1:"), "{registered}");
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    hub.shutdown().await;
}

#[tokio::test]
async fn a_server_of_the_first_version_whose_answers_come_over_a_stream_takes_logins_too() {
    for transport in [HttpTransport::Any, HttpTransport::Sse] {
        let scene = Scene::new(Ways { legacy: true, ..Ways::default() });
        let server = scene.server().with_http_transport(transport);
        let hub = Hub::builder().server(server.clone()).logins(scene.logins()).connect().await.unwrap();
        assert_eq!(hub.servers()[0].state, ServerState::NeedsAuth, "{transport:?}");
        scene.log_in(&server).await.0.unwrap();
        let hello = || Invocation::new("hello").with_server("guarded");
        assert_eq!(hub.call(hello()).await.text, "hello, you are in", "{transport:?}");
        let messages = scene.servers.seen("mcp", "POST", "/messages");
        assert!(messages.iter().all(|seen| seen.authorization.is_some()), "{messages:?}");

        // A new stream gets a refreshed token: after one that has ended, and after one that still
        // lives when its token is rejected.
        for ends in [false, true] {
            scene.servers.forget_tokens();
            if ends {
                scene.servers.ends_stream();
            }
            let answer = hub.call(hello()).await.text;
            let answer = if answer == "hello, you are in" { answer } else { hub.call(hello()).await.text };
            assert_eq!(answer, "hello, you are in", "{transport:?}, ends {ends}");
        }
        assert_eq!(scene.servers.seen("as", "POST", "/token").len(), 3);
        hub.shutdown().await;
    }
}

#[tokio::test]
async fn metadata_is_found_by_header_and_by_place_and_openid_counts_too() {
    for (quiet, openid) in [(false, true), (true, false), (true, true)] {
        let scene = Scene::logged_in(Ways { quiet, openid, ..Ways::default() }).await;
        let hub = scene.hub().await;
        assert_eq!(call(&hub, "hello").await, "hello, you are in", "quiet {quiet}, openid {openid}");
        hub.shutdown().await;
    }
}

#[tokio::test]
async fn a_client_that_is_known_is_not_registered() {
    let scene = Scene::new(Ways { registers: false, ..Ways::default() });
    let (none, _) = scene.log_in(&scene.server()).await;
    let none = none.unwrap_err().to_string();
    assert!(none.contains("set \"clientId\""), "{none}");

    let text = json!({ "mcpServers": { "guarded": { "url": scene.servers.url(), "oauth": {
        "clientId": "mine", "clientSecret": "client-secret", "scopes": ["one", "two"] } } } });
    let config = Config::parse(&text.to_string(), "mcp.json", &|_| None).unwrap();
    scene.log_in(&config.servers()[0]).await.0.unwrap();
    let asked = &scene.servers.seen("as", "GET", "/authorize")[0].query;
    assert!(asked.contains("client_id=mine") && asked.contains("scope=one+two"), "{asked}");
    let exchange = scene.servers.seen("as", "POST", "/token").remove(0);
    assert!(exchange.authorization.unwrap().starts_with("Basic "));
    // The secret of the entry is used for a refresh too, unless the entry names another client by
    // now.
    let connect = async |config: Config| {
        scene.servers.forget_tokens();
        let hub = Hub::builder().config(config).logins(scene.logins()).connect().await.unwrap();
        assert_eq!(call(&hub, "hello").await, "hello, you are in");
        hub.shutdown().await;
        scene.servers.seen("as", "POST", "/token").pop().unwrap().authorization
    };
    let other = Config::parse(&text.to_string().replace("\"mine\"", "\"other\""), "mcp.json", &|_| None).unwrap();
    assert!(connect(config).await.unwrap().starts_with("Basic "));
    assert_eq!(connect(other).await, None);
    // The secret of the entry is not stored a second time.
    assert!(!scene.kept().contains("client-secret"));
    assert!(scene.servers.seen("as", "POST", "/register").is_empty());
}

#[tokio::test]
async fn an_authorization_server_without_s256_is_refused() {
    for challenges in [None, Some(vec!["plain"])] {
        let scene = Scene::new(Ways { challenges, ..Ways::default() });
        let (done, _) = scene.log_in(&scene.server()).await;
        assert!(matches!(&done, Err(LoginError::Untrusted(why)) if why.contains("S256")), "{done:?}");
        assert!(scene.servers.seen("as", "POST", "/register").is_empty());
    }
}

#[tokio::test]
async fn an_issuer_that_is_another_one_is_refused() {
    // A foreign issuer is refused in the metadata, and in the redirect.
    let stranger = "https://evil.example".to_owned();
    let scene = Scene::new(Ways { issuer: Some(stranger.clone()), ..Ways::default() });
    let (done, _) = scene.log_in(&scene.server()).await;
    assert!(matches!(&done, Err(LoginError::Untrusted(_))), "{done:?}");

    let scene = Scene::new(Ways { iss: Some(stranger), ..Ways::default() });
    let (done, page) = scene.log_in(&scene.server()).await;
    assert!(matches!(&done, Err(LoginError::Untrusted(why)) if why.contains("another issuer")), "{done:?}");
    assert!(page.contains("You are not logged in"), "{page}");
    assert!(scene.servers.seen("as", "POST", "/token").is_empty(), "the code went out");
    assert_eq!(scene.kept(), "");

    let scene = Scene::new(Ways::default());
    let issuer = scene.servers.issuer();
    scene.servers.change(|ways| ways.iss = Some(issuer));
    scene.log_in(&scene.server()).await.0.unwrap();
}

#[tokio::test]
async fn metadata_of_another_resource_is_refused() {
    let scene = Scene::new(Ways { resource: Some("https://evil.example/mcp".to_owned()), ..Ways::default() });
    let (done, _) = scene.log_in(&scene.server()).await;
    assert!(matches!(&done, Err(LoginError::Untrusted(_))), "{done:?}");
}

#[tokio::test]
async fn a_no_is_told_to_the_program_and_at_the_browser() {
    let scene = Scene::new(Ways { error: Some("access_denied"), ..Ways::default() });
    let (done, page) = scene.log_in(&scene.server()).await;
    assert_eq!(done, Err(LoginError::Refused("access_denied".to_owned())));
    assert!(page.contains("access_denied"), "{page}");
}

#[tokio::test]
async fn another_logins_answer_is_refused_and_the_waiting_goes_on() {
    let scene = Scene::new(Ways::default());
    let login = Login::begin(&scene.server(), &scene.logins()).await.unwrap();
    let url = login.url().to_owned();
    let state = reqwest::Url::parse(&url).unwrap();
    let state = state.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
    let forged = url.replace(&format!("state={state}"), "state=forged");
    assert_ne!(forged, url);
    let (done, ()) = tokio::join!(login.finish(PATIENCE), async {
        let (status, page) = browse(&forged).await;
        assert!(status == 400 && page.contains("another login"), "{status}: {page}");
        let (status, page) = browse(&url).await;
        assert!(status == 200 && page.contains("You are logged in"), "{status}: {page}");
    });
    done.unwrap();
    assert_eq!(scene.servers.seen("as", "POST", "/token").len(), 1);
}

#[tokio::test]
async fn a_registration_that_is_refused_says_how_to_do_without() {
    let scene = Scene::new(Ways { forbids: true, ..Ways::default() });
    let (done, _) = scene.log_in(&scene.server()).await;
    let refused = done.unwrap_err().to_string();
    assert!(refused.contains("403") && refused.contains("clients are registered by hand"), "{refused}");
    assert!(refused.contains("set its \"clientId\"") && refused.contains("under \"oauth\""), "{refused}");
}

#[tokio::test]
async fn an_answer_without_state_is_turned_away_with_the_reason() {
    let scene = Scene::new(Ways { stateless: true, ..Ways::default() });
    let login = Login::begin(&scene.server(), &scene.logins()).await.unwrap();
    let url = login.url().to_owned();
    let (done, page) = tokio::join!(login.finish(Duration::from_secs(4)), browse(&url));
    assert!(page.0 == 400 && page.1.contains("did not return the state"), "{page:?}");
    assert_eq!(done, Err(LoginError::NoState));
    let said = LoginError::NoState.to_string();
    assert!(said.contains("set a token under \"headers\""), "{said}");
    assert!(scene.servers.seen("as", "POST", "/token").is_empty(), "its code is not used");
}

#[tokio::test]
async fn a_token_for_another_audience_is_said_to_be_and_not_asked_for_again() {
    let scene = Scene::logged_in(Ways { other_audience: true, ..Ways::default() }).await;
    for refreshes in [true, false] {
        scene.servers.change(|ways| ways.refreshes = refreshes);
        let hub = scene.hub().await;
        let error = hub.servers().remove(0).error.unwrap();
        let named = format!("is for another audience (api://other), not for {}", scene.servers.url());
        assert!(error.contains(&named) && error.contains("set \"scopes\" under \"oauth\""), "{error}");
        assert!(!error.contains("LOG IN AT") && !error.contains("access-token"), "{error}");
        hub.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_is_open_to_all_is_told_from_one_that_wants_a_login() {
    let scene = Scene::new(Ways { open: true, ..Ways::default() });
    let (done, _) = scene.log_in(&scene.server()).await;
    assert!(matches!(&done, Err(LoginError::NotForLogins(why)) if why.contains("without a login")), "{done:?}");
    let hub = scene.hub().await;
    assert_eq!(call(&hub, "hello").await, "hello, you are in");
    hub.shutdown().await;
}

#[tokio::test]
async fn nobody_who_comes_is_an_error() {
    let scene = Scene::new(Ways::default());
    let login = Login::begin(&scene.server(), &scene.logins()).await.unwrap();
    assert_eq!(login.finish(Duration::ZERO).await, Err(LoginError::TimedOut(0)));
}

#[tokio::test]
async fn a_token_is_refreshed_after_a_401_and_before_its_end() {
    let scene = Scene::logged_in(Ways::default()).await;
    let hub = scene.hub().await;
    scene.servers.forget_tokens();
    assert_eq!(call(&hub, "hello").await, "hello, you are in");
    assert_eq!(scene.servers.seen("as", "POST", "/token").len(), 2);
    hub.shutdown().await;

    // With tokens that are about to expire, each request gets a new one, and none is refused.
    scene.servers.change(|ways| ways.expires = 5);
    scene.servers.forget_tokens();
    let hub = scene.hub().await;
    assert_eq!(call(&hub, "hello").await, "hello, you are in");
    let refused_before = scene.servers.seen("mcp", "POST", "/mcp").len();
    scene.servers.forget_tokens();
    assert_eq!(call(&hub, "hello").await, "hello, you are in");
    assert_eq!(scene.servers.seen("mcp", "POST", "/mcp").len(), refused_before + 1, "a request was sent twice");
    hub.shutdown().await;
    // Refresh tokens are valid for one use, so the latest one must be stored.
    let last = scene.servers.secrets().into_iter().filter(|secret| secret.starts_with("refresh")).collect::<Vec<_>>();
    assert_eq!(last.len(), 1);
    assert!(scene.kept().contains(&last[0]));
}

#[tokio::test]
async fn a_refresh_that_fails_wants_a_login() {
    let scene = Scene::logged_in(Ways::default()).await;
    scene.servers.forget_tokens();
    scene.servers.change(|ways| ways.refreshes = false);
    let hub = scene.hub().await;
    let status = hub.servers().remove(0);
    assert_eq!(status.state, ServerState::NeedsAuth);
    assert!(status.error.unwrap().contains("the login has expired: LOG IN AT guarded"));
    scene.log_in(&scene.server()).await.0.unwrap();
    hub.restart("guarded").await.unwrap();
    assert_eq!(call(&hub, "hello").await, "hello, you are in");

    // The handshake that worked before the login expired is tried first after the next login.
    let posted = || scene.servers.seen("mcp", "POST", "/mcp").into_iter();
    let discovers = || posted().filter(|seen| seen.body.contains("server/discover")).count();
    let before = discovers();
    scene.servers.forget_tokens();
    hub.restart("guarded").await.unwrap_err();
    scene.log_in(&scene.server()).await.0.unwrap();
    hub.restart("guarded").await.unwrap();
    assert_eq!((before > 0, discovers()), (true, before));
    hub.shutdown().await;
}

#[tokio::test]
async fn rights_that_are_missing_are_asked_for_by_the_next_login() {
    let scene = Scene::logged_in(Ways::default()).await;
    let hub = scene.hub().await;
    let refused = call(&hub, "admin").await;
    assert!(refused.contains("lacks rights that the server requires (admin): LOG IN AT guarded"), "{refused}");
    assert_eq!(call(&hub, "hello").await, "hello, you are in");
    scene.log_in(&scene.server()).await.0.unwrap();
    let asked = scene.servers.seen("as", "GET", "/authorize").pop().unwrap().query;
    assert!(asked.contains("scope=basic+admin"), "{asked}");
    // The running hub uses the new login after the next refusal.
    assert_eq!(call(&hub, "admin").await, "hello, you are in");
    hub.shutdown().await;
}

#[tokio::test]
async fn a_token_reaches_nobody_else() {
    let scene = Scene::logged_in(Ways::default()).await;
    scene.servers.change(|ways| ways.mcp_elsewhere = true);
    let hub = scene.hub().await;
    let error = hub.servers().remove(0).error.unwrap();
    assert!(error.contains("redirects to another origin"), "{error}");
    hub.shutdown().await;
    scene.servers.change(|ways| (ways.mcp_elsewhere, ways.tokens_elsewhere) = (false, true));
    scene.servers.forget_tokens();
    let hub = scene.hub().await;
    let error = hub.servers().remove(0).error.unwrap();
    assert!(error.contains("could not be refreshed"), "{error}");
    hub.shutdown().await;
    let (done, _) = scene.log_in(&scene.server()).await;
    assert!(done.is_err());
    scene.servers.change(|ways| (ways.tokens_elsewhere, ways.metadata_elsewhere) = (false, true));
    assert!(scene.log_in(&scene.server()).await.0.is_err());
    for method in ["GET", "POST", "DELETE"] {
        assert!(scene.servers.seen("stranger", method, "/").is_empty(), "{method} reached the stranger");
    }
}

#[tokio::test]
async fn a_login_is_for_one_url_and_its_own_header_goes_before_it() {
    let scene = Scene::logged_in(Ways::default()).await;
    let other = ServerConfig::http("guarded", scene.servers.url().replace("/mcp", "/other"));
    let own = scene.server().with_header("Authorization", "Bearer my-own-token");
    for server in [other, own] {
        let hub = Hub::builder().server(server).logins(scene.logins()).connect().await.unwrap();
        assert_ne!(hub.servers()[0].state, ServerState::Ready);
        hub.shutdown().await;
    }
    let sent = scene.servers.seen("mcp", "POST", "/other");
    assert!(!sent.is_empty() && sent.iter().all(|seen| seen.authorization.is_none()), "{sent:?}");
    let used = |seen: &toolgraft_testkit::oauth_mcp::SeenRequest| {
        seen.authorization.as_deref().is_some_and(|it| it.contains("access-token"))
    };
    assert!(!scene.servers.seen("mcp", "POST", "/mcp").iter().any(used));
}

#[tokio::test]
async fn no_token_stands_in_what_is_shown() {
    let scene = Scene::logged_in(Ways::default()).await;
    let hub = scene.hub().await;
    let mut shown = format!("{hub:?} {:?}", scene.logins());
    shown += &call(&hub, "admin").await;
    assert_eq!(call(&hub, "mirror").await, "Bearer [redacted]");
    scene.servers.change(|ways| ways.refreshes = false);
    let secrets = scene.servers.secrets();
    scene.servers.forget_tokens();
    shown += &call(&hub, "hello").await;
    shown += &serde_json::to_string(&hub.servers()).unwrap();
    shown += &format!("{:?}", Login::begin(&scene.server(), &scene.logins()).await);
    assert!(secrets.len() == 2 && shown.contains("the login has expired"), "{shown}");
    for secret in secrets {
        assert!(!shown.contains(&secret), "{secret}: {shown}");
    }
    for seen in scene.servers.seen("mcp", "POST", "/").into_iter().chain(scene.servers.seen("as", "GET", "/")) {
        assert!(!seen.query.contains("token-"), "{seen:?}");
    }
    hub.shutdown().await;
}

#[tokio::test]
async fn a_logout_forgets_the_tokens() {
    let scene = Scene::logged_in(Ways::default()).await;
    assert!(scene.kept().contains("access-token"));
    assert!(scene.logins().remove(&scene.servers.url()).unwrap());
    assert_eq!(scene.kept(), "");
    assert!(!scene.logins().contains(&scene.servers.url()));
    let hub = scene.hub().await;
    assert_eq!(hub.servers()[0].state, ServerState::NeedsAuth);
    hub.shutdown().await;
}
