import { readLabelTree, type WrittenLabelTree, wholeOf } from 'byref/client'

/** What is to be said of a value, a few words each; null for nothing. */
export interface LabelWords {
  untrusted: string | null
  private: string | null
}

/** A label in a person's words. */
export function labelWords(label: WrittenLabelTree | undefined): LabelWords {
  if (!label) return { untrusted: null, private: null }
  const tree = readLabelTree(label)
  const { integrity, confidentiality, readers } = wholeOf(tree)
  return {
    untrusted: integrity === 'untrusted' ? `untrusted${partsOf(label, 'integrity')}` : null,
    private:
      confidentiality === 'private'
        ? `${forReaders(readers)}${partsOf(label, 'confidentiality')}`
        : null,
  }
}

/** Whom a private value is for. */
export function forReaders(readers: readonly string[] | null | undefined): string {
  if (!readers) return 'private'
  return readers.length === 0 ? 'private to nobody' : `private to ${listed(readers)}`
}

/** Names as a sentence has them, the first few of many. */
export function listed(names: readonly string[]): string {
  const shown = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} more`] : names
  if (shown.length < 2) return shown[0] ?? ''
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** Which fields it is about, where it is not all of the value. */
function partsOf(label: WrittenLabelTree, part: 'integrity' | 'confidentiality'): string {
  if (label[part] !== undefined || !label.fields) return ''
  const names = Object.entries(label.fields).flatMap(([name, field]) =>
    JSON.stringify(field).includes(`"${part}":`) ? [name === '*' ? 'every item' : name] : [],
  )
  return names.length > 0 ? ` in ${listed(names)}` : ''
}
