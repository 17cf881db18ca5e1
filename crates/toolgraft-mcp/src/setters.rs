//! A macro for consuming setters, one per line.

/// Defines one consuming setter per line: its parameter, and the new value of the field.
macro_rules! setters {
    ($of:ty: $($(#[$about:meta])+ $setter:ident($given:ident: $kind:ty) => $($field:ident).+ = $value:expr;)+) => {
        impl $of {
            $(
                $(#[$about])+
                pub fn $setter(mut self, $given: $kind) -> Self {
                    self.$($field).+ = $value;
                    self
                }
            )+
        }
    };
}
