import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { hasOwnerEnded, leaseOwner } from './lease-owner.ts'

/** Replaces the process id in an owner of this machine. */
const withPid = (pid: number | string): string => leaseOwner('x').replace(/:\d+:x$/, `:${pid}:x`)

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(child, 'exit')
  return child.pid as number
}

describe('hasOwnerEnded', () => {
  it('is true for a process of this machine that has ended', async () => {
    expect(hasOwnerEnded(withPid(await endedPid()))).toBe(true)
  })

  it('is false for this process, and for one that runs', () => {
    expect(hasOwnerEnded(leaseOwner('another agent'))).toBe(false)
    expect(hasOwnerEnded(withPid(process.ppid))).toBe(false)
  })

  it('is false for a process of another machine', async () => {
    const [host, , , id] = leaseOwner('x').split(':')
    const pid = await endedPid()
    expect(hasOwnerEnded(`${host}:0123456789ab:${pid}:${id}`)).toBe(false)
    expect(hasOwnerEnded(`${host}::${pid}:${id}`)).toBe(false)
  })

  it.each(['0', '-1', '1.5', '', 'x', '99999999999999999999'])(
    'is false for the process id %j',
    (pid) => {
      expect(hasOwnerEnded(withPid(pid))).toBe(false)
    },
  )

  it.each(['', 'host-1', 'a:b', 'a:b:c:d:e'])(
    'is false for an owner of another form: %j',
    (owner) => {
      expect(hasOwnerEnded(owner)).toBe(false)
    },
  )
})
