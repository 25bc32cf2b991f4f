import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running S3-compatible server, and its credentials. */
export interface SwiftServer {
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** The folder of the server's objects. */
  folder: string
  stop(): Promise<void>
}

const PACKAGES = ['swift-proxy', 'swift-account', 'swift-container', 'swift-object', 'memcached']
const ETC = '/etc/swift/swift.conf'
const SEED = `[swift-hash]
swift_hash_path_suffix = byref
[storage-policy:0]
name = gold
default = yes
`
const PIPELINE =
  'catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth slo dlo versioned_writes symlink proxy-server'

/** On a busy machine, a server that waits for itself must not treat itself as dead. */
const PATIENCE = {
  conn_timeout: 20,
  node_timeout: 60,
  container_update_timeout: 30,
  error_suppression_limit: 100_000,
}

/**
 * Starts OpenStack Swift with its S3 interface on loopback, on free ports and in its own folder. Needs root to
 * install it (Debian packages) and to run it. Returns null, and prints the reason, if that is not possible.
 *
 * @throws Error if it cannot be started and BYREF_REQUIRE_S3 is set
 */
export async function startSwift(): Promise<SwiftServer | null> {
  const reason = install()
  if (reason === null) return start()
  const message = `The tests against a real S3 server are SKIPPED: ${reason}.`
  if (process.env.BYREF_REQUIRE_S3) throw new Error(message)
  process.stderr.write(`${message}\n`)
  return null
}

function install(): string | null {
  if (process.getuid?.() !== 0) return 'starting OpenStack Swift needs root'
  if (!hasSwift()) {
    if (!existsSync('/usr/bin/apt-get')) return 'OpenStack Swift is not installed'
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync('apt-get', ['-qq', 'update'], { env })
    spawnSync('apt-get', ['-qq', '-y', '--no-install-recommends', 'install', ...PACKAGES], { env })
    if (!hasSwift()) return 'OpenStack Swift could not be installed (apt-get install swift-proxy …)'
  }
  return null
}

function hasSwift(): boolean {
  return ['/usr/bin/swift-proxy-server', '/usr/bin/memcached'].every((path) => existsSync(path))
}

async function start(): Promise<SwiftServer> {
  const folder = mkdtempSync(join(tmpdir(), 'byref-swift-'))
  const [proxy, object, container, account, cache] = await freePorts(5)
  mkdirSync(join(folder, 'srv', 'd1'), { recursive: true })
  // The servers read their hash seed only from there. Debian's package provides one.
  if (!existsSync(ETC)) writeFileSync(ETC, SEED)
  for (const [name, port] of Object.entries({ object, container, account })) {
    writeFileSync(join(folder, `${name}.conf`), storageConfig(folder, name, port as number))
    buildRing(folder, name, port as number)
  }
  writeFileSync(join(folder, 'proxy.conf'), proxyConfig(folder, proxy as number, cache as number))

  const pids: number[] = []
  const run = (command: string, args: string[]) => {
    const child = spawn(command, args, { cwd: folder, detached: true, stdio: 'ignore' })
    child.unref()
    if (child.pid !== undefined) pids.push(child.pid)
  }
  run('memcached', ['-u', 'nobody', '-l', '127.0.0.1', '-p', String(cache)])
  for (const name of ['account', 'container', 'object', 'proxy']) {
    run(`swift-${name}-server`, [join(folder, `${name}.conf`)])
  }
  const stop = async () => {
    for (const pid of pids) stopGroup(pid)
    await new Promise((go) => setTimeout(go, 200))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const endpoint = `http://127.0.0.1:${proxy}`
  for (let attempt = 0; attempt < 150; attempt++) {
    const keys = { accessKeyId: 'test:tester', secretAccessKey: 'testing' }
    if (await takesObjects(endpoint).catch(() => false))
      return { endpoint, region: 'us-east-1', ...keys, folder, stop }
    await new Promise((go) => setTimeout(go, 200))
  }
  await stop()
  throw new Error('OpenStack Swift did not start within 30 seconds')
}

/** The proxy can be ready before the other four. Only a stored object proves that all of them are. */
async function takesObjects(endpoint: string): Promise<boolean> {
  const user = { 'x-auth-user': 'test:tester', 'x-auth-key': 'testing' }
  const login = await fetch(`${endpoint}/auth/v1.0`, { headers: user })
  const headers = { 'x-auth-token': login.headers.get('x-auth-token') ?? '' }
  for (const path of ['started', 'started/object']) {
    const stored = await fetch(`${endpoint}/v1/AUTH_test/${path}`, { method: 'PUT', headers })
    if (!stored.ok) return false
  }
  return true
}

/** Each server leads its own process group, so that its workers end with it. */
function stopGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function buildRing(folder: string, name: string, port: number): void {
  const builder = (...args: string[]) => {
    const { status, stderr } = spawnSync('swift-ring-builder', [`${name}.builder`, ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
    // 1 is a warning: one device can hold only one copy.
    if (status !== 0 && status !== 1) throw new Error(`swift-ring-builder failed: ${stderr}`)
  }
  builder('create', '4', '1', '0')
  builder('add', `r1z1-127.0.0.1:${port}/d1`, '1')
  builder('rebalance')
}

function storageConfig(folder: string, name: string, port: number): string {
  return ini({
    DEFAULT: {
      bind_ip: '127.0.0.1',
      bind_port: port,
      swift_dir: folder,
      devices: join(folder, 'srv'),
      mount_check: false,
      user: 'root',
      workers: 0,
      log_level: 'ERROR',
    },
    'pipeline:main': { pipeline: `${name}-server` },
    [`app:${name}-server`]: { use: `egg:swift#${name}`, replication_server: false, ...PATIENCE },
  })
}

function proxyConfig(folder: string, port: number, cache: number): string {
  const plain = PIPELINE.split(' ').filter((name) => name !== 'proxy-server')
  const filters = Object.fromEntries(
    plain.map((name) => [`filter:${name}`, { use: `egg:swift#${eggOf(name)}` }]),
  )
  return ini({
    DEFAULT: { bind_ip: '127.0.0.1', bind_port: port, swift_dir: folder, user: 'root', workers: 0 },
    'pipeline:main': { pipeline: PIPELINE },
    'app:proxy-server': {
      use: 'egg:swift#proxy',
      account_autocreate: true,
      allow_account_management: true,
      ...PATIENCE,
    },
    ...filters,
    'filter:cache': { use: 'egg:swift#memcache', memcache_servers: `127.0.0.1:${cache}` },
    'filter:tempauth': { use: 'egg:swift#tempauth', user_test_tester: 'testing .admin' },
    'filter:s3api': { use: 'egg:swift#s3api', location: 'us-east-1', max_upload_part_num: 1000 },
    'filter:versioned_writes': {
      use: 'egg:swift#versioned_writes',
      allow_object_versioning: true,
    },
  })
}

function eggOf(name: string): string {
  return name === 'cache' ? 'memcache' : name
}

function ini(sections: Record<string, Record<string, string | number | boolean>>): string {
  return Object.entries(sections)
    .map(([name, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${value}`)
      return `[${name}]\n${lines.join('\n')}\n`
    })
    .join('\n')
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((go) => server.listen(0, '127.0.0.1', go))
      return server
    }),
  )
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address()
      await new Promise((go) => server.close(go))
      if (address === null || typeof address === 'string') throw new Error('no port')
      return address.port
    }),
  )
}
