//! Who may do what, role by role.

use super::*;
use uuid::Uuid;

const TEAM: TeamId = TeamId(Uuid::from_u128(1));
const PARENT: TeamId = TeamId(Uuid::from_u128(2));
const OTHER: TeamId = TeamId(Uuid::from_u128(3));
const ME: UserId = UserId(Uuid::from_u128(10));
const SHE: UserId = UserId(Uuid::from_u128(11));

fn actor(platform: &[PlatformRole], roles: &[(TeamId, Role)]) -> Actor {
    let mut by_team: BTreeMap<TeamId, BTreeSet<Role>> = BTreeMap::new();
    for (team, role) in roles {
        by_team.entry(*team).or_default().insert(*role);
    }
    Actor {
        id: ME,
        platform_roles: platform.iter().copied().collect(),
        roles: by_team,
        scopes: Scope::ALL.iter().copied().collect(),
    }
}

#[test]
fn roles_reach_exactly_as_far_as_they_should() {
    use Action::{JobCancel, JobRead, JobSubmit, MemberEdit, PolicyEdit, QuotaEdit, QuotaRead, UserRead};
    use Verdict::{Allowed, Forbidden, Hidden};
    let mine = Resource::Job { team: TEAM, owner: ME };
    let hers = Resource::Job { team: TEAM, owner: SHE };
    let foreign = Resource::Job { team: OTHER, owner: SHE };
    let quota = Resource::Quota { team: TEAM, parent: Some(PARENT) };
    let top_quota = Resource::Quota { team: PARENT, parent: None };
    let viewer = actor(&[], &[(TEAM, Role::Viewer)]);
    let member = actor(&[], &[(TEAM, Role::Member)]);
    let lead = actor(&[], &[(TEAM, Role::Lead)]);
    let parent_lead = actor(&[], &[(TEAM, Role::Lead), (PARENT, Role::Lead)]);
    let nobody = actor(&[], &[]);
    let finance = actor(&[PlatformRole::Finance], &[]);
    let admin = actor(&[PlatformRole::Admin], &[]);
    for (who, action, resource, expected) in [
        (&viewer, JobRead, hers, Allowed),
        (&viewer, JobSubmit, Resource::Team(TEAM), Forbidden),
        (&viewer, JobCancel, hers, Forbidden),
        (&viewer, JobCancel, mine, Forbidden),
        (&member, JobSubmit, Resource::Team(TEAM), Allowed),
        (&member, JobSubmit, Resource::Team(OTHER), Forbidden),
        (&member, JobCancel, mine, Allowed),
        (&member, JobCancel, hers, Forbidden),
        (&member, JobCancel, foreign, Hidden),
        (&member, JobRead, foreign, Hidden),
        (&lead, JobCancel, hers, Allowed),
        (&lead, MemberEdit, Resource::Team(TEAM), Allowed),
        (&lead, MemberEdit, Resource::Team(OTHER), Forbidden),
        (&lead, QuotaEdit, quota, Forbidden),
        (&parent_lead, QuotaEdit, quota, Allowed),
        (&parent_lead, QuotaEdit, top_quota, Forbidden),
        (&nobody, QuotaRead, quota, Allowed),
        (&nobody, JobRead, hers, Hidden),
        (&nobody, UserRead, Resource::Installation, Forbidden),
        (&finance, JobRead, hers, Allowed),
        (&finance, JobCancel, hers, Forbidden),
        (&finance, PolicyEdit, Resource::Installation, Forbidden),
        (&admin, JobCancel, foreign, Allowed),
        (&admin, QuotaEdit, top_quota, Allowed),
    ] {
        assert_eq!(may(who, action, &resource), expected, "{action} on {resource:?} by {who:?}");
    }
}

#[test]
fn nobody_without_a_role_changes_anything_but_themselves() {
    let nobody = actor(&[], &[]);
    for action in Action::ALL.iter().filter(|action| scope_for(**action) != Scope::Read) {
        for resource in [
            Resource::Installation,
            Resource::Account(SHE),
            Resource::Team(TEAM),
            Resource::Quota { team: TEAM, parent: Some(PARENT) },
            Resource::Job { team: TEAM, owner: SHE },
        ] {
            assert_ne!(may(&nobody, *action, &resource), Verdict::Allowed, "{action} on {resource:?}");
        }
    }
}

#[test]
fn a_token_never_exceeds_its_scopes_or_teams() {
    let mut reader = actor(&[PlatformRole::Admin], &[]);
    reader.scopes = [Scope::Read].into();
    for action in Action::ALL.iter().filter(|action| scope_for(**action) != Scope::Read) {
        assert_ne!(may(&reader, *action, &Resource::Installation), Verdict::Allowed, "{action}");
    }
    let limited = actor(&[PlatformRole::Admin], &[(OTHER, Role::Lead)]).limited_to(&[TEAM].into());
    assert_eq!(may(&limited, Action::JobCancel, &Resource::Job { team: TEAM, owner: SHE }), Verdict::Allowed);
    assert_eq!(may(&limited, Action::JobRead, &Resource::Job { team: OTHER, owner: SHE }), Verdict::Hidden);
    assert_eq!(may(&limited, Action::PolicyEdit, &Resource::Installation), Verdict::Forbidden);
}
