import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { optionalPeer } from '../../optional-peer.ts'

/** The stored data of a login, in a file that only its owner may read. */
interface Kept {
  port?: number
  client?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens
}

/** Maximum time for a person to log in. */
const LOGIN_MS = 5 * 60_000
const PAGE = '<!doctype html><title>byref</title><p>You are logged in. You can close this page.'

/**
 * The login to one server at a URL, by OAuth 2.1 in the browser of this machine. Tokens are kept in
 * `~/.byref/mcp` (`BYREF_HOME`), so that the next start needs no login.
 */
export class OAuthLogin {
  readonly #url: URL
  readonly #log: (line: string) => void
  readonly #file: string
  #kept: Kept | null = null
  /** The page to which the browser returns, while a login is open. */
  #page: Server | null = null
  #returned: Promise<URLSearchParams> | null = null
  #state = ''
  #verifier = ''
  /** The server's login endpoints, as found for the open login. */
  #discovered: OAuthDiscoveryState | undefined

  constructor(url: URL, log: (line: string) => void) {
    this.#url = url
    this.#log = log
    const folder = join(process.env.BYREF_HOME ?? join(homedir(), '.byref'), 'mcp')
    const name = createHash('sha256').update(url.href).digest('hex').slice(0, 32)
    this.#file = join(folder, `${name}.json`)
  }

  /** Returns the provider for a transport of the SDK. */
  async provider(): Promise<OAuthClientProvider> {
    this.#kept ??= await this.#read()
    const kept = this.#kept
    // A client is registered with the address of its page, so the port stays the same.
    kept.port ??= await freePort()
    const redirectUrl = `http://127.0.0.1:${kept.port}/callback`
    return {
      redirectUrl,
      clientMetadata: {
        client_name: 'byref',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      state: () => {
        this.#state = randomUUID()
        return this.#state
      },
      clientInformation: () => kept.client,
      saveClientInformation: (client) => this.#save({ client }),
      tokens: () => kept.tokens,
      saveTokens: (tokens) => this.#save({ tokens }),
      saveCodeVerifier: (verifier) => {
        this.#verifier = verifier
      },
      codeVerifier: () => this.#verifier,
      saveDiscoveryState: (state) => {
        this.#discovered = state
      },
      discoveryState: () => this.#discovered,
      invalidateCredentials: (scope) => {
        const isAll = scope === 'all'
        if (isAll || scope === 'discovery') this.#discovered = undefined
        return this.#save({
          ...(isAll || scope === 'client' ? { client: undefined } : {}),
          ...(isAll || scope === 'tokens' ? { tokens: undefined } : {}),
        })
      },
      redirectToAuthorization: (page) => this.#open(page, Number(kept.port)),
    }
  }

  /**
   * Waits until the person has logged in. Returns whether it is worth connecting again.
   *
   * @throws Error if nobody logs in
   */
  async finish(): Promise<boolean> {
    if (!this.#returned) return false
    try {
      const params = await this.#returned
      const { StreamableHTTPClientTransport } = await optionalPeer(
        '@modelcontextprotocol/client',
        'Logging in',
      )
      const authProvider = await this.provider()
      await new StreamableHTTPClientTransport(this.#url, { authProvider }).finishAuth(params)
      this.#log('logged in')
      return true
    } finally {
      this.#page?.close()
      this.#page = null
      this.#returned = null
    }
  }

  async #open(page: URL, port: number): Promise<void> {
    if (page.protocol !== 'https:' && page.protocol !== 'http:') {
      throw new Error(`The server names a login page that is not on the web: ${page.protocol}`)
    }
    this.#page?.close()
    const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>()
    promise.catch(() => {})
    this.#returned = promise
    const server = createServer((request, response) => {
      // Any program of this machine may send anything.
      const url = URL.parse(request.url ?? '/', 'http://127.0.0.1')
      if (url?.pathname !== '/callback' || url.searchParams.get('state') !== this.#state) {
        response.writeHead(404).end()
        return
      }
      response.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end(PAGE)
      resolve(url.searchParams)
    })
    this.#page = server
    server.unref()
    const timer = setTimeout(() => reject(new Error('Nobody has logged in')), LOGIN_MS)
    timer.unref()
    await new Promise<void>((listening, failed) => {
      server.once('error', failed)
      server.listen(port, '127.0.0.1', listening)
    })
    this.#log(`log in at ${page.href}`)
    openBrowser(page.href)
  }

  async #read(): Promise<Kept> {
    try {
      return JSON.parse(await readFile(this.#file, 'utf8'))
    } catch {
      return {}
    }
  }

  async #save(change: Partial<Kept>): Promise<void> {
    Object.assign(this.#kept ?? {}, change)
    await mkdir(join(this.#file, '..'), { recursive: true, mode: 0o700 })
    const draft = `${this.#file}.${randomUUID()}`
    await writeFile(draft, JSON.stringify(this.#kept), { mode: 0o600 })
    await rename(draft, this.#file)
  }
}

/** Opens a page in the browser of this machine, or in `BROWSER`, unless that is `none`. Also logs the address. */
function openBrowser(url: string): void {
  const { BROWSER } = process.env
  if (BROWSER === 'none') return
  const openers: Readonly<Record<string, [string, string[]]>> = {
    darwin: ['open', []],
    win32: ['rundll32', ['url.dll,FileProtocolHandler']],
  }
  const usual = openers[process.platform] ?? ['xdg-open', []]
  const [command, args] = BROWSER ? [BROWSER, []] : usual
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
