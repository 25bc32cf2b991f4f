/** One event as it goes over the wire, encoded once for all who listen. */
export interface Frame {
  /** The position of a durable event, or the number of one that has another id; null for what only streams. */
  id: number | null
  bytes: Uint8Array
}

/** What many listen to: the frames of the last while, and readers that each have their own place in them. */
export interface Channel {
  /** How many listen. */
  readonly readers: number
  /** Passes a frame on to everybody. */
  push(frame: Frame): void
  /** The frames with an id above this one; null where the oldest of them are not kept any more. */
  since(id: number): Frame[] | null
  /**
   * A stream for one more reader. Who falls so far behind that a frame it has not got is dropped is told so and cut off.
   */
  listen(reader: ReaderOptions): ReadableStream<Uint8Array>
  /** Keeps lines alive on which nothing happens. */
  beat(): void
  /** Ends everybody's stream, behind one last frame. */
  end(last?: Uint8Array): void
}

/** Somebody who listens. */
export interface ReaderOptions {
  /** What it gets first, as it reads. */
  before?: AsyncIterable<Uint8Array>
  /** What it gets then: all that was pushed until now, however long `before` took. Behind it comes what is pushed. */
  now(): readonly Frame[]
  /** Called once, however the stream ends. */
  onEnd(): void
}

/** Options of {@link createChannel}. */
export interface ChannelOptions {
  /** The largest id so far. */
  after: number
  /** Bytes of frames that are kept for those who come back or are slow. */
  keepBytes?: number
  /** Bytes that wait for one reader in its stream. */
  readerBytes?: number
}

const encoder = new TextEncoder()
const BEAT = encoder.encode(': still here\n\n')
const SLOW = encoder.encode(
  'event: cut\ndata: {"reason":"slow","message":"You read too slowly; connect again with Last-Event-ID"}\n\n',
)

/** A frame of JSON; one with an id is what a client says as `Last-Event-ID` when it comes back. */
export function jsonFrame(value: unknown, id: { number: number; text?: string } | null): Frame {
  const head = id ? `id: ${id.text ?? id.number}\n` : ''
  return {
    id: id?.number ?? null,
    bytes: encoder.encode(`${head}data: ${JSON.stringify(value)}\n\n`),
  }
}

/** A named event without an id. */
export function namedFrame(event: string, value: unknown): Uint8Array {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`)
}

interface Reader {
  /** The number of the next frame that it takes. */
  next: number
  /** Whether it has got what came before. */
  caughtUp: boolean
  controller: ReadableStreamDefaultController<Uint8Array>
  finish(last?: Uint8Array): void
}

/** Sent before anything else, so that a browser knows when to come back, and a proxy passes the answer's head on. */
const RETRY = encoder.encode('retry: 1000\n\n')

function joined(frames: readonly Frame[]): Uint8Array {
  return Buffer.concat([RETRY, ...frames.map(({ bytes }) => bytes)])
}

/** Makes a channel. */
export function createChannel({
  after,
  keepBytes = 2 * 1024 * 1024,
  readerBytes = 64 * 1024,
}: ChannelOptions): Channel {
  const readers = new Set<Reader>()
  let frames: Frame[] = []
  /** The number of `frames[0]`. */
  let first = 0
  let bytes = 0
  /** Every id above this one is in `frames`. */
  let complete = after

  function trim(): void {
    let drop = 0
    while (bytes > keepBytes && drop < frames.length - 1) {
      const frame = frames[drop++] as Frame
      bytes -= frame.bytes.byteLength
      if (frame.id !== null) complete = frame.id
    }
    // In larger steps than one, so that a full window costs nothing at each frame.
    if (drop === 0) return
    frames = frames.slice(drop)
    first += drop
    for (const reader of readers) {
      if (reader.caughtUp && reader.next < first) reader.finish(SLOW)
    }
  }

  /** Gives a reader what it has not got, as far as its stream takes it. */
  function feed(reader: Reader): void {
    const { controller } = reader
    if (!reader.caughtUp) return
    while (reader.next < first + frames.length && (controller.desiredSize ?? 0) > 0) {
      // Counted before, as a stream may ask for more within this.
      const frame = frames[reader.next++ - first] as Frame
      controller.enqueue(frame.bytes)
    }
  }

  return {
    get readers() {
      return readers.size
    },
    push(frame) {
      frames.push(frame)
      bytes += frame.bytes.byteLength
      for (const reader of readers) feed(reader)
      trim()
    },
    since(id) {
      return id < complete ? null : frames.filter((frame) => frame.id !== null && frame.id > id)
    },
    listen({ before, now, onEnd }) {
      const iterator = before?.[Symbol.asyncIterator]()
      let reader: Reader
      let ended = false
      const leave = () => {
        if (ended) return
        ended = true
        readers.delete(reader)
        onEnd()
      }
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const finish = (last?: Uint8Array) => {
              if (ended) return
              leave()
              if (last) controller.enqueue(last)
              controller.close()
            }
            reader = { next: 0, caughtUp: false, controller, finish }
            readers.add(reader)
          },
          async pull(controller) {
            if (reader.caughtUp) return feed(reader)
            const piece = await iterator?.next()
            if (ended) return
            if (piece && !piece.done) return controller.enqueue(piece.value)
            // Nothing is awaited from here on, so nothing falls between what was and what is pushed next.
            reader.caughtUp = true
            reader.next = first + frames.length
            controller.enqueue(joined(now()))
          },
          async cancel() {
            leave()
            await iterator?.return?.()
          },
        },
        { highWaterMark: readerBytes, size: (chunk) => chunk.byteLength },
      )
    },
    beat() {
      for (const { controller, next, caughtUp } of readers) {
        const idle = caughtUp && next === first + frames.length
        if (idle && (controller.desiredSize ?? 0) > 0) controller.enqueue(BEAT)
      }
    },
    end(last) {
      for (const reader of [...readers]) reader.finish(last)
    },
  }
}
