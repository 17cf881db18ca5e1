//! What a module of Node wants of the linker.

fn main() {
    napi_build::setup();
}
