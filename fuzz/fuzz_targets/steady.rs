//! Makes walks repeatable.

/// Stands in for the system's: hash maps then start alike in every process, so
/// that the same seed walks the same way. The standard library lets it be
/// replaced for such ends.
#[unsafe(no_mangle)]
extern "C" fn getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    // SAFETY: the caller hands over a buffer of this length to be filled.
    unsafe { buffer.write_bytes(0, length) };
    length.cast_signed()
}
