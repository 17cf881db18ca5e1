//! Configurations are stored and read back; missing members have their defaults.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolgraft::dialect::{DialectSet, Lang};
use toolgraft::parse::{Config, Limits};
use toolgraft::prompt::{Listing, Options, Template};
use toolgraft::turn::TurnConfig;
use toolgraft::{Dialect, Policy};

fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_value(serde_json::to_value(value).expect("it is written")).expect("it is read")
}

fn of_nothing<T: DeserializeOwned>() -> T {
    serde_json::from_value(json!({})).expect("nothing need be said")
}

#[test]
fn what_is_stored_is_read_back() {
    let mut config = TurnConfig::default().with_policy(Policy::default().allow("files.*"));
    config.dialects = DialectSet::from(Dialect::Hermes).with(Dialect::ToolTag);
    config.context = Some(4096);
    assert_eq!(again(&config), config);
    let options = Options::default()
        .with_lang(Lang::Zh)
        .with_listing(Listing::Brief)
        .with_templates(vec![Template::new("rules", "Be brief.")]);
    assert_eq!(again(&options), options);
    let limits = Limits::default().with_calls(3);
    let parser = Config::default().with_limits(limits).with_dialects(DialectSet::NONE);
    let read = again(&parser);
    assert_eq!((read.limits, read.dialects), (limits, DialectSet::NONE));
    for set in [DialectSet::AUTO, DialectSet::NONE, DialectSet::from(Dialect::DeepSeek)] {
        assert_eq!(again(&set), set);
    }
}

#[test]
fn what_is_missing_is_the_default() {
    assert_eq!(of_nothing::<TurnConfig>(), TurnConfig::default());
    assert_eq!(of_nothing::<Options>(), Options::default());
    assert_eq!(of_nothing::<Limits>(), Limits::default());
    let wrong = serde_json::from_value::<Config>(json!({"dialects": "hermess"})).expect_err("no dialect is called so");
    assert!(wrong.to_string().contains("unknown dialect"), "{wrong}");
    let profile = serde_json::to_value(toolgraft::dialect::Profile::for_model("qwen3")).expect("it is written");
    assert!(profile["name"].is_string() && profile["dialect"] != Value::Null);
}
