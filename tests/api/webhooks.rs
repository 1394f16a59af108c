//! Who is told of events: signed, in time, once, and nowhere that is not allowed.

use reeve_api::Settings;
use reeve_core::address::Reachable;
use reeve_core::clock::SharedClock;
use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use reeve_tests::receiver::{MailServer, Receiver, sign};
use reeve_worker::notify::{Mail, Outbound, deliver, fan_out};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

fn loopback() -> Reachable {
    Reachable { networks: vec!["127.0.0.1/32".parse().expect("a network")] }
}

struct Site {
    app: TestApp,
    outbound: Outbound,
}

impl Site {
    async fn start() -> Self {
        let settings = Settings { reachable: loopback(), mail: true, ..Settings::default() };
        let mut outbound = Outbound::new(loopback()).expect("a way out");
        outbound.public_url = Some("https://reeve.test".to_owned());
        let site = Self { app: TestApp::with(settings).await, outbound };
        // What made the world is old news.
        site.app.seal().await;
        site.app.sql("update notify_cursor set position = (select max(position) from event_seals)").await;
        site
    }

    /// Tells what has happened, and sends what is due.
    async fn tell(&self) {
        self.app.seal().await;
        let now = reeve_core::clock::Clock::now(&self.app.clock);
        while fan_out::step(self.app.store(), now, &self.outbound).await.expect("told").again {}
        self.send().await;
    }

    async fn send(&self) {
        let clock: SharedClock = Arc::new(self.app.clock.clone());
        loop {
            let sent = deliver::step(self.app.store(), &clock, &self.outbound).await.expect("sent");
            if sent.delivered + sent.failed == 0 {
                return;
            }
        }
    }

    async fn webhook(&self, who: &str, body: Value) -> Value {
        self.app.user(who).post("/webhooks", body).await.ok()
    }

    async fn deliveries(&self, webhook: &Value) -> Vec<Value> {
        items(&self.app.admin().get(&format!("/webhooks/{}/deliveries", text(&webhook["id"]))).await.ok())
    }
}

#[tokio::test]
async fn a_team_hears_of_its_own_events_signed_and_once() {
    // The check is the public vector's before it is ours.
    let vector = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "1614265330",
        r#"{"test": 2432232314}"#,
    );
    assert_eq!(vector, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    let site = Site::start().await;
    let receiver = Receiver::start("127.0.0.1").await;
    let hook = site.webhook("a-lead", json!({"name": "ci", "team": "team-a", "url": receiver.url()})).await;
    let secret = text(&hook["secret"]).to_owned();
    let shown = site.app.user("a-lead").get(&format!("/webhooks/{}", text(&hook["id"]))).await.ok();
    assert_eq!((shown.get("secret"), &shown["has_secret"]), (None, &json!(true)));
    site.tell().await;
    let before = receiver.received().len();
    let job = site.app.submit("a-member", "team-a", json!({})).await;
    site.app.submit("b-member", "team-b", json!({})).await;
    site.tell().await;
    let got = receiver.received().split_off(before);
    assert_eq!(got.len(), 1, "{got:?}");
    let event = got[0].json();
    assert_eq!((&event["specversion"], &event["type"]), (&json!("1.0"), &json!("reeve.job.submitted")));
    assert_eq!(event["subject"], format!("job/{}", text(&job["id"])));
    assert_eq!(event["data"]["link"], "https://reeve.test/audit");
    assert!(got[0].header("content-type").starts_with("application/cloudevents+json"));
    assert!(got[0].is_signed_with(&secret) && !got[0].is_signed_with("whsec_AAAAAAAA"));
    // Told once, whoever tells.
    site.app.sql("update notify_cursor set position = 0").await;
    site.tell().await;
    assert_eq!(receiver.received().iter().filter(|one| one.body == got[0].body).count(), 1);
    // Sent again by hand: the same message.
    let deliveries = site.deliveries(&hook).await;
    let of_job = deliveries.iter().find(|one| one["event_type"] == "job.submitted").expect("a delivery");
    assert_eq!((&of_job["state"], &of_job["attempts"]), (&json!("delivered"), &json!(1)));
    let path = format!("/webhooks/{}/deliveries/{}", text(&hook["id"]), text(&of_job["id"]));
    let again = site.app.user("a-lead").post(&format!("{path}/resend"), json!({})).await;
    assert_eq!(again.expect(202).json()["resend_of"], of_job["id"]);
    site.send().await;
    let last = receiver.received().pop().expect("sent again");
    assert_eq!((last.header("webhook-id"), &last.body), (got[0].header("webhook-id"), &got[0].body));
    let detail = site.app.user("a-lead").get(&path).await.ok();
    assert_eq!((&detail["body"], &detail["attempt_log"][0]["status"]), (&json!(got[0].body), &json!(200)));
    // Nobody else learns of it.
    for (who, status) in
        [("b-lead", 404), ("nobody", 404), ("a-member", 403), ("auditor", 200), ("lab-lead", 200)]
    {
        site.app.user(who).get(&path).await.expect(status);
    }
}

#[tokio::test]
async fn a_receiver_that_fails_is_asked_again_and_one_that_is_gone_is_not() {
    let site = Site::start().await;
    let receiver = Receiver::start("127.0.0.1").await;
    let elsewhere = Receiver::start("127.0.0.1").await;
    let hook =
        site.webhook("admin", json!({"name": "all", "url": receiver.url(), "event_types": ["pool.*"]})).await;
    let id = text(&hook["id"]).to_owned();
    let moved = (302, Some(("location", elsewhere.url())), "");
    receiver.answer([
        (500, None, "broken"),
        (429, Some(("retry-after", "120".to_owned())), ""),
        moved,
        (200, None, "ok"),
    ]);
    site.app.admin().post("/pools", json!({"slug": "new", "name": "New"})).await.expect(201);
    site.tell().await;
    for (advance, status, error, pause_secs) in [
        (0, 500, "status 500", 4..6),
        (6, 429, "status 429", 270..331),
        (331, 302, "redirects are not followed", 1_600..2_000),
    ] {
        site.app.advance_secs(advance);
        site.send().await;
        let one = &site.deliveries(&hook).await[0];
        assert_eq!((&one["state"], &one["last_status"]), (&json!("pending"), &json!(status)), "{one}");
        assert!(text(&one["last_error"]).contains(error), "{one}");
        let at = |field: &str| text(&one[field]).parse::<chrono::DateTime<chrono::Utc>>().expect("a time");
        let pause = (at("next_attempt_at") - at("last_attempt_at")).num_seconds();
        assert!(pause_secs.contains(&pause), "{pause} s after {status}");
        assert_ne!(site.app.admin().get(&format!("/webhooks/{id}")).await.ok()["failing_since"], Value::Null);
    }
    assert_eq!(elsewhere.received().len(), 0, "a redirect was followed");
    site.app.advance_secs(2_000);
    site.send().await;
    let one = &site.deliveries(&hook).await[0];
    assert_eq!((&one["state"], &one["attempts"]), (&json!("delivered"), &json!(4)));
    let ids: Vec<String> =
        receiver.received().iter().map(|one| one.header("webhook-id").to_owned()).collect();
    assert!(ids.iter().all(|one| *one == ids[0]), "a receiver can tell that it is the same message");
    assert_eq!(site.app.admin().get(&format!("/webhooks/{id}")).await.ok()["failing_since"], Value::Null);

    receiver.answer([(410, None, "gone")]);
    site.app.admin().post(&format!("/webhooks/{id}/test"), json!({})).await.expect(202);
    site.app.admin().post(&format!("/webhooks/{id}/test"), json!({})).await.expect(202);
    site.send().await;
    let gone = site.app.admin().get(&format!("/webhooks/{id}")).await.ok();
    assert_eq!((&gone["state"], &gone["disabled_reason"]), (&json!("disabled"), &json!("gone")));
    site.app.admin().post(&format!("/webhooks/{id}/test"), json!({})).await.refused(409, "conflict");
    assert_eq!(site.app.count_events("webhook.disabled").await, 1);
    let enabled = site.app.admin().patch(&format!("/webhooks/{id}"), json!({"state": "enabled"})).await.ok();
    assert_eq!(enabled["disabled_reason"], Value::Null);
}

#[tokio::test]
async fn after_ten_attempts_a_message_is_given_up() {
    let site = Site::start().await;
    let receiver = Receiver::start("127.0.0.1").await;
    let hook = site
        .webhook("admin", json!({"name": "all", "url": receiver.url(), "event_types": ["none.such"]}))
        .await;
    receiver.answer((0..20).map(|_| (500, None, "")));
    site.app.admin().post(&format!("/webhooks/{}/test", text(&hook["id"])), json!({})).await.expect(202);
    for _ in 0..12 {
        site.send().await;
        site.app.advance_secs(27 * 3_600);
    }
    let one = &site.deliveries(&hook).await[0];
    assert_eq!(
        (&one["state"], &one["attempts"], &one["next_attempt_at"]),
        (&json!("failed"), &json!(10), &Value::Null)
    );
    assert_eq!(receiver.received().len(), 10);
    assert_eq!(site.app.count_events("webhook.delivery_failed").await, 1);
}

#[tokio::test]
async fn addresses_inside_are_refused_when_they_are_written_out() {
    let app = TestApp::start().await;
    for (url, code) in [
        ("https://127.0.0.1/x", "private_address"),
        ("https://localhost/x", "private_address"),
        ("https://a.localhost/x", "private_address"),
        ("https://[::1]/x", "private_address"),
        ("https://[::ffff:127.0.0.1]/x", "private_address"),
        ("https://0x7f000001/x", "private_address"),
        ("https://2130706433/x", "private_address"),
        ("https://127.1/x", "private_address"),
        ("https://10.0.0.1/x", "private_address"),
        ("https://169.254.169.254/latest/meta-data", "private_address"),
        ("https://[fd00:ec2::254]/x", "private_address"),
        ("https://100.100.100.200/x", "private_address"),
        ("https://0.0.0.0/x", "private_address"),
        ("http://example.com/x", "not_https"),
        ("ftp://example.com/x", "not_https"),
        ("file:///etc/passwd", "not_https"),
        ("https://user:password@example.com/", "has_credentials"),
        ("nonsense", "invalid_url"),
    ] {
        let reply = app.admin().post("/webhooks", json!({"name": "x", "url": url})).await;
        reply.refused_field(422, "/url", code);
    }
    app.admin().post("/webhooks", json!({"name": "x", "url": "https://example.com/x"})).await.expect(201);
}

/// Answers with the next of these addresses, the last one for ever.
struct Changing(Mutex<Vec<SocketAddr>>);

impl Resolve for Changing {
    fn resolve(&self, _: Name) -> Resolving {
        let mut left = self.0.lock().expect("whole");
        let address = if left.len() > 1 { left.remove(0) } else { left[0] };
        let addresses: Addrs = Box::new(std::iter::once(address));
        Box::pin(async move { Ok(addresses) })
    }
}

#[tokio::test]
async fn a_name_is_judged_by_what_it_means_at_each_attempt() {
    let mut site = Site::start().await;
    let (good, inside) = (Receiver::start("127.0.0.1").await, Receiver::start("127.0.0.2").await);
    // First the allowed address, then one that is not, on the port where somebody listens; then metadata.
    let metadata: SocketAddr = "169.254.169.254:80".parse().expect("an address");
    let names = vec![good.address, inside.address, metadata];
    let resolver = Arc::new(Changing(Mutex::new(names)));
    site.outbound = Outbound::with_resolver(loopback(), resolver).expect("a way out");
    let hook = site
        .webhook(
            "admin",
            json!({"name": "all", "url": "http://changing.example/x", "event_types": ["none.such"]}),
        )
        .await;
    let test = || site.app.admin().post(&format!("/webhooks/{}/test", text(&hook["id"])), json!({}));
    test().await.expect(202);
    site.send().await;
    assert_eq!((good.received().len(), &site.deliveries(&hook).await[0]["state"]), (1, &json!("delivered")));
    for reason in ["127.0.0.2 is this machine itself", "169.254.169.254 is link-local"] {
        // Ids sort by the clock.
        site.app.advance_secs(1);
        test().await.expect(202);
        let before = site.deliveries(&hook).await[0].clone();
        site.send().await;
        let one = &site.deliveries(&hook).await[0];
        assert_eq!(one["id"], before["id"]);
        assert!(text(&one["last_error"]).contains(reason), "{one}");
        assert_eq!(one["last_status"], Value::Null);
        site.app
            .sql("update deliveries set state = 'failed', next_attempt_at = null where state = 'pending'")
            .await;
    }
    assert_eq!(
        (good.received().len(), inside.received().len()),
        (1, 0),
        "the refused address was connected to"
    );
}

#[tokio::test]
async fn a_new_secret_and_the_old_one_sign_until_the_old_one_ends() {
    let site = Site::start().await;
    let receiver = Receiver::start("127.0.0.1").await;
    let hook = site
        .webhook("admin", json!({"name": "all", "url": receiver.url(), "event_types": ["none.such"]}))
        .await;
    let path = format!("/webhooks/{}", text(&hook["id"]));
    let rotated =
        site.app.admin().post(&format!("{path}/rotate-secret"), json!({"overlap_secs": 60})).await.ok();
    let (old, new) = (text(&hook["secret"]), text(&rotated["secret"]));
    assert_ne!(old, new);
    for (advance, both) in [(0, true), (61, false)] {
        site.app.advance_secs(advance);
        site.app.admin().post(&format!("{path}/test"), json!({})).await.expect(202);
        site.send().await;
        let last = receiver.received().pop().expect("sent");
        assert!(last.is_signed_with(new));
        assert_eq!(last.is_signed_with(old), both);
    }
}

#[tokio::test]
async fn robots_are_spoken_to_as_they_ask_in_their_language() {
    let site = Site::start().await;
    let receiver = Receiver::start("127.0.0.1").await;
    let robot = async |kind: &str, secret: Option<&str>, locale: &str| {
        let body = json!({"name": kind, "team": "team-a", "kind": kind, "url": receiver.url(), "secret": secret, "locale": locale});
        site.webhook("a-lead", body).await
    };
    let feishu = robot("feishu", Some("hush"), "zh-CN").await;
    assert_eq!(feishu["url"], "https://127.0.0.1/…", "a robot's address is a secret");
    assert_eq!(feishu["secret"], Value::Null);
    let hostile = json!({"name": "<!channel> [x](http://evil.example)"});
    let job = site.app.submit("a-member", "team-a", hostile).await;
    site.app.schedule().await;
    site.app.node.run_all().await;
    site.app.node.end(text(&job["id"]), 3).await;
    receiver.answer([(200, None, r#"{"code":0,"msg":"success"}"#)]);
    site.tell().await;
    let got = receiver.received();
    assert_eq!(got.len(), 1, "only what concerns people: {got:?}");
    let body = got[0].json();
    assert!(body["sign"].is_string() && body["timestamp"].is_string(), "{body}");
    let said = body["content"]["post"]["zh_cn"]["content"][0].to_string();
    assert!(said.contains("失败") && said.contains("退出码 3") && !said.contains("<!channel>"), "{said}");
    assert!(said.contains(&format!("https://reeve.test/jobs/{}", text(&job["id"]))), "{said}");
    site.app.user("a-lead").delete(&format!("/webhooks/{}", text(&feishu["id"]))).await.expect(204);

    for (kind, secret, answer, state) in [
        ("dingtalk", Some("hush"), r#"{"errcode":0,"errmsg":"ok"}"#, "delivered"),
        ("wecom", None, r#"{"errcode":93000,"errmsg":"invalid webhook url"}"#, "pending"),
        ("slack", None, "ok", "delivered"),
    ] {
        let hook = robot(kind, secret, "en").await;
        receiver.answer([(200, None, answer)]);
        site.app
            .user("a-lead")
            .post(&format!("/webhooks/{}/test", text(&hook["id"])), json!({}))
            .await
            .expect(202);
        site.send().await;
        let last = receiver.received().pop().expect("sent");
        let query = last.uri.query().unwrap_or_default().to_owned();
        assert_eq!(query.contains("timestamp=") && query.contains("&sign="), kind == "dingtalk", "{query}");
        let one = &site.deliveries(&hook).await[0];
        assert_eq!(one["state"], state, "{one}");
        if state == "pending" {
            assert!(text(&one["last_error"]).contains("93000"), "{one}");
        }
    }
}

async fn give_addresses(app: &TestApp) {
    for (who, locale) in
        [("a-member", "zh-CN"), ("a-lead", "en"), ("lab-lead", "en"), ("a-viewer", "en"), ("b-lead", "en")]
    {
        let body = json!({"email": format!("{who}@company.example")});
        app.admin().patch(&format!("/users/{who}"), body).await.expect(200);
        app.user(who).patch("/me", json!({"locale": locale})).await.expect(200);
    }
}

#[tokio::test]
async fn people_get_mail_about_what_they_want() {
    let mut site = Site::start().await;
    let server = MailServer::start().await;
    let url = format!("smtp://{}", server.address);
    site.outbound.mail = Some(Mail::new(&url, "Reeve <reeve@reeve.test>").expect("mail"));
    give_addresses(&site.app).await;
    let mine = site.app.user("a-member").get("/me/notifications").await.ok();
    assert_eq!(
        (&mine["email"], &mine["mail_configured"]),
        (&json!("a-member@company.example"), &json!(true))
    );
    assert_eq!(mine["topics"][0], json!({"topic": "job_ended", "setting": "off", "source": "default"}));
    // The team wants its members to hear of their own jobs' ends; the lead of all in the team; one viewer of nothing.
    let set = |topic: &str, setting: Value| json!({"settings": [{"topic": topic, "setting": setting}]});
    let lead = site.app.user("a-lead");
    lead.put("/teams/team-a/notifications", set("job_ended", json!("own"))).await.expect(200);
    lead.put("/me/notifications", set("job_ended", json!("team"))).await.expect(200);
    site.app
        .user("a-member")
        .put("/teams/team-a/notifications", set("quota", json!("off")))
        .await
        .refused(403, "forbidden");
    let mine = site.app.user("a-member").get("/me/notifications").await.ok();
    assert_eq!(mine["topics"][0], json!({"topic": "job_ended", "setting": "own", "source": "team"}));
    site.tell().await;
    assert!(server.letters().is_empty(), "{:?}", server.letters());

    let job = site.app.submit("a-member", "team-a", json!({"name": "train"})).await;
    site.app.schedule().await;
    site.app.node.run_all().await;
    site.app.node.end(text(&job["id"]), 0).await;
    site.tell().await;
    let mut to: Vec<String> = server.letters().into_iter().map(|(to, _)| to).collect();
    to.sort();
    assert_eq!(to, ["RCPT TO:<a-lead@company.example>", "RCPT TO:<a-member@company.example>"]);
    let (_, english) = server.letters().into_iter().find(|(to, _)| to.contains("a-lead")).expect("a letter");
    assert!(english.contains("Subject: [Reeve] Job train of Team team-a has succeeded."), "{english}");
    assert!(english.contains(&format!("https://reeve.test/jobs/{}", text(&job["id"]))), "{english}");
    assert!(english.contains("Auto-Submitted: auto-generated"), "{english}");

    // A request is told to those who may decide, the decision to whoever asked.
    let waiting = site.app.submit("a-member", "team-a", json!({"name": "urgent"})).await;
    let body = json!({"asks_for": "priority", "job": waiting["id"], "level": "high", "duration_secs": 3_600, "reason": "the deadline"});
    let asked = site.app.user("a-member").post("/escalations", body).await;
    site.tell().await;
    let letters = server.letters().split_off(2);
    assert!(
        letters.iter().any(|(to, text)| to.contains("a-lead") && text.contains("a decision is due")),
        "{letters:?}"
    );
    assert!(
        !letters.iter().any(|(to, _)| to.contains("<a-member@") || to.contains("<b-lead@")),
        "{letters:?}"
    );
    let before = server.letters().len();
    let path = format!("/escalations/{}/approve", text(&asked.ok()["id"]));
    site.app.user("a-lead").post(&path, json!({})).header("if-match", asked.header("etag")).await.expect(200);
    site.tell().await;
    let letters = server.letters().split_off(before);
    assert!(letters.iter().any(|(to, _)| to.contains("a-member")), "{letters:?}");
    let before = server.letters().len();

    // A password that is changed is told to its owner alone, whoever changed it.
    let body = json!({"password": "another-horse-battery"});
    site.app.admin().patch("/users/a-viewer", body).await.expect(200);
    site.tell().await;
    let letters = server.letters().split_off(before);
    assert_eq!(letters.len(), 1, "{letters:?}");
    assert!(letters[0].0.contains("a-viewer"), "{letters:?}");

    // No word of one's own: as the team says.
    lead.put("/me/notifications", set("job_ended", Value::Null)).await.expect(200);
    assert_eq!(lead.get("/me/notifications").await.ok()["topics"][0]["source"], "team");
    lead.put("/me/notifications", set("nonsense", json!("off"))).await.refused_field(
        422,
        "/settings/0/topic",
        "unknown_value",
    );
}
