FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY scripts/build.js scripts/build-age.js scripts/build-console.js scripts/require-node.* ./scripts/
COPY src ./src
COPY console ./console
RUN npm run build

# TypeScript is a peer of a package that the running gateway asks nothing of.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev && rm -r node_modules/typescript

FROM node:24-bookworm-slim AS slim-dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional && rm -r node_modules/typescript

# Everything written goes to /data (and /tmp), so the root file system may be read-only. Mount a volume on /data: without one the
# books end with the container.
FROM node:24-bookworm-slim AS base
ARG VERSION=0.2.0-dev REVISION=
LABEL org.opencontainers.image.title="Shim" \
      org.opencontainers.image.description="A prepaid media-and-text generation gateway" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.revision=$REVISION
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/dist ./dist
COPY scripts/require-node.js ./scripts/
COPY package.json LICENSE ./
COPY vendors ./vendors
# The operator commands: docker exec CONTAINER shim …
RUN chmod +x dist/cli.js && ln -s /app/dist/cli.js /usr/local/bin/shim
RUN mkdir -p /data/files /data/owed && chown -R node:node /data
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "dist/main.js"]

# docker build --target slim: without the embedded PostgreSQL, for those who set DATABASE_URL.
FROM base AS slim
COPY --from=slim-dependencies /app/node_modules ./node_modules

FROM base
COPY --from=dependencies /app/node_modules ./node_modules
