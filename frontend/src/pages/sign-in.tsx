import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Divider, Form, Input, Typography } from "antd";
import { useEffect, useState } from "react";
import { listSignInProviders, signIn } from "../api/operations";
import { ProblemAlert } from "../components/feedback";
import { useText } from "../lib/use-text";
import { forgetAnswers } from "../session";
import { setLocale } from "../settings/preferences";
import { ThemeChoice } from "../shell/header-bar";

/** What an identity provider's way back may say; anything else is nobody's word of ours. */
const REFUSALS = [
  "oidc_denied",
  "oidc_state",
  "oidc_failed",
  "oidc_unreachable",
  "oidc_unknown_user",
  "oidc_name_taken",
  "oidc_disabled_user",
] as const;

/** Where the browser goes to sign in elsewhere; it comes back to this address, without the last refusal. */
function startOf(slug: string) {
  const here = new URL(window.location.href);
  here.searchParams.delete("oidc_error");
  const back = encodeURIComponent(`${here.pathname}${here.search}`);
  return `/api/v1/auth/oidc/${encodeURIComponent(slug)}/start?return_to=${back}`;
}

/** Buttons of the identity providers, and why the last attempt came back without success. */
function OtherWays() {
  const { t } = useText();
  const providers = useQuery({ queryKey: ["sign-in-providers"], queryFn: listSignInProviders, retry: false });
  const said = new URLSearchParams(window.location.search).get("oidc_error");
  const refusal = REFUSALS.find((one) => one === said);
  const items = providers.data?.items ?? [];
  return (
    <>
      {refusal ? <Alert type="error" showIcon title={t(`auth.${refusal}`)} /> : null}
      {items.map(({ slug, name }) => (
        <Button key={slug} href={startOf(slug)} block size="large" className="other-way">
          {t("auth.sign_in_with", { name })}
        </Button>
      ))}
      {items.length > 0 ? <Divider plain>{t("auth.or")}</Divider> : null}
    </>
  );
}

/** The address stays as it was, so that signing in leads where a link pointed. */
export function SignInPage() {
  const { t, locale } = useText();
  const client = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = `${t("auth.sign_in")} · Reeve`;
  }, [t]);
  const submit = async ({ username, password }: { username: string; password: string }) => {
    setBusy(true);
    setError(null);
    try {
      const me = await signIn(username, password);
      forgetAnswers(client);
      client.setQueryData(["me"], me);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="alone">
      <div className="sign-in">
        <Typography.Title level={1}>{t("auth.title")}</Typography.Title>
        <p className="quiet">{t("auth.tagline")}</p>
        {error ? <ProblemAlert error={error} /> : null}
        <OtherWays />
        <Form layout="vertical" onFinish={submit} requiredMark={false} disabled={busy}>
          <Form.Item
            name="username"
            label={t("auth.username")}
            rules={[{ required: true, message: t("form.required") }]}
          >
            <Input autoComplete="username" autoFocus autoCapitalize="none" size="large" />
          </Form.Item>
          <Form.Item
            name="password"
            label={t("auth.password")}
            rules={[{ required: true, message: t("form.required") }]}
          >
            <Input.Password autoComplete="current-password" size="large" visibilityToggle={false} />
          </Form.Item>
          <Button type="primary" htmlType="submit" block size="large" loading={busy}>
            {t("auth.sign_in")}
          </Button>
        </Form>
        <div className="sign-in-foot">
          <Button
            onClick={() => setLocale(locale === "zh-CN" ? "en" : "zh-CN")}
            lang={locale === "zh-CN" ? "en" : "zh-CN"}
          >
            {t("nav.other_language")}
          </Button>
          <ThemeChoice />
        </div>
      </div>
    </main>
  );
}
