// Whether the server is one to test: it carries the console, somebody borrows, and something has been recalled.
// BASE_URL, REEVE_USER, REEVE_PASSWORD. Waits two minutes for the loans at most; says what is missing and exits 1.
const { BASE_URL, REEVE_USER, REEVE_PASSWORD } = process.env;
const WAIT_MS = 120_000;
const EVERY_MS = 500;

const stop = (why) => {
  console.error(why);
  process.exit(1);
};
const page = await (await fetch(BASE_URL)).text();
if (!page.includes('id="root"') || !page.includes("/assets/")) {
  stop(
    "the console is not built into this server: npm ci && npm run build in frontend/, then build the server",
  );
}

const signedIn = await fetch(`${BASE_URL}/api/v1/auth/sign-in`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ username: REEVE_USER, password: REEVE_PASSWORD }),
});
if (!signedIn.ok) stop(`${REEVE_USER} cannot sign in: ${signedIn.status} ${await signedIn.text()}`);
const { access_token } = await signedIn.json();
const get = async (path) => {
  const answer = await fetch(`${BASE_URL}/api/v1${path}`, {
    headers: { Authorization: `Bearer ${access_token}` },
  });
  if (!answer.ok) stop(`GET ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

const end = Date.now() + WAIT_MS;
for (;;) {
  const loans = (await get("/loans?open=true&limit=1")).items.length;
  const evicted = (await get("/evictions?limit=1")).items.length;
  if (loans && evicted) break;
  if (Date.now() > end) {
    stop(
      `after ${WAIT_MS / 1000} s there is ${loans ? "a loan" : "no loan"} and ${evicted ? "a" : "no"} recall`,
    );
  }
  await new Promise((next) => setTimeout(next, EVERY_MS));
}
