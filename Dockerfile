# One image for all five services; the command selects one (services/documents/main.ts …). There is no build step: Node
# and Deno run the sources directly.
#   docker build --target node -t process-document-service .
#   docker build --target deno -t process-document-service:deno .
# For trying, an image with all services and MongoDB in one container:
#   docker build --target all-in-one -t process-document-service:all-in-one .
# The base images are arguments, so that you can use a private registry or local images.
ARG BUILD_BASE=node:24.21.0-bookworm-slim
ARG NODE_BASE=gcr.io/distroless/nodejs24-debian12:nonroot
ARG DENO_BASE=denoland/deno:distroless-2.9.5
ARG MONGO_BASE=mongo:8.0

FROM ${BUILD_BASE} AS files
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/sbom.ts scripts/
# without runtimes that npm could install, packages that only tests and checks use, and files for editors and debuggers
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && npm sbom --package-lock-only --omit=dev --omit=optional --sbom-format=spdx | node scripts/sbom.ts > sbom.spdx.json \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
  && rm node_modules/.package-lock.json
# only product code and the commands of operators
COPY deno.json LICENSE ./
COPY docs/contracts/openapi.json docs/contracts/
COPY libs libs/
COPY services services/
COPY tools/admin tools/admin/
# fixed modes and times make the files reproducible: the same commit gives the same files
RUN find . -type f -exec chmod 0644 {} + && find . -type d -exec chmod 0755 {} + && find . -exec touch -h -d @0 {} +

# for development only (skaffold dev): the sources are writable
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
# Deno's cache must be in a writable folder
ENV DENO_DIR=/tmp/deno
USER 65532:65532
EXPOSE 8080 9464
ENTRYPOINT ["deno", "run", "--no-prompt", "--cached-only", "--allow-env", "--allow-net", "--allow-read=/app", "--allow-sys=hostname,osRelease"]
CMD ["services/documents/main.ts"]

# the code of all services, compiled by the user and the Node of the image: a start takes less time. V8's output differs
# between builds, so the cache is the only part of the image that is not reproducible.
FROM ${NODE_BASE} AS compiled
WORKDIR /app
COPY --from=files /app /app
USER 65532:65532
ENV NODE_COMPILE_CACHE=/tmp/compiled
RUN ["/nodejs/bin/node", "--disable-warning=ExperimentalWarning", "services/services.ts"]

# for trying only: permissive defaults, a demo organization, and MongoDB in the same container
FROM ${MONGO_BASE} AS all-in-one
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Process Document Service, all in one" \
  org.opencontainers.image.description="All services and MongoDB in one container, for trying" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=files /app /app
COPY --from=compiled /nodejs /nodejs
COPY --from=compiled --chown=65532:65532 /tmp/compiled /app/.compiled
COPY tools/local-run tools/local-run/
COPY tools/mongod tools/mongod/
COPY tests/fixtures/incident-response-sop.json tests/fixtures/
# the base image declares volumes below /data, so the data is elsewhere
USER 0:0
RUN mkdir -p /var/lib/process-document-service && chown 65532:65532 /var/lib/process-document-service
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compiled DATA_DIR=/var/lib/process-document-service
USER 65532:65532
VOLUME /var/lib/process-document-service
EXPOSE 8080
HEALTHCHECK --interval=10s --start-period=120s CMD ["/nodejs/bin/node", "--eval", "fetch('http://127.0.0.1:9464/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/nodejs/bin/node", "--disable-warning=ExperimentalWarning"]
CMD ["tools/local-run/container.ts"]

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
COPY --from=compiled --chown=65532:65532 /tmp/compiled /app/.compiled
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compiled
USER 65532:65532
EXPOSE 8080 9464
ENTRYPOINT ["/nodejs/bin/node", "--disable-warning=ExperimentalWarning"]
CMD ["services/documents/main.ts"]
