//! A macro for consuming setters, one per line.

/// Defines consuming setters of a type, one per line: the setter's name and parameter, then the field and its new
/// value.
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
