//! One way to set the fields of a settings type that may grow.

/// Gives a type one consuming setter for each field that is named. A program cannot write such
/// a type field by field, since a field that comes later would break it. Behind `;` stand
/// numbers and flags, which are taken as they are: `Into` leaves a literal's type open.
macro_rules! setters {
    (
        $type:ident $(, $setter:ident => $field:ident: $value:ty)* $(,)?
        $(; $($exact:ident => $number:ident: $plain:ty),+ $(,)?)?
    ) => {
        impl $type {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](", stringify!($type), "::", stringify!($field), ").")]
                #[must_use]
                pub fn $setter(mut self, $field: impl Into<$value>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
            $($(
                #[doc = concat!("Sets [`", stringify!($number), "`](", stringify!($type), "::", stringify!($number), ").")]
                #[must_use]
                pub fn $exact(mut self, $number: $plain) -> Self {
                    self.$number = $number;
                    self
                }
            )+)?
        }
    };
}

pub(crate) use setters;
