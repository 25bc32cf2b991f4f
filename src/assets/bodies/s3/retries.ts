import type { S3ClientConfig } from '@aws-sdk/client-s3'

type RetryStrategy = Exclude<S3ClientConfig['retryStrategy'], undefined>

const FIRST_PAUSE_MS = 100

/**
 * When the SDK tries again: each request by itself, with pauses that double. The SDK's own strategy has a budget for all
 * requests together, so that an outage which many saves meet at once ends all of them.
 */
export function createRetries(maxAttempts: number): RetryStrategy {
  return {
    acquireInitialRetryToken: async () => tokenAfter(0),

    async refreshRetryTokenForRetry(token, { errorType }) {
      const retries = token.getRetryCount() + 1
      const mayPass = errorType === 'TRANSIENT' || errorType === 'THROTTLING'
      if (mayPass && retries < maxAttempts) return tokenAfter(retries)
      throw new Error('That was the last try.')
    },

    recordSuccess() {},
  }
}

/** Pauses are jittered, so that those who failed together do not come back together. */
function tokenAfter(retries: number) {
  const pause =
    retries === 0 ? 0 : FIRST_PAUSE_MS * 2 ** (retries - 1) * (0.7 + Math.random() * 0.3)
  return { getRetryCount: () => retries, getRetryDelay: () => pause }
}
