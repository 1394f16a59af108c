import { useQueryClient } from "@tanstack/react-query";
import { Button, Form, Input, Typography } from "antd";
import { useEffect, useState } from "react";
import { signIn } from "../api/operations";
import { ProblemAlert } from "../components/feedback";
import { useText } from "../lib/use-text";
import { forgetAnswers } from "../session";
import { setLocale } from "../settings/preferences";
import { ThemeChoice } from "../shell/header-bar";

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
