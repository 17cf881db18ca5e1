// Where the files of this system are: a package of its own, which npm installs beside this one.

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The package with the program and the native half for this system. */
export const PACKAGE = `@toolgraft/${process.platform}-${process.arch}`;

/** The path of a file of that package. */
export function found(file) {
  try {
    return require.resolve(`${PACKAGE}/${file}`);
  } catch (cause) {
    const remedy =
      "It is an optional dependency of toolgraft: install again without --omit=optional, on this system. " +
      "Where there is no such package, `cargo install --locked --path cli` builds the program from the sources, " +
      "and `make node` the module.";
    throw new Error(`toolgraft: ${PACKAGE} is not installed. ${remedy}`, { cause });
  }
}

/** The native half, of the same version as this one. */
export function native(version) {
  const file = found("toolgraft.node");
  let half;
  try {
    half = require(file);
  } catch (cause) {
    const remedy = "It is built for the C library of glibc; on another one, build it there with `make node`.";
    throw new Error(`toolgraft: ${file} cannot be loaded: ${cause.message}. ${remedy}`, { cause });
  }
  if (half.version() !== version) {
    throw new Error(`toolgraft: ${PACKAGE} has the version ${half.version()}, this is ${version}. Install both again.`);
  }
  return half;
}
