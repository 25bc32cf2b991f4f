import { streamFrom } from '../bodies/body.ts'
import { type BodyRanges, Draft, type Splice } from './draft.ts'
import { ByteSearch } from './find-text.ts'
import { LineIndex } from './line-counter.ts'
import { textDiff } from './text-diff.ts'
import { type FoundEdit, foundEdit, spliceAt, type TextEdit } from './text-edits.ts'
import { TextForm } from './text-form.ts'

/** What was edited, and what saving it gave. */
interface EditedWhileSaving<T> {
  saved: T
  changes: number
  diff: string
}

/**
 * Applies the one edit of a large text while it is saved, so that the text is read once. Returns null if the edits are of
 * another kind, or if the text does not occur exactly once. Then nothing was saved.
 */
export async function editWhileSaving<T>(
  original: BodyRanges,
  edits: readonly TextEdit[],
  save: (body: ReadableStream<Uint8Array>) => Promise<T>,
): Promise<EditedWhileSaving<T> | null> {
  const place = edits.length === 1 ? onePlaceOf(edits[0] as TextEdit) : null
  if (!place) return null
  const draft = new Draft(original)
  const form = await TextForm.of(draft)
  const wanted = await form.encode(place.find)
  const bytes = await form.encode(form.withLineEnds(place.text))
  const lines = new LineIndex()
  const editing = new OneEdit(draft, { wanted, bytes, at: place.at, form, lines })
  try {
    const saved = await save(streamFrom(() => editing.chunks()))
    draft.splice([editing.splice])
    return { saved, changes: 1, diff: await textDiff(original, draft.changes(), { form, lines }) }
  } catch (error) {
    if (editing.isRejected) return null
    throw error
  }
}

/** Returns an edit that is found by a text in one line, which must occur once. Null for any other edit. */
function onePlaceOf(edit: TextEdit): FoundEdit | null {
  if ('lines' in edit) return null
  const found = foundEdit(edit)
  const isOne = found.occurrence === undefined && found.find !== '' && !found.find.includes('\n')
  return isOne ? found : null
}

interface OneEditOptions {
  wanted: Uint8Array
  bytes: Uint8Array
  at: FoundEdit['at']
  form: TextForm
  lines: LineIndex
}

/** Writes a text with one edit while it is searched. */
class OneEdit {
  readonly #draft: Draft
  readonly #options: OneEditOptions
  #place: number | null = null
  #isRejected = false

  constructor(draft: Draft, options: OneEditOptions) {
    this.#draft = draft
    this.#options = options
  }

  /** Whether the text does not occur exactly once. */
  get isRejected(): boolean {
    return this.#isRejected
  }

  /** The edit, once its place was found. */
  get splice(): Splice {
    const { wanted, bytes, at } = this.#options
    const start = this.#place ?? 0
    return spliceAt({ start, end: start + wanted.byteLength }, at, bytes)
  }

  /** Yields the edited text. Fails as soon as the text occurs twice, and at the end if it does not occur. */
  async *chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const { wanted, form, lines, bytes } = this.#options
    const search = new ByteSearch(wanted, { unit: form.unit, from: form.mark, overlaps: true }, 0)
    /** The last bytes, in which a match may begin, and where they are. */
    let held: Uint8Array = new Uint8Array()
    let at = 0
    for await (const chunk of this.#draft.chunks()) {
      if (this.#place === null && form.unit === 1) lines.add(chunk, at + held.byteLength)
      let rest = held.byteLength > 0 ? Buffer.concat([held, chunk]) : chunk
      for (const place of search.add(chunk)) {
        if (this.#place !== null) throw this.#reject()
        this.#place = place
        const { start, end } = this.splice
        yield* parts(rest.subarray(0, start - at), bytes)
        rest = rest.subarray(end - at)
        at = end
      }
      const kept = this.#place === null ? wanted.byteLength - 1 : 0
      const done = Math.max(0, rest.byteLength - kept)
      yield* parts(rest.subarray(0, done))
      held = rest.subarray(done)
      at += done
    }
    if (this.#place === null) throw this.#reject()
  }

  #reject(): Error {
    this.#isRejected = true
    return new Error('The text does not occur exactly once')
  }
}

function* parts(...chunks: Uint8Array[]): Generator<Uint8Array<ArrayBuffer>> {
  for (const chunk of chunks) if (chunk.byteLength > 0) yield chunk as Uint8Array<ArrayBuffer>
}
