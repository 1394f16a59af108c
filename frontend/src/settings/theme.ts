import { type ThemeConfig, theme } from "antd";

// antd's own colours miss WCAG AA in places; these tokens reach it in both themes.
const shared = {
  borderRadius: 6,
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyCode: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Noto Sans Mono", monospace',
};

export const light: ThemeConfig = {
  algorithm: theme.defaultAlgorithm,
  token: {
    ...shared,
    colorPrimary: "#0958d9",
    colorLink: "#0958d9",
    colorInfo: "#0958d9",
    colorError: "#b3261e",
    colorWarning: "#8a5a00",
    colorSuccess: "#00704f",
    colorTextDescription: "#595959",
    colorTextTertiary: "#595959",
    colorTextPlaceholder: "#6b6b6b",
    colorTextDisabled: "#6b6b6b",
    colorBgLayout: "#f4f6f8",
  },
  components: {
    Table: { cellPaddingBlockSM: 7 },
  },
};

export const dark: ThemeConfig = {
  algorithm: theme.darkAlgorithm,
  token: {
    ...shared,
    colorPrimary: "#1668dc",
    colorLink: "#69b1ff",
    colorInfo: "#1668dc",
    colorError: "#ff8f87",
    colorWarning: "#f0b64a",
    colorSuccess: "#4cc79a",
    colorTextDescription: "#a6a6a6",
    colorTextTertiary: "#a6a6a6",
    colorTextPlaceholder: "#9a9a9a",
    colorTextDisabled: "#8c8c8c",
    colorBgLayout: "#0d1117",
    colorBgContainer: "#151b23",
    colorBgElevated: "#1c2430",
  },
  components: {
    Tabs: { itemSelectedColor: "#69b1ff" },
    Pagination: { itemActiveColor: "#69b1ff" },
    Menu: { itemSelectedColor: "#69b1ff", itemSelectedBg: "#172a45" },
    Table: { cellPaddingBlockSM: 7 },
  },
};
