import type { UnderlyingSource } from 'node:stream/web'
import { startTimer } from '../../core/timer.ts'

/** One event as it is sent, encoded once for all readers. */
export interface Frame {
  /**
   * The position of a durable event, or the number of an event with another id; null for an event that is not durable.
   */
  id: number | null
  bytes: Uint8Array
}

/** The content that one reader of a channel gets. */
export interface ReaderOptions {
  /**
   * Returns the frames that the reader gets first, as fast as it reads. Called again if frames after them are no longer
   * kept.
   */
  before?(): AsyncIterable<Uint8Array>
  /**
   * Returns what it gets next: everything that was pushed until now, however long `before` took. New frames follow.
   * Null if some of it is no longer kept.
   */
  now(): readonly Frame[] | null
  /** When the reader's access ends, in milliseconds since 1970. Default: never. */
  until?: number
  /** Called once, however the stream ends. */
  onEnd(): void
}

/** Options of a {@link Channel}. */
export interface ChannelOptions {
  /** The largest id so far. */
  after: number
  /** Bytes of frames that are kept for readers who reconnect or are slow. Default: 2 MiB. */
  keepBytes?: number
  /** Bytes that may wait in the stream of one reader. Default: 64 KiB. */
  readerBytes?: number
}

const encoder = new TextEncoder()
const HEARTBEAT = encoder.encode(': still here\n\n')
const SLOW = namedFrame('cut', {
  reason: 'slow',
  message: 'You read too slowly; connect again with Last-Event-ID',
})

const EXPIRED = namedFrame('cut', {
  reason: 'expired',
  message: 'Your token has expired; connect again with another',
})

/** Sent first. It tells browsers when to reconnect, and makes proxies forward the head of the response. */
const RETRY = encoder.encode('retry: 1000\n\n')

/** Returns a frame of JSON. A client that reconnects sends the last id as `Last-Event-ID`. */
export function jsonFrame(value: unknown, id: { number: number; text?: string } | null): Frame {
  const head = id ? `id: ${id.text ?? id.number}\n` : ''
  const bytes = encoder.encode(`${head}data: ${JSON.stringify(value)}\n\n`)
  return { id: id?.number ?? null, bytes }
}

/** Returns a named event without an id. */
export function namedFrame(event: string, value: unknown): Uint8Array {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`)
}

/** Changes the JSON of each {@link jsonFrame} in a stream. Named events and comments pass unchanged. */
export function mapEvents(
  stream: ReadableStream<Uint8Array>,
  change: (value: unknown) => Promise<unknown>,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder()
  let rest = ''
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        const pieces = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
        rest = pieces.pop() ?? ''
        for (const piece of pieces) {
          const lines = piece.split('\n')
          const at = lines.findIndex((line) => line.startsWith('data: '))
          if (at >= 0 && !lines.some((line) => line.startsWith('event: '))) {
            const value = await change(JSON.parse((lines[at] as string).slice('data: '.length)))
            lines[at] = `data: ${JSON.stringify(value)}`
          }
          controller.enqueue(encoder.encode(`${lines.join('\n')}\n\n`))
        }
      },
    }),
  )
}

interface Reader {
  /** The number of the next frame for the reader. */
  next: number
  /** Whether the reader got everything that was pushed before it joined. */
  caughtUp: boolean
  controller: ReadableStreamDefaultController<Uint8Array>
  finish(last?: Uint8Array): void
}

/** Recent frames, and readers that each have their own position in them. */
export class Channel {
  readonly #readers = new Set<Reader>()
  readonly #keepBytes: number
  readonly #readerBytes: number
  #frames: Frame[] = []
  /** The number of `#frames[0]`. */
  #first = 0
  #bytes = 0
  /** All frames with an id above this one are in `#frames`. */
  #complete: number

  constructor({ after, keepBytes = 2 * 1024 * 1024, readerBytes = 64 * 1024 }: ChannelOptions) {
    this.#complete = after
    this.#keepBytes = keepBytes
    this.#readerBytes = readerBytes
  }

  /** The number of readers. */
  get readers(): number {
    return this.#readers.size
  }

  get #end(): number {
    return this.#first + this.#frames.length
  }

  /** Sends a frame to every reader. */
  push(frame: Frame): void {
    this.#frames.push(frame)
    this.#bytes += frame.bytes.byteLength
    for (const reader of this.#readers) this.#feed(reader)
    this.#trim()
  }

  /** Returns the frames with a larger id; null if the oldest of them are no longer kept. */
  since(id: number): Frame[] | null {
    if (id < this.#complete) return null
    return this.#frames.filter((frame) => frame.id !== null && frame.id > id)
  }

  /**
   * Opens a stream for one more reader. A reader who misses a dropped frame gets the event `cut`, and its stream ends.
   */
  listen({ before, now, until = Infinity, onEnd }: ReaderOptions): ReadableStream<Uint8Array> {
    let iterator = before?.()[Symbol.asyncIterator]()
    let reader: Reader
    let ended = false
    let timer: ReturnType<typeof startTimer>
    const leave = () => {
      if (ended) return
      ended = true
      clearTimeout(timer)
      this.#readers.delete(reader)
      onEnd()
    }
    const source: UnderlyingSource<Uint8Array> = {
      start: (controller) => {
        const finish = (last?: Uint8Array) => {
          if (ended) return
          leave()
          if (last) controller.enqueue(last)
          controller.close()
        }
        reader = { next: 0, caughtUp: false, controller, finish }
        this.#readers.add(reader)
        controller.enqueue(RETRY)
        timer = startTimer(until - Date.now(), () => finish(EXPIRED))
      },
      pull: async (controller) => {
        if (reader.caughtUp) return this.#feed(reader)
        for (;;) {
          const piece = await iterator?.next().catch((error: unknown) => {
            leave()
            throw error
          })
          if (ended) return
          if (piece && !piece.done) return controller.enqueue(piece.value)
          // No await from here on, so that no frame is lost between `now` and the next push.
          const frames = now()
          if (frames) {
            reader.caughtUp = true
            reader.next = this.#end
            return controller.enqueue(Buffer.concat(frames.map(({ bytes }) => bytes)))
          }
          iterator = before?.()[Symbol.asyncIterator]()
        }
      },
      async cancel() {
        leave()
        await iterator?.return?.()
      },
    }
    const size = (chunk: Uint8Array) => chunk.byteLength
    return new ReadableStream(source, { highWaterMark: this.#readerBytes, size })
  }

  /** Keeps idle connections open. */
  beat(): void {
    for (const { controller, next, caughtUp } of this.#readers) {
      const idle = caughtUp && next === this.#end
      if (idle && (controller.desiredSize ?? 0) > 0) controller.enqueue(HEARTBEAT)
    }
  }

  /** Ends the stream of every reader, after one last frame. */
  end(last?: Uint8Array): void {
    for (const reader of [...this.#readers]) reader.finish(last)
  }

  #trim(): void {
    let drop = 0
    while (this.#bytes > this.#keepBytes && drop < this.#frames.length - 1) {
      const frame = this.#frames[drop++] as Frame
      this.#bytes -= frame.bytes.byteLength
      if (frame.id !== null) this.#complete = frame.id
    }
    if (drop === 0) return
    this.#frames = this.#frames.slice(drop)
    this.#first += drop
    for (const reader of this.#readers) {
      if (reader.caughtUp && reader.next < this.#first) reader.finish(SLOW)
    }
  }

  /** Gives a reader its next frames, as many as its stream takes. */
  #feed(reader: Reader): void {
    const { controller } = reader
    if (!reader.caughtUp) return
    while (reader.next < this.#end && (controller.desiredSize ?? 0) > 0) {
      // Count the frame first, because the stream may pull again inside `enqueue`.
      const frame = this.#frames[reader.next++ - this.#first] as Frame
      controller.enqueue(frame.bytes)
    }
  }
}
