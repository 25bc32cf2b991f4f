import type { FsFolder } from './folder.ts'
import { createGroupPublisher, type Staged } from './publish-group.ts'

/** Gives assets their names, many at once where many come at once. Rejects where nothing of the asset is left. */
export type Publish = (staged: Staged) => Promise<void>

/** As many small assets, and as many of their bytes, share one journal. */
const GROUP_ITEMS = 256
const GROUP_BYTES = 16 * 1024 * 1024

interface Waiting {
  staged: Staged
  done(): void
  failed(error: unknown): void
}

/** A {@link Publish} for one folder. Assets with a body in a file do not wait for others. */
export function createPublisher(folder: FsFolder, options: { publicNames: boolean }): Publish {
  const publishGroup = createGroupPublisher(folder, options)
  const waiting: Waiting[] = []
  let working = false

  async function publishAll(group: Waiting[]): Promise<void> {
    try {
      const failures = await publishGroup(group.map((one) => one.staged))
      for (const [i, { done, failed }] of group.entries()) {
        const failure = failures[i]
        if (failure) failed(failure.error)
        else done()
      }
    } catch (error) {
      for (const { failed } of group) failed(error)
    }
  }

  async function work(): Promise<void> {
    working = true
    while (waiting.length > 0) await publishAll(takeGroup(waiting))
    working = false
  }

  return function publish(staged) {
    return new Promise((done, failed) => {
      const one = { staged, done, failed }
      if (hasFiles(staged)) return void publishAll([one])
      waiting.push(one)
      if (!working) void work()
    })
  }
}

function hasFiles({ bodies }: Staged): boolean {
  return [...bodies.values()].some((body) => typeof body === 'string')
}

function takeGroup(waiting: Waiting[]): Waiting[] {
  let bytes = 0
  let count = 0
  for (const { staged } of waiting) {
    for (const body of staged.bodies.values()) bytes += body.length
    if (count > 0 && (bytes > GROUP_BYTES || count >= GROUP_ITEMS)) break
    count++
  }
  return waiting.splice(0, count)
}
