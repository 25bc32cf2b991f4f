// node scripts/torture/server-upload.ts [MiB=2048]: uploads a large file to `byref serve` and downloads it again, and
// measures the memory.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const MIB = 1024 * 1024

/** The result of a transfer: its time, and the additional memory of the server. */
export interface Transfer {
  ms: number
  grownBytes: number
}

/** The results of an upload and a download. */
export interface ServerUploadReport {
  upload: Transfer
  download: Transfer
}

/** Uploads a file of this many MiB to a server in its own process, downloads it, and compares it with the original. */
export async function serverUpload(options: {
  mebibytes: number
  folder: string
}): Promise<ServerUploadReport> {
  const { url, child } = await startServer(options.folder)
  try {
    // Warm-up: what the first requests load and compile does not count.
    for (let n = 0; n < 3; n++) await roundTrip(url, 32)
    await sleep(500)
    return await roundTrip(url, options.mebibytes)
  } finally {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
}

async function roundTrip(url: string, mebibytes: number): Promise<ServerUploadReport> {
  const sent = createHash('sha256')
  let id = ''
  const upload = await measured(url, async () => {
    const answer = await fetch(`${url}/api/assets?name=large.bin`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: pieces(mebibytes, (piece) => sent.update(piece)),
      duplex: 'half',
    } as RequestInit)
    const { asset } = (await answer.json()) as { asset: { assetId: string; size: number } }
    assert.equal(asset.size, mebibytes * MIB)
    id = asset.assetId
  })
  const got = createHash('sha256')
  const download = await measured(url, async () => {
    const { body } = await fetch(`${url}/api/assets/${id}/content`)
    for await (const piece of body ?? []) got.update(piece)
  })
  assert.equal(got.digest('hex'), sent.digest('hex'))
  return { upload, download }
}

/** Bytes in which all MiB differ. Reports how many were read. */
function pieces(count: number, told: (piece: Uint8Array) => void): ReadableStream<Uint8Array> {
  const piece = randomBytes(MIB)
  let made = 0
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (made === count) return controller.close()
        piece.writeUInt32LE(made++)
        const copy = Uint8Array.from(piece)
        told(copy)
        controller.enqueue(copy)
      },
    },
    { highWaterMark: 1 },
  )
}

async function measured(url: string, work: () => Promise<void>): Promise<Transfer> {
  const before = await memoryOf(url)
  let most = before
  let busy = true
  const watching = (async () => {
    while (busy) {
      most = Math.max(most, await memoryOf(url))
      await sleep(50)
    }
  })()
  const start = performance.now()
  await work().finally(() => {
    busy = false
  })
  const ms = performance.now() - start
  await watching
  return { ms, grownBytes: Math.max(most, await memoryOf(url)) - before }
}

/** The resident memory of the server, according to the server. */
async function memoryOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^byref_process_resident_memory_bytes (\d+)/m.exec(text)?.[1])
}

async function startServer(folder: string): Promise<{ url: string; child: ChildProcess }> {
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
  const flags = ['--disable-warning=ExperimentalWarning', '--conditions=byref-source']
  const args = [...flags, cli, 'serve', '--port', '0', '--data', folder]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk
    const url = /^byref +(http:\S+)/m.exec(text)?.[1]
    if (url && /^model /m.test(text)) {
      child.stdout.resume()
      return { url, child }
    }
  }
  throw new Error(`byref serve ended: ${text}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const mebibytes = Number(process.argv[2] ?? 2048)
  const folder = await mkdtemp(join(tmpdir(), 'byref-torture-'))
  try {
    const report = await serverUpload({ mebibytes, folder })
    for (const [name, { ms, grownBytes }] of Object.entries(report)) {
      const speed = (mebibytes / ms) * 1000
      console.log(
        `${name.padEnd(8)} ${mebibytes} MiB in ${(ms / 1000).toFixed(1)} s (${speed.toFixed(0)} MiB/s), ${(grownBytes / MIB).toFixed(1)} MiB more memory`,
      )
      assert.ok(grownBytes < 64 * MIB, `${name} took ${grownBytes} bytes`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
