import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import openapi from "../../openapi/openapi.json";
import en from "../src/i18n/en.json";
import zh from "../src/i18n/zh-CN.json";

type Tree = { [name: string]: string | Tree };
const flat = (tree: Tree, path = ""): [string, string][] =>
  Object.entries(tree).flatMap(([name, value]) =>
    typeof value === "string" ? [[path + name, value] as [string, string]] : flat(value, `${path}${name}.`),
  );
const texts = { en: new Map(flat(en as Tree)), zh: new Map(flat(zh as Tree)) };
const base = (key: string) => key.replace(/_(one|other)$/, "");

const sources = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith(".d.ts") ? [path] : [];
  });
const files = sources("src").map((path) => ({
  path,
  tree: ts.createSourceFile(
    path,
    readFileSync(path, "utf8"),
    ts.ScriptTarget.Latest,
    true,
    ts.ScriptKind.TSX,
  ),
}));
const walk = (node: ts.Node, visit: (node: ts.Node) => void) => {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
};

/** Keys asked for by name, and beginnings of those made up while running. */
function asked() {
  const keys = new Map<string, string>();
  const groups = new Set<string>(["state", "tier"]);
  const collect = (node: ts.Node, path: string) => {
    if (ts.isStringLiteralLike(node)) keys.set(node.text, path);
    else if (ts.isTemplateExpression(node))
      groups.add(node.head.text.replace(/\.?[^.]*$/, "") || node.head.text);
    else if (ts.isConditionalExpression(node)) {
      collect(node.whenTrue, path);
      collect(node.whenFalse, path);
    }
  };
  for (const { path, tree } of files) {
    walk(tree, (node) => {
      if (
        ts.isJsxAttribute(node) &&
        node.name.getText() === "group" &&
        node.initializer &&
        ts.isStringLiteral(node.initializer)
      ) {
        groups.add(node.initializer.text);
      }
      if (!ts.isCallExpression(node)) return;
      const name = node.expression.getText();
      const first = node.arguments[0];
      if (name === "t" && first) collect(first, path);
      if (name === "word" && first && ts.isStringLiteral(first)) groups.add(first.text);
    });
  }
  return { keys, groups };
}

describe("texts", () => {
  it("are the same keys in both languages", () => {
    const zhKeys = new Set([...texts.zh.keys()].map(base));
    const enKeys = new Set([...texts.en.keys()].map(base));
    expect([...enKeys].filter((key) => !zhKeys.has(key))).toEqual([]);
    expect([...zhKeys].filter((key) => !enKeys.has(key))).toEqual([]);
  });
  it("have every plural form of their language", () => {
    const plurals = [...texts.en.keys()].filter((key) => /_(one|other)$/.test(key)).map(base);
    for (const key of new Set(plurals)) {
      expect(texts.en.has(`${key}_one`) && texts.en.has(`${key}_other`), key).toBe(true);
      expect(texts.zh.has(`${key}_other`) && !texts.zh.has(key), key).toBe(true);
    }
  });
  it("fill in the same values in both languages", () => {
    const values = (text: string | undefined) =>
      [...(text ?? "").matchAll(/\{\{(\w+)\}\}/g)].map((hit) => hit[1]).sort();
    for (const [key, text] of texts.en) {
      const other = texts.zh.get(key) ?? texts.zh.get(`${base(key)}_other`);
      expect(values(other), key).toEqual(values(text));
    }
  });
  it("are in Chinese where they should be", () => {
    const same = [...texts.zh].filter(
      ([key, text]) => !/[\u4e00-\u9fff]/.test(text) && texts.en.get(key) === text,
    );
    expect(same.map(([key]) => key)).toEqual([
      "nav.product",
      "keys.help_key",
      "gpu_letter.free",
      "gpu_letter.bad",
      "gpu_letter.out",
    ]);
  });
  it("exist for every key that the pages ask for", () => {
    const known = new Set([...texts.en.keys()].map(base));
    const missing = [...asked().keys]
      .filter(([key]) => !known.has(key))
      .map(([key, path]) => `${path}: ${key}`);
    expect(missing).toEqual([]);
  });
  it("exist for every word of the API document", () => {
    const groups: Record<string, string> = {
      JobState: "state",
      Kind: "kind",
      PriorityClass: "priority",
      CheckpointMode: "checkpoint",
      ReasonCode: "reason",
      EndCause: "end_cause",
      LeaveCause: "cause",
      EvictionCause: "cause",
      EvictionOutcome: "outcome",
      ReclaimState: "reclaim_state",
      RunState: "run_state",
      MemberState: "member_state",
      NodeState: "node_state",
      QueueOrder: "queue_order",
      QueueState: "queue_state",
      NeedKind: "needs",
      AsksFor: "asks_for",
      AuditOutcome: "audit_outcome",
      UsageGroup: "cost_by",
      StatementState: "statement_state",
      StepState: "step_state",
      OperationState: "operation_state",
      BillShare: "share",
      Share: "share",
      PricedShare: "share",
      BudgetUnit: "cost_unit",
      BudgetAction: "budget_action",
      BudgetState: "budget_state",
      ExportFormat: "export_format",
      ExportContent: "export_content",
      BudgetStanding: "budget_standing",
      EscalationState: "escalation_state",
      ReviewOutcome: "review_outcome",
      Scope: "escalation_scope",
      StepDecision: "approval",
      TokenScope: "scope",
      SignInMethod: "session_method",
      WebhookKind: "webhook_kind",
      DisabledReason: "webhook_disabled",
      DeliveryState: "delivery_state",
      NotificationTopic: "topic",
      NotificationSetting: "notify_setting",
      Role: "role",
      PlatformRole: "platform_role",
    };
    /** Not shown in words: a mark on the tile, letters on the map. */
    const unshown = ["PoolMode", "GpuHealth"];
    const schemas = Object.entries(openapi.components.schemas) as [string, { enum?: string[] }][];
    const enums = schemas.filter(([, schema]) => schema.enum);
    expect(enums.length).toBeGreaterThan(10);
    const missing = enums
      .filter(([name]) => !unshown.includes(name))
      .flatMap(([name, schema]) =>
        (schema.enum ?? []).map((word) =>
          groups[name] ? `${groups[name]}.${word}` : `no group for ${name}`,
        ),
      )
      .filter((key) => !texts.en.has(key) || !texts.zh.has(key));
    expect(missing).toEqual([]);
  });
  it("are all asked for", () => {
    const { keys, groups } = asked();
    const unused = [...texts.en.keys()].filter(
      (key) => !keys.has(base(key)) && !groups.has(key.split(".").slice(0, -1).join(".")),
    );
    expect(unused).toEqual([]);
  });
  it("stand nowhere in the sources themselves", () => {
    const SHOWN = new Set([
      "title",
      "label",
      "placeholder",
      "alt",
      "aria-label",
      "description",
      "extra",
      "okText",
      "cancelText",
    ]);
    const hard: string[] = [];
    const isWords = (text: string) => /\p{L}{2,}/u.test(text);
    for (const { path, tree } of files) {
      walk(tree, (node) => {
        if (ts.isJsxText(node) && isWords(node.text)) hard.push(`${path}: ${node.text.trim()}`);
        if (
          ts.isJsxAttribute(node) &&
          SHOWN.has(node.name.getText()) &&
          node.initializer &&
          ts.isStringLiteral(node.initializer) &&
          isWords(node.initializer.text)
        ) {
          hard.push(`${path}: ${node.getText()}`);
        }
        if (
          ts.isJsxExpression(node) &&
          node.expression &&
          ts.isStringLiteralLike(node.expression) &&
          !ts.isJsxAttribute(node.parent) &&
          isWords(node.expression.text)
        ) {
          hard.push(`${path}: ${node.getText()}`);
        }
      });
    }
    // A signal's name is the same in every language.
    expect(hard.filter((one) => !one.includes('placeholder="USR1"'))).toEqual([]);
  });
});
