// People, teams and their members, quotas, pools, join tokens, and a person's own tokens.
import { answer, api } from "./client";
import { type Cursor, everything, from, ifMatch, ifNew, keyed } from "./paging";
import type { components } from "./schema";
import type { Pool, Queue, Quota, Team } from "./views";

type Schemas = components["schemas"];
export type User = Schemas["UserView"];
export type Membership = Schemas["MemberView"];
export type Token = Schemas["TokenView"];
export type JoinToken = Schemas["JoinTokenView"];
export type Role = Schemas["Role"];
export type PlatformRole = Schemas["PlatformRole"];
export const ROLES = ["viewer", "member", "lead", "approver"] as const satisfies readonly Role[];
export const PLATFORM_ROLES = ["admin", "finance", "auditor"] as const satisfies readonly PlatformRole[];
export const SCOPES = ["read", "write", "admin"] as const;

export const listUsers = () =>
  everything((page) => answer(api.GET("/api/v1/users", { params: { query: page } })));
export const createUser = (body: Schemas["CreateUser"], key: string) =>
  answer(api.POST("/api/v1/users", { params: keyed(key), body }));
export const editUser = (user: User, body: Schemas["EditUser"]) =>
  answer(
    api.PATCH("/api/v1/users/{id}", {
      params: { path: { id: user.id } },
      headers: ifMatch(user.version),
      body,
    }),
  );

export const createTeam = (body: Schemas["CreateTeam"], key: string) =>
  answer(api.POST("/api/v1/teams", { params: keyed(key), body }));
export const editTeam = (team: Team, body: Schemas["EditTeam"]) =>
  answer(
    api.PATCH("/api/v1/teams/{team}", {
      params: { path: { team: team.id } },
      headers: ifMatch(team.version),
      body,
    }),
  );
export const deleteTeam = (team: string) =>
  answer(api.DELETE("/api/v1/teams/{team}", { params: { path: { team } } }));
export const listMembers = (team: string) =>
  everything((page) =>
    answer(api.GET("/api/v1/teams/{team}/members", { params: { path: { team }, query: page } })),
  );
export const grantRole = (team: string, user: string, role: Role) =>
  answer(api.PUT("/api/v1/teams/{team}/members/{user}/{role}", { params: { path: { team, user, role } } }));
export const withdrawRole = (team: string, user: string, role: Role) =>
  answer(
    api.DELETE("/api/v1/teams/{team}/members/{user}/{role}", { params: { path: { team, user, role } } }),
  );

/** Changes the quota that was read, or makes a new one. */
export const putQuota = (team: string, pool: string, before: Quota | null, body: Schemas["PutQuota"]) =>
  answer(
    api.PUT("/api/v1/quotas/{team}/{pool}", {
      params: { path: { team, pool } },
      headers: before ? ifMatch(before.version) : ifNew,
      body,
    }),
  );
export const deleteQuota = (quota: Quota) =>
  answer(
    api.DELETE("/api/v1/quotas/{team}/{pool}", {
      params: { path: { team: quota.team.id, pool: quota.pool.id } },
      headers: ifMatch(quota.version),
    }),
  );
export const createQueue = (body: Schemas["CreateQueue"], key: string) =>
  answer(api.POST("/api/v1/queues", { params: keyed(key), body }));
export const deleteQueue = (queue: Queue) =>
  answer(
    api.DELETE("/api/v1/queues/{queue}", {
      params: { path: { queue: queue.id } },
      headers: ifMatch(queue.version),
    }),
  );

export const createPool = (body: Schemas["CreatePool"], key: string) =>
  answer(api.POST("/api/v1/pools", { params: keyed(key), body }));
export const editPool = (pool: Pool, body: Schemas["EditPool"]) =>
  answer(
    api.PATCH("/api/v1/pools/{pool}", {
      params: { path: { pool: pool.id } },
      headers: ifMatch(pool.version),
      body,
    }),
  );
export const deletePool = (pool: string) =>
  answer(api.DELETE("/api/v1/pools/{pool}", { params: { path: { pool } } }));
export const removeNode = (node: string) =>
  answer(api.DELETE("/api/v1/nodes/{node}", { params: { path: { node } } }));

export const listJoinTokens = (cursor: Cursor) =>
  answer(api.GET("/api/v1/join-tokens", { params: { query: { limit: 50, ...from(cursor) } } }));
export const createJoinToken = (body: Schemas["CreateJoinToken"], key: string) =>
  answer(api.POST("/api/v1/join-tokens", { params: keyed(key), body }));
export const revokeJoinToken = (id: string) =>
  answer(api.DELETE("/api/v1/join-tokens/{id}", { params: { path: { id } } }));

export const listTokens = (cursor: Cursor) =>
  answer(api.GET("/api/v1/tokens", { params: { query: { limit: 50, ...from(cursor) } } }));
export const createToken = (body: Schemas["CreateToken"], key: string) =>
  answer(api.POST("/api/v1/tokens", { params: keyed(key), body }));
export const revokeToken = (id: string) =>
  answer(api.DELETE("/api/v1/tokens/{id}", { params: { path: { id } } }));
export const setMyPassword = (body: Schemas["SetPassword"], key: string) =>
  answer(api.POST("/api/v1/me/password", { params: keyed(key), body }));
