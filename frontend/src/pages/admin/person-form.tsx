import { useQueryClient } from "@tanstack/react-query";
import { Form, Input, Select } from "antd";
import { createUser, editUser, PLATFORM_ROLES, type PlatformRole, type User } from "../../api/admin";
import { FormPanel } from "../../components/form-panel";
import { useText } from "../../lib/use-text";
import { USER_STATES } from "../../lib/user-states";

type Values = {
  username: string;
  display_name: string;
  email: string;
  password: string;
  platform_roles: PlatformRole[];
  state: string;
};

/** A new person, or the change of one. A password that is left empty stays as it is. */
export function PersonForm({ user, onClose }: { user: User | null; onClose: () => void }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const save = async (values: Values, key: string) => {
    const { display_name, platform_roles } = values;
    const email = values.email.trim() || null;
    const password = values.password || undefined;
    if (user) {
      await editUser(user, {
        display_name,
        email,
        platform_roles,
        state: values.state,
        ...(password && { password }),
      });
    } else {
      const { username } = values;
      await createUser({ username, display_name, email, platform_roles, password: password ?? null }, key);
    }
    await client.invalidateQueries({ queryKey: ["users"] });
    onClose();
  };
  const required = { required: true, whitespace: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={user ? t("people.change", { name: user.display_name }) : t("people.new")}
      okText={t(user ? "action.save" : "people.create")}
      initial={{
        username: user?.username ?? "",
        display_name: user?.display_name ?? "",
        email: user?.email ?? "",
        password: "",
        platform_roles: user?.platform_roles ?? [],
        state: user?.state ?? "active",
      }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        {!user && (
          <Form.Item<Values> name="username" label={t("auth.username")} rules={[required]}>
            <Input autoComplete="off" maxLength={64} />
          </Form.Item>
        )}
        <Form.Item<Values> name="display_name" label={t("people.display_name")} rules={[required]}>
          <Input maxLength={100} />
        </Form.Item>
        <Form.Item<Values> name="email" label={t("people.email")}>
          <Input type="email" autoComplete="off" />
        </Form.Item>
      </div>
      <div className="form-row">
        <Form.Item<Values> name="platform_roles" label={t("people.platform_role")}>
          <Select
            mode="multiple"
            options={PLATFORM_ROLES.map((value) => ({ value, label: word("platform_role", value) }))}
          />
        </Form.Item>
        {user && (
          <Form.Item<Values> name="state" label={t("field.state")} extra={t("people.disable_text")}>
            <Select options={USER_STATES.map((value) => ({ value, label: word("user_state", value) }))} />
          </Form.Item>
        )}
        <Form.Item<Values>
          name="password"
          label={t(user ? "account.new_password" : "auth.password")}
          extra={t(user ? "people.password_stays" : "people.password_none")}
          rules={[{ min: 10, max: 200, message: t("account.password_length") }]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
      </div>
    </FormPanel>
  );
}
