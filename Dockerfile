# One image for all five services: the command says which (services/documents/main.ts …). No build step: Node and Deno run the sources as they are.
#   docker build --target node -t process-document-service .
#   docker build --target deno -t process-document-service:deno .
# The bases are arguments, so that a registry of one's own or a base made locally can take their place.
ARG BUILD_BASE=node:24.21.0-bookworm-slim
ARG NODE_BASE=gcr.io/distroless/nodejs24-debian12:nonroot
ARG DENO_BASE=denoland/deno:distroless-2.9.5

FROM ${BUILD_BASE} AS files
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/sbom.ts scripts/
# without what npm could bring of runtimes, what only tests and checks use, and what only editors and debuggers read
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && npm sbom --package-lock-only --omit=dev --omit=optional --sbom-format=spdx | node scripts/sbom.ts > sbom.spdx.json \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
  && rm node_modules/.package-lock.json
COPY . .
# modes and times as of nobody in particular: the same commit gives the same files
RUN find . -type f -exec chmod 0644 {} + && find . -type d -exec chmod 0755 {} + && find . -exec touch -h -d @0 {} +

# for the local loop alone: sources can be put in while it runs (skaffold dev)
FROM ${BUILD_BASE} AS dev
WORKDIR /app
COPY --from=files --chown=65532:65532 /app /app
USER 65532:65532
EXPOSE 8080 9464
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning"]
CMD ["services/documents/main.ts"]

FROM ${DENO_BASE} AS deno
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Process Document Service" \
  org.opencontainers.image.description="SOPs, playbooks and guides: documents, sharing, export, webhook delivery and identity; runs under Deno" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=files /app /app
# whatever Deno would keep between runs goes where a container may write
ENV DENO_DIR=/tmp/deno
USER 65532:65532
EXPOSE 8080 9464
ENTRYPOINT ["deno", "run", "--no-prompt", "--cached-only", "--allow-env", "--allow-net", "--allow-read=/app", "--allow-sys=hostname,osRelease"]
CMD ["services/documents/main.ts"]

FROM ${NODE_BASE} AS node
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Process Document Service" \
  org.opencontainers.image.description="SOPs, playbooks and guides: documents, sharing, export, webhook delivery and identity" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=files /app /app
ENV NODE_ENV=production
USER 65532:65532
EXPOSE 8080 9464
ENTRYPOINT ["/nodejs/bin/node", "--disable-warning=ExperimentalWarning"]
CMD ["services/documents/main.ts"]
