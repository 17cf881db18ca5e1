//! Macros for many types: setters for types whose fields may increase, and a short debug form.

/// Gives a type one consuming setter for each named field. Such a type is `#[non_exhaustive]`: a program cannot
/// construct it field by field, since a later field would break it. The fields after `;` are numbers and flags, whose
/// setters do not use `Into`, since it leaves a literal's type open.
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

/// Implements `Debug` with the given fields and `..` for the rest: `opaque_debug!(Turn, self => state: self.state)`.
macro_rules! opaque_debug {
    ($type:ident) => {
        crate::message::opaque_debug!($type, self =>);
    };
    ($type:ident, $self:ident => $($field:ident: $value:expr),*) => {
        impl std::fmt::Debug for $type {
            fn fmt(&$self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))$(.field(stringify!($field), &$value))*.finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use opaque_debug;
