//! Where a request comes from: the peer, or whom a trusted proxy names.
//!
//! It refuses to believe `X-Forwarded-For` of anybody else: a header would then choose the limit that it counts against.

use crate::app::AppState;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

/// The client's address; `None` where there is no connection, as in a test.
#[derive(Debug, Clone, Copy)]
pub struct Address(pub Option<IpAddr>);

impl FromRequestParts<AppState> for Address {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip().to_canonical());
        let trusted =
            |address: IpAddr| app.settings.trusted_proxies.iter().any(|network| network.contains(address));
        Ok(Self(peer.map(|peer| behind(peer, &parts.headers, trusted))))
    }
}

/// The last address that no trusted proxy has.
fn behind(peer: IpAddr, headers: &HeaderMap, trusted: impl Fn(IpAddr) -> bool) -> IpAddr {
    let mut address = peer;
    let named: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .collect();
    for text in named.into_iter().rev() {
        if !trusted(address) {
            break;
        }
        match text.trim().parse::<IpAddr>() {
            Ok(next) => address = next.to_canonical(),
            Err(_) => break,
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let proxy = |address: IpAddr| address.to_string().starts_with("10.");
        for (peer, header, expected) in [
            ("198.51.100.7", "203.0.113.9", "198.51.100.7"),
            ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
            ("10.0.0.1", "1.1.1.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
            ("10.0.0.1", "nonsense", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", header.parse().expect("a header"));
            let found = behind(peer.parse().expect(peer), &headers, proxy);
            assert_eq!(found.to_string(), expected, "{peer} {header}");
        }
    }
}
