# One image: `reeve` (server and command line, console inside) and `reeve-agent`.

FROM node:20-bookworm-slim AS console
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY openapi ../openapi
COPY frontend ./
RUN npm run build

FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
COPY --from=console /src/frontend/dist frontend/dist
RUN cargo build --release --locked --workspace --bins

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /var/lib/reeve reeve
COPY --from=build /src/target/release/reeve /src/target/release/reeve-agent /usr/local/bin/
USER reeve
EXPOSE 8080
CMD ["reeve", "serve", "--listen", "0.0.0.0:8080"]
