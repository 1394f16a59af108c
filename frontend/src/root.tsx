import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { App, ConfigProvider } from "antd";
import enUS from "antd/locale/en_US";
import zhCN from "antd/locale/zh_CN";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { whenSignedOut } from "./api/client";
import { Problem } from "./api/problem";
import { router } from "./router";
import { useDark } from "./settings/preferences";
import { dark, light } from "./settings/theme";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      retry: (failures, error) =>
        failures < 2 && error instanceof Problem && (error.unreachable || error.status >= 500),
    },
  },
});
whenSignedOut(() => client.setQueryData(["me"], null));

// The server puts the policy's nonce here; antd's own style elements carry it.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

export function Root() {
  const { i18n } = useTranslation();
  const isDark = useDark();
  useEffect(() => {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  }, [isDark]);
  return (
    <ConfigProvider
      locale={i18n.language === "zh-CN" ? zhCN : enUS}
      theme={isDark ? dark : light}
      csp={{ nonce }}
      button={{ autoInsertSpace: false }}
    >
      <App>
        <QueryClientProvider client={client}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </App>
    </ConfigProvider>
  );
}
