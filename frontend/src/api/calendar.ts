// Reservations of GPUs for teams, and times in which nodes take no work.
import { answer, api } from "./client";
import { everything, keyed, type QueryOf } from "./paging";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Reservation = Schemas["ReservationView"];
export type MaintenanceWindow = Schemas["MaintenanceWindowView"];
export type ReservationFilter = Omit<QueryOf<"/api/v1/reservations">, "limit" | "cursor">;
export type WindowFilter = Omit<QueryOf<"/api/v1/maintenance-windows">, "limit" | "cursor">;

export const listReservations = (filter: ReservationFilter) =>
  everything((page) =>
    answer(api.GET("/api/v1/reservations", { params: { query: { ...filter, ...page } } })),
  );
export const createReservation = (body: Schemas["CreateReservation"], key: string) =>
  answer(api.POST("/api/v1/reservations", { params: keyed(key), body }));
export const deleteReservation = (id: string) =>
  answer(api.DELETE("/api/v1/reservations/{id}", { params: { path: { id } } }));

export const listWindows = (filter: WindowFilter) =>
  everything((page) =>
    answer(api.GET("/api/v1/maintenance-windows", { params: { query: { ...filter, ...page } } })),
  );
export const createWindow = (body: Schemas["CreateMaintenanceWindow"], key: string) =>
  answer(api.POST("/api/v1/maintenance-windows", { params: keyed(key), body }));
export const deleteWindow = (id: string) =>
  answer(api.DELETE("/api/v1/maintenance-windows/{id}", { params: { path: { id } } }));
