//! The text of `--version`: the version, the commit, the system, and the features that are compiled in.

/// Text of `--version`: the version, commit, target and features of the build.
pub(crate) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("TOOLGRAFT_BUILD_COMMIT"),
    "\ntarget: ",
    env!("TOOLGRAFT_BUILD_TARGET"),
    "\nfeatures: client, mcp, serve"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_features_are_those_that_the_package_names() {
        let package: toml_edit::DocumentMut = include_str!("../../Cargo.toml").parse().expect("cargo has read it");
        let features = package["dependencies"]["toolgraft"]["features"].as_array().expect("it names features");
        let names = package["dependencies"].as_table_like().expect("it has dependencies").iter();
        // Writing files and reading pictures are a part of each program.
        let packages = names.filter_map(|(name, _)| name.strip_prefix("toolgraft-"));
        let packages = packages.filter(|name| !matches!(*name, "files" | "raster"));
        let parts: std::collections::BTreeSet<_> =
            features.iter().filter_map(|feature| feature.as_str()).chain(packages).collect();
        let features = parts.into_iter().collect::<Vec<_>>().join(", ");
        assert!(LONG.ends_with(&format!("\nfeatures: {features}")), "{features}");
    }
}
