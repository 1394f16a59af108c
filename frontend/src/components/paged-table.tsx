import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "antd";
import type { ReactNode } from "react";
import type { Cursor, PageOf } from "../api/paging";
import { useText } from "../lib/use-text";
import { Answer } from "./feedback";
import { DataTable, type TableColumn } from "./table";

type Props<Row> = {
  label: string;
  queryKey: readonly string[];
  load: (cursor: Cursor) => Promise<PageOf<Row>>;
  columns: TableColumn<Row>[];
  rowKey: (row: Row) => string;
  /** Why there is nothing, and what next. */
  empty: ReactNode;
  refetchMs?: number;
  windowed?: boolean;
};

/** A list that the server gives page by page. */
export function PagedTable<Row>(props: Props<Row>) {
  const { t } = useText();
  const list = useInfiniteQuery({
    queryKey: props.queryKey,
    queryFn: ({ pageParam }) => props.load(pageParam),
    initialPageParam: null as Cursor,
    getNextPageParam: (page) => page.next_cursor,
    ...(props.refetchMs && { refetchInterval: props.refetchMs }),
  });
  return (
    <Answer of={list}>
      {({ pages }) => {
        const rows = pages.flatMap((page) => page.items);
        if (rows.length === 0) return props.empty;
        return (
          <>
            <DataTable
              label={props.label}
              rows={rows}
              rowKey={props.rowKey}
              columns={props.columns}
              windowed={props.windowed ?? false}
            />
            {list.hasNextPage && (
              <Button
                className="more"
                onClick={() => void list.fetchNextPage()}
                loading={list.isFetchingNextPage}
              >
                {t("action.more")}
              </Button>
            )}
          </>
        );
      }}
    </Answer>
  );
}
