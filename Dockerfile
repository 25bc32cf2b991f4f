# byref from its packed package: npm pack, then docker build -t byref .
FROM node:24-slim
WORKDIR /app
COPY byref-*.tgz ./byref.tgz
RUN npm init -y >/dev/null && npm install --omit=dev --no-audit --no-fund ./byref.tgz @ai-sdk/openai @ai-sdk/anthropic @ai-sdk/google @ai-sdk/openai-compatible @duckdb/node-api pg pg-boss @aws-sdk/client-s3 @aws-sdk/lib-storage @aws-sdk/s3-request-presigner && rm byref.tgz
RUN mkdir /data && chown node /data
ENV NODE_ENV=production
VOLUME /data
EXPOSE 4114
USER node
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:4114/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Others reach it, so it asks for tokens: docker exec <container> npx byref token --data /data
CMD ["node_modules/.bin/byref", "serve", "--host", "0.0.0.0", "--auth", "--data", "/data", "--log", "info"]
