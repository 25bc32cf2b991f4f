import { nodeBuiltin } from '../node-builtin.ts'

const { createHash } = nodeBuiltin('node:crypto')
const { readFileSync, readlinkSync } = nodeBuiltin('node:fs')
const { hostname, networkInterfaces } = nodeBuiltin('node:os')

/** Cached, because it takes system calls, and apps may create an agent for each request. */
let here: { host: string; machine: string } | undefined

function thisMachine(): { host: string; machine: string } {
  here ??= { host: hostname(), machine: machineHash() }
  return here
}

/**
 * Returns a name for the owner of leases: `host:machine:pid:id`. It is unique across processes. `machine` is the same
 * for processes that see each other's process ids, and empty if that is unknown.
 */
export function leaseOwner(id: string): string {
  const { host, machine } = thisMachine()
  return `${host}:${machine}:${process.pid}:${id}`
}

/**
 * Whether the process of this owner has ended. False if that cannot be known: for another machine or container, and
 * if a new process has its id.
 */
export function hasOwnerEnded(owner: string): boolean {
  const [, machine, pid = ''] = owner.split(':')
  const isHere = machine !== '' && machine === thisMachine().machine
  if (!isHere || pid === String(process.pid) || !/^[1-9]\d*$/.test(pid)) return false
  try {
    // Signal 0 only checks that the process exists.
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/**
 * Returns a hash that processes share if they see each other's process ids. On Linux, it is made of the id of this boot
 * and the namespace of process ids, elsewhere of the addresses of the network cards. Empty if these are unknown.
 */
function machineHash(): string {
  try {
    const name = process.platform === 'linux' ? linuxMachine() : networkCards()
    return name && createHash('sha256').update(name).digest('hex').slice(0, 12)
  } catch {
    return ''
  }
}

function linuxMachine(): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
  return `${boot.trim()} ${readlinkSync('/proc/self/ns/pid')}`
}

function networkCards(): string {
  const cards = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const macs = cards.filter(({ internal }) => !internal).map(({ mac }) => mac)
  return [...new Set(macs)].sort().join(' ')
}
