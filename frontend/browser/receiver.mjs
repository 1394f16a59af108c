import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

/** The public test vector of Standard Webhooks: whoever checks signatures must say yes to this one. */
const VECTOR = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: "1614265330",
  body: '{"test": 2432232314}',
  signatures: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};

/** Whether one of the signatures is this secret's, as standardwebhooks.com describes it. */
function isSigned({ secret, id, timestamp, body, signatures }) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const right = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  return signatures.split(" ").some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ""), "base64");
    return given.length === right.length && timingSafeEqual(given, right);
  });
}

/** A receiver of webhooks on loopback: remembers what it was told, and whether that was signed. */
export async function startReceiver() {
  if (!isSigned(VECTOR)) throw new Error("the receiver refuses the public test vector");
  if (isSigned({ ...VECTOR, body: `${VECTOR.body} ` })) throw new Error("the receiver takes a forged body");
  const got = [];
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const header = (name) => String(request.headers[name] ?? "");
      got.push({
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signatures: header("webhook-signature"),
        body: Buffer.concat(parts).toString(),
      });
      response.writeHead(204).end();
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    /** The types it was told about a subject, in the order of their positions; each once. */
    about(subject, secret) {
      const told = new Map();
      for (const one of got) {
        const event = JSON.parse(one.body);
        if (event.subject !== subject) continue;
        if (!isSigned({ ...one, secret })) throw new Error(`${event.type} came without a right signature`);
        told.set(one.id, event);
      }
      return [...told.values()];
    },
    stop: () => new Promise((done) => server.close(done)),
  };
}
