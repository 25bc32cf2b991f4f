import { ByrefError } from '../../core/errors.ts'
import { shortened } from '../../core/json/cut.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { ScannedEntry } from '../json/json-entries.ts'
import type { Draft } from './draft.ts'
import type { JsonEdit } from './edit.ts'
import { findPlace, type JsonContainer, type JsonPlace, pointerSteps } from './json-place.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

/** Maximum size of a value that `test`, `copy` and `move` read, in bytes. */
const MAX_VALUE = 64 * 1024 * 1024

/**
 * Applies operations of JSON Patch (RFC 6902) to JSON in UTF-8, in order. Everything that an operation does not name
 * stays as it is: white space, the order of keys, the spelling of numbers. New entries take the white space of their
 * neighbours. Returns the changed paths, without those of `test`.
 *
 * @throws ByrefError `edit_rejected` for a path that does not exist and a failed `test`; `asset_unsupported` for anything
 * but JSON; `invalid_arguments`
 */
export async function editJson(
  draft: Draft,
  edits: readonly JsonEdit[],
  root: readonly string[] = [],
): Promise<string[]> {
  const paths: string[] = []
  for (const [index, edit] of edits.entries()) {
    const editor = new JsonEditor(draft, root, `edits[${index}]`)
    await editor.apply(edit)
    if (edit.op === 'move') paths.push(edit.from)
    if (edit.op !== 'test') paths.push(edit.path)
  }
  return [...new Set(paths)]
}

/** A value to write. `text` is JSON that is written as it is. */
type NewValue = { value: JsonValue } | { text: string }

class JsonEditor {
  readonly #draft: Draft
  readonly #root: readonly string[]
  readonly #name: string

  constructor(draft: Draft, root: readonly string[], name: string) {
    this.#draft = draft
    this.#root = root
    this.#name = name
  }

  async apply(edit: JsonEdit): Promise<void> {
    switch (edit.op) {
      case 'add':
        return this.#add(edit.path, { value: edit.value })
      case 'replace':
        return this.#replace(await this.#existing(edit.path), { value: edit.value })
      case 'remove':
        return this.#remove(edit.path)
      case 'test':
        return this.#test(edit.path, edit.value)
      case 'copy':
        return this.#add(edit.path, { text: await this.#textOf(edit.from) })
      case 'move': {
        if (`${edit.path}/`.startsWith(`${edit.from}/`) && edit.path !== edit.from) {
          throw this.#rejected(`${edit.from} cannot move into itself`)
        }
        const text = await this.#textOf(edit.from)
        await this.#remove(edit.from)
        return this.#add(edit.path, { text })
      }
    }
  }

  async #add(path: string, added: NewValue): Promise<void> {
    const steps = this.#steps(path)
    const place = await this.#place(path, steps)
    const { container } = place
    const key = steps.at(-1)
    if (container === null || key === undefined) return this.#replace(place, added)
    // An empty path is the edited value itself, also if it is an item of a list.
    if ((!container.isList || path === '') && place.value) return this.#replace(place, added)
    const at = container.isList ? this.#indexOf(path, container, key) : container.count
    const next = container.isList && at < container.count ? container.found[0] : undefined
    const layout = await this.#layoutOf(container)
    const text = await this.#written(added, layout.indent)
    const entry = container.isList ? text : `${JSON.stringify(key)}${layout.colon}${text}`
    const { last } = container
    if (next) this.#splice(next.start, next.start, `${entry}${layout.separator}`)
    else if (last) this.#splice(last.end, last.end, `${layout.separator}${entry}`)
    else {
      const inside = `${layout.opening}${entry}${layout.closing}`
      this.#splice(container.start + 1, container.end - 1, inside)
    }
  }

  async #replace({ value }: JsonPlace, replacement: NewValue): Promise<void> {
    if (!value) return
    const indent = await this.#indentAt(value.start)
    this.#splice(value.start, value.end, await this.#written(replacement, indent))
  }

  /** Removes an entry with its comma. All entries of a repeated key are removed. */
  async #remove(path: string): Promise<void> {
    let { container } = await this.#existing(path)
    if (!container) throw this.#rejected('The whole document cannot be removed')
    for (let left = container.isList ? 1 : container.found.length; left > 0; left--) {
      const entry = container.found.at(-1) as ScannedEntry
      const { before, after } = container
      if (after) this.#splice(entry.start, after.start, '')
      else if (before) this.#splice(before.end, entry.end, '')
      else this.#splice(container.start + 1, container.end - 1, '')
      if (left > 1) container = (await this.#existing(path)).container as JsonContainer
    }
  }

  async #test(path: string, value: JsonValue): Promise<void> {
    const text = await this.#textOf(path)
    const found = JSON.parse(text) as JsonValue
    if (isDeepStrictEqual(found, value)) return
    throw this.#rejected(`The value at ${path || 'the root'} is ${shortened(text, 200)}`)
  }

  async #textOf(path: string): Promise<string> {
    const { value } = await this.#existing(path)
    const { start, end } = value as { start: number; end: number }
    if (end - start > MAX_VALUE) {
      throw new ByrefError(
        'asset_too_large',
        `${this.#name}: The value at ${path} has ${end - start} bytes.`,
      )
    }
    return this.#draft.text(start, end)
  }

  async #existing(path: string): Promise<JsonPlace> {
    const place = await this.#place(path, this.#steps(path))
    if (place.value) return place
    const { container } = place
    const has = container?.isList ? ` The list has ${container.count} items.` : ''
    throw this.#rejected(`There is no ${path}.${has}`)
  }

  async #place(path: string, steps: readonly string[]): Promise<JsonPlace> {
    const place = await findPlace(this.#draft, steps)
    if (place) return place
    throw this.#rejected(
      `There is no object or list at ${path.slice(0, path.lastIndexOf('/')) || 'the root'}.`,
    )
  }

  #steps(path: string): string[] {
    return [...this.#root, ...pointerSteps(path)]
  }

  #indexOf(path: string, { count }: JsonContainer, key: string): number {
    if (key === '-') return count
    if (/^(0|[1-9]\d*)$/.test(key) && Number(key) <= count) return Number(key)
    throw this.#rejected(
      `${path} is not a place in a list of ${count} items: use 0 to ${count}, or "-" for its end.`,
    )
  }

  /** Returns the white space that a new entry of a container needs. */
  async #layoutOf(container: JsonContainer): Promise<Layout> {
    const { first, second, last, isList } = container
    if (!first || !last) {
      const indent = await this.#indentAt(container.start)
      const { unit, lineEnd } = await this.#lineStyle()
      if (indent === null || unit === null) return { ...COMPACT, colon: unit === null ? ':' : ': ' }
      const line = `${lineEnd}${indent}${unit}`
      return {
        opening: line,
        closing: `${lineEnd}${indent}`,
        separator: `,${line}`,
        colon: ': ',
        indent: indent + unit,
      }
    }
    const opening = await this.#draft.text(container.start + 1, first.start)
    const separator = second ? await this.#draft.text(first.end, second.start) : `,${opening}`
    const key = isList ? '' : await this.#draft.text(first.start, first.valueStart)
    const colon = /"(\s*:\s*)$/.exec(key)?.[1] ?? ': '
    const indent = /\n([ \t]*)$/.exec(separator)?.[1] ?? null
    return { opening, closing: '', separator, colon, indent }
  }

  /** Returns the indentation of the line that a place is in; null in JSON without line breaks. */
  async #indentAt(place: number): Promise<string | null> {
    const start = Math.max(0, place - 4096)
    const text = await this.#draft.text(start, place)
    const line = text.lastIndexOf('\n')
    if (line < 0) return start === 0 && (await this.#lineStyle()).unit !== null ? '' : null
    return /^[ \t]*/.exec(text.slice(line + 1))?.[0] ?? ''
  }

  /** Returns the indentation of one level, null in JSON without line breaks, and the end of the first line. */
  async #lineStyle(): Promise<{ unit: string | null; lineEnd: string }> {
    const head = await this.#draft.text(0, 4096)
    const unit = /\n([ \t]+)/.exec(head)?.[1] ?? null
    return { unit, lineEnd: /\r?\n/.exec(head)?.[0] ?? '\n' }
  }

  /** Returns a value as JSON, in lines with the indentation of its surroundings. */
  async #written(given: NewValue, indent: string | null): Promise<string> {
    if ('text' in given) return given.text
    if (indent === null) return JSON.stringify(given.value)
    const { unit, lineEnd } = await this.#lineStyle()
    return JSON.stringify(given.value, null, unit ?? '  ').replaceAll('\n', lineEnd + indent)
  }

  #splice(start: number, end: number, text: string): void {
    this.#draft.splice([{ start, end, bytes: Buffer.from(text) }])
  }

  #rejected(message: string): ByrefError {
    return new ByrefError(
      'edit_rejected',
      `${this.#name}: ${message.replace(/\.?$/, '.')} Nothing was changed.`,
    )
  }
}

/** The white space that a new entry needs. */
interface Layout {
  /** Between the bracket and the first entry. */
  opening: string
  closing: string
  /** Between two entries, with the comma. */
  separator: string
  /** Between a key and its value. */
  colon: string
  /** The indentation of the entries; null if they share a line. */
  indent: string | null
}

const COMPACT: Layout = { opening: '', closing: '', separator: ',', colon: ':', indent: null }
