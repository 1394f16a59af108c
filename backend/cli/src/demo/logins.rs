//! Who can sign in: people of the demo, with passwords made once and kept in `logins.txt`.
//!
//! It refuses to follow a password that somebody changes in the console: the file says what was made.

use super::folder::{Folder, write_private};
use anyhow::{Context, ensure};
use rand::Rng;
use std::fs;

const FILE: &str = "logins.txt";
/// Without characters that look like others.
const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A person of the demo.
#[derive(Debug, Clone, Copy)]
pub(super) struct Person {
    pub(super) username: &'static str,
    pub(super) display_name: &'static str,
    /// Team and role; none for the administrator.
    pub(super) role: Option<(&'static str, &'static str)>,
    /// For the list of logins.
    pub(super) what: &'static str,
}

const fn person(
    username: &'static str,
    display_name: &'static str,
    role: Option<(&'static str, &'static str)>,
    what: &'static str,
) -> Person {
    Person { username, display_name, role, what }
}

/// The administrator first.
pub(super) const PEOPLE: [Person; 7] = [
    person("admin", "Admin 管理员", None, "platform admin"),
    person("lin", "Lin Yue 林悦", Some(("vision", "lead")), "lead of vision 视觉"),
    person("wang", "Wang Lei 王磊", Some(("speech", "lead")), "lead of speech 语音"),
    person("zhao", "Zhao Min 赵敏", Some(("search", "member")), "member of search 搜索"),
    person("chen", "Chen Hao 陈浩", Some(("vision", "member")), "member of vision 视觉"),
    person("sun", "Sun Qi 孙琪", Some(("search", "lead")), "lead of search 搜索"),
    person("guo", "Guo Wen 郭文", Some(("research", "viewer")), "viewer of the department 研究部"),
];

/// A person's password as it was made.
#[derive(Debug, Clone)]
pub(super) struct Login {
    pub(super) username: String,
    pub(super) password: String,
}

/// Everybody's login, made and kept at the first call.
pub(super) fn read_or_make(folder: &Folder) -> anyhow::Result<Vec<Login>> {
    let path = folder.join(FILE);
    let known = parse(&fs::read_to_string(&path).unwrap_or_default());
    let logins: Vec<Login> = PEOPLE
        .iter()
        .map(|person| {
            let kept = known.iter().find(|login| login.username == person.username);
            kept.cloned().unwrap_or_else(|| Login { username: person.username.into(), password: password() })
        })
        .collect();
    write_private(&path, &table(&logins))?;
    Ok(logins)
}

/// The password that was made for a person.
pub(super) fn password_of<'a>(logins: &'a [Login], username: &str) -> anyhow::Result<&'a str> {
    let found = logins.iter().find(|login| login.username == username);
    let login = found.with_context(|| format!("nobody called {username} in the demo"))?;
    ensure!(login.password.len() >= 10, "{FILE}: the password of {username} is too short");
    Ok(&login.password)
}

/// A line each: name, password, who it is.
pub(super) fn table(logins: &[Login]) -> String {
    logins
        .iter()
        .zip(&PEOPLE)
        .map(|(login, person)| format!("  {:<6}  {}   {}\n", login.username, login.password, person.what))
        .collect()
}

fn parse(text: &str) -> Vec<Login> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        Some(Login { username: words.next()?.to_owned(), password: words.next()?.to_owned() })
    };
    text.lines().filter_map(line).collect()
}

/// 16 characters of 32: 80 bits.
fn password() -> String {
    let mut random = rand::rng();
    (0..16).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_made_once() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::take(place.path()).expect("free");
        let first = table(&read_or_make(&folder).expect("made"));
        assert_eq!(table(&read_or_make(&folder).expect("read")), first);
        assert!(first.lines().next().is_some_and(|line| line.trim_start().starts_with("admin ")), "{first}");
    }

    #[test]
    fn two_people_have_two_passwords() {
        assert_ne!(password(), password());
        assert_eq!(password().len(), 16);
    }
}
