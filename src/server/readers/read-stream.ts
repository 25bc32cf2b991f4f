/** Changes the JSON of each event in a stream of server-sent events; what is no event with data passes as it is. */
export function eachEvent(
  stream: ReadableStream<Uint8Array>,
  change: (value: unknown) => Promise<unknown>,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ''
  const changing = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      const pieces = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = pieces.pop() ?? ''
      for (const piece of pieces) {
        controller.enqueue(encoder.encode(`${await changed(piece, change)}\n\n`))
      }
    },
  })
  return stream.pipeThrough(changing)
}

/** A piece with its data changed; the data of an event of the log is one line. */
async function changed(
  piece: string,
  change: (value: unknown) => Promise<unknown>,
): Promise<string> {
  const lines = piece.split('\n')
  const at = lines.findIndex((line) => line.startsWith('data: '))
  if (at < 0 || lines.some((line) => line.startsWith('event: '))) return piece
  const value = await change(JSON.parse((lines[at] as string).slice('data: '.length)))
  return lines.with(at, `data: ${JSON.stringify(value)}`).join('\n')
}
