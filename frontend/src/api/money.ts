// What was used and what it costs: usage, prices, statements, budgets, and exports that take a while.
import { answer, api } from "./client";
import { type Cursor, everything, from, ifMatch, keyed, type QueryOf } from "./paging";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Usage = Schemas["Usage"];
export type UsageRow = Schemas["UsageRow"];
export type UsageAmounts = Schemas["UsageAmounts"];
export type PriceBook = Schemas["PriceBookView"];
export type Price = PriceBook["prices"][number];
export type Statements = Schemas["StatementsView"];
export type StatementItem = Schemas["StatementItem"];
export type Statement = Schemas["StatementView"];
export type StatementLine = Schemas["StatementLine"];
export type Month = Schemas["MonthItem"];
export type Budget = Schemas["BudgetView"];
export type Operation = Schemas["OperationView"];
export type UsageFilter = QueryOf<"/api/v1/usage">;

export const showUsage = (query: UsageFilter) => answer(api.GET("/api/v1/usage", { params: { query } }));

export const showPrices = () => answer(api.GET("/api/v1/prices"));
export const putPrices = (version: number, body: Schemas["PutPrices"]) =>
  answer(api.PUT("/api/v1/prices", { headers: ifMatch(version), body }));
export const listPriceVersions = (cursor: Cursor) =>
  answer(api.GET("/api/v1/prices/versions", { params: { query: { limit: 20, ...from(cursor) } } }));

export const showStatements = (month: string) =>
  answer(api.GET("/api/v1/statements", { params: { query: { month } } }));
export const showStatement = (month: string, team: string) =>
  answer(api.GET("/api/v1/statements/{month}/{team}", { params: { path: { month, team } } }));
export const listMonths = (cursor: Cursor) =>
  answer(api.GET("/api/v1/months", { params: { query: { limit: 24, ...from(cursor) } } }));
/** The first person proposes, a second one with the same digest closes. */
export const closeMonth = (month: string, digest: string, key: string) =>
  answer(
    api.POST("/api/v1/statements/{month}/close", {
      params: { path: { month }, ...keyed(key) },
      body: { digest },
    }),
  );
export const reopenMonth = (month: string, key: string) =>
  answer(
    api.POST("/api/v1/statements/{month}/reopen", { params: { path: { month }, ...keyed(key) }, body: {} }),
  );
export const correctMonth = (month: string, body: Schemas["NewStatementCorrection"], key: string) =>
  answer(
    api.POST("/api/v1/statements/{month}/corrections", { params: { path: { month }, ...keyed(key) }, body }),
  );

export const listBudgets = (filter: Omit<QueryOf<"/api/v1/budgets">, "limit" | "cursor"> = {}) =>
  everything((page) => answer(api.GET("/api/v1/budgets", { params: { query: { ...filter, ...page } } })));
export const createBudget = (body: Schemas["NewBudget"], key: string) =>
  answer(api.POST("/api/v1/budgets", { params: keyed(key), body }));
export const editBudget = (budget: Budget, body: Schemas["EditBudget"]) =>
  answer(
    api.PATCH("/api/v1/budgets/{id}", {
      params: { path: { id: budget.id } },
      headers: ifMatch(budget.version),
      body,
    }),
  );
export const deleteBudget = (budget: Budget) =>
  answer(
    api.DELETE("/api/v1/budgets/{id}", {
      params: { path: { id: budget.id } },
      headers: ifMatch(budget.version),
    }),
  );

export const createOperation = (body: Schemas["NewOperation"], key: string) =>
  answer(api.POST("/api/v1/operations", { params: keyed(key), body }));
export const listOperations = (cursor: Cursor) =>
  answer(api.GET("/api/v1/operations", { params: { query: { limit: 20, ...from(cursor) } } }));
export const cancelOperation = (id: string) =>
  answer(api.POST("/api/v1/operations/{id}/cancel", { params: { path: { id }, ...keyed() }, body: {} }));
