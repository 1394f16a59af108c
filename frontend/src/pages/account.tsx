import { useQueryClient } from "@tanstack/react-query";
import { Button, Form, Input } from "antd";
import { useState } from "react";
import { setMyPassword } from "../api/admin";
import { updateMe } from "../api/operations";
import type { Me } from "../api/views";
import { Answer } from "../components/feedback";
import { FormPanel } from "../components/form-panel";
import { Facts, Page, Section } from "../components/page";
import { useText } from "../lib/use-text";
import { useMe } from "../session";
import { Notifications } from "./account/notifications";
import { Sessions } from "./account/sessions";
import { Tokens } from "./account/tokens";

/** The reader's own: name, password, roles, API tokens. */
export function AccountPage() {
  const { t } = useText();
  const me = useMe();
  return (
    <Page title={t("nav.account")}>
      <Answer of={me}>{(data) => data && <Body me={data} />}</Answer>
    </Page>
  );
}

function Body({ me }: { me: Me }) {
  const { t, word } = useText();
  const [open, setOpen] = useState<"profile" | "password" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      {open === "profile" && <ProfileForm me={me} onClose={close} />}
      {open === "password" && <PasswordForm onClose={close} />}
      <Section
        title={me.display_name}
        extra={
          <span className="button-row">
            <Button size="small" onClick={() => setOpen("profile")}>
              {t("action.change")}
            </Button>
            <Button size="small" onClick={() => setOpen("password")}>
              {t("account.change_password")}
            </Button>
          </span>
        }
      >
        <Facts
          items={[
            [t("auth.username"), me.username],
            [t("people.email"), me.email ?? "–"],
            [
              t("people.platform_role"),
              me.platform_roles.map((role) => word("platform_role", role)).join(t("quota.separator")) || "–",
            ],
            [
              t("people.memberships"),
              me.memberships
                .map((one) => `${one.team.name}: ${word("role", one.role)}`)
                .join(t("quota.separator")) || "–",
            ],
          ]}
        />
      </Section>
      <Tokens />
      <Sessions />
      <Notifications />
    </>
  );
}

type Profile = { display_name: string; email: string };
function ProfileForm({ me, onClose }: { me: Me; onClose: () => void }) {
  const { t } = useText();
  const client = useQueryClient();
  const save = async ({ display_name, email }: Profile) => {
    client.setQueryData(["me"], await updateMe({ display_name, email: email.trim() || null }));
    onClose();
  };
  return (
    <FormPanel<Profile>
      title={t("account.profile")}
      okText={t("action.save")}
      initial={{ display_name: me.display_name, email: me.email ?? "" }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        <Form.Item<Profile>
          name="display_name"
          label={t("people.display_name")}
          rules={[{ required: true, whitespace: true, message: t("form.required") }]}
        >
          <Input maxLength={100} autoComplete="name" />
        </Form.Item>
        <Form.Item<Profile> name="email" label={t("people.email")}>
          <Input type="email" autoComplete="email" />
        </Form.Item>
      </div>
    </FormPanel>
  );
}

type Passwords = { current_password: string; new_password: string };
function PasswordForm({ onClose }: { onClose: () => void }) {
  const { t } = useText();
  const save = async (values: Passwords, key: string) => {
    await setMyPassword(values, key);
    onClose();
  };
  return (
    <FormPanel<Passwords>
      title={t("account.change_password")}
      okText={t("action.save")}
      initial={{ current_password: "", new_password: "" }}
      onSubmit={save}
      onClose={onClose}
    >
      <p className="quiet">{t("account.password_text")}</p>
      <div className="form-row">
        <Form.Item<Passwords>
          name="current_password"
          label={t("account.current_password")}
          rules={[{ required: true, message: t("form.required") }]}
        >
          <Input.Password autoComplete="current-password" />
        </Form.Item>
        <Form.Item<Passwords>
          name="new_password"
          label={t("account.new_password")}
          rules={[{ required: true, min: 10, max: 200, message: t("account.password_length") }]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
      </div>
    </FormPanel>
  );
}
