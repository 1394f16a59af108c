// A real OpenID Connect provider (the certified oidc-provider package) for tests: people sign in by name alone, and
// belong to groups. `node provider.mjs PORT REDIRECT_URI KEY_ID`; it prints one line once it listens.
//
// Besides the provider's own addresses there is POST /mint, which signs the given claims with the provider's key: what a
// build platform does for its pipelines.
import { generateKeyPair, exportJWK, SignJWT, importJWK } from "jose";
import { Provider } from "oidc-provider";

const [port, redirectUri, keyId] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;

const { privateKey } = await generateKeyPair("RS256", { extractable: true });
const key = { ...(await exportJWK(privateKey)), kid: keyId, alg: "RS256", use: "sig" };

/** The groups that each person said they are in when they last signed in. */
const groupsOf = new Map();
const account = (subject) => {
  const name = subject.replace("subject-of-", "");
  const claims = {
    sub: subject,
    preferred_username: name,
    name: `${name[0].toUpperCase()}${name.slice(1)} of the company`,
    email: `${name}@company.example`,
    email_verified: true,
    groups: groupsOf.get(subject) ?? [],
  };
  return { accountId: subject, claims: async () => claims };
};

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "reeve",
      client_secret: "a secret with + and / in it",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: { openid: ["sub"], profile: ["name", "preferred_username", "groups"], email: ["email", "email_verified"] },
  findAccount: async (_context, id) => account(id),
  pkce: { required: () => true },
  jwks: { keys: [key] },
  cookies: { keys: ["test"] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
  // Consent needs no second page.
  loadExistingGrant: async (context) => {
    const grant = new context.oidc.provider.Grant({
      clientId: context.oidc.client.clientId,
      accountId: context.oidc.session.accountId,
    });
    grant.addOIDCScope("openid profile email");
    await grant.save();
    return grant;
  },
});

const read = async (request) => {
  let body = "";
  for await (const part of request) body += part;
  return body;
};

// `ada+vision-leads+reeve-admins` signs in as ada, who is in these groups. No password: that is not what is tested.
provider.use(async (context, next) => {
  if (context.method !== "POST" || !context.path.startsWith("/interaction/")) return next();
  const [name, ...groups] = new URLSearchParams(await read(context.req)).get("login").split("+");
  const accountId = `subject-of-${name}`;
  groupsOf.set(accountId, groups);
  context.respond = false;
  await provider.interactionFinished(context.req, context.res, { login: { accountId } });
});

provider.use(async (context, next) => {
  if (context.path !== "/mint") return next();
  const body = await read(context.req);
  const { claims, key_id = keyId, issuer: as = issuer } = JSON.parse(body);
  context.body = await new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", kid: key_id })
    .setIssuer(as)
    .sign(await importJWK(key, "RS256"));
});

provider.listen(Number(port), "127.0.0.1", () => console.log(`listening on ${issuer}`));
