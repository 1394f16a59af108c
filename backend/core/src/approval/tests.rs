//! Whatever is tried in whatever order, the rules of section 8 hold.

use super::*;
use crate::priority::PriorityClass;
use uuid::Uuid;

/// A small generator of its own: the same seed, the same walk.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn user(number: u64) -> UserId {
    UserId(Uuid::from_u128(u128::from(number) + 1))
}

fn fresh(asked: Terms) -> Case {
    Case {
        requester: user(0),
        state: EscalationState::Requested,
        step: 0,
        steps: 0,
        granted: asked,
        approved_by: Vec::new(),
        review_due: false,
    }
}

fn terms(dice: &mut Dice) -> Terms {
    let level = PriorityClass::ALL.get(usize::try_from(dice.roll(6)).expect("small")).copied();
    let secs = dice.roll(4);
    Terms {
        level,
        duration_secs: (secs > 0).then(|| i64::try_from(secs * 1_800).expect("small")),
        ..Terms::default()
    }
}

fn act(dice: &mut Dice) -> Act {
    match dice.roll(9) {
        0 => Act::Route { steps: u32::try_from(dice.roll(4)).expect("small") },
        1 => Act::Refuse,
        2 => Act::BreakGlass,
        3 => Act::Deny,
        4 => Act::Withdraw,
        5 => Act::TimeOut,
        6 => Act::Activate,
        7 => Act::Expire,
        _ => Act::Revoke,
    }
}

/// One random walk; true when it came to be active through every step.
fn walk(seed: u64) -> bool {
    let mut dice = Dice(seed);
    let asked =
        Terms { level: Some(PriorityClass::Critical), duration_secs: Some(7_200), ..Terms::default() };
    let mut case = fresh(asked);
    let mut all_steps = false;
    for _ in 0..40 {
        let before = case.clone();
        let tried = if dice.roll(3) > 0 {
            let by = By {
                user: user(dice.roll(4)),
                seated: dice.roll(4) > 0,
                oversees: dice.roll(2) > 0,
                asks: false,
                reviews: false,
            };
            let approved = case.clone().approve(by, terms(&mut dice));
            if approved.is_ok() {
                assert!(by.seated && by.user != before.requester, "seed {seed}: {before:?} by {by:?}");
                assert!(!before.approved_by.contains(&by.user), "seed {seed}: {before:?} by {by:?}");
            }
            approved
        } else {
            case.clone().after(act(&mut dice))
        };
        let Ok(next) = tried else { continue };
        assert!(!before.state.is_final(), "seed {seed}: {before:?} is final and became {next:?}");
        assert!(next.granted.is_within(before.granted), "seed {seed}: {before:?} became {next:?}");
        if next.state == EscalationState::InReview {
            assert!((1..=next.steps).contains(&next.step), "seed {seed}: {next:?}");
            assert_eq!(next.approved_by.len(), next.step as usize - 1, "seed {seed}: {next:?}");
        } else {
            assert_eq!(next.step, 0, "seed {seed}: {next:?}");
        }
        if next.state == EscalationState::Approved {
            assert_eq!(next.approved_by.len(), next.steps as usize, "seed {seed}: {next:?}");
            all_steps |= next.steps > 1;
        }
        case = next;
    }
    all_steps
}

#[test]
fn no_walk_breaks_the_rules() {
    let whole = (0..20_000).filter(|&seed| walk(seed)).count();
    assert!(whole > 100, "only {whole} walks came through two steps and more: they would prove nothing");
}

#[test]
fn each_refusal_names_its_rule() {
    let case = fresh(Terms { level: Some(PriorityClass::High), ..Terms::default() });
    let case = case.after(Act::Route { steps: 2 }).expect("routed");
    let by = |number: u64, seated: bool| By {
        user: user(number),
        seated,
        oversees: false,
        asks: true,
        reviews: false,
    };
    let whole = Terms::default();
    assert_eq!(case.clone().approve(by(0, true), whole), Err(Refusal::OwnRequest));
    assert_eq!(case.clone().approve(by(1, false), whole), Err(Refusal::NotApprover));
    let more = Terms { level: Some(PriorityClass::Critical), ..whole };
    assert_eq!(case.clone().approve(by(1, true), more), Err(Refusal::Larger { field: "level" }));
    let other = Terms { gpu_hours: Some(1), ..whole };
    assert_eq!(case.clone().approve(by(1, true), other), Err(Refusal::NotAskedFor { field: "gpu_hours" }));
    let once = case.approve(by(1, true), whole).expect("the first step");
    assert_eq!((once.state, once.step), (EscalationState::InReview, 2));
    assert_eq!(once.clone().approve(by(1, true), whole), Err(Refusal::SamePerson));
    assert_eq!(once.may_receive(user(1)), Err(Refusal::SamePerson));
    assert_eq!(once.may_receive(user(0)), Err(Refusal::OwnRequest));
    assert_eq!(once.may_withdraw(by(1, true)), Err(Refusal::NotYours));
    let twice = once.approve(by(2, true), whole).expect("the second step");
    assert_eq!(twice.state, EscalationState::Approved);
    let active = twice.after(Act::Activate).expect("active");
    assert_eq!(active.may_withdraw(by(0, false)), Err(Refusal::State(EscalationState::Active)));
    assert_eq!(active.may_revoke(by(3, false)), Err(Refusal::NotYours));
    assert_eq!(active.may_review(by(3, false)), Err(Refusal::State(EscalationState::Active)));
    let over = active.after(Act::Expire).expect("over");
    assert_eq!(
        over.clone().approve(by(3, true), whole),
        Err(Refusal::State(EscalationState::Expired)),
        "after the end nobody approves"
    );
    assert_eq!(over.may_renew(by(0, false)), Err(Refusal::State(EscalationState::Expired)));
}
