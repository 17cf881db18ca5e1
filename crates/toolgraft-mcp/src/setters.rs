//! Consuming setters as rows of a table.

/// Gives a type one consuming setter a row: what it takes, and what the field then is.
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
