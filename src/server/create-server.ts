import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import type { Agent } from '../agent/agent.ts'
import { ByrefError } from '../errors.ts'
import { version } from '../version.ts'
import { appFiles } from './app-files.ts'
import { assetRoutes } from './asset-routes.ts'
import { conversationRoutes } from './conversation-routes.ts'
import { errorResponse } from './error-response.ts'
import { guard } from './guard.ts'
import { createLiveFeed } from './live-feed.ts'

/** Options of {@link createServer}. */
export interface ServerOptions {
  /** Whom people talk to; its log and its assets are what the server shows. */
  agent: Agent
  /** Hosts that requests may name beside localhost and IP addresses: `box.local`, or `box.local:4114`. */
  allowedHosts?: readonly string[]
  /** The folder of the built workbench; by default the one that comes with byref. */
  app?: string
}

/** Where to listen. */
export interface ListenOptions {
  /** Default 4114; 0 takes any that is free. */
  port?: number
  /** Default 127.0.0.1: this machine only. There is no login yet, so think before you change it. */
  hostname?: string
}

/** A server that listens. */
export interface Listening {
  url: string
  /** Closes the agent, which leaves its runs to whoever resumes them, ends the streams and frees the port. */
  close(): Promise<void>
}

/** HTTP around one agent: the API of docs/http-api.md and the workbench. */
export interface Server {
  /** Answers one request: for tests, and for any runtime that speaks web requests. */
  fetch(request: Request): Response | Promise<Response>
  /** Throws ByrefError `config_invalid` where the address is taken or not allowed. */
  listen(options?: ListenOptions): Promise<Listening>
}

/** Makes the server; it does nothing before it is asked. */
export function createServer({ agent, allowedHosts = [], app: folder }: ServerOptions): Server {
  const feed = createLiveFeed()
  let disconnect: (() => void) | null = null

  /** Hears what happens in the agent's conversations, from the first use on. */
  function connect(): void {
    if (disconnect) return
    const unsubscribe = agent.log.subscribe(({ conversation, records, deleted }) => {
      for (const record of records) feed.publish(conversation, record)
      if (deleted) feed.end(conversation)
    })
    const unhear = agent.onStream((conversation, event) => feed.publish(conversation, { event }))
    disconnect = () => {
      disconnect = null
      unsubscribe()
      unhear()
    }
  }

  const app = new Hono()
  app.use(guard(allowedHosts))
  app.onError(errorResponse)
  app.use((_, next) => {
    connect()
    return next()
  })
  app.get('/api/health', (c) => c.json({ ok: true }))
  app.get('/api/info', (c) => {
    const { provider, modelId } = agent.model
    const tools = agent.tools.map(({ id, description }) => ({ id, description }))
    const model = { id: modelId, provider, demo: provider === 'byref.demo' }
    return c.json({ name: 'byref', version, model, tools })
  })
  app.route('/api/conversations', conversationRoutes(agent, feed))
  app.route('/api/assets', assetRoutes(agent.assets))
  app.all('/api/*', (c) => {
    return c.json(
      { error: { code: 'bad_request', message: `There is no ${c.req.method} ${c.req.path}` } },
      404,
    )
  })
  app.route('/', appFiles(folder))

  return {
    fetch: (request) => app.fetch(request),
    async listen(options) {
      const { url, close } = await listen(app, agent, options)
      connect()
      return {
        url,
        async close() {
          await close()
          disconnect?.()
        },
      }
    },
  }
}

function listen(
  app: Hono,
  agent: Agent,
  { port = 4114, hostname = '127.0.0.1' }: ListenOptions = {},
): Promise<Listening> {
  const server = createAdaptorServer({ fetch: app.fetch, hostname })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(cannotListen(error, hostname, port))
    })
    server.listen(port, hostname, () => {
      const address = server.address()
      const actual = typeof address === 'object' && address ? address.port : port
      const shown = hostname.includes(':') ? `[${hostname}]` : hostname
      resolve({
        url: `http://${shown}:${actual}`,
        async close() {
          await agent.close()
          const closed = new Promise((done) => server.close(done))
          if ('closeAllConnections' in server) server.closeAllConnections()
          await closed
        },
      })
    })
  })
}

function cannotListen(error: NodeJS.ErrnoException, hostname: string, port: number): ByrefError {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is taken: stop what listens there, or choose another with --port`,
    EACCES: `Port ${port} may not be used by this user: choose one above 1023 with --port`,
    EADDRNOTAVAIL: `${hostname} is no address of this machine: choose another with --host`,
  }
  const reason =
    reasons[error.code ?? ''] ?? `Cannot listen on ${hostname}:${port}: ${error.message}`
  return new ByrefError('config_invalid', reason, { cause: error })
}
