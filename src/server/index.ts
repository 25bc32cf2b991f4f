export type { AuthOptions, JwksOptions } from './auth/auth.ts'
export { signingKey, signToken, type TokenClaims } from './auth/tokens.ts'
export type { Caller, Role } from './caller.ts'
export {
  createServer,
  type Server,
  type ServerLimits,
  type ServerOptions,
} from './create-server.ts'
export type { Listening, ListenOptions } from './listen.ts'
export type { ServerLogger } from './pipeline.ts'
