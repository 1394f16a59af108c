//! Where the server may connect to when somebody else named the address: the guard against requests forged through us.
//!
//! It judges addresses, never names: whoever connects resolves the name, asks here about each address, and connects to
//! exactly the one that was judged. It refuses to know about sockets or DNS.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of place an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Public,
    /// This machine: 127/8, ::1.
    Loopback,
    /// A network of an organisation's own: 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7.
    Private,
    /// Link-local, where clouds answer with credentials, and everything else that is no host of its own: never allowed.
    Never,
}

/// A network by its address and the bits that count, for example `10.1.0.0/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// What may be reached besides public addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reachable {
    /// Private or loopback networks that are allowed.
    pub networks: Vec<Network>,
}

/// Why an address may not be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{address} is {}, and not allowed here", match place {
    Place::Loopback => "this machine itself",
    Place::Private => "in a private network",
    Place::Public | Place::Never => "link-local or reserved",
})]
pub struct Refused {
    pub address: IpAddr,
    pub place: Place,
}

impl Reachable {
    /// Any private network and this machine: for what only administrators name, such as an identity provider inside.
    #[must_use]
    pub fn inside() -> Self {
        let networks = ["0.0.0.0/0", "::/0"].into_iter().filter_map(|text| text.parse().ok()).collect();
        Self { networks }
    }

    /// # Errors
    /// [`Refused`] for an address that is neither public nor in an allowed network.
    pub fn judge(&self, address: IpAddr) -> Result<(), Refused> {
        let place = place(address);
        let plain = plain(address);
        match place {
            Place::Public => Ok(()),
            Place::Loopback | Place::Private if self.networks.iter().any(|one| one.contains(plain)) => Ok(()),
            _ => Err(Refused { address, place }),
        }
    }
}

impl Network {
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let host_bits = 32 - u32::from(self.bits);
                (u32::from(network) ^ u32::from(address)).checked_shr(host_bits).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let host_bits = 128 - u32::from(self.bits);
                (u128::from(network) ^ u128::from(address)).checked_shr(host_bits).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// Why a text is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no network: write an address and its bits, for example 10.0.0.0/8")]
pub struct NoNetwork(String);

impl std::str::FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let wrong = || NoNetwork(text.to_owned());
        let (address, bits) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let bits: u8 = bits.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if bits > most {
            return Err(wrong());
        }
        Ok(Self { address, bits })
    }
}

/// What kind of place this is; an IPv4 address inside an IPv6 one counts as itself.
#[must_use]
pub fn place(address: IpAddr) -> Place {
    match plain(address) {
        IpAddr::V4(address) => place_v4(address),
        IpAddr::V6(address) => place_v6(address),
    }
}

/// The IPv4 address that an IPv6 one stands for: mapped, NAT64, 6to4.
fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else { return address };
    let parts = six.segments();
    let v4 = |high: u16, low: u16| IpAddr::V4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        _ => address,
    }
}

fn place_v4(address: Ipv4Addr) -> Place {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (127, ..) => Place::Loopback,
        // Alibaba Cloud answers with credentials here, inside the range of carriers.
        (100, 100, 100) => Place::Never,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => Place::Private,
        // This network, link-local (metadata of most clouds), protocol assignments, documentation, benchmarks, 6to4
        // relays, multicast and reserved.
        (0, ..) | (169, 254, _) | (192, 0, 0) | (192, 0, 2) | (192, 88, 99) | (198, 18..=19, _) => {
            Place::Never
        }
        (198, 51, 100) | (203, 0, 113) | (224..=255, ..) => Place::Never,
        _ => Place::Public,
    }
}

fn place_v6(address: Ipv6Addr) -> Place {
    if address == Ipv6Addr::LOCALHOST {
        return Place::Loopback;
    }
    match address.segments() {
        // Amazon answers with credentials here.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] => Place::Never,
        [0xfc00..=0xfdff, ..] => Place::Private,
        // 2000::/3 is what is routed; Teredo, ORCHID and documentation in it are nobody's host.
        [0x2001, 0..=0x01ff, ..] | [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => Place::Never,
        [0x2000..=0x3fff, ..] => Place::Public,
        _ => Place::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_reached_unless_allowed() {
        for (text, expected) in [
            ("93.184.216.34", Place::Public),
            ("2606:2800:220:1:248:1893:25c8:1946", Place::Public),
            ("127.0.0.1", Place::Loopback),
            ("127.255.1.1", Place::Loopback),
            ("::1", Place::Loopback),
            ("::ffff:127.0.0.1", Place::Loopback),
            ("64:ff9b::7f00:1", Place::Loopback),
            ("10.1.2.3", Place::Private),
            ("172.31.0.1", Place::Private),
            ("172.32.0.1", Place::Public),
            ("192.168.1.1", Place::Private),
            ("100.64.0.1", Place::Private),
            ("100.100.100.200", Place::Never),
            ("fd12:3456::1", Place::Private),
            ("2002:0a00:0001::", Place::Private),
            ("169.254.169.254", Place::Never),
            ("::ffff:169.254.169.254", Place::Never),
            ("2002:a9fe:a9fe::1", Place::Never),
            ("fd00:ec2::254", Place::Never),
            ("fe80::1", Place::Never),
            ("0.0.0.0", Place::Never),
            ("::", Place::Never),
            ("::7f00:1", Place::Never),
            ("224.0.0.1", Place::Never),
            ("255.255.255.255", Place::Never),
            ("ff02::1", Place::Never),
            ("2001:db8::1", Place::Never),
            ("198.18.0.1", Place::Never),
        ] {
            let address: IpAddr = text.parse().expect(text);
            assert_eq!(place(address), expected, "{text}");
            assert_eq!(Reachable::default().judge(address).is_ok(), expected == Place::Public, "{text}");
            let inside = Reachable::inside().judge(address).is_ok();
            assert_eq!(inside, expected != Place::Never, "{text}: no setting opens it");
        }
    }

    #[test]
    fn an_allowed_network_opens_just_itself() {
        let reachable = Reachable { networks: vec!["10.1.0.0/16".parse().expect("a network")] };
        for (text, allowed) in
            [("10.1.255.1", true), ("::ffff:10.1.0.1", true), ("10.2.0.1", false), ("127.0.0.1", false)]
        {
            assert_eq!(reachable.judge(text.parse().expect(text)).is_ok(), allowed, "{text}");
        }
        for wrong in ["10.0.0.0", "10.0.0.0/33", "x/8", "::/129", ""] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
