import type { Transport } from '@modelcontextprotocol/client'
import type { Channel } from '../rpc/json-rpc.ts'
import type { ServerTrust } from '../server-trust.ts'

/** In the list of tools: the names of servers whose tools may be missing. */
export const NOT_RUNNING = 'byref/notRunning'

/** One of several servers, and how to reach it. */
export interface ServerSource {
  /** The name of the server for people and models, such as `github`. */
  name: string
  /** What the names of its tools and prompts begin with. Default: its name and `_`. */
  prefix?: string
  /**
   * Whether the annotations of its tools are believed. Without them, each tool counts as one that acts. Default
   * `trusted`.
   */
  trust?: ServerTrust
  /**
   * Opens a connection. Called again when it has ended. A connection that knows why it ended says so in `whyEnded`.
   */
  connect(): ServerTransport | Promise<ServerTransport>
  /** Called when connecting failed. Returns whether it is worth trying once more, for example after a login. */
  recover?(error: unknown): Promise<boolean>
}

/** A transport of the MCP SDK, or a channel. */
export type ServerTransport = (Transport | Channel) & { whyEnded?(): string }
