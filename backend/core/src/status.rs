//! Text enums: one macro gives a Rust enum its SQL and JSON spelling and the list of all its values,
//! so that a test can hold each against the named CHECK of its column.

/// Declares an enum whose spelling is the same in SQL, JSON and the console.
#[macro_export]
macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Every value, in the order in which they are declared.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The spelling in SQL, JSON and the console's keys.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::status::UnknownText;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::status::UnknownText {
                        what: stringify!($name),
                        text: text.to_owned(),
                        expected: &[$($text),+],
                    }),
                }
            }
        }
    };
}

/// A word that is none of an enum's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {what}; expected one of {}", expected.join(", "))]
pub struct UnknownText {
    pub what: &'static str,
    pub text: String,
    pub expected: &'static [&'static str],
}
